"""What stewards and auditors look at: how exposed people are, whether the ledger holds, what a schema could be."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ziggurat.data import Role, Table, read, suggest_schema
from ziggurat.findings import Finding
from ziggurat.service.work._folders import JobFolder

Tell = Callable[[str], None]
_MOST_SETS = 2_000


def measure_risk(job: JobFolder, task: dict[str, Any], tell: Tell, cancelled: Any) -> dict[str, Any]:  # noqa: ARG001
    """Measure how exposed the people in a table are; the figures are exact, and for its stewards alone."""
    from ziggurat.attacks import homogeneity, risk, singling_out, skewness
    from ziggurat.attacks.tables import largest_affordable

    said = task["request"]
    tell("opening the table")
    table = _open(job)
    known = tuple(said["quasi_identifiers"]) or None
    tell("measuring risks")
    measured = risk(table, known, threshold=said["threshold"])
    names = measured.quasi_identifiers
    tell("looking for columns that single people out")
    telling = singling_out(table, names, largest=max(1, largest_affordable(len(names), _MOST_SETS)))
    found: dict[str, Finding] = {}
    for secret in said["sensitive"] or _find_sensitive(table, names):
        tell("looking at what classes give away")
        found[f"homogeneity of {secret}"] = homogeneity(table, secret, names)
        found[f"skewness of {secret}"] = skewness(table, secret, names)
    sentences = [measured.sentence, telling.sentence, *(each.sentence for each in found.values())]
    inferences = {name: each.to_dict() for name, each in found.items()}
    result = {"risk": measured.to_dict(), "columns": telling.to_dict(), "inferences": inferences}
    return {"state": "done", "result": {**result, "sentences": sentences}}


def verify_ledger(job: JobFolder, task: dict[str, Any], tell: Tell, cancelled: Any) -> dict[str, Any]:  # noqa: ARG001
    """Recompute every hash and replay every rule of the ledger."""
    from ziggurat.ledger import Ledger

    tell("verifying the ledger")
    with Ledger.open(os.environ["ZIGGURAT_LEDGER"], read_only=True) as book:
        found = book.verify(whole=True)
    problems = [str(each) for each in found.problems]
    return {
        "state": "done",
        "result": {"ok": found.ok, "problems": problems, "entries": found.entries, "notes": list(found.notes)},
    }


def propose_schema(job: JobFolder, task: dict[str, Any], tell: Tell, cancelled: Any) -> dict[str, Any]:  # noqa: ARG001
    """Propose a schema for a file, with the reasons."""
    tell("reading the file")
    opened = read(str(next(job.path.glob("table.*"))), unit="row", on_bad_cell="missing")
    found = suggest_schema(opened)
    result = {"schema": found.schema.to_yaml(), "reasons": dict(found.reasons), "notes": list(opened.notes)}
    return {"state": "done", "result": result}


def _open(job: JobFolder) -> Table:
    """The table of a job, as a release opens it."""
    from ziggurat.release.config import read_config

    config = read_config(job.description)
    return read(str(job.path / config.table), str(job.path / config.schema_))


def _find_sensitive(table: Table, known: tuple[str, ...]) -> list[str]:
    return [column.name for column in table.schema.with_role(Role.SENSITIVE) if column.name not in known]
