"""How an anonymised table is shown to its steward: levels, losses, risks, and never a cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.table import Table

from ziggurat.cli.terminal import Printed as Text
from ziggurat.data.free_text import say_dropped

if TYPE_CHECKING:
    from rich.console import Console

    from ziggurat.anonymize import Anonymized
    from ziggurat.attacks import RiskReport
    from ziggurat.release import AnonymizedRelease

_MOST_LABELS = 3
_TELLING = 0.01


def show(console: Console, release: AnonymizedRelease) -> None:
    """Print what was done, what attackers make of it, and what may be promised."""
    console.print(_columns(release.anonymized))
    for line in outcome(release.anonymized):
        console.print(Text(line))
    console.print()
    console.print(_risks(release.before, release.after))
    console.print()
    for line in tell_outcome(release):
        console.print(Text(line))
    style = "green" if not release.undone.columns else "yellow"
    console.print(Text(release.verdict, style))
    for finding in release.homogeneity.values():
        console.print(Text(finding.sentence))
    console.print(Text(release.sentence))


def outcome(made: Anonymized) -> Iterator[str]:
    """What was kept and lost, in sentences."""
    kept = made.rows - made.suppressed
    yield (
        f"{kept:,} of {made.rows:,} rows in {made.classes:,} classes of rows that look alike; "
        f"{made.suppressed:,} suppressed ({made.suppressed / made.rows:.2%})."
    )
    yield f"{made.metric.capitalize()} {made.score:.5g}: {_how_good(made)}"


def tell_outcome(release: AnonymizedRelease) -> Iterator[str]:
    """What was verified on the file, and which columns left as they were or not at all."""
    for each in release.verified:
        yield f"Verified on the file: {each.model} ({each.figure}: {each.measured:.5g})."
    yield f"Not in the file: {', '.join(release.dropped) or 'no column'}."
    yield from filter(None, [say_dropped(release.anonymized.free_text)])
    yield from as_they_were(release.untouched)


def as_they_were(untouched: Mapping[str, float]) -> Iterator[str]:
    """Which columns nothing was done to, and which of them single people out by themselves."""
    if not untouched:
        return
    yield f"As they were: {', '.join(untouched)}."
    telling = {name: share for name, share in untouched.items() if share > _TELLING}
    if telling:
        listed = ", ".join(f"{name} ({share:.0%})" for name, share in telling.items())
        yield f"Whoever knows one of these finds that share of the people by it alone: {listed}."


def _how_good(made: Anonymized) -> str:
    best = made.best
    if made.stopped:
        return "local recoding, stopped early: every model holds, but with more time less would be lost."
    if best is None:
        return f"{made.recoding} recoding, of which no optimum is known."
    if best.optimal:
        return f"the optimum of {best.nodes:,} generalisations."
    return f"stopped early, so this is the best so far of {best.nodes:,}, and the optimum may be {best.gap:.1%} lower."


def _columns(made: Anonymized) -> Table:
    shown = Table(header_style="dim", box=None, padding=(0, 1))
    shown.add_column("column", no_wrap=True)
    shown.add_column("level", no_wrap=True, justify="right")
    shown.add_column("what is left of it", overflow="fold")
    for ladder in made.lattice.counted.ladders:
        level, top = made.levels[ladder.column], ladder.height - 1
        labels = () if level is None else ladder.labels[level]
        shown.add_row(Text(ladder.column), _level(level, top), Text(_left(level, top, labels)))
    return shown


def _level(level: int | None, top: int) -> str:
    return "by row" if level is None else f"{level} of {top}"


def _left(level: int | None, top: int, labels: tuple[object, ...]) -> str:
    """Labels of the hierarchy; at level 0 they would be cells."""
    if level is None:
        return "as much as its row allows"
    if level == 0:
        return "as it is"
    names = [str(label) for label in labels if label is not None]
    if level == top and len(names) <= 1:
        return "nothing"
    more = f" … ({len(names)})" if len(names) > _MOST_LABELS else ""
    return ", ".join(names[:_MOST_LABELS]) + more


def _risks(before: RiskReport, after: RiskReport) -> Table:
    shown = Table(header_style="dim", box=None, padding=(0, 1))
    shown.add_column("risk of re-identification", no_wrap=True)
    for heading in ("before", "after"):
        shown.add_column(heading, justify="right", no_wrap=True)
    both = before, after
    # Somebody who knows that a person is in the table; literature calls this attacker the prosecutor.
    shown.add_row("average", *(f"{each.prosecutor.average:.2%}" for each in both))
    shown.add_row("highest", *(f"{each.prosecutor.highest:.2%}" for each in both))
    shown.add_row("people who stand alone", *(f"{each.uniques:,}" for each in both))
    shown.add_row(f"people above {before.threshold:g}", *(f"{each.prosecutor.above:.2%}" for each in both))
    return shown
