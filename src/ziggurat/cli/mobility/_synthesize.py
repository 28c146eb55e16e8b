"""`ziggurat mobility synthesize`: pay for a private model of trajectories, draw new ones, and let them go."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    GoOn,
    OnlyQuote,
    Quiet,
    Rehearse,
    TableArgument,
    Where,
    out_option,
    rehearsal_seed,
    require_payer,
    with_records,
)
from ziggurat.cli._outputs import TABLES, check_file, end_with_quote
from ziggurat.cli.mobility._options import VisitOptions
from ziggurat.cli.mobility._remote import trajectories_on
from ziggurat.cli.server import OnServer
from ziggurat.cli.synthesize import read_share_or_table, say_release, show_progress
from ziggurat.files import check_output

if TYPE_CHECKING:
    from ziggurat.sequences.mobility import TrajectoryGenerator


@dataclass(frozen=True)
class PaidOptions:
    """What is drawn, what it may cost, and who pays."""

    epsilon: Annotated[str, typer.Option(help="What it may cost, exact: 0.5 or 1/3.")]
    out: Annotated[str, out_option("a .parquet or .csv file, one row for each visit.")]
    budget: Annotated[str, typer.Option(help="Out of whose budget it is paid; on a server the table's.")] = ""
    analyst: Annotated[str, typer.Option(help="Who pays; on a server by default whose key it is.")] = ""
    delta: Annotated[str, typer.Option(help="The failure probability; by default 0.")] = ""
    method: Annotated[str, typer.Option(help="markov.")] = "markov"
    trajectories_per_person: Annotated[
        int | None, typer.Option(help="How many trajectories of one person count; more are left out at random.")
    ] = None
    count: Annotated[int | None, typer.Option(help="How many are drawn; else as many as there seem to be.")] = None
    holdout: Annotated[
        str, typer.Option(help="The share of people kept back as a control for attacks, or a file of others.")
    ] = "0.1"
    canaries: Annotated[
        int, typer.Option(help="With --rehearse: how many invented people are planted and looked for.", min=0)
    ] = 0
    save: Annotated[str, typer.Option(help="Also keep the private model in this file.")] = ""
    ledger: Where = ""
    note: Annotated[str, typer.Option(help="What the release is for, in a sentence.")] = ""
    go_on: GoOn = ""
    rehearse: Rehearse = ""
    quote: OnlyQuote = False
    force: Force = False
    as_json: AsJson = False
    quiet: Quiet = False
    server: OnServer = ""

    def generator(self, visits: VisitOptions) -> TrajectoryGenerator:
        """Make the generator that was asked for."""
        terms = {"epsilon": self.epsilon, "delta": self.delta or None, "random_state": rehearsal_seed(self.rehearse)}
        return visits.request().generator(self.method, self.trajectories_per_person, **terms)


@with_records
def synthesize(data: TableArgument, visits: VisitOptions, paid: PaidOptions) -> None:
    """Draw trajectories with a guarantee from a table of visits, attack them, and release them.

    One row of the table is one visit: whose (the unit of the schema), when and where. The cost is paid before a row is
    read; what leaves is a table of invented trajectories, one row for each visit, without people or dates:

      ziggurat mobility synthesize visits.csv --time minute --place place --places places.csv --longest 12
      --epsilon 1 --budget visits --analyst ada --out trajectories.parquet

      ziggurat mobility synthesize gps.parquet --time at --latitude lat --longitude lon --box -74.3,40.5,-73.6,41.0
      --grid 40 --gap 60 --epsilon 2 --budget gps --analyst ada --out trips.csv

    The unit of the schema is what is hidden: 'unit: {person: card}' hides a person with all visits; a unit that is one
    trajectory hides that and no person, and the certificate says so. Some people are kept back, and the file is
    attacked with their help before it leaves.

    On a server it is a job; its signed bundle goes beside --out. --places is then a table there, or a file to be sent.
    """
    check_file(paid.out, TABLES, force=paid.force)
    if paid.save:
        check_output(paid.save, force=paid.force)
    if paid.server:
        left = trajectories_on(data, visits, paid)
        if not paid.quiet:
            left.say(paid.out, as_json=paid.as_json)
        return
    require_payer(paid.budget, paid.analyst)
    if paid.quote:
        _price(data, visits, paid)
    with show_progress(paid.quiet or paid.as_json) as tell:
        made = _pay(data, visits, paid, tell)
        if paid.save:
            made.model.save(paid.save)
    if not paid.quiet:
        say_release(made, paid.save, paid.as_json)


def _pay(data: str, visits: VisitOptions, paid: PaidOptions, tell: Any) -> Any:
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import release_trajectories

    schema = visits.declared(data)
    model = paid.generator(visits)
    layout, ground = visits.find(schema)
    asked: dict[str, Any] = {"layout": layout, "ground": ground, "count": paid.count, "note": paid.note}
    asked |= {"budget": paid.budget, "analyst": paid.analyst, "go_on": paid.go_on, "progress": tell}
    asked |= {"holdout": read_share_or_table(paid.holdout), "canaries": paid.canaries}
    table = visits.open(data)
    with open_ledger(paid.ledger) as book:
        return release_trajectories(table, paid.out, model, ledger=book, **asked)


def _price(data: str, visits: VisitOptions, paid: PaidOptions) -> NoReturn:
    """Say what it costs, by the schema and the public places alone."""
    from ziggurat.cli._books import open_to_read
    from ziggurat.release import Purse
    from ziggurat.sequences.mobility import domain_of_visits

    schema = visits.declared(data)
    event = paid.generator(visits).planned(domain_of_visits(schema, *visits.find(schema)))
    with open_to_read(paid.ledger) as book:
        quoted = Purse(book, paid.budget, paid.analyst).price(event)
    end_with_quote(quoted.sentence, asdict(quoted), fits=quoted.fits, as_json=paid.as_json)
