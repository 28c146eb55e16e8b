"""The report of `ziggurat compare`: one HTML file with pictures, and no request to anywhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ziggurat.cli.compare import _pictures as drawn
from ziggurat.cli.compare._words import (
    AttackLine,
    attack_lines,
    column_lines,
    figure,
    overall_lines,
    promises,
    sentences,
)
from ziggurat.experiments.showing import _report as sheet
from ziggurat.release.comparing import RISK, UTILITY

if TYPE_CHECKING:
    from ziggurat.release import Candidate, Candidates
    from ziggurat.utility import ComparedRegression, Comparison, Marginal

_GRID = "display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,17.5rem),1fr));gap:1.4rem 2rem"
_NARROWER = "max-width:40rem"
_FOR_WHOM = (
    "This page holds exact figures about the original table, down to single cells of histograms. It is for those who "
    "may see that table; do not publish it."
)


def page(name: str, found: Candidates) -> str:
    """Give the report as one HTML file that needs nothing else.

    Parameters
    ----------
    name
        What the original is called.
    found
        The candidates, one or several.
    """
    parts = [_opening(name, found), _plane(found)]
    parts += [_details(each, len(found) > 1, i) for i, each in enumerate(found.items)]
    return sheet.page(f"Synthetic copies of {name}", "".join([*parts, _notes(found), _meaning(found)]))


def _opening(name: str, found: Candidates) -> str:
    apart = f", {found.held_out:,} others held out" if found.held_out else ""
    told = "".join(f"<p>{escape(text)}</p>\n" for text in sentences(found))
    return (
        f'<header>\n<p class="above">Unprotected figures, for the steward only</p>\n'
        f"<h1>Synthetic copies of {escape(name)}</h1>\n<p>{_FOR_WHOM}</p>\n"
        f'<p class="soft">Made from {found.rows:,} rows{apart}.</p>\n</header>\n'
        + (_verdict(found.items[0]) if len(found) == 1 else _verdicts(found))
        + told
    )


def _verdict(each: Candidate) -> str:
    if each.risk is None or each.risk_ends is None:
        kind, words, risk = "", "The risk was not measured", ""
    else:
        kind = "bad" if each.caught else "good"
        words = f"{_caught(each)} attacks learn more than chance about people in the original"
        words = words if each.caught else "No attack learned more than chance explains"
        risk = f"<span>risk {each.risk:.1%} ({each.risk_ends[0]:.1%} to {each.risk_ends[1]:.1%})</span>"
    return f'<div class="verdict {kind}"><strong>{words}</strong><span>utility {each.utility:.3f}</span>{risk}</div>\n'


def _caught(each: Candidate) -> str:
    return f"{len(each.caught)} of {len(each.excesses)}"


def _verdicts(found: Candidates) -> str:
    if not found.frontier:
        return '<div class="verdict"><strong>The risk was not measured</strong></div>\n'
    names = ", ".join(escape(each.name) for each in found.frontier)
    return f'<div class="verdict"><strong>Beaten by no other: {names}</strong><span>of {len(found)}</span></div>\n'


def _plane(found: Candidates) -> str:
    if all(each.risk is None for each in found.items):
        return ""
    said = f"Plane of utility and risk. {found.sentence}"
    table = _candidates(found) if len(found) > 1 else ""
    filled = " Filled points are beaten by no other." if len(found) > 1 else ""
    return (
        "<h2>Risk and utility</h2>\n"
        + _figure(drawn.plane_picture(found), said, style=_NARROWER)
        + f'<p class="soft">Utility: {UTILITY}. Risk: {RISK}. Bars: over the copies, and the 95% interval of the worst '
        f"attack by itself.{filled}</p>\n" + table
    )


def _candidates(found: Candidates) -> str:
    heads = [
        ("candidate", ""),
        ("utility", "number"),
        ("risk", "number"),
        ("by", ""),
        ("pMSE ratio of pairs", "number"),
    ]
    heads += [("beyond chance", "number"), ("seconds", "number"), ("", "")]
    rows = []
    for each in found.items:
        overall, ends = each.comparison.overall, each.risk_ends
        rows.append(
            [
                escape(each.name),
                f"{each.utility:.3f}",
                "–" if ends is None else _stacked(f"{each.risk:.1%} ({ends[0]:.1%} to {ends[1]:.1%})"),
                "" if each.worst is None else escape(each.worst[0]),
                figure(overall["pMSE ratio of pairs"]),
                _caught(each),
                "–" if each.seconds is None else f"{each.seconds:.1f}",
                '<span class="mark good">unbeaten</span>' if each in found.frontier else "",
            ]
        )
    return sheet.laid_out(heads, rows)


def _details(each: Candidate, several: bool, place: int) -> str:
    found = each.comparison
    parts = [_attacks(each), _overall(found), _columns(found), _distributions(found)]
    parts += [_heat_maps(found), _regression(found.regression, f"regression{place}-")]
    if found.notes:
        parts.append("".join(f'<p class="soft">{escape(note)}</p>\n' for note in found.notes))
    body = "".join(parts)
    if not several:
        return body
    opened = " open" if place == 0 else ""
    inner = body.replace("<h2>", "<h3>").replace("</h2>", "</h3>")
    told = f"<h2>{escape(each.name)}</h2>\n<p>{escape(each.sentence)}</p>\n"
    return f"{told}<details{opened}>\n<summary>Everything about it</summary>\n{inner}</details>\n"


def _attacks(each: Candidate) -> str:
    lines = list(attack_lines(each.attacks))
    if not lines:
        return ""
    heads = [("attack", "wide"), ("original", "number"), ("control", "number")]
    heads += [("naive guess", "number"), ("risk", "number"), ("", "")]
    rows = [[escape(line.name), *(_stacked(cell) for cell in line[1:5]), _mark(line)] for line in lines]
    told = "".join(f"<p>{escape(finding.sentence)}</p>\n" for finding in each.attacks.values())
    return (
        "<h2>Attacks</h2>\n"
        + sheet.laid_out(heads, rows)
        + '<p class="soft">How often an attack is right about rows of the original, about rows of the control and by a '
        "naive guess; the risk is what it learns beyond the control. The control are rows that the copies were not "
        "made from: what attackers learn about them follows from the world, not from having been in the table. Below "
        "each share its 95% interval, which takes guesses for independent. The verdict does not: it is a test by which "
        "an attack on copies that know nothing of the original seems to learn more than chance once in forty times at "
        "most. With fewer than 30 guesses there is none.</p>\n"
        f"<details>\n<summary>In sentences</summary>\n{told}</details>\n"
    )


def _stacked(cell: str) -> str:
    """A share, and its interval below it."""
    share, bracket, interval = cell.partition(" (")
    return f'{share}<br><span class="soft">{interval.rstrip(")")}</span>' if bracket else cell


def _mark(line: AttackLine) -> str:
    if line.bad is None:
        return f'<span class="soft">{escape(line.verdict)}</span>'
    kind, sign = ("bad", "✗") if line.bad else ("good", "✓")
    return f'<span class="mark {kind}">{sign} {escape(line.verdict)}</span>'


def _overall(found: Comparison) -> str:
    rows = [
        [escape(name), value, f'<span class="soft">{escape(words)}</span>']
        for name, value, words in overall_lines(found)
    ]
    return "<h2>Overall</h2>\n" + sheet.laid_out(
        [("figure", ""), ("value", "number"), ("how to read it", "wide")], rows
    )


def _columns(found: Comparison) -> str:
    heads = [("column", ""), ("", ""), ("original", "number"), ("synthetic", "number"), ("total variation", "number")]
    heads += [("normalised KL", "number"), ("interval overlap", "number")]
    rows = [
        [
            escape(each.name),
            f'<span class="soft">{each.figure}</span>',
            each.original,
            each.synthetic,
            f"{each.total_variation:.3f}",
            f"{each.normalised_kl:.3f}",
            figure(each.overlap),
        ]
        for each in column_lines(found)
    ]
    combined = f"{found.estimates.confidence:.0%} intervals, copies combined by the rule “{found.estimates.combining}”."
    told = f"<p>{escape(found.marginals.sentence)} {escape(found.estimates.sentence)}</p>\n"
    return f'<h2>Columns</h2>\n{told}{sheet.laid_out(heads, rows)}<p class="soft">{combined}</p>\n'


def _distributions(found: Comparison) -> str:
    swatch = '<span style="color:{}">■</span> {}'
    key = " &nbsp; ".join(
        swatch.format(*each) for each in ((drawn.ORIGINAL, "original"), (drawn.SYNTHETIC, "synthetic"))
    )
    pictures = "".join(_distribution(each) for each in found.marginals.columns)
    return (
        f"<h2>Distributions side by side</h2>\n<p>{key}</p>\n"
        f'<div style="{_GRID}">\n{pictures}</div>\n'
        '<p class="soft">Numbers: the areas are shares of rows; the outermost bars are drawn narrower where they would '
        "fill the picture. Percentages are the original's.</p>\n"
    )


def _distribution(each: Marginal) -> str:
    absent = ""
    if each.missing or each.synthetic_missing.mean > 0:
        absent = f" · missing {each.missing:.1%} | {each.synthetic_missing.mean:.1%}"
    words = f"distance {each.total_variation.mean:.3f}{absent}"
    said = f"Distribution of {each.column}: {words}."
    small = f'<span class="soft" style="font-size:.85rem">{words}</span>'
    title = f"<figcaption><b>{escape(each.column)}</b><br>{small}</figcaption>"
    return _figure(drawn.distribution(each), said, title, "margin:0;max-width:24rem;overflow-wrap:anywhere")


def _heat_maps(found: Comparison) -> str:
    if len(found.pairs.columns) < 2:
        return ""
    strength = drawn.heat_map(found.correlations.columns, found.correlations.difference, signed=True, least=0.1)
    shares = drawn.heat_map(found.pairs.columns, found.pairs.total_variation, signed=False, least=0.05)
    return (
        "<h2>Difference of correlations</h2>\n"
        f"<p>Blue where two columns go together less in the copies than in the original, orange where more. "
        f"{escape(found.correlations.sentence)}</p>\n"
        + _wide(strength, f"Heat map of differences of correlations. {found.correlations.sentence}")
        + "<h2>Distance of pairs of columns</h2>\n<p>The total variation of the table of each two columns: the share "
        "of rows that would have to change.</p>\n"
        + _wide(shares, f"Heat map of the total variation of pairs. {found.pairs.sentence}")
    )


def _wide(picture: str, said: str) -> str:
    return f'<div class="scroll">{_figure(picture, said)}</div>\n'


def _figure(picture: str, said: str, caption: str = "", style: str = "") -> str:
    how = f' style="{style}"' if style else ""
    return f'<figure role="img" aria-label="{escape(said, quote=True)}"{how}>\n{caption}{picture}\n</figure>\n'


def _regression(found: ComparedRegression | None, prefix: str) -> str:
    if found is None:
        return ""
    heads = [("coefficient", ""), ("original", "number"), ("synthetic", "number"), ("overlap", "number")]
    rows = [
        [
            escape(each.name),
            *(
                f"{figure(part.estimate)} ({figure(part.low)} to {figure(part.high)})"
                for part in (each.original, each.synthetic)
            ),
            figure(each.overlap),
        ]
        for each in found.coefficients
    ]
    return (
        f"<h2>Regression</h2>\n<p>{escape(found.sentence)}</p>\n"
        + _figure(drawn.whiskers(found, prefix), f"Coefficients with intervals. {found.sentence}", style=_NARROWER)
        + sheet.laid_out(heads, rows)
    )


def _notes(found: Candidates) -> str:
    told = "".join(f"<p>{escape(note)}</p>\n" for note in found.notes)
    return f"<h2>Notes</h2>\n{told}" if told else ""


def _meaning(found: Candidates) -> str:
    told = "".join(f"<p>{escape(text)}</p>\n" for text in promises(found))
    return (
        f"<h2>What is not promised</h2>\n{told}<p>An attack that fails shows no safety: others, who know more or try "
        "harder, may succeed. Utility is measured by the figures above and no others; an analysis that is not among "
        "them may come out differently.</p>\n"
    )
