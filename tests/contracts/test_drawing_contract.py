"""Rows that an engine draws: exactly as many as asked for, every set equally likely, the same from the same seed.

What is said to be uniform is judged with a false alarm in ten million, and so are draws that are known not to be.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2, norm
from sqlglot import exp

from ziggurat.data import Condition, Table, sample_rows
from ziggurat.data.engines import Engine, scramble
from ziggurat.errors import DataError
from ziggurat.randomness import seeded

Load = Callable[[pa.Table], str]
ROWS, DRAWN, BLOCKS = 40_000, 15_000, 100
FALSE_ALARM = 1e-7


def _people() -> pa.Table:
    who = np.arange(ROWS)
    return pa.table({"who": who, "half": np.where(who % 2 == 0, "even", "odd")})


def _open(held: tuple[Engine, Load]) -> Table:
    engine, load = held
    return Table(engine, load(_people()))


def _judge(who: np.ndarray, rows: int = ROWS, drawn: int = DRAWN) -> float:
    """How likely draws of that size are so uneven: among blocks of rows, or in how neighbours go together."""
    assert who.size == drawn
    expected = drawn / BLOCKS
    # A hypergeometric count varies less than a binomial one, by the share that is not drawn.
    uneven = ((np.bincount(who * BLOCKS // rows, minlength=BLOCKS) - expected) ** 2).sum()
    uneven /= expected * (1 - drawn / rows) * rows / (rows - 1)
    taken = np.bincount(who, minlength=rows)
    runs = 1 + np.count_nonzero(np.diff(taken))
    usual = 1 + 2 * drawn * (rows - drawn) / rows  # Wald and Wolfowitz (1940)
    spread = np.sqrt((usual - 1) * (usual - 2) / (rows - 1))
    return min(1.0, 2 * min(chi2.sf(uneven, BLOCKS - 1), 2 * norm.sf(abs(runs - usual) / spread)))


def _who(answer: pa.Table) -> np.ndarray:
    return np.sort(answer.column("who").to_numpy())


def test_as_many_rows_as_asked_for_are_drawn_and_none_twice(held: tuple[Engine, Load]) -> None:
    table = _open(held)
    for limit in (1, 7, 1_000, ROWS - 1):
        rows, count = sample_rows(table, ["who", "half"], limit, seeded(limit))
        assert (rows.num_rows, count) == (limit, ROWS)
        assert np.unique(_who(rows)).size == limit
        assert rows.schema.types == [pa.int64(), pa.string()]
        assert all((who % 2 == 0) == (half == "even") for who, half in zip(*rows.to_pydict().values(), strict=True))
    rows, _ = sample_rows(table, ["who"], ROWS, seeded(1))
    assert _who(rows).tolist() == list(range(ROWS))


def test_every_set_of_rows_is_equally_likely(held: tuple[Engine, Load]) -> None:
    rows, _ = sample_rows(_open(held), ["who"], DRAWN, seeded("uniform"))
    assert _judge(_who(rows)) > FALSE_ALARM


def test_rows_that_meet_a_condition_are_drawn_among_themselves(held: tuple[Engine, Load]) -> None:
    table = _open(held)
    rows, count = sample_rows(table, ["who"], 5_000, seeded(2), Condition.parse("half = 'odd'", table.columns))
    assert (rows.num_rows, count) == (5_000, ROWS // 2)
    assert (_who(rows) % 2 == 1).all()
    assert _judge(_who(rows) // 2, ROWS // 2, 5_000) > FALSE_ALARM


def test_the_same_seed_draws_the_same_rows_and_another_one_others(held: tuple[Engine, Load]) -> None:
    table = _open(held)
    first, again, other = (sample_rows(table, ["who", "half"], 2_000, seeded(seed))[0] for seed in (5, 5, 6))
    assert first.equals(again)
    shared = np.intersect1d(_who(first), _who(other)).size
    assert abs(shared - 100) < 60  # 2,000 of 40,000 twice: 100 with a deviation of 9.5


def test_rows_that_are_alike_are_drawn_apart(held: tuple[Engine, Load]) -> None:
    rows, _ = sample_rows(_open(held), ["half"], 10_000, seeded(3))
    even = rows.column("half").to_pylist().count("even")
    assert abs(even - 5_000) < 250  # a deviation of 43


def test_a_table_that_lost_rows_is_refused(held: tuple[Engine, Load]) -> None:
    engine, load = held
    query = exp.select("who").from_(exp.table_(load(_people()), quoted=True))
    with pytest.raises(DataError, match="lost rows while it was being read"):
        engine.draw_rows(query, 100 * ROWS, 50 * ROWS, seeded(4))


def test_what_is_not_uniform_is_judged_so(held: tuple[Engine, Load]) -> None:
    """Negative controls: the first rows, whole blocks of them, a lot by what rows hold, a half favoured by a fifth."""
    table = _open(held)
    query = table.select("who")
    first = _who(table.query(query.limit(DRAWN)))
    assert _judge(first) < FALSE_ALARM
    chance = np.random.default_rng(7)
    pages = np.sort(chance.choice(ROWS // 25, DRAWN // 25, replace=False))
    assert _judge((pages[:, None] * 25 + np.arange(25)).ravel()) < FALSE_ALARM
    by_cells = query.order_by(scramble([exp.column("half", quoted=True)], 1)).limit(DRAWN)
    assert _judge(_who(table.query(by_cells))) < FALSE_ALARM
    weights = np.where(np.arange(ROWS) < ROWS // 2, 1.2, 1.0)
    favoured = np.sort(chance.choice(ROWS, DRAWN, replace=False, p=weights / weights.sum()))
    assert _judge(favoured) < FALSE_ALARM
