"""Asking for an anonymous table: what comes back, and what is refused, in one sentence without a cell."""

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.anonymize import (
    NOT_PROMISED,
    Anonymized,
    AverageRisk,
    Entropy,
    KAnonymity,
    KMap,
    LDiversity,
    Loss,
    Presence,
    TCloseness,
    anonymize,
)
from ziggurat.anonymize.generalizing._combinations import count_combinations
from ziggurat.data import Column, Hierarchy, Kind, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import DataError, ParameterError, PrivacyError, SchemaError, ZigguratError

CELL = "zq-17-secret"
TREE = Hierarchy({"a": ("ab", "*"), "b": ("ab", "*"), "c": ("c", "*"), CELL: ("c", "*")})
CELLS = pa.table({"x": ["a", "a", "b", "b", "c", CELL], "s": list("pqpqpq"), "n": range(6)})


def made(models: Any = None, table: Any = CELLS, **more: Any) -> Anonymized:
    given: dict[str, Any] = {"quasi_identifiers": ["x"], "hierarchies": {"x": TREE}, **more}
    return anonymize(table, models if models is not None else KAnonymity(2), **given)


def schema(*columns: Column, unit: Unit | None = None) -> Table:
    engine = DuckDBEngine()
    return Table(engine, engine.attach(CELLS), Schema(columns, unit or Unit.row()))


def test_what_was_done_is_told() -> None:
    found = made([KAnonymity(2), LDiversity("s", 2)], suppression="1/3")
    assert (found.levels, found.rows, found.suppressed, found.classes) == ({"x": 0}, 6, 2, 2)
    assert found.best is not None
    assert found.best.optimal
    assert "Of 6 rows 4 are published in 2 classes. To somebody who knows x, every row" in found.sentence
    assert found.sentence.endswith(NOT_PROMISED)


def test_what_was_done_can_be_stored() -> None:
    for more in ({}, {"recoding": "local"}, {"metric": Entropy()}):
        facts = made(**more).to_dict()
        assert facts["promise"] == "unbounded"
        assert json.loads(json.dumps(facts, allow_nan=False)) == facts
        assert CELL not in json.dumps(facts)


def test_quasi_identifiers_and_hierarchies_come_from_the_schema() -> None:
    held = schema(Column("x", Kind.TEXT, "quasi-identifier", hierarchy=TREE), Column("s", Kind.TEXT))
    found = anonymize(held, KAnonymity(2))
    assert found.levels == {"x": 1}
    assert found.table().column_names == ["x", "s"]


def test_a_sensitive_column_with_the_role_of_a_quasi_identifier_is_not_one() -> None:
    role = "quasi-identifier"
    held = schema(Column("x", Kind.TEXT, role, hierarchy=TREE), Column("s", Kind.TEXT, role))
    assert anonymize(held, [LDiversity("s", 2)]).question.quasi_identifiers == ("x",)


def test_progress_is_told_and_a_short_time_still_gives_an_answer() -> None:
    told: list[tuple[float, float]] = []
    found = made(time_limit=0, progress=lambda share, score: told.append((share, score)))
    assert found.levels["x"] in (1, 2)
    assert told[-1][1] == found.score


def test_local_recoding_that_ran_out_of_time_keeps_its_models_and_says_so() -> None:
    draws = np.random.default_rng(0).integers(0, 50, (6, 400))
    names = [f"c{place}" for place in range(len(draws))]
    table = pa.table(dict(zip(names, draws, strict=True)))

    def recode(limit: float | None) -> Any:
        return anonymize(table, KAnonymity(5), quasi_identifiers=names, recoding="local", time_limit=limit)

    found, whole = recode(0), recode(None)
    assert (found.stopped, found.to_dict()["stopped"]) == (True, True)
    assert not whole.stopped
    assert "stopped" not in whole.to_dict()
    assert found.score >= whole.score
    assert min(row["c0_count"] for row in found.table().group_by(names).aggregate([("c0", "count")]).to_pylist()) >= 5


@pytest.mark.parametrize("share", [0, "0.16", "1/6", 0.5, "100e-2"])
def test_the_limit_is_exact(share: Any) -> None:
    rows = {0: 0, "0.16": 0, "1/6": 1, 0.5: 3, "100e-2": 6}[share]
    table = pa.table({"x": ["a", "a", "a", "a", "a", "b"]})
    tree = Hierarchy({"a": ("a",), "b": ("b",)})
    if rows == 0:
        with pytest.raises(PrivacyError, match=r"at most 0 of 6 rows suppressed; 1 rows \(16.67%\) would have to be"):
            anonymize(table, KAnonymity(2), quasi_identifiers=["x"], hierarchies={"x": tree}, suppression=share)
    else:
        found = anonymize(table, KAnonymity(2), quasi_identifiers=["x"], hierarchies={"x": tree}, suppression=share)
        assert (found.suppressed, found.lattice.limit) == (1, rows)


def test_a_time_that_is_too_short_is_no_proof_that_there_is_nothing() -> None:
    tree = Hierarchy({cell: (f"{cell}1", f"{cell}2", f"{cell}3") for cell in "ab"})
    names = [f"c{place}" for place in range(12)]
    table = pa.table({**{name: list("ab" * 20) for name in names}, "s": list("pq" * 20)})
    trees = dict.fromkeys(names, tree)
    model = TCloseness("s", 0.3)
    with pytest.raises(PrivacyError, match=r"was found in 0\.1 seconds; give it more time"):
        made(model, table, quasi_identifiers=names, hierarchies=trees, suppression="1/4", time_limit=0.1)


@pytest.mark.parametrize(
    ("models", "limit", "needed"),
    [(KAnonymity(3), 0, 2), ([KAnonymity(2), LDiversity("s", 3)], "1/2", 6), (AverageRisk(0.2), "1/4", 6)],
)
def test_it_is_said_how_many_rows_would_have_to_be_suppressed(models: Any, limit: Any, needed: int) -> None:
    tree = Hierarchy({"a": ("ab",), "b": ("ab",), "c": ("c",), CELL: ("c",)})
    with pytest.raises(PrivacyError) as caught:
        made(models, hierarchies={"x": tree}, suppression=limit)
    assert f"; {needed:,} rows ({needed / 6:.2%}) would have to be: " in str(caught.value)
    assert ("allow that" in str(caught.value)) == (needed < 6)
    assert made(models, hierarchies={"x": tree}, suppression=f"{needed}/6").suppressed <= needed


def wide(columns: int) -> pa.Table:
    return pa.table({f"c{place}": ["a", "a", CELL] for place in range(columns)})


def several_rows() -> Table:
    engine = DuckDBEngine()
    name = engine.attach(pa.table({"who": [CELL, CELL, "b"], "x": ["a", "a", "b"]}))
    columns = (Column("who", Kind.TEXT, "identifier"), Column("x", Kind.TEXT))
    return Table(engine, name, Schema(columns, Unit.person("who")))


PEOPLE = read(pa.table({"x": ["a", "b", "c", CELL]}))
OTHERS = read(pa.table({"x": ["a"]}))
NUMBERS = read(pa.table({"x": [1, 2]}))
SHORT = Hierarchy({"a": ("*",), "b": ("*",)})
REFUSED: dict[str, tuple[type[ZigguratError], str, Callable[[], Any]]] = {
    "a value that is not in its hierarchy": (
        DataError,
        "2 values of column 'x' are not in its hierarchy",
        lambda: made(hierarchies={"x": SHORT}),
    ),
    "k larger than the table": (ParameterError, "7 rows, but the table has 6", lambda: made(KAnonymity(7))),
    "too many quasi-identifiers": (
        ParameterError,
        "1,000 quasi-identifiers are too many",
        lambda: anonymize(wide(1000), KAnonymity(2), quasi_identifiers=[f"c{place}" for place in range(1000)]),
    ),
    "sensitive and quasi-identifier": (
        ParameterError,
        "'x' cannot be both",
        lambda: made(LDiversity("x", 2)),
    ),
    "unknown quasi-identifier": (SchemaError, "'y'", lambda: made(quasi_identifiers=["y"])),
    "unknown sensitive column": (SchemaError, "'y'", lambda: made(LDiversity("y", 2))),
    "quasi-identifiers as one text": (ParameterError, "a list", lambda: made(quasi_identifiers="xs")),
    "named twice": (ParameterError, "twice", lambda: made(quasi_identifiers=["x", "x"])),
    "nothing but missing cells": (
        DataError,
        "quasi-identifier 'a' is missing",
        lambda: made(
            table=pa.table({"a": pa.array([None] * 9, pa.string())}), quasi_identifiers=["a"], hierarchies=None
        ),
    ),
    "NaN": (
        DataError,
        "Column 'a' holds NaN",
        lambda: made(table=pa.table({"a": [1.0, 2.0, math.nan] * 3}), quasi_identifiers=["a"], hierarchies=None),
    ),
    "closer than what is missing": (
        PrivacyError,
        "cells are missing, and whatever they are",
        lambda: anonymize(
            pa.table({"a": ["x"] * 4, "s": ["p", "q", None, None]}), TCloseness("s", 0.4), quasi_identifiers=["a"]
        ),
    ),
    "presence of people in several classes": (
        ParameterError,
        "needs global recoding",
        lambda: anonymize(
            pa.table({"a": ["x"] * 4}),
            Presence(0, 1, read(pa.table({"a": ["x"] * 4}))),
            quasi_identifiers=["a"],
            recoding="local",
        ),
    ),
    "no quasi-identifiers": (SchemaError, "No column is", lambda: made(quasi_identifiers=None, hierarchies=None)),
    "none named": (SchemaError, "No column is", lambda: made(quasi_identifiers=[], hierarchies=None)),
    "no rows": (DataError, "no rows", lambda: made(table=CELLS.slice(0, 0))),
    "no rows and no hierarchy": (DataError, "no rows", lambda: made(table=CELLS.slice(0, 0), hierarchies=None)),
    "several rows each": (
        DataError,
        "have several rows",
        lambda: made(table=several_rows()),
    ),
    "no models": (ParameterError, "at least one privacy model", lambda: made([])),
    "not a model": (ParameterError, "at least one privacy model", lambda: made([5])),
    "no model but a number": (ParameterError, "at least one privacy model", lambda: made(5)),
    "a hierarchy of another column": (
        ParameterError,
        "a hierarchy for 's', which is not",
        lambda: made(hierarchies={"s": TREE}),
    ),
    "a hierarchy that is none": (ParameterError, "'x'", lambda: made(hierarchies={"x": {"a": ("*",)}})),
    "an unknown recoding": (ParameterError, "'global', 'local' or", lambda: made(recoding="regional")),
    "an unknown metric": (ParameterError, "metric", lambda: made(metric="loss")),
    "another metric for local recoding": (ParameterError, "Loss", lambda: made(metric=Entropy(), recoding="local")),
    "a lower presence for local recoding": (
        ParameterError,
        "global recoding",
        lambda: made(Presence(0.1, 1, PEOPLE), recoding="local"),
    ),
    "a weight of another column": (ParameterError, "'s'", lambda: made(metric=Loss({"s": 1}))),
    "two populations": (
        ParameterError,
        "different populations",
        lambda: made([KMap(2, PEOPLE), Presence(0, 1, OTHERS)]),
    ),
    "a population that is no table": (ParameterError, "population", lambda: made(KMap(2, CELLS))),
    "a population of another kind": (DataError, "another kind of value", lambda: made(KMap(2, NUMBERS))),
    "a population without the column": (
        SchemaError,
        "'x'",
        lambda: made(KMap(2, read(pa.table({"y": ["a"]})))),
    ),
    "no order": (ParameterError, "no order", lambda: made(TCloseness("s", 0.1, "ordered"))),
    "no hierarchy of the sensitive column": (
        ParameterError,
        "needs a hierarchy",
        lambda: made(TCloseness("s", 0.1, "hierarchical")),
    ),
    "a hierarchy that misses sensitive values": (
        DataError,
        "1 value of column 's'",
        lambda: made(TCloseness("s", 0.1, "hierarchical", Hierarchy({"p": ("*",)}))),
    ),
    "two hierarchies of a sensitive column": (
        ParameterError,
        "different hierarchies of 's'",
        lambda: made([TCloseness("s", 0.1, "hierarchical", SHORT), TCloseness("s", 0.1, "hierarchical", TREE)]),
    ),
    **{
        f"suppression {bad!r}": (ParameterError, "suppress", lambda bad=bad: made(suppression=bad))
        for bad in (-0.1, 1.1, math.nan, math.inf, "much", None, True)
    },
    **{
        f"time limit {bad!r}": (ParameterError, "time limit", lambda bad=bad: made(time_limit=bad))
        for bad in (-1, math.nan, math.inf, "long", True)
    },
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_one_sentence_without_a_cell(what: str) -> None:
    kind, message, ask = REFUSED[what]
    with pytest.raises(ZigguratError) as caught:
        ask()
    said = str(caught.value)
    assert isinstance(caught.value, kind)
    assert message in said
    assert CELL not in said
    assert said.endswith(".")
    assert said.count(". ") == 0
    chain = [caught.value.__cause__, caught.value.__context__]
    assert not any(CELL in str(each) for each in chain if each is not None)


def test_a_wide_table_with_few_quasi_identifiers_is_no_trouble() -> None:
    found = anonymize(wide(1000), KAnonymity(2), quasi_identifiers=["c0", "c999"], suppression="0.5")
    assert (found.suppressed, found.table().num_columns) == (1, 1000)


def test_one_model_need_not_be_in_a_list() -> None:
    assert made(KAnonymity(2)).levels == made([KAnonymity(2)]).levels


def test_combinations_stand_in_one_order_whatever_the_order_of_the_rows() -> None:
    draw = np.random.default_rng(5)
    columns = {name: draw.choice(list("abc"), 3000) for name in ("x", "y", "z", "s")}
    orders = [draw.permutation(3000) for _ in range(5)]
    given = dict.fromkeys("xyz", TREE)
    tables = [read(pa.table({name: cells[order] for name, cells in columns.items()})) for order in orders]
    first, *others = [count_combinations(each, ["x", "y", "z"], ["s"], given) for each in tables]
    for other in others:
        assert np.array_equal(first.codes, other.codes)
        assert np.array_equal(first.counts, other.counts)
        assert np.array_equal(first.sensitive, other.sensitive)
