"""What is stored and hashed is written as it was, to the byte: the JSON of every kind of fact, as it was recorded."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import Share
from ziggurat.data import Kind, Unit
from ziggurat.data.generators import clinic_patients_schema
from ziggurat.findings import Finding
from ziggurat.ledger import Budget, Grant
from ziggurat.privacy import GaussianEvent, LaplaceEvent, Neighbours, PureEvent, Relation, compose_events
from ziggurat.queries import Terms
from ziggurat.release import Artefact, Cited, LabellingFacts, PrivatizedQueries, Stop, Task, Verdict, Weighed
from ziggurat.synthesize.marginals._domain import Axis

RECORDED = json.loads(Path(__file__).with_name("dictionaries.json").read_text())
PEOPLE = Neighbours(Unit.person("id"), Relation.REPLACE_ONE)
LAPLACE = LaplaceEvent(PEOPLE, Fraction(1), Fraction(1, 3))
CITED = Cited("book", "clinic", "ada", 7, "ab")
QUERIES = PrivatizedQueries.from_dict(
    {
        "rho": "1/7",
        "dimension": 3,
        "norm": "2",
        "neighbours": PEOPLE.to_dict(),
        "rows_per_unit": 2,
        "calls": [{"rows": 4, "digest": "cd", "entry": CITED.to_dict()}, {"rows": 5, "digest": "ef", "entry": None}],
        "rehearsal": True,
    }
)
QUESTION = {"aggregator": {"kind": "own"}, "queries": 3, "most_answers": None, "teachers": ["x"]}
LABELLING = LabellingFacts(QUESTION, LAPLACE, 2, False, Grant("clinic", "ada", Fraction(1), Fraction(0), "sum"), CITED)
WEIGHED = Weighed("linking", 0.25, "share", Fraction(1, 10), 0.5, Fraction(1, 60))
STOP = Stop("the promise", 3.5, "epsilon", Fraction(2), claimed=True)


@dataclass(frozen=True)
class Inner:
    when: date
    values: tuple[float, ...]


@dataclass(frozen=True)
class Found(Finding):
    share: Share
    inner: Inner
    counts: Any
    per: dict[int, float]
    nothing: float | None
    secret: str = field(default="kept out", repr=False)

    @property
    def sentence(self) -> str:
        return "Found."

    @property
    def table(self) -> pa.Table:
        return pa.table({})


FOUND = Found(Share(3, 10), Inner(date(2024, 2, 29), (1.5, math.nan)), np.array([[1, 2]]), {1: math.inf, 2: 0.5}, None)


FACTS = {
    "laplace": LAPLACE,
    "composed": compose_events(
        [LAPLACE, GaussianEvent(PEOPLE, Fraction(1), Fraction(5, 2)), PureEvent(PEOPLE, Fraction(1))]
    ),
    "terms": Terms("1", "0.001", shares={"b": "0.25", "a": "0.75"}, learn=("z", "y"), noise="gaussian"),
    "cited": CITED,
    "queries": QUERIES,
    "labelling": LABELLING,
    "weighed": WEIGHED,
    "verdict": Verdict((STOP,), (WEIGHED,), {"a": "b"}, {"c": "d"}),
    "artefact": Artefact("t.csv", "ab", 3),
    "categories": Axis("ill", Kind.CATEGORY, ("yes", "no"), None, False),
    "numbers": Axis("age", Kind.INTEGER, None, (0, 10, 20)),
    "task": Task(clinic_patients_schema().select(["age", "bmi", "smoker"]), "smoker", ("age", "bmi")),
    "finding": FOUND,
}


@pytest.mark.parametrize("name", FACTS)
def test_facts_are_written_as_they_were(name: str) -> None:
    # The fields of a grant had no order; everything else has the one of its class.
    assert json.dumps(FACTS[name].to_dict(), sort_keys=name == "labelling") == RECORDED[name]


def test_a_budget_is_written_as_it_was() -> None:
    budget = Budget("clinic", Fraction(1, 3), Fraction(1, 10**6), PEOPLE, "ff")
    assert json.dumps(budget.to_body(), sort_keys=True) == RECORDED["budget"]


@pytest.mark.parametrize("name", ["cited", "queries", "labelling", "weighed", "verdict", "categories", "numbers"])
def test_facts_read_back_are_the_same(name: str) -> None:
    assert type(FACTS[name]).from_dict(json.loads(RECORDED[name])) == FACTS[name]
