"""The report of `ziggurat compare`: one HTML file with pictures, and no request to anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ziggurat.cli.compare import _pictures as pictures
from ziggurat.cli.compare._words import (
    AttackLine,
    attack_lines,
    column_lines,
    figure,
    overall_lines,
    promises,
    sentences,
)
from ziggurat.pages import Grid, Picture, TableCell, render
from ziggurat.release.comparing import RISK, UTILITY

if TYPE_CHECKING:
    from ziggurat.release import Candidate, Candidates
    from ziggurat.utility import ComparedRegression, Comparison, Marginal


def page(name: str, found: Candidates) -> str:
    """Give the report as one HTML file that needs nothing else.

    Parameters
    ----------
    name
        What the original is called.
    found
        The candidates, one or several.
    """
    apart = f", {found.held_out:,} others held out" if found.held_out else ""
    return render(
        "cli/compare/page.html",
        title=f"Synthetic copies of {name}",
        made_from=f"{found.rows:,} rows{apart}",
        verdict=_verdict(found.items[0]) if len(found) == 1 else _verdicts(found),
        sentences=list(sentences(found)),
        plane=None if all(each.risk is None for each in found.items) else _plane(found),
        several=len(found) > 1,
        utility=UTILITY,
        risk=RISK,
        ranked=_candidates(found),
        candidates=[_details(each, place) for place, each in enumerate(found.items)],
        notes=found.notes,
        promises=list(promises(found)),
    )


def _verdict(each: Candidate) -> tuple[str, str, list[str]]:
    """How it looks, what it says, and what else."""
    utility = f"utility {each.utility:.3f}"
    if each.risk is None or each.risk_ends is None:
        return "", "The risk was not measured", [utility]
    risk = f"risk {each.risk:.1%} ({each.risk_ends[0]:.1%} to {each.risk_ends[1]:.1%})"
    if each.caught:
        return "bad", f"{_caught(each)} attacks learn more than chance about people in the original", [utility, risk]
    return "good", "No attack learned more than chance explains", [utility, risk]


def _caught(each: Candidate) -> str:
    return f"{len(each.caught)} of {len(each.excesses)}"


def _verdicts(found: Candidates) -> tuple[str, str, list[str]]:
    if not found.frontier:
        return "", "The risk was not measured", []
    names = ", ".join(each.name for each in found.frontier)
    return "", f"Beaten by no other: {names}", [f"of {len(found)}"]


def _plane(found: Candidates) -> Picture:
    return Picture(pictures.plane(found), f"Plane of utility and risk. {found.sentence}")


def _candidates(found: Candidates) -> Grid:
    heads = [
        ("candidate", ""),
        ("utility", "number"),
        ("risk", "number"),
        ("by", ""),
        ("pMSE ratio of pairs", "number"),
    ]
    heads += [("beyond chance", "number"), ("seconds", "number"), ("", "")]
    rows = [
        [
            each.name,
            f"{each.utility:.3f}",
            "–"
            if each.risk_ends is None
            else TableCell(f"{each.risk:.1%}", "{:.1%} to {:.1%}".format(*each.risk_ends)),
            "" if each.worst is None else each.worst[0],
            figure(each.comparison.overall["pMSE ratio of pairs"]),
            _caught(each),
            "–" if each.seconds is None else f"{each.seconds:.1f}",
            TableCell("unbeaten", look="good") if each in found.frontier else "",
        ]
        for each in found.items
    ]
    return Grid("Candidates", heads, rows)


def _details(each: Candidate, place: int) -> dict[str, Any]:
    """All that the template shows of one candidate."""
    found = each.comparison
    return {
        "name": each.name,
        "sentence": each.sentence,
        "attacks": _attacks(each),
        "attack_sentences": [finding.sentence for finding in each.attacks.values()],
        "overall": _overall(found),
        "columns": _columns(found),
        "columns_sentence": f"{found.marginals.sentence} {found.estimates.sentence}",
        "combined": f"{found.estimates.confidence:.0%} intervals, copies combined by the rule "
        f"“{found.estimates.combining}”.",
        "distributions": [_distribution(each) for each in found.marginals.columns],
        **_heat_maps(found),
        **_regression(found.regression, f"regression{place}-"),
        "notes": found.notes,
    }


def _attacks(each: Candidate) -> Grid:
    heads = [("attack", "wide"), ("original", "number"), ("control", "number")]
    heads += [("naive guess", "number"), ("risk", "number"), ("", "wide")]
    rows: list[list[str | TableCell]] = [
        [line.name, *map(_stack, line[1:5]), _mark(line)] for line in attack_lines(each.attacks)
    ]
    return Grid("Attacks", heads, rows)


def _stack(cell: str) -> TableCell:
    """A share, and its interval below it."""
    share, _, interval = cell.partition(" (")
    return TableCell(share, interval.rstrip(")"))


def _mark(line: AttackLine) -> TableCell:
    if line.bad is None:
        return TableCell(line.verdict, look="soft")
    return TableCell(f"✗ {line.verdict}", look="bad") if line.bad else TableCell(f"✓ {line.verdict}", look="good")


def _overall(found: Comparison) -> Grid:
    rows: list[list[str | TableCell]] = [
        [name, value, TableCell(words, look="soft")] for name, value, words in overall_lines(found)
    ]
    return Grid("Overall", [("figure", ""), ("value", "number"), ("how to read it", "wide")], rows)


def _columns(found: Comparison) -> Grid:
    heads = [("column", ""), ("", ""), ("original", "number"), ("synthetic", "number"), ("total variation", "number")]
    heads += [("normalised KL", "number"), ("interval overlap", "number")]
    rows: list[list[str | TableCell]] = [
        [
            each.name,
            TableCell(each.figure, look="soft"),
            each.original,
            each.synthetic,
            f"{each.total_variation:.3f}",
            f"{each.normalised_kl:.3f}",
            figure(each.overlap),
        ]
        for each in column_lines(found)
    ]
    return Grid("Columns", heads, rows)


def _distribution(each: Marginal) -> Picture:
    absent = ""
    if each.missing or each.synthetic_missing.mean > 0:
        absent = f" · missing {each.missing:.1%} | {each.synthetic_missing.mean:.1%}"
    words = f"distance {each.total_variation.mean:.3f}{absent}"
    said = f"Distribution of {each.column}: {words}."
    return Picture(pictures.distribution(each), said, each.column, words, "small")


def _heat_maps(found: Comparison) -> dict[str, Any]:
    if len(found.pairs.columns) < 2:
        return {"correlations": None}
    strength = pictures.heat_map(found.correlations.columns, found.correlations.difference, signed=True, least=0.1)
    shares = pictures.heat_map(found.pairs.columns, found.pairs.total_variation, signed=False, least=0.05)
    told = found.correlations.sentence
    return {
        "correlations": Picture(strength, f"Heat map of differences of correlations. {told}", size="fixed"),
        "correlations_sentence": told,
        "pairs": Picture(shares, f"Heat map of the total variation of pairs. {found.pairs.sentence}", size="fixed"),
    }


def _regression(found: ComparedRegression | None, prefix: str) -> dict[str, Any]:
    if found is None:
        return {"coefficients": None}
    heads = [("coefficient", ""), ("original", "number"), ("synthetic", "number"), ("overlap", "number")]
    rows = [
        [
            each.name,
            *(
                f"{figure(part.estimate)} ({figure(part.low)} to {figure(part.high)})"
                for part in (each.original, each.synthetic)
            ),
            figure(each.overlap),
        ]
        for each in found.coefficients
    ]
    return {
        "coefficients": Grid("ComparedRegression", heads, rows),
        "regression_sentence": found.sentence,
        "whiskers": Picture(pictures.whiskers(found, prefix), f"Coefficients with intervals. {found.sentence}"),
    }
