"""Typical things that people name at a prompt, made of invented patients."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ziggurat
from ziggurat.anonymize import KAnonymity, anonymize, mask
from ziggurat.anonymize.masking import Drop
from ziggurat.attacks import risk
from ziggurat.data import Hierarchy, Unit, suggest_schema
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.pate import MLP, Teachers
from ziggurat.privacy import Neighbours, compose
from ziggurat.randomness import seeded
from ziggurat.synthesize import synthesize

TERMS: dict[str, Any] = {"rows_per_unit": 1, "groups_per_unit": 1}
BY_SEX = "SELECT sex, COUNT(*) AS n FROM clinic GROUP BY sex"


@dataclass
class Shelf:
    """What was made, by name; the ledger behind it stays open."""

    things: dict[str, Any]
    ledger: ziggurat.Ledger


def fill_shelf(folder: Path) -> Shelf:
    """Make one of everything that a first day in a notebook meets."""
    patients, schema = clinic_patients(200), clinic_patients_schema()
    table = ziggurat.read(patients, schema)
    ledger = ziggurat.Ledger.open(folder / "ledger.db")
    ledger.create_budget("clinic", 100, "1e-6", Neighbours(schema.unit))
    grant = ledger.grant("clinic", "ada", 50, "1e-6")
    session = ziggurat.Session(ledger, "ada", {"clinic": table}, source=seeded(1))
    workload = ziggurat.Workload(table.schema).marginals(1, ["sex", "insurance"])
    made = session.release(BY_SEX, 1, **TERMS)
    rows = ziggurat.read(patients, schema.with_unit(Unit.row()))
    anonymized = anonymize(rows, [KAnonymity(2)], quasi_identifiers=["sex", "insurance"])
    quoted = session.quote([BY_SEX, "SELECT COUNT(*) AS n FROM clinic"], 1, **TERMS)
    things = {
        "table": table,
        "preview": table.preview(),
        "view": session["clinic"],
        "schema": schema,
        "column": schema["age"],
        "bounds": schema["age"].bounds,
        "categories": schema["sex"].categories,
        "hierarchy": Hierarchy({1: ("few", "*"), 2: ("few", "*")}),
        "suggestion": suggest_schema(table),
        "ledger": ledger,
        "grant": grant,
        "budget": ledger.budget("clinic"),
        "statement": ledger.statement("clinic"),
        "account": ledger.account("clinic"),
        "quote": ledger.quote("clinic", "ada", made.event),
        "session": session,
        "quotation": quoted,
        "quoted question": quoted.questions[0],
        "asking": session.plan(BY_SEX, 1, **TERMS),
        "release": made,
        "certificate": made.certificate,
        "evidence": made.evidence,
        "verdict": made.verdict,
        "event": made.event,
        "guarantee": made.cost,
        "Gaussian guarantee": compose(made.event).approximate("1e-6"),
        "neighbours": Neighbours(schema.unit),
        "past": session.history()[0],
        "workload": session.ask(workload, 1, rows_per_unit=1),
        "anonymized": anonymized,
        "solutions": anonymized.solutions,
        "masked": mask(patients, {"patient_id": Drop()}),
        "synthetic": synthesize(patients.select(["age", "sex"]), random_state=1),
        "risk": risk(patients, ["sex", "insurance"]),
        "teachers": Teachers(MLP(4, (3,), 2)),
        "answer": made.output,
    }
    return Shelf(things, ledger)
