"""`ziggurat risk`: how exposed the people in a table are, before and after it was anonymised."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, Report, TableArgument, TableOptions, with_records
from ziggurat.cli._outputs import PAGES, check_file, print_json, write_page
from ziggurat.cli._tables import open_if_named, open_table, split_columns
from ziggurat.cli.server import OnServer, descriptions, jobs, open_server, refuse_local
from ziggurat.cli.terminal import show_status
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table as Shown

    from ziggurat.attacks import ColumnCounts, Linkage, RiskReport, SinglingOut, Undone
    from ziggurat.data import Hierarchy, Table
    from ziggurat.findings import Finding

_SETS_PER_SIZE, _MOST_SETS = 1, 2_000
ATTACKERS = (
    "The prosecutor knows that a person is in the table; the journalist does not and would be content with anybody; "
    "the marketer wants as many people as possible."
)
_COUNTS = ("rows", "classes", "smallest class", "sample uniques")


@dataclass(frozen=True)
class Judged:
    """One table, measured and attacked.

    Attributes
    ----------
    title
        "before" or "after".
    risk, columns
        How exposed its people are, and which columns single them out.
    inferences
        What classes give away of the sensitive columns, by what the attack is called.
    undone
        For a table that was anonymised: what its columns that stayed as they were undo.
    certificate
        What its certificate says, if one lies beside it and is about this very file.
    """

    title: str
    risk: RiskReport
    columns: SinglingOut
    inferences: dict[str, Finding] = field(default_factory=dict)
    undone: Undone | None = None
    certificate: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The findings as values that JSON can hold."""
        inferred = {name: each.to_dict() for name, each in self.inferences.items()}
        facts = {"risk": self.risk.to_dict(), "columns": self.columns.to_dict(), "inferences": inferred}
        return facts | ({} if self.undone is None else {"undone": self.undone.to_dict()})


@with_records
def risk(
    data: TableArgument,
    opening: TableOptions,
    qi: Annotated[
        list[str] | None,
        typer.Option(help="A column that attackers know, once for each or with commas; by default by the schema."),
    ] = None,
    sensitive: Annotated[list[str] | None, typer.Option(help="A column to be protected, once for each.")] = None,
    after: Annotated[str, typer.Option(help="The same table after it was anonymised, to compare with.")] = "",
    auxiliary: Annotated[str, typer.Option(help="What an attacker knows with names: join it with the release.")] = "",
    control: Annotated[str, typer.Option(help="The same about people who are not in the table.")] = "",
    truth: Annotated[str, typer.Option(help="The column that tells people apart, to judge the join by.")] = "",
    population: Annotated[str, typer.Option(help="A table of the population with the same columns.")] = "",
    hierarchies: Annotated[
        str, typer.Option(help="A CSV file of hierarchies, where labels cannot be read without.")
    ] = "",
    fraction: Annotated[float | None, typer.Option(help="The share of the population in the table, if known.")] = None,
    threshold: Annotated[float, typer.Option(help="Which risk counts as high.")] = 0.2,
    largest: Annotated[int | None, typer.Option(help="Look at sets of up to so many columns.")] = None,
    report: Report = "",
    force: Force = False,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Measure how exposed the people in a table are, and attack it.

    How many people share their combination of cells with nobody, how likely they are re-identified, which columns
    single them out, what their class gives away of a sensitive column, and whom a join with another table finds:

      ziggurat risk arx_adult --sensitive salary-class

      ziggurat risk patients.csv --after released.csv --sensitive diagnosis --report report.html

      ziggurat risk released.csv --qi age,sex,postcode --auxiliary voters.csv --truth person

    The figures are exact and unprotected: they are for the steward. They promise nothing about attackers who know more
    than the columns named.

    On a server it is a job, for the stewards of the table.
    """
    check_file(report, PAGES, force=force)
    if server:
        _write([_judge_on(server, data, qi, sensitive, threshold)], None, as_json, report, data)
        return
    with show_status("Looking at the table …"):
        before = opening.open(data)
        known = split_columns(before.schema, qi)
        secrets = tuple(sensitive) if sensitive else _find_sensitive(before, known)
        options = {"threshold": threshold, "sampling_fraction": fraction, "population": open_if_named(population)}
        judged = [_judge("before" if after else "table", before, known, secrets, largest, options)]
        names = judged[0].risk.quasi_identifiers
        trees = _read_trees(hierarchies, names)
        released = open_table(after, unreadable=opening.unreadable) if after else before
        if after:
            later = _judge("after", released, names, secrets, largest, {**options, "hierarchies": trees})
            judged.append(
                replace(
                    later, undone=_find_undone(before, released, names, secrets), certificate=_read_certificate(after)
                )
            )
        joined = _join(released, names, trees, auxiliary, control, truth)
    _write(judged, joined, as_json, report, Path(data).name)


def _judge_on(url: str, data: str, qi: list[str] | None, sensitive: list[str] | None, threshold: float) -> Judged:
    """Have a server measure a table of its own, as a job."""
    from ziggurat.attacks import Homogeneity, RiskReport, SinglingOut, Skewness
    from ziggurat.plain import from_plain

    refuse_local("data", "qi", "sensitive", "threshold", "report")
    with open_server(url) as server:
        known = split_columns(descriptions.find_declared(server, data), qi) or ()
        job = server.measure_risk(data, known, sensitive or (), threshold)
        found = dict(jobs.wait_for(server, job, "measuring on the server").result or {})
    sizes = {int(size): count for size, count in found["risk"]["sizes"].items()}  # JSON has texts for keys
    report = from_plain(RiskReport, {**found["risk"], "sizes": sizes})
    kinds = {"homogeneity": Homogeneity, "skewness": Skewness}
    inferred = {name: from_plain(kinds[name.partition(" ")[0]], each) for name, each in found["inferences"].items()}
    return Judged("table", report, from_plain(SinglingOut, found["columns"]), inferred)


def _find_sensitive(table: Table, known: tuple[str, ...] | None) -> tuple[str, ...]:
    from ziggurat.data import Role

    found = (column.name for column in table.schema.with_role(Role.SENSITIVE))
    return tuple(name for name in found if name not in (known or ()))


def _judge(
    title: str,
    table: Table,
    known: tuple[str, ...] | None,
    secrets: tuple[str, ...],
    largest: int | None,
    options: dict[str, Any],
) -> Judged:
    from ziggurat.attacks import homogeneity, singling_out, skewness
    from ziggurat.attacks import risk as measured
    from ziggurat.attacks.tables import largest_affordable

    report = measured(table, known, **options)
    names = report.quasi_identifiers
    found: dict[str, Finding] = {}
    for secret in secrets:
        found[f"homogeneity of {secret}"] = homogeneity(table, secret, names)
        found[f"skewness of {secret}"] = skewness(table, secret, names)
    size = largest_affordable(len(names), _MOST_SETS) if largest is None else largest
    return Judged(title, report, singling_out(table, names, largest=max(1, size)), found)


def _find_undone(before: Table, after: Table, known: tuple[str, ...], secrets: tuple[str, ...]) -> Undone:
    """What columns of the later table undo; a column was generalised if it holds what it did not hold before."""
    from ziggurat.attacks import ColumnCounts, find_undone

    shown = [name for name in before.schema.names if name in after.schema]
    first, second = ColumnCounts(before, shown), ColumnCounts(after, shown)
    held = {name: [_texts(counts, name) for counts in (first, second)] for name in known if name in shown}
    covers = {name: None for name, (was, now) in held.items() if not now <= was}
    return find_undone(second, first, before.schema, known, shown=shown, covers=covers, protected=secrets)


def _texts(counts: ColumnCounts, name: str) -> set[str]:
    return {str(value) for value in counts.of([name]).values[0].to_pylist() if value is not None}


def _read_certificate(file: str) -> dict[str, Any]:
    """The certificate of a file; nothing if there is none, or if it speaks of another file."""
    import hashlib

    from ziggurat.release import CERTIFICATE

    beside = Path(file + CERTIFICATE)
    try:
        said: dict[str, Any] = json.loads(beside.read_text(encoding="utf-8"))
        with Path(file).open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        files = said["artefacts"] if "artefacts" in said else [said["file"]]
        found = {**said["evidence"]["facts"], **said["details"]} if "evidence" in said else said
        return found if any(each["sha256"] == digest for each in files) and "kept" in found else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _read_trees(file: str, names: tuple[str, ...]) -> dict[str, Hierarchy]:
    from ziggurat.anonymize import read_hierarchies

    return {name: tree for name, tree in read_hierarchies(file).items() if name in names} if file else {}


def _join(
    table: Table, known: tuple[str, ...], trees: dict[str, Hierarchy], auxiliary: str, control: str, truth: str
) -> Linkage | None:
    from ziggurat.attacks import linkage

    if not auxiliary:
        if control or truth:
            raise ParameterError("--control and --truth go with --auxiliary.")
        return None
    others = open_table(auxiliary)
    wanted = [name for name in known if name in others.schema]
    if not wanted:
        raise ParameterError("The auxiliary table has none of the quasi-identifiers; name columns of both with --qi.")
    helpful = {name: tree for name, tree in trees.items() if name in wanted}
    return linkage(table, others, wanted, truth=truth or None, control=open_if_named(control), hierarchies=helpful)


def _write(judged: list[Judged], joined: Linkage | None, as_json: bool, report: str, name: str) -> None:
    if report:
        from ziggurat.cli.risk._page import page

        write_page(page(name, judged, joined), report)
    if as_json:
        facts: dict[str, Any] = {each.title: each.to_dict() for each in judged}
        print_json(facts | ({"linkage": joined.to_dict()} if joined else {}))
        return
    _show(judged, joined)
    if report:
        typer.echo(f"The report is in {report}; it holds exact figures about people, so do not publish it.")


def _show(judged: list[Judged], joined: Linkage | None) -> None:
    from rich.console import Console

    from ziggurat.cli.terminal import Printed as Text

    console = Console()
    console.print(_figures(judged))
    console.print(_sets(judged))
    console.print(Text(ATTACKERS, "dim"))
    for text in sentences(judged, joined):
        console.print(Text(text))


def sentences(judged: Sequence[Judged], joined: Linkage | None) -> Iterator[str]:
    """What was found, in sentences for a steward."""
    for each in judged:
        opening = f"{each.title.capitalize()}: " if len(judged) > 1 else ""
        yield opening + each.risk.sentence
        if each is judged[0]:
            yield opening + each.columns.sentence
        for finding in each.inferences.values():
            yield opening + finding.sentence
        if each.undone is not None:
            yield opening + each.undone.sentence
    if joined is not None:
        yield f"Join: {joined.sentence}"


def written_figure(name: str, value: float | None) -> str:
    """A figure for people: counts whole, averages with a digit, shares in per cent."""
    if value is None:
        return "–"
    if name in _COUNTS or name.startswith("population uniques"):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if name == "average class" else f"{value:.2%}"


def _figures(judged: Sequence[Judged]) -> Shown:
    from rich.table import Table as Shown

    shown = Shown(header_style="dim", box=None, padding=(0, 1))
    shown.add_column("figure", no_wrap=True)
    for each in judged:
        shown.add_column(each.title, justify="right", no_wrap=True)
    for name, *values in figure_rows(judged):
        shown.add_row(str(name), *(written_figure(name, value) for value in values))
    return shown


def figure_rows(judged: Sequence[Judged]) -> list[list[Any]]:
    """The name of each figure, and its value for each table (None where it has none)."""
    figures = [each.risk.figures() for each in judged]
    names = dict.fromkeys(name for each in figures for name in each)
    return [[name, *(each.get(name) for each in figures)] for name in names]


def set_rows(judged: Sequence[Judged], per_size: int = _SETS_PER_SIZE) -> list[tuple[str, list[float]]]:
    """The most telling sets of columns of each size, with the share of people each singles out in each table."""
    shares = [{each.columns: each.uniques / one.columns.rows for each in one.columns.sets} for one in judged]
    rows, taken = [], dict.fromkeys(range(1, judged[0].columns.largest + 1), 0)
    for each in judged[0].columns.sets:
        if taken[len(each.columns)] < per_size:
            taken[len(each.columns)] += 1
            rows.append((", ".join(each.columns), [share[each.columns] for share in shares]))
    return rows


def _sets(judged: Sequence[Judged]) -> Shown:
    from rich.table import Table as Shown

    from ziggurat.cli.terminal import Printed as Text
    from ziggurat.cli.terminal import bar

    shown = Shown(header_style="dim", box=None, padding=(0, 1))
    shown.add_column("most telling columns", overflow="fold")
    for each in judged:
        shown.add_column("unique" if len(judged) == 1 else each.title, justify="right", no_wrap=True)
    shown.add_column("")
    for names, shares in set_rows(judged):
        shown.add_row(Text(names), *(f"{share:.2%}" for share in shares), bar(shares[0], width=20))
    return shown
