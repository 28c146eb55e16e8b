"""`ziggurat mobility communities`: raw for the steward, or described with a guarantee."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    GoOn,
    OnlyQuote,
    Rehearse,
    TableArgument,
    Where,
    out_option,
    rehearsal_seed,
    with_records,
)
from ziggurat.cli._outputs import TABLES, check_file, end_with_quote, print_json
from ziggurat.cli.mobility._options import VisitOptions
from ziggurat.cli.mobility._remote import communities_on
from ziggurat.cli.server import OnServer
from ziggurat.cli.synthesize import say_release, show_progress
from ziggurat.errors import ParameterError
from ziggurat.files import check_output

if TYPE_CHECKING:
    from ziggurat.data import Schema
    from ziggurat.sequences.mobility.communities import PrivateSTLDA

_RAW = (
    "This is learned from raw visits and promises nothing: it is for the steward. With --epsilon communities are "
    "described with a guarantee, and may leave."
)
_TOP = 5
_PAID = ("delta", "visits_per_person", "region", "budget", "analyst", "out", "note", "go_on", "quote")
_RAW_ONLY = ("iterations", "chains")


@dataclass(frozen=True)
class CommunityOptions:
    """How many communities, and whether they are to be described with a guarantee."""

    communities: Annotated[int, typer.Option(help="How many communities there are.", min=1)] = 10
    fold: Annotated[str, typer.Option(help="How hours are folded: day or week.")] = "day"
    iterations: Annotated[int | None, typer.Option(help="Raw: how many sweeps at most.")] = None
    chains: Annotated[int | None, typer.Option(help="Raw: how many chains, of which the best is kept.")] = None
    epsilon: Annotated[str, typer.Option(help="With a guarantee: what it may cost, exact.")] = ""
    delta: Annotated[str, typer.Option(help="With a guarantee: the failure probability; by default 1e-6.")] = ""
    visits_per_person: Annotated[
        int | None, typer.Option(help="With a guarantee: how many visits of a person count; by default 200.")
    ] = None
    region: Annotated[
        str, typer.Option(help="With a guarantee: learn of this level of --regions, or of a grid of so many columns.")
    ] = ""
    out: Annotated[str, out_option("a .parquet or .csv file, with a guarantee only.")] = ""
    save: Annotated[str, typer.Option(help="Also keep the model in this file.")] = ""
    ledger: Where = ""
    budget: Annotated[str, typer.Option(help="With a guarantee: out of whose budget it is paid.")] = ""
    analyst: Annotated[str, typer.Option(help="With a guarantee: who pays.")] = ""
    note: Annotated[str, typer.Option(help="What the release is for, in a sentence.")] = ""
    go_on: GoOn = ""
    rehearse: Rehearse = ""
    quote: OnlyQuote = False
    force: Force = False
    as_json: AsJson = False
    server: OnServer = ""

    def require_consistent(self) -> None:
        """Refuse what does not go together before anything is read."""
        if self.epsilon:
            for name in _RAW_ONLY:
                if getattr(self, name) is not None:
                    raise ParameterError(f"--{name} goes without --epsilon: a private model has no chains.")
            if not (self.out and (self.server or (self.budget and self.analyst))):
                raise ParameterError("A guarantee is paid for: name --budget, --analyst and --out.")
        for name in _PAID:
            if not self.epsilon and getattr(self, name) not in (None, "", False):
                raise ParameterError(f"--{name.replace('_', '-')} goes with --epsilon; raw communities do not leave.")
        check_file(self.out, TABLES, force=self.force)
        if self.save:
            check_output(self.save, force=self.force)

    def private(self) -> PrivateSTLDA:
        """Make the model that carries a guarantee."""
        from ziggurat.sequences.mobility.communities import PrivateSTLDA

        asked: dict[str, Any] = {"delta": self.delta or None, "visits_per_person": self.visits_per_person}
        asked["regions"] = int(self.region) if self.region.isdecimal() else self.region or None
        given = {name: value for name, value in asked.items() if value is not None}
        seed: Any = rehearsal_seed(self.rehearse)
        fold: Any = self.fold
        return PrivateSTLDA(self.epsilon, communities=self.communities, fold=fold, random_state=seed, **given)

    def raw(self) -> Any:
        """Make the model that promises nothing."""
        from ziggurat.sequences.mobility.communities import STLDA

        given = {name: getattr(self, name) for name in _RAW_ONLY if getattr(self, name) is not None}
        fold: Any = self.fold
        return STLDA(self.communities, fold=fold, random_state=rehearsal_seed(self.rehearse), **given)


@with_records
def communities(data: TableArgument, visits: VisitOptions, asked: CommunityOptions) -> None:
    """Find communities of people who are at the same places at the same hours.

    Every visit belongs to a community, which draws its place and its hour; people mix communities. Without --epsilon
    this is learned from raw visits, for the steward alone:

      ziggurat mobility communities visits.csv --time minute --place place --places places.csv --communities 8

    With --epsilon it is learned through noise: the places and hours of communities are written to --out, paid for
    before a row is read. Who belongs to which never leaves:

      ziggurat mobility communities visits.csv --time minute --place place --places places.csv --communities 8
      --epsilon 2 --budget visits --analyst ada --out communities.csv

    On a server, where --epsilon is needed, it is a job; its signed bundle goes beside --out.
    """
    asked.require_consistent()
    if asked.server:
        communities_on(data, visits, asked).say(asked.out, as_json=asked.as_json)
        return
    if asked.epsilon and asked.quote:
        _price(asked, visits, visits.declared(data))
    with show_progress(asked.as_json) as tell:
        made = _pay(data, visits, asked, tell) if asked.epsilon else None
        model = _fit(data, visits, asked, tell) if made is None else made.model
        if asked.save:
            model.save(asked.save)
    if made is not None and asked.as_json:
        print_json(made.to_dict())
        return
    _say(model, as_json=asked.as_json)
    if made is not None:
        say_release(made, asked.save, as_json=False)
    elif not asked.as_json:
        typer.echo(_RAW)


def _fit(data: str, visits: VisitOptions, asked: CommunityOptions, tell: Any) -> Any:
    people = visits.read(data)
    progress = None if tell is None else lambda what, done, of: tell("learning", what, done, of)
    return asked.raw().fit(people, progress=progress)


def _pay(data: str, visits: VisitOptions, asked: CommunityOptions, tell: Any) -> Any:
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import release_communities

    layout, ground = visits.find(visits.declared(data))
    given: dict[str, Any] = {"layout": layout, "ground": ground, "note": asked.note, "go_on": asked.go_on}
    given |= {"budget": asked.budget, "analyst": asked.analyst, "progress": tell}
    table = visits.open(data)
    with open_ledger(asked.ledger) as book:
        return release_communities(table, asked.out, asked.private(), ledger=book, **given)


def _price(asked: CommunityOptions, visits: VisitOptions, schema: Schema) -> NoReturn:
    """Say what it costs, by the schema and the public places alone."""
    from ziggurat.cli._books import open_to_read
    from ziggurat.release import Purse
    from ziggurat.sequences.mobility import domain_of_visits

    event = asked.private().planned(domain_of_visits(schema, *visits.find(schema)))
    with open_to_read(asked.ledger) as book:
        quoted = Purse(book, asked.budget, asked.analyst).price(event)
    end_with_quote(quoted.sentence, asdict(quoted), fits=quoted.fits, as_json=asked.as_json)


def _say(model: Any, *, as_json: bool) -> None:
    """Print the most likely places and hours of every community; of a private one what stands out of the noise."""
    rows = _list_private(model) if hasattr(model, "shares_") else _list_raw(model)
    if as_json:
        print_json({"communities": rows, "promise": None, "sentence": _RAW})
        return
    from rich.console import Console
    from rich.table import Table as Shown

    from ziggurat.cli.terminal import Printed as Text

    shown = Shown(header_style="dim", box=None, padding=(0, 1))
    for name in ("community", "share", "most likely places", "most likely hours"):
        shown.add_column(name)
    for row in rows:
        where, when = (", ".join(map(str, row[name])) for name in ("places", "hours"))
        shown.add_row(str(row["community"]), f"{row['share']:.1%}", Text(where), Text(when))
    Console().print(shown)


def _list_raw(model: Any) -> list[dict[str, Any]]:
    names = model.ground_.names
    return [
        {
            "community": at + 1,
            "share": float(share),
            "places": [names[each] for each in model.components_[at].argsort()[::-1][:_TOP]],
            "hours": sorted(int(each) for each in model.hours_[at].argsort()[::-1][:_TOP]),
        }
        for at, share in enumerate(model.memberships_.mean(axis=0))
    ]


def _list_private(model: PrivateSTLDA) -> list[dict[str, Any]]:
    from ziggurat.sequences.mobility.communities import describe_communities

    told = describe_communities(model, _TOP).to_pylist()
    found: list[dict[str, Any]] = []
    for at, share in enumerate(model.shares_.tolist(), start=1):
        mine = [each for each in told if each["community"] == at]
        hours = sorted((each for each in mine if each["what"] == "hour"), key=lambda each: -each["chance"])
        places = [each["name"] for each in mine if each["what"] != "hour"]
        found.append({"community": at, "share": share, "places": places or ["none stands out"]})
        found[-1]["hours"] = sorted(int(each["name"]) for each in hours[:_TOP])
    return found
