"""The page of `ziggurat attack`: one HTML file with pictures, and no request to anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ziggurat.cli.attack._command import NO_SPLIT, AttackedCase, listed_attacks, tell_skipped, tell_verdict
from ziggurat.cli.attack._pictures import draw_copy, draw_pictures
from ziggurat.pages import Grid, TableCell, render
from ziggurat.privacy import in_words

if TYPE_CHECKING:
    from ziggurat.findings import Finding

_MOST_ROWS = 8
_TITLES = {"inspection": "Rows that the model holds", "extraction": "How the model is copied"}


def page(found: AttackedCase) -> str:
    """Give the report as one HTML file that needs nothing else."""
    report = found.membership
    return render(
        "cli/attack/page.html",
        title=f"Attacks on {found.name}",
        asked=f"Asked about {report.members:,} people it was trained on and {report.others:,} it was not.",
        learned=found.learned,
        verdict=_verdict(found),
        pictures=draw_pictures(found),
        attacks=_attacks(found),
        judged=_judged(found),
        told=[why for name, why in found.verdict.no_verdict.items() if "promised" in name],
        findings=list(_findings(found)),
        copied=draw_copy(found),
        skipped=tell_skipped(found),
        split=report.random_split,
        no_split=NO_SPLIT,
    )


def _verdict(found: AttackedCase) -> tuple[str, str, list[str]]:
    """How it looks, what it says, and what else."""
    look = "bad" if found.verdict.stopped else "good" if found.verdict.passed else ""
    more = [found.told] if found.told else []
    bound = found.membership.bound
    if bound is not None:
        more.append(f"promised epsilon {in_words(bound.claimed)}, shown at least {bound.lower:.3g}")
    return look, tell_verdict(found), more


def _attacks(found: AttackedCase) -> Grid:
    heads = [("attack", "wide"), ("area", "number"), ("named at 1%", "number"), ("named at 0.1%", "number")]
    heads += [("accuracy", "number"), ("chance", "number")]
    return Grid("Attacks on membership, with 95% intervals", heads, [_row(*each) for each in listed_attacks(found)])


def _row(name: str, each: Any) -> list[str | TableCell]:
    readings = {float(reading.at): str(reading) for reading in each.readings}
    luck = f"{min(each.even.chance, each.surest.chance):.2g}" if each.random_split else "–"
    named = [readings.get(at, "–") for at in (0.01, 0.001)]
    return [TableCell(name, f"by {each.attack}"), str(each.area), *named, f"{each.accuracy:.1%}", luck]


def _judged(found: AttackedCase) -> Grid:
    heads = [("figure", "wide"), ("found", "number"), ("threshold", "number"), ("chance", "number"), ("", "")]
    rows: list[list[str | TableCell]] = []
    stopped = found.verdict.stopped
    for each in (*stopped, *found.verdict.passed):
        mark = TableCell("stops it", look="bad") if each in stopped else TableCell("passes", look="good")
        chance = "–" if each.chance is None else f"{each.chance:.2g}"
        named = TableCell(each.attack, each.means)
        rows.append([named, f"{each.figure:.3g}", in_words(each.threshold), chance, mark])
    return Grid("What the gate judges", heads, rows)


def _findings(found: AttackedCase) -> Iterator[tuple[str, str, Grid | None]]:
    for name, each in found.others.items():
        yield _TITLES.get(name, name.capitalize()), each.sentence, _grid(name, each)


def _grid(name: str, finding: Finding) -> Grid | None:
    table = finding.table
    if not table.num_rows:
        return None
    texts = [str(kind) == "string" for kind in table.schema.types]
    heads = [
        (each.replace("_", " "), "wide" if text else "number")
        for each, text in zip(table.column_names, texts, strict=True)
    ]
    rows = [[_cell(value) for value in row.values()] for row in table.slice(0, _MOST_ROWS).to_pylist()]
    left = table.num_rows - len(rows)
    return Grid(_TITLES.get(name, name), heads, rows, f"{left:,} more are not shown." if left > 0 else "")


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
