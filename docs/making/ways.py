"""Draws the ways of a question, a table and a label through the house: `python docs/making/ways.py`.

Each stage of the one way out is a terrace; on it stand the modules that do the work for each of the three. A test holds
that these modules exist and that the picture is what is drawn here.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

PICTURE = Path(__file__).parents[1] / "pictures/ways.svg"
INK, PALE, SEEN = "#1F2933", "#5F6B7A", "#B45309"
TOP, LEFT, WIDTH, LINE, GAP = 92, 176, 308, 17, 12


class Box(NamedTuple):
    """What happens, the modules that do it, and whether rows about people are read."""

    words: str
    modules: tuple[str, ...] = ()
    reads: bool = False


class Stage(NamedTuple):
    """A terrace: its name, a box for all three, or one for each of question, table and label."""

    name: str
    boxes: tuple[Box, ...]


HEADS = ("a question", "a table", "labels")
ASKED = ("How many smokers, by diagnosis?", "5-anonymous, please", "What do the teachers say?")
STAGES = (
    Stage(
        "a door",
        (
            Box("ziggurat ask, or a Session", ("cli.ask._command", "release.questions._session")),
            Box("ziggurat anonymize", ("cli.anonymize._command", "cli.anonymize._options")),
            Box("ziggurat pate label, or a Labelling", ("cli.pate._command", "release.labels._labelling")),
        ),
    ),
    Stage(
        "what is public",
        (
            Box("the schema; the file stays shut", ("data.schema._schema", "data.reading._later")),
            Box("the schema, and hierarchies", ("data.schema._schema", "anonymize.hierarchies._propose")),
            Box("how teachers were dealt their people", ("pate.teachers._partition", "pate.teachers._manifest")),
        ),
    ),
    Stage(
        "understood",
        (
            Box("SQL as a question, or refused", ("queries.language._select", "queries._question")),
            Box("models, metric, columns", ("anonymize.generalizing._asking", "anonymize.generalizing._models")),
            Box("queries and an aggregator", ("release.labels._described", "pate.voting._aggregators")),
        ),
    ),
    Stage(
        "prepared",
        (
            Box("nothing"),
            Box(
                "one grouped count, a search",
                ("anonymize.generalizing._combinations", "anonymize.generalizing._search"),
                reads=True,
            ),
            Box("teachers, trained long before", ("pate.teachers._teachers", "pate.training._ensemble"), reads=True),
        ),
    ),
    Stage(
        "planned",
        (
            Box("an event, from public facts alone", ("queries.answering._plan", "privacy.accounting._events")),
            Box("no event: nothing bounds it", ("release.tables._anonymized",)),
            Box("an event, before any vote", ("pate.voting._noisy_max", "privacy.accounting._events")),
        ),
    ),
    Stage(
        "the purse",
        (Box("the only code that prices, pays, runs, writes down and lets go", ("release._plan", "release._purse")),),
    ),
    Stage(
        "ready",
        (
            Box("the file, checked whole", ("data.reading._read", "data.engines.texts._scan"), reads=True),
            Box("it is"),
            Box("the queries, checked", ("pate.training._rows",)),
        ),
    ),
    Stage(
        "reserved",
        (
            Box("the cost is on disk", ("ledger._ledger", "privacy.accounting._filters")),
            Box("nobody can pay for it"),
            Box("the cost is on disk", ("ledger._ledger", "privacy.accounting._filters")),
        ),
    ),
    Stage(
        "run once",
        (
            Box(
                "the engine bounds and adds up",
                ("queries.answering._execution", "queries.answering._bounding", "data.engines._duckdb"),
                reads=True,
            ),
            Box(
                "labels joined, the file read back, verified",
                ("anonymize.generalizing._published", "release.tables._inspected", "attacks.tables._verified"),
                reads=True,
            ),
            Box(
                "teachers vote", ("pate.teachers._teachers", "pate.training._answers", "pate.voting._votes"), reads=True
            ),
        ),
    ),
    Stage(
        "noise",
        (
            Box("integers only, exactly the stated law", ("mechanisms._laplace", "randomness._samplers")),
            Box("none"),
            Box("on the votes; the largest wins", ("pate.voting._noisy_max", "randomness._samplers")),
        ),
    ),
    Stage(
        "committed",
        (
            Box("the answer, to be given again for free", ("ledger._spend", "ledger._chain")),
            Box("not yet"),
            Box("the labels, to be given again for free", ("ledger._spend", "ledger._chain")),
        ),
    ),
    Stage(
        "judged",
        (
            Box(
                "attacks look for people in what is about to leave; a gate may stop it",
                ("release._evidence", "release._gate"),
            ),
        ),
    ),
    Stage(
        "remembered",
        (
            Box("it is"),
            Box("as unbounded, for ever", ("ledger._journal", "ledger._chain")),
            Box("it is"),
        ),
    ),
    Stage(
        "out",
        (
            Box(
                "certificate for everybody, evidence for the steward, signed",
                ("release._release", "release._certificate", "release.bundle._writing"),
            ),
        ),
    ),
)


def height(stage: Stage) -> int:
    """How much room a terrace needs."""
    lines = 2 if len(stage.boxes) == 1 else 1 + max(len(box.modules) for box in stage.boxes)
    return lines * LINE + 14


def text(x: float, y: float, words: str, look: str) -> str:
    """Write a line."""
    return f'<text x="{x:g}" y="{y:g}" class="{look}">{escape(words)}</text>'


def draw_box(box: Box, x: float, y: float, width: float, tall: float, together: bool) -> list[str]:
    """Draw one box: words above, modules below."""
    look = "wide" if together else "reads" if box.reads else "box" if box.modules else "empty"
    lines = [f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{tall:g}" rx="6" class="{look}"/>']
    lines.append(text(x + 12, y + 20, box.words, "words"))
    shown = ["   ".join(box.modules)] if together else list(box.modules)
    return lines + [text(x + 12, y + 20 + LINE * (i + 1), name, "module") for i, name in enumerate(shown)]


def draw() -> str:
    """Draw the whole picture."""
    body, y = [], TOP
    full = 3 * WIDTH + 2 * GAP
    for i, (head, asked) in enumerate(zip(HEADS, ASKED, strict=True)):
        x = LEFT + i * (WIDTH + GAP)
        body += [text(x + 12, 44, head, "head"), text(x + 12, 66, asked, "asked")]
    for stage in STAGES:
        tall = height(stage)
        body.append(text(LEFT - 14, y + 20, stage.name, "stage"))
        together = len(stage.boxes) == 1
        for i, box in enumerate(stage.boxes):
            x = LEFT + i * (WIDTH + GAP)
            body += draw_box(box, x, y, full if together else WIDTH, tall, together)
        y += tall + GAP
    body.append(f'<rect x="{LEFT:g}" y="{y + 4:g}" width="14" height="14" rx="3" class="reads"/>')
    body.append(text(LEFT + 22, y + 15, "rows about people are read", "asked"))
    wide, high = LEFT + full + 20, y + 34
    style = (
        f"text{{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:13px;fill:{INK}}}"
        f".head{{font-size:19px;font-weight:600}}.asked{{fill:{PALE}}}.stage{{text-anchor:end;font-weight:600}}"
        ".module{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:12px;fill:#1D4ED8;"
        "white-space:pre}"
        ".box{fill:#F1F5F9;stroke:#CBD5E1}.empty{fill:none;stroke:#CBD5E1;stroke-dasharray:4 4}"
        f".wide{{fill:#E0E7FF;stroke:#A5B4FC}}.reads{{fill:#FEF3C7;stroke:{SEEN}}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img">\n'
        "<title>The way of a question, a table and labels through the house</title>\n"
        f'<style>{style}</style>\n<rect width="{wide}" height="{high}" fill="#FFFFFF"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def name_modules() -> list[str]:
    """List the modules that stand in the picture."""
    return sorted({name for stage in STAGES for box in stage.boxes for name in box.modules})


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
