"""What a comparison found, in figures and words for a steward: shared by the terminal and the report."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ziggurat.attacks import ClosestRecords, Excess, Guesses, Share
    from ziggurat.attacks.mobility import ClosestTrajectories, FoundByPoints
    from ziggurat.attacks.sequences import ClosestSequences
    from ziggurat.findings import Finding
    from ziggurat.release import Candidates
    from ziggurat.utility import Comparison, Marginal

OVERALL = {
    "total variation of columns": "0 is alike; 0.02: two in 100 rows would have to change",
    "normalised KL": "1 is alike; 1 / (1 + KL)",
    "total variation of pairs": "the same for each two columns together",
    "pMSE ratio of pairs": "1 to 2 is what chance gives; below 3 is good, above 10 poor",
    "difference of correlations": "0 is alike",
    "interval overlap": "of means, quantiles and shares: 1 is alike, 0 is apart",
    "pMSE ratio": "about 1 if a tree cannot tell synthetic rows from real ones",
    "regression overlap": "of the intervals of coefficients: 1 is alike, 0 is apart",
}


class ColumnLine(NamedTuple):
    """A column of the original beside that of the copies."""

    name: str
    figure: str
    original: str
    synthetic: str
    total_variation: float
    normalised_kl: float
    overlap: float


class AttackLine(NamedTuple):
    """An attack: how often it is right, about whom, and what that amounts to. `bad` is None if it says little."""

    name: str
    attack: str
    control: str
    naive: str
    risk: str
    verdict: str
    bad: bool | None


def column_lines(found: Comparison) -> Iterator[ColumnLine]:
    """Return a line for each column, with its mean or the share of its most common value."""
    overlaps = found.estimates.overlaps()
    for each in found.marginals.columns:
        figure, original, synthetic = _leading(found, each)
        distances = each.total_variation.mean, each.normalised_kl.mean
        yield ColumnLine(each.column, figure, original, synthetic, *distances, overlaps.get(each.column, math.nan))


def _leading(found: Comparison, column: Marginal) -> tuple[str, str, str]:
    first = next((each for each in found.estimates.figures if each.column == column.column), None)
    if first is None:
        return "–", "–", "–"
    if first.figure != "mean":
        return "largest share", share(first.original.estimate), share(first.synthetic.estimate)
    written = _date if column.kind == "date" else figure
    return "mean", written(first.original.estimate), written(first.synthetic.estimate)


def overall_lines(found: Comparison) -> Iterator[tuple[str, str, str]]:
    """Return name, value and reading aid of each overall figure."""
    for name, value in found.overall.items():
        if name in OVERALL:
            yield name, figure(value), OVERALL[name]
    if found.transfer is not None:
        tested = found.transfer
        seen = "" if tested.unseen else "; tested on rows that the synthesiser may have seen"
        said = f"learned from real rows {tested.real:.3g}, from none {tested.baseline:.3g}{seen}"
        yield f"predicting {tested.target}, {tested.score}", figure(tested.synthetic.mean), said


def attack_lines(attacks: Mapping[str, Finding]) -> Iterator[AttackLine]:
    """Return a line for each attack, those without a control last."""
    from ziggurat.attacks import ClosestRecords, EpsilonBound, MatchRisk
    from ziggurat.attacks.mobility import ClosestTrajectories, FoundByPoints
    from ziggurat.attacks.sequences import ClosestSequences
    from ziggurat.release import ExactCopies, find_excesses, find_guesses

    for finding in attacks.values():
        excesses = find_excesses(finding)
        if isinstance(finding, ClosestRecords):
            yield from _closest(excesses["closest records"], finding)
        if isinstance(finding, ClosestSequences):
            yield from _closest_sequences(finding)
        if isinstance(finding, ClosestTrajectories):
            yield from _closest_trajectories(finding)
        if isinstance(finding, FoundByPoints):
            yield from _found_by_points(finding)
        for name, each in find_guesses(finding).items():
            if not each.attack.trials:
                yield AttackLine(name, "–", "–", "–", "–", "nothing to try", None)
                continue
            attack, control, naive = (_interval(part) for part in (each.attack, each.control, each.naive))
            yield AttackLine(name, attack, control, naive, _interval(each.risk), *_verdict(each))
        if isinstance(finding, MatchRisk):
            said = f"{finding.wrong.rate:.0%} of claims are false"
            yield AttackLine("matching records", _interval(finding.right), "–", "–", "–", said, None)
        if isinstance(finding, EpsilonBound):
            said = f"epsilon of at least {finding.lower:.2g} shown, {float(finding.claimed):.2g} promised"
            refuted = True if finding.lower > finding.claimed else None
            yield AttackLine(f"epsilon by {finding.attack}", _interval(finding.right), "–", "–", "–", said, refuted)
        if isinstance(finding, ExactCopies):
            said = "rows left as they were" if finding.partial else "rows that equal a real one"
            yield AttackLine("exact copies", _interval(finding.copies), "–", "–", "–", said, None)


def _closest(risk: Excess, finding: ClosestRecords) -> Iterator[AttackLine]:
    words = {True: "overfitted", False: "no more than chance", None: "too few rows"}
    verdict = f"{words[finding.verdict]} of {finding.synthetic_rows:,}"
    both = _interval(finding.closer), f"50.0% ± {finding.chance:.1%}"
    yield AttackLine("closest records", *both, "–", _interval(risk), verdict, finding.verdict)
    said = f"{finding.uniques_copied.hits:,} unique rows copied"
    equal = _interval(finding.copies_drawn), _interval(finding.copies_holdout)
    yield AttackLine("exact copies", *equal, "–", "–", said, None)


_WORDS = {True: "more than chance", False: "no more than chance", None: "too few"}


def _closest_sequences(finding: ClosestSequences, what: str = "sequences") -> Iterator[AttackLine]:
    close, copied = finding.closeness, finding.copying
    sides = f"{finding.closer:.1%}", f"50.0% ± {finding.chance:.1%}"
    verdict = f"{_WORDS[close.verdict]} of {finding.released:,}"
    yield AttackLine(f"closest {what}", *sides, "–", _interval(close), verdict, close.verdict)
    verdict = f"{_WORDS[copied.verdict]} of {finding.uniques.trials:,}"
    both = _interval(finding.uniques), _interval(finding.control_uniques)
    yield AttackLine(f"copied {what}", *both, "–", _interval(copied), verdict, copied.verdict)


def _closest_trajectories(finding: ClosestTrajectories) -> Iterator[AttackLine]:
    yield from _closest_sequences(finding.found, "trajectories")
    near = finding.nearness
    verdict = f"{_WORDS[near.verdict]} of {finding.nearer.trials:,}"
    yield AttackLine("nearest people", _interval(finding.nearer), "50.0%", "–", _interval(near), verdict, near.verdict)


def _found_by_points(finding: FoundByPoints) -> Iterator[AttackLine]:
    both = _interval(finding.learned), _interval(finding.control)
    verdict = f"{_WORDS[finding.verdict]} of {finding.learned.trials:,}"
    name = f"found by {finding.points} points"
    yield AttackLine(name, *both, "–", _interval(finding.risk), verdict, finding.verdict)


def _verdict(each: Guesses) -> tuple[str, bool | None]:
    from ziggurat.attacks import Difference

    of = f"of {each.attack.trials:,}"
    if each.risk.verdict is None:
        return f"too few guesses: {of.removeprefix('of ')}", None
    if each.risk.more_than_chance:
        return f"more than chance {of}", True
    if Difference(each.attack, each.naive).low <= 0:
        return f"no better than naive {of}", None
    return f"no more than chance {of}", False


def sentences(found: Candidates) -> Iterator[str]:
    """Return the verdict in sentences: of one candidate also what an analyst asks first."""
    yield found.sentence
    if len(found) == 1:
        first = found.items[0].comparison
        asked = (first.pairs, first.propensity, first.transfer, first.regression)
        yield from (each.sentence for each in asked if each is not None)


def promises(found: Candidates) -> Iterator[str]:
    """Return what is promised of the candidates, and what is not."""
    from ziggurat.synthesize import NOT_PROMISED

    for each in found.items:
        if each.promise:
            yield f"Of {each.name!r} is promised: {each.promise}."
    if any(not each.promise for each in found.items):
        named = [repr(each.name) for each in found.items if not each.promise] if len(found) > 1 else []
        yield (f"Of {', '.join(named)}: " if named else "") + NOT_PROMISED


def figure(value: float) -> str:
    """Write a number for people, with about three digits that matter."""
    if math.isnan(value):
        return "–"
    if value and not 1e-3 <= abs(value) < 1e7:
        return f"{value:.2e}"
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    return f"{value:,.{min(digits, 4)}f}"


def share(value: float) -> str:
    """Write a share in per cent."""
    return "–" if math.isnan(value) else f"{value:.1%}"


def _interval(value: Share | Excess) -> str:
    return f"{value.rate:.1%} ({value.low:.1%} to {value.high:.1%})"


def _date(days: float) -> str:
    return "–" if math.isnan(days) else (date(1970, 1, 1) + timedelta(days=round(days))).isoformat()
