"""The tour: the whole idea in a minute, on invented patients."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text
from sqlglot import exp

from ziggurat.cli._options import rehearsal_source
from ziggurat.cli._outputs import check_file
from ziggurat.cli.terminal import bar, budget_bars, error_bar, schema_table
from ziggurat.data import Table, read
from ziggurat.data.expressions import reference
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.errors import BudgetExceededError, QuestionError
from ziggurat.files import check_output, write_text
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Neighbours, in_words
from ziggurat.randomness import Source
from ziggurat.release import Session

_NAME, _ANALYST, _BUDGET = "clinic", "ana", "1"
_SMOKERS = "SELECT COUNT(DISTINCT patient_id) AS smokers FROM clinic WHERE smoker"
_DIAGNOSES = (
    "SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients FROM clinic GROUP BY diagnosis ORDER BY patients DESC"
)
_DEAREST = "SELECT MAX(cost) FROM clinic"


@dataclass
class _Stage:
    """What the scenes of the tour share."""

    console: Console
    table: Table
    ledger: Ledger
    path: Path
    source: Source
    neighbours: Neighbours

    @property
    def session(self) -> Session:
        """The analyst at the table."""
        return Session(self.ledger, _ANALYST, {_NAME: self.table}, source=None if self.source.secure else self.source)

    def heading(self, title: str) -> None:
        """Open a scene."""
        self.console.print()
        self.console.print(Rule(f"[bold]{title}", align="left", style="blue"))


def run_tour(rows: int, *, picture: str = "", force: bool = False, rehearse: str = "", keep: str = "") -> None:
    """Run every scene of the tour, and save what was seen if asked to."""
    check_file(picture, (".svg",), force=force)
    if keep:
        check_output(keep)
    console = Console(record=bool(picture), width=110 if picture else None, highlight=False)
    with _set_up(console, rows, rehearse, keep) as stage:
        _meet_the_table(stage, rows)
        _grant_a_budget(stage)
        _ask_a_count(stage)
        _ask_again(stage)
        _ask_a_histogram(stage)
        _ask_too_much(stage)
        _check_the_ledger(stage)
        _say_goodbye(stage, keep)
    if picture:
        _save(console, picture)


@contextmanager
def _set_up(console: Console, rows: int, rehearse: str, keep: str) -> Iterator[_Stage]:
    with tempfile.TemporaryDirectory(prefix="ziggurat-tour-") as folder:
        source = rehearsal_source(rehearse)
        with console.status("Inventing patients and preparing the noise (the first run compiles it) …"):
            schema = clinic_patients_schema()
            table = read(clinic_patients(rows), schema)
            Laplace.calibrated(1, values="integers").release(0, source)
        path = Path(keep or Path(folder) / "ledger.db")
        with Ledger.open(path, throwaway=not keep) as ledger:
            yield _Stage(console, table, ledger, path, source, Neighbours(table.unit))


def _meet_the_table(stage: _Stage, rows: int) -> None:
    stage.heading(f"1. A table about people: {rows:,} invented clinic patients")
    stage.console.print(schema_table(stage.table.declared))
    stage.console.print(
        "The steward declares what is publicly known. Bounds and categories marked public may be used freely; "
        "anything learned from the data would have to be paid for."
    )


def _grant_a_budget(stage: _Stage) -> None:
    stage.heading("2. A budget, and a grant to an analyst")
    stage.ledger.create_budget(_NAME, "2", neighbours=stage.neighbours)
    stage.ledger.grant(_NAME, _ANALYST, _BUDGET)
    for sentence in stage.ledger.statement(_NAME).sentences():
        stage.console.print(sentence)
    grid = Grid(header_style="dim", box=None, padding=(0, 2), title="What would a count cost?", title_justify="left")
    for heading in ("epsilon", "95% error", "", "one patient changes the odds by at most"):
        grid.add_column(heading)
    for epsilon in ("0.01", "0.1", "0.3", "1"):
        (quoted,) = stage.session.quote(_SMOKERS, epsilon).questions
        half = quoted.parts[0].half_width or 0.0
        grid.add_row(
            epsilon, f"± {half:,.0f} patients", bar(half / 300, 20, "yellow"), f"{np.exp(float(epsilon)):.2f} times"
        )
    stage.console.print(grid)


def _ask_a_count(stage: _Stage) -> None:
    stage.heading("3. How many patients smoke?")
    stage.console.print(Text(f"  {_SMOKERS}", style="cyan"))
    stage.console.print(f"Quote: {stage.session.quote(_SMOKERS, '0.3').sentence}")
    answer = stage.session.ask(_SMOKERS, "0.3")
    low, high = answer.interval
    truth = stage.table.query(_true_smokers(stage)).to_pylist()[0]["n"]
    stage.console.print(
        f"[bold cyan]{answer.value:,}[/] patients smoke (between {low:,} and {high:,}, 95% confidence)."
    )
    stage.console.print(f"[dim]The patients are invented, so you may see the truth for once: {truth:,}.[/]")
    stage.console.print(f"The promise: {answer.guarantee().sentence()}")


def _true_smokers(stage: _Stage) -> exp.Select:
    schema = stage.table.schema
    patient = reference(schema[stage.table.unit.column or ""])
    counted = exp.Count(this=exp.Distinct(expressions=[patient])).as_("n")
    return stage.table.select(counted).where(reference(schema["smoker"]))


def _ask_again(stage: _Stage) -> None:
    stage.heading("4. The same question again costs nothing")
    before, answer = stage.session.left(), stage.session.ask(_SMOKERS, "0.3")
    stage.console.print(
        f"[bold cyan]{answer.value:,}[/], {'replayed from the ledger' if answer.replayed else 'asked anew'}; epsilon "
        f"left before {in_words(before)}, after {in_words(stage.session.left())}. Averaging repeated answers gains an "
        "attacker nothing."
    )


def _ask_a_histogram(stage: _Stage) -> None:
    stage.heading("5. How many patients have each diagnosis? And who costs most?")
    stage.console.print(Text(f"  {_DIAGNOSES}", style="cyan"))
    answer = stage.session.ask(_DIAGNOSES, "0.1", groups_per_unit=1, effects=0)
    rows = answer.to_arrow().to_pylist()
    most = max(row["patients_high"] for row in rows)
    grid = Grid(box=None, padding=(0, 1), show_header=False)
    for row in rows:
        half = (row["patients_high"] - row["patients_low"]) / 2
        grid.add_row(str(row["diagnosis"]), f"{row['patients']:,}", error_bar(row["patients"], half, most * 1.05))
    stage.console.print(grid)
    stage.console.print("All twelve counts together cost epsilon 0.1: each patient is in one bar only.")
    try:
        stage.session.ask(_DEAREST, "0.1")
    except QuestionError as refusal:
        stage.console.print(Text(f"  {_DEAREST}", style="cyan"))
        stage.console.print(f"[bold red]Refused.[/] {refusal}")


def _ask_too_much(stage: _Stage) -> None:
    stage.heading("6. What is spent is spent")
    stage.console.print(budget_bars(stage.ledger.statement(_NAME)))
    try:
        stage.session.ask(_SMOKERS, "0.7")
    except BudgetExceededError as refusal:
        stage.console.print(f"[bold red]Refused.[/] {refusal}")
    stage.session.ask(_SMOKERS, "0.6")
    left = in_words(stage.session.left())
    stage.console.print(
        f"A question of exactly 0.6 still fits: 0.3 + 0.1 + 0.6 make exactly 1, and epsilon {left} is left."
    )


def _check_the_ledger(stage: _Stage) -> None:
    stage.heading("7. A ledger that shows edits")
    result = stage.ledger.verify()
    stage.console.print(f"[green]Intact:[/] {result.entries} entries, every hash and every rule holds.")
    with tempfile.TemporaryDirectory(prefix="ziggurat-forged-") as folder:
        forged = Path(folder) / "forged.db"
        _forge(stage.path, forged)
        problems = verify_ledger(forged).problems
        stage.console.print("Now a forger edits a copy, so that one question seems ten times cheaper:")
        stage.console.print(Text(f"  {problems[0]}", style="red"))
        stage.console.print("A forger who rewrites every hash as well is found by a witness: ziggurat ledger witness.")


def _forge(original: Path, copy: Path) -> None:
    """Change one amount in a copy of the ledger, behind its back."""
    with sqlite3.connect(original) as held, sqlite3.connect(copy) as target:
        held.backup(target)
        target.execute("DROP TRIGGER entries_keep")
        target.execute(
            """UPDATE entries SET body = replace(body, '"scale":"10"', '"scale":"100"') WHERE kind = 'reserve'"""
        )


def _say_goodbye(stage: _Stage, keep: str) -> None:
    stage.console.print()
    if not stage.source.secure:
        stage.console.print("[yellow]This was a rehearsal: its noise was seeded, so nothing of it may be published.[/]")
    if keep:
        stage.console.print(Text(f"The ledger is in {keep}; try: ziggurat ledger show --ledger {keep}"))
    stage.console.print("Next: 'ziggurat doctor' checks this installation, 'ziggurat --help' lists the commands.")


def _save(console: Console, picture: str) -> None:
    """Save what was shown; the fonts that the picture would load from elsewhere are left out."""
    drawn = console.export_svg(title="ziggurat tour")
    write_text(picture, re.sub(r"@font-face\s*{.*?}", "", drawn, flags=re.DOTALL))
