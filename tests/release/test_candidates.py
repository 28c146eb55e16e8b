"""Candidates on the risk-utility plane: planted leaks are risky, useless copies are useless, all see the same rows."""

import json

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator

from ziggurat.data import Schema, Unit, read
from ziggurat.errors import DataError, ParameterError
from ziggurat.release import candidates, plane
from ziggurat.synthesize import Synthesizer


def people(rows=400, seed=0):
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, rows)
    sex = draw.choice(["f", "m"], rows)
    income = np.round(800 + 20 * age + 300 * (sex == "m") + draw.normal(0, 300, rows), 1)
    return pa.table({"age": age, "sex": sex, "income": income, "height": np.round(draw.normal(170, 9, rows), 1)})


class Copying(BaseEstimator):
    """Hands out the rows that it was given: as useful and as bad as can be."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, table):
        self.rows_ = table.raw.rows()
        return self

    def sample(self, rows, random_state=None):
        return self.rows_.slice(0, rows)


@pytest.fixture(scope="module")
def found():
    models = {"copying": Copying(random_state=1), "sample": Synthesizer("sample", random_state=1)}
    return candidates(people(), models, known=["age", "sex"], secret="income", holdout=0.5, random_state=1)


def test_a_leak_is_at_the_top_right_and_independent_columns_at_the_bottom_left(found):
    leak, blind = found["copying"], found["sample"]
    assert leak.utility == pytest.approx(1)
    assert leak.risk > 0.9
    assert {"closest records", "inferring 'income'"} <= set(leak.caught)
    assert blind.utility < leak.utility
    assert blind.risk < 0.3
    assert "closest records" not in blind.caught


def test_the_intervals_hold_the_points(found):
    for each in found.items:
        assert 0 <= each.risk_ends[0] <= each.risk <= each.risk_ends[1] <= 1
        assert 0 <= each.utility_ends[0] <= each.utility <= each.utility_ends[1] <= 1


def test_the_table_the_sentence_and_json_name_all(found):
    assert found.table.column("candidate").to_pylist() == ["copying", "sample"]
    assert found.table.column("unbeaten").to_pylist() == [True, True]
    assert "Of 2 candidates 'copying' is the most useful" in found.sentence
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["rows"] == facts["held_out"] == 200
    assert facts["candidates"][0]["riskiest"] == found["copying"].worst[0]


def test_the_plane_is_drawn_for_its_owner_only(found, tmp_path):
    for name in ("plane.svg", "plane.png"):
        plane(found, tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o077 == 0
    assert "sample" in (tmp_path / "plane.svg").read_text()
    assert found.draw("svg") == found.draw("svg")
    with pytest.raises(DataError, match="png"):
        plane(found, tmp_path / "plane.pdf")


def test_one_beaten_candidate_is_not_on_the_frontier():
    models = {"a": Copying(), "b": Copying(), "blind": Synthesizer("sample", random_state=2)}
    found = candidates(people(200), models, random_state=2)
    assert {each.name for each in found.frontier} >= {"blind"}
    assert found["a"].risk == found["b"].risk


def test_people_with_several_rows_are_held_out_whole():
    seen = []

    class Watching(Copying):
        def fit(self, table):
            seen.append((set(table.raw.rows(["person"]).column(0).to_pylist()), table.schema.names))
            return super().fit(table)

        def sample(self, rows, random_state=None):
            return super().sample(rows, random_state).drop_columns(["person"])

    table = people(300).append_column("person", pa.array([f"p{i // 3}" for i in range(300)]))
    schema = Schema(read(table).schema.columns, Unit.person("person"))
    found = candidates(read(table, schema), {"w": Watching()}, random_state=3)
    assert len(seen[0][0]) * 3 == found.rows == 240
    assert "person" not in [each.column for each in found["w"].comparison.marginals.columns]


def test_progress_counts_every_step():
    told = []
    candidates(
        people(), {"s": Synthesizer("sample", random_state=1)}, random_state=1, progress=lambda *a: told.append(a)
    )
    assert [done for _, done, _ in told] == list(range(len(told)))
    assert {of for _, _, of in told} == {len(told)}


def test_a_rehearsal_repeats():
    models = {"s": Synthesizer("sample", random_state=1)}
    first, second = (candidates(people(200), models, random_state=5).to_dict() for _ in range(2))
    for each in (first, second):
        each["candidates"][0].pop("seconds")
    assert first == second


@pytest.mark.parametrize(
    ("models", "options", "error"),
    [
        ({}, {}, ParameterError),
        ({"x": object()}, {}, ParameterError),
        ({"s": Synthesizer("sample")}, {"holdout": 1.5}, ParameterError),
        ({"s": Synthesizer("sample")}, {"holdout": 0.01}, DataError),
        ({"s": Synthesizer("sample")}, {"copies": 0}, ParameterError),
        ({"s": Synthesizer("sample")}, {"target": "incom"}, ParameterError),
        ({"s": Synthesizer("sample")}, {"known": ["age"], "secret": "age"}, ParameterError),
        ({"s": Synthesizer("sample")}, {"secret": "income"}, ParameterError),
        ({"s": Synthesizer("nothing")}, {}, ParameterError),
    ],
)
def test_bad_input_gets_one_sentence(models, options, error):
    with pytest.raises(error):
        candidates(people(200), models, **options)
