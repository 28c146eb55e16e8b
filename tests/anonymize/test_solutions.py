"""The lattice laid open: every generalisation, its risk, and an analysis of the steward's own."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.anonymize import Analysis, Anonymized, KAnonymity, anonymize
from ziggurat.data import Hierarchy
from ziggurat.errors import ParameterError

CELLS = pa.table({"x": list("aaabbcccd"), "y": list("pqpqpqppq"), "z": range(9)})
TREES = {
    "x": Hierarchy({"a": ("ab", "*"), "b": ("ab", "*"), "c": ("cd", "*"), "d": ("cd", "*")}),
    "y": Hierarchy({"p": ("*",), "q": ("*",)}),
}


def made(**more: object) -> Anonymized:
    given: dict[str, object] = {"quasi_identifiers": ["x", "y"], "hierarchies": TREES, "suppression": "1/3", **more}
    return anonymize(CELLS, KAnonymity(2), **given)  # type: ignore[arg-type]


def test_every_generalisation_has_the_risk_of_its_table() -> None:
    solutions = made().solutions
    frame = CELLS.to_pandas()
    for node, (x, y) in enumerate(solutions.levels):
        labels = frame["x"].map(lambda cell, level=x: (cell, *TREES["x"].levels[cell])[level])
        sizes = frame.groupby([labels, frame["y"] if y == 0 else frame["y"].str.len()]).size()
        kept = sizes[sizes >= 2]
        assert solutions.suppressed[node] == 9 - kept.sum()
        assert solutions.average_risk[node] == pytest.approx(len(kept) / kept.sum())
        assert solutions.highest_risk[node] == pytest.approx(1 / kept.min())
        assert solutions.satisfied[node] == (9 - kept.sum() <= 3)


def test_nothing_beats_the_frontier_and_the_frontier_beats_itself_nowhere() -> None:
    solutions = made().solutions
    front = solutions.frontier()
    for node in range(len(solutions.score)):
        no_worse = (solutions.score[front] <= solutions.score[node]) & (
            solutions.average_risk[front] <= solutions.average_risk[node]
        )
        assert no_worse.any()
    assert (np.diff(solutions.score[front]) >= 0).all()
    assert (np.diff(solutions.average_risk[front]) < 0).all()


def test_the_table_of_solutions_has_a_row_for_each() -> None:
    table = made().solutions.table()
    assert table.num_rows == 6
    assert table.column_names[:2] == ["x", "y"]
    assert table.column("satisfied").to_pylist().count(True) == made().solutions.satisfied.sum()


def test_the_steward_s_own_analysis_decides_among_those_that_lose_little() -> None:
    tried = []

    def classes_of_y(table: pa.Table) -> float:
        tried.append(table.num_rows)
        return -len(set(table.column("y").to_pylist()))

    found = made(metric=Analysis(classes_of_y, "y", tries=4))
    assert found.levels["y"] == 0
    assert (found.metric, found.score, found.best) == ("y", -2, None)
    assert 1 <= len(tried) <= 4
    assert len(set(found.table().column("y").to_pylist())) == 2


def test_an_analysis_is_a_function_tried_at_least_once() -> None:
    with pytest.raises(ParameterError, match="function"):
        Analysis("no")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="at least one"):
        Analysis(lambda table: 0.0, tries=0)
    with pytest.raises(ParameterError, match="global"):
        made(metric=Analysis(lambda table: 0.0), recoding="local")


def test_too_many_generalisations_are_not_looked_at() -> None:
    names = [f"c{place}" for place in range(20)]
    tree = Hierarchy({"a": ("*",), "b": ("*",)})
    table = pa.table({name: ["a", "a", "b"] for name in names})
    found = anonymize(
        table, KAnonymity(2), quasi_identifiers=names, hierarchies=dict.fromkeys(names, tree), suppression="1/2"
    )
    assert (found.suppressed, set(found.levels.values())) == (1, {0})
    with pytest.raises(ParameterError, match="1,048,576 generalisations, too many"):
        _ = found.solutions
