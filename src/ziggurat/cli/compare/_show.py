"""How a comparison is shown in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ziggurat.cli.compare._words import attack_lines, column_lines, figure, overall_lines, promises

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from ziggurat.findings import Finding
    from ziggurat.release import Candidate, Candidates

_COLOURS = {True: "red", False: "green", None: "yellow"}


def show(found: Candidates) -> None:
    """Print tables and sentences: of one candidate everything, of several what places them in the plane."""
    from rich.console import Console

    from ziggurat.cli.terminal import Printed as Text

    console = Console()
    if len(found) > 1:
        console.print(_plane(found))
    for each in found.items if len(found) == 1 else ():
        console.print(_columns(each))
        console.print(_overall(each))
        if each.attacks:
            console.print(attack_table(each.attacks))
    for text in (found.sentence, *found.notes, *promises(found)):
        console.print(Text(text))


def _table(*heads: str, left: Sequence[int] = (0,), whole: Sequence[int] = (0,)) -> Table:
    from rich.table import Table

    made = Table(header_style="dim", box=None, padding=(0, 1))
    for place, head in enumerate(heads):
        made.add_column(head, justify="left" if place in left else "right", no_wrap=place in whole)
    return made


def _columns(candidate: Candidate) -> Table:
    from ziggurat.cli.terminal import Printed as Text

    made = _table("column", "", "original", "synthetic", "distance", "KL, 0 to 1", "overlap", left=(0, 1))
    for each in column_lines(candidate.comparison):
        numbers = (f"{each.total_variation:.3f}", f"{each.normalised_kl:.3f}", figure(each.overlap))
        made.add_row(Text(each.name), each.figure, each.original, each.synthetic, *numbers)
    return made


def _overall(candidate: Candidate) -> Table:
    from ziggurat.cli.terminal import Printed as Text

    made = _table("overall", "", "", left=(0, 2))
    for name, value, words in overall_lines(candidate.comparison):
        made.add_row(Text(name), value, Text(words, style="dim"))
    return made


def attack_table(attacks: Mapping[str, Finding]) -> Table:
    """Return a line for every attack: how often it is right about rows of the original, and about others."""
    from ziggurat.cli.terminal import Printed as Text

    made = _table("attack", "original", "control", "naive", "risk", "", left=(0, 5), whole=(1, 2, 3, 4))
    for each in attack_lines(attacks):
        verdict = Text(each.verdict, style=_COLOURS[each.bad])
        shares = (cell.replace(" ±", " (").partition(" (")[0] for cell in (each.attack, each.control, each.naive))
        made.add_row(Text(each.name), *shares, each.risk, verdict)
    return made


def _plane(found: Candidates) -> Table:
    from ziggurat.cli.terminal import Printed as Text

    made = _table("candidate", "utility", "risk", "by", "pMSE", "seconds", "", left=(0, 3, 6), whole=(0, 2))
    for each in found.items:
        risk = "–" if each.risk is None or each.risk_ends is None else f"{each.risk:.1%} ({_ends(each.risk_ends)})"
        ratio = figure(each.comparison.overall["pMSE ratio of pairs"])
        time = "–" if each.seconds is None else f"{each.seconds:.1f}"
        mark = "✓" if each in found.frontier else ""
        by = "" if each.worst is None else each.worst[0]
        made.add_row(Text(each.name), f"{each.utility:.3f}", risk, Text(by), ratio, time, mark)
    return made


def _ends(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.1%} to {ends[1]:.1%}"
