"""The tour: the whole idea in a minute, on invented patients."""

from __future__ import annotations

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text
from sqlglot import exp

from ziggurat.cli._pictures import bar, budget_bars, error_bar
from ziggurat.cli._show import schema_table
from ziggurat.data import Table, read, reference, write_text
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.errors import BudgetExceededError, ParameterError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Neighbours, in_words
from ziggurat.randomness import Source, secure, seeded

_NAME, _ANALYST, _BUDGET = "clinic", "ana", "1"
_SMOKERS = "How many patients smoke?"
_DIAGNOSES = "How many patients have each diagnosis?"


@dataclass
class _Stage:
    """What the scenes of the tour share."""

    console: Console
    table: Table
    ledger: Ledger
    path: Path
    source: Source
    neighbours: Neighbours

    def heading(self, title: str) -> None:
        """Open a scene."""
        self.console.print()
        self.console.print(Rule(f"[bold]{title}", align="left", style="blue"))


def run_tour(rows: int, *, picture: str = "", rehearse: str = "", keep: str = "") -> None:
    """Run every scene of the tour, and save what was seen if asked to."""
    console = Console(record=bool(picture), width=110 if picture else None, highlight=False)
    with _set_up(console, rows, rehearse, keep, picture) as stage:
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
def _set_up(console: Console, rows: int, rehearse: str, keep: str, picture: str) -> Iterator[_Stage]:
    if keep and Path(keep).exists():
        raise ParameterError(f"The file {keep!r} exists already; name a new one to keep the tour's ledger in.")
    for wanted in (keep, picture):
        if wanted and not Path(wanted).absolute().parent.is_dir():
            raise ParameterError(f"The folder of {wanted!r} does not exist; create it first.")
    with tempfile.TemporaryDirectory(prefix="ziggurat-tour-") as folder:
        source = seeded(rehearse) if rehearse else secure()
        with console.status("Inventing patients and preparing the noise (the first run compiles it) …"):
            schema = clinic_patients_schema()
            table = read(clinic_patients(rows), schema)
            Laplace.calibrated(1, values="integers").release(0, source)
        path = Path(keep or Path(folder) / "ledger.db")
        with Ledger.open(path) as ledger:
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
        count = Laplace.calibrated(epsilon, values="integers")
        half = float(count.half_width())
        grid.add_row(
            epsilon, f"± {half:,.0f} patients", bar(half / 300, 20, "yellow"), f"{np.exp(float(epsilon)):.2f} times"
        )
    stage.console.print(grid)


def _ask(stage: _Stage, question: str, mechanism: Laplace, exact: exp.Select) -> tuple[Any, bool]:
    """Reserve, read, protect, commit: the only order in which data are touched."""
    described = {"question": question, "mechanism": repr(mechanism)}
    rehearsal = not stage.source.secure
    with stage.ledger.spend(_NAME, _ANALYST, mechanism.event, described, rehearsal=rehearsal) as spend:
        if not spend.replayed:
            counts = np.array([row["n"] for row in stage.table.query(exact).to_pylist()], dtype=np.int64)
            spend.commit(mechanism.release(counts, stage.source).value.tolist())
        return spend.answer, spend.replayed


def _smokers(stage: _Stage) -> exp.Select:
    """Count each patient once, so that one patient changes the count by at most 1, however many rows they have."""
    patient = reference(stage.table.schema[stage.table.unit.column or ""])
    counted = exp.Count(this=exp.Distinct(expressions=[patient])).as_("n")
    return stage.table.select(counted).where(reference(stage.table.schema["smoker"]))


def _ask_a_count(stage: _Stage) -> None:
    stage.heading(f"3. {_SMOKERS}")
    mechanism = Laplace.calibrated("0.3", values="integers", coordinates=1, neighbours=stage.neighbours)
    stage.console.print(f"Quote: {stage.ledger.quote(_NAME, _ANALYST, mechanism.event).sentence}")
    (answer,), _ = _ask(stage, _SMOKERS, mechanism, _smokers(stage))
    half = float(mechanism.half_width())
    truth = stage.table.query(_smokers(stage)).to_pylist()[0]["n"]
    stage.console.print(f"[bold cyan]{answer:,} ± {half:,.0f}[/] patients smoke (95% confidence; noise {mechanism!r}).")
    stage.console.print(f"[dim]The patients are invented, so you may see the truth for once: {truth:,}.[/]")
    stage.console.print(f"The promise: {mechanism.guarantee().sentence()}")


def _ask_again(stage: _Stage) -> None:
    stage.heading("4. The same question again costs nothing")
    mechanism = Laplace.calibrated("0.3", values="integers", coordinates=1, neighbours=stage.neighbours)
    before = stage.ledger.left(_NAME, _ANALYST)
    (answer,), replayed = _ask(stage, _SMOKERS, mechanism, _smokers(stage))
    after = stage.ledger.left(_NAME, _ANALYST)
    stage.console.print(
        f"[bold cyan]{answer:,}[/], {'replayed from the ledger' if replayed else 'asked anew'}; epsilon left before "
        f"{in_words(before)}, after {in_words(after)}. Averaging repeated answers gains an attacker nothing."
    )


def _diagnoses(stage: _Stage) -> exp.Select:
    """One diagnosis per patient, then one count per public category, empty ones included."""
    schema = stage.table.schema
    patient, diagnosis = reference(schema[stage.table.unit.column or ""]), reference(schema["diagnosis"])
    once = stage.table.select(exp.Min(this=diagnosis).as_("diagnosis")).group_by(patient).subquery("once")
    public = exp.values([(value,) for value in schema["diagnosis"].public_categories().values], "public", ["name"])
    matched = exp.column("diagnosis", "once").eq(exp.column("name", "public"))
    counted = exp.Count(this=exp.column("diagnosis", "once")).as_("n")
    query = exp.select("public.name", counted).from_(public).join(once, on=matched, join_type="left")
    return query.group_by("public.name").order_by("public.name")


def _ask_a_histogram(stage: _Stage) -> None:
    stage.heading(f"5. {_DIAGNOSES}")
    mechanism = Laplace.calibrated("0.1", values="integers", coordinates=1, neighbours=stage.neighbours)
    answers, _ = _ask(stage, _DIAGNOSES, mechanism, _diagnoses(stage))
    half, names = float(mechanism.half_width()), stage.table.schema["diagnosis"].public_categories().values
    grid = Grid(box=None, padding=(0, 1), show_header=False)
    for name, value in sorted(zip(names, answers, strict=True), key=lambda pair: -pair[1]):
        grid.add_row(str(name), f"{value:,}", error_bar(value, half, max(answers) * 1.1))
    stage.console.print(grid)
    stage.console.print(
        f"All twelve counts together cost epsilon {in_words(mechanism.epsilon)}: each patient is in one bar only. "
        f"Error bars: ± {half:,.0f}."
    )


def _ask_too_much(stage: _Stage) -> None:
    stage.heading("6. What is spent is spent")
    stage.console.print(budget_bars(stage.ledger.statement(_NAME)))
    greedy = Laplace.calibrated("0.7", values="integers", coordinates=1, neighbours=stage.neighbours)
    try:
        _ask(stage, "How many patients smoke, again but fresh?", greedy, _smokers(stage))
    except BudgetExceededError as refusal:
        stage.console.print(f"[bold red]Refused.[/] {refusal}")
    last = Laplace.calibrated("0.6", values="integers", coordinates=1, neighbours=stage.neighbours)
    _ask(stage, "How many patients smoke, with what is left?", last, _smokers(stage))
    left = in_words(stage.ledger.left(_NAME, _ANALYST))
    stage.console.print(
        f"A question of exactly 0.6 still fits: 0.3 + 0.1 + 0.6 make exactly 1, and epsilon {left} is left."
    )


def _check_the_ledger(stage: _Stage) -> None:
    stage.heading("7. A ledger that cannot lie")
    result = stage.ledger.verify()
    stage.console.print(f"[green]Intact:[/] {result.entries} entries, every hash and every rule holds.")
    with tempfile.TemporaryDirectory(prefix="ziggurat-forged-") as folder:
        forged = Path(folder) / "forged.db"
        _forge(stage.path, forged)
        problems = verify_ledger(forged).problems
        stage.console.print("Now a forger edits a copy, so that one question seems ten times cheaper:")
        stage.console.print(Text(f"  {problems[0]}", style="red"))


def _forge(original: Path, copy: Path) -> None:
    """Change one amount in a copy of the ledger, behind its back."""
    with sqlite3.connect(original) as source, sqlite3.connect(copy) as target:
        source.backup(target)
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
