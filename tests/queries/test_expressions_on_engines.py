"""Expressions mean on every engine what a model in Python says, and their results lie where they must."""

import contextlib
import math
from collections.abc import Callable
from datetime import date, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from sqlglot import exp

from ziggurat.data import Table
from ziggurat.errors import QuestionError
from ziggurat.queries import Catalogue, Value
from ziggurat.queries.language._relations import Names, rows_of
from ziggurat.queries.language._rows import SelectedRows
from ziggurat.queries.language.expressions import Expressions, read_select

Row = SimpleNamespace
TINY = 1e-150


def clean(row: dict[str, Any]) -> Row:
    """The cells of a row as the schema has them."""

    def bounded(cell: Any, low: Any, high: Any, missing: Any = None) -> Any:
        if cell is None or cell == missing or (isinstance(cell, float) and not math.isfinite(cell)):
            return None
        return min(max(cell, low), high)

    return Row(
        n=bounded(row["n"], -100, 100, -99),
        m=bounded(row["m"], 0, 10),
        big=row["big"],
        x=bounded(row["x"], -1000.0, 1000.0),
        y=bounded(row["y"], 0.0, 1.0),
        w=bounded(row["w"], -math.inf, math.inf),
        c=row["c"] if row["c"] in ("a", "b", "C d") else None,
        k=row["k"] if row["k"] in (1, 2, 3) else None,
        t=None if row["t"] == "?" else row["t"],
        d=row["d"],
        e=bounded(row["e"], date(2020, 1, 1), date(2021, 12, 31)),
        f=row["f"],
    )


def of(*names: str) -> Callable[[Callable[..., Any]], Callable[[Row], Any]]:
    """A function of cells that is missing where one of them is."""

    def lifted(function: Callable[..., Any]) -> Callable[[Row], Any]:
        def model(row: Row) -> Any:
            cells = [getattr(row, name) for name in names]
            return None if None in cells else function(*cells)

        return model

    return lifted


def flush(number: float) -> float:
    return 0.0 if abs(number) < TINY else number


def divided(above: float, below: float) -> float | None:
    if abs(below) < max(TINY, 1000 / 1e300):
        return None
    return above / below


def half_up(number: float) -> int:
    return math.floor(number + 0.5)


def truncated(left: int, right: int) -> int | None:
    return int(math.fmod(left, right)) if right else None


def three_valued_and(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def three_valued_or(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


ARITHMETIC = {
    "n": of("n")(lambda n: n),
    "x": of("x")(lambda x: x),
    "w": of("w")(lambda w: w),
    "big": of("big")(lambda b: b),
    "n + 1": of("n")(lambda n: n + 1),
    "n + m": of("n", "m")(lambda n, m: n + m),
    "n - m": of("n", "m")(lambda n, m: n - m),
    "n * m": of("n", "m")(lambda n, m: n * m),
    "n * n * n": of("n")(lambda n: n**3),
    "-n": of("n")(lambda n: -n),
    "- (n - m)": of("n", "m")(lambda n, m: m - n),
    "n + x": of("n", "x")(lambda n, x: n + x),
    "x + y": of("x", "y")(lambda x, y: x + y),
    "x - y": of("x", "y")(lambda x, y: x - y),
    "x * y": of("x", "y")(lambda x, y: flush(x) * flush(y)),
    "y * y * y": of("y")(lambda y: flush(flush(y) * flush(y)) * flush(y)),
    "x * 2": of("x")(lambda x: x * 2),
    "x * 0.5": of("x")(lambda x: flush(x) * 0.5),
    "n * 0.1": of("n")(lambda n: n * 0.1),
    "n / m": of("n", "m")(lambda n, m: n / m if m else None),
    "n / 7": of("n")(lambda n: n / 7),
    "x / 3": of("x")(lambda x: flush(x) / 3),
    "x / y": of("x", "y")(divided),
    "y / x": of("y", "x")(lambda y, x: flush(y) / x if abs(x) >= TINY else None),
    "CLAMP(x / y, -10, 10)": of("x", "y")(
        lambda x, y: None if divided(x, y) is None else min(max(divided(x, y), -10.0), 10.0)
    ),
    "big / 2": of("big")(lambda b: float(b) / 2),
    "n % 7": of("n")(lambda n: truncated(n, 7)),
    "n % m": of("n", "m")(truncated),
    "m % n": of("m", "n")(truncated),
    "MOD(n, -3)": of("n")(lambda n: truncated(n, -3)),
    "big % 10": of("big")(lambda b: abs(b) % 10 * (1 if b >= 0 else -1)),
    "ABS(n)": of("n")(abs),
    "ABS(x)": of("x")(abs),
    "ABS(w)": of("w")(abs),
    "SIGN(n)": of("n")(lambda n: (n > 0) - (n < 0)),
    "SIGN(x)": of("x")(lambda x: (x > 0) - (x < 0)),
    "k * 10": of("k")(lambda k: k * 10),
    "(n + m) * (n - m)": of("n", "m")(lambda n, m: (n + m) * (n - m)),
    "n - (m - 1)": of("n", "m")(lambda n, m: n - (m - 1)),
    "CAST(n AS DOUBLE) / 4": of("n")(lambda n: n / 4),
    "CAST(f AS BIGINT)": of("f")(int),
}
ROUNDING = {
    "FLOOR(x)": of("x")(math.floor),
    "CEIL(x)": of("x")(math.ceil),
    "FLOOR(n)": of("n")(lambda n: n),
    "FLOOR(w)": of("w")(lambda w: float(math.floor(w)) if abs(w) < 2**52 else w),
    "CEIL(w)": of("w")(lambda w: float(math.ceil(w)) if abs(w) < 2**52 else w),
    "ROUND(x)": of("x")(half_up),
    "ROUND(y, 1)": of("y")(lambda y: half_up(y * 10) / 10),
    "ROUND(x, 2)": of("x")(lambda x: half_up(x * 100) / 100),
    "ROUND(n, -1)": of("n")(lambda n: half_up(n / 10) * 10),
    "ROUND(n, 2)": of("n")(lambda n: n),
    "CLAMP(big, -5, 5)": of("big")(lambda b: min(max(b, -5), 5)),
    "CLAMP(w, 0, 1)": of("w")(lambda w: min(max(w, 0.0), 1.0)),
    "CLAMP(n, 0, 200)": of("n")(lambda n: max(n, 0)),
    "CLAMP(n * m, -7, 7)": of("n", "m")(lambda n, m: min(max(n * m, -7), 7)),
    "CLAMP(d, DATE '2000-01-01', '2010-12-31')": of("d")(lambda d: min(max(d, date(2000, 1, 1)), date(2010, 12, 31))),
    "BIN(n, 10)": of("n")(lambda n: n // 10 * 10),
    "BIN(n, 7, 3)": of("n")(lambda n: (n - 3) // 7 * 7 + 3),
    "BIN(x, 2.5)": of("x")(lambda x: math.floor(flush(x) / 2.5) * 2.5),
    "BIN(x, 100, 50)": of("x")(lambda x: math.floor(flush(x - 50) / 100) * 100 + 50),
    "BIN(y, 0.25, 0.1)": of("y")(lambda y: math.floor((y - 0.1) / 0.25) * 0.25 + 0.1),
    "BUCKET(n, 4)": of("n")(lambda n: min(math.floor((n + 100.0) * (4 / 200)), 3) + 1),
    "BUCKET(x, 0, 10, 5)": of("x")(lambda x: min(math.floor(flush(min(max(x, 0.0), 10.0)) * 0.5), 4) + 1),
    "LEAST(n, m)": of("n", "m")(min),
    "GREATEST(n, m, 3)": of("n", "m")(lambda n, m: max(n, m, 3)),
    "LEAST(x, 1)": of("x")(lambda x: min(x, 1.0)),
    "GREATEST(n, y)": of("n", "y")(lambda n, y: max(float(n), y)),
    "LEAST(GREATEST(big, 0), 9)": of("big")(lambda b: min(max(b, 0), 9)),
    "LEAST(d, e)": of("d", "e")(min),
}
POWERS = {
    "SQRT(x)": of("x")(lambda x: math.sqrt(x) if x >= 0 else None),
    "SQRT(w)": of("w")(lambda w: math.sqrt(w) if w >= 0 else None),
    "SQRT(m)": of("m")(math.sqrt),
    "LN(y)": of("y")(lambda y: math.log(y) if y > 0 else None),
    "LN(n)": of("n")(lambda n: math.log(n) if n > 0 else None),
    "LN(m + 1)": of("m")(lambda m: math.log(m + 1)),
    "LOG10(x)": of("x")(lambda x: math.log10(x) if x > 0 else None),
    "EXP(y)": of("y")(math.exp),
    "EXP(CLAMP(x, -690, 690))": of("x")(lambda x: math.exp(min(max(x, -690.0), 690.0))),
    "POWER(n, 2)": of("n")(lambda n: float(n) ** 2),
    "POWER(x, 3)": of("x")(lambda x: x**3 if abs(x) >= 1e-100 else 0.0),
    "POWER(y, 0.5)": of("y")(lambda y: y**0.5),
    "POWER(n, -1)": of("n")(lambda n: 1 / n if n else None),
    "POWER(m, -2)": of("m")(lambda m: m**-2.0 if m else None),
    "x ^ 2": of("x")(lambda x: x**2 if abs(x) >= 1e-150 else 0.0),
    "POWER(n, 1.5)": of("n")(lambda n: n**1.5 if n > 0 else (0.0 if n == 0 else None)),
}
CONDITIONS = {
    "n > 5": of("n")(lambda n: n > 5),
    "n > 5.5": of("n")(lambda n: n > 5.5),
    "n <= 5.5": of("n")(lambda n: n <= 5.5),
    "5 < n": of("n")(lambda n: n > 5),
    "n >= 100": of("n")(lambda n: n >= 100),
    "n < -100": of("n")(lambda n: n < -100),
    "n = 100": of("n")(lambda n: n == 100),
    "n <> 7": of("n")(lambda n: n != 7),
    "n = m": of("n", "m")(lambda n, m: n == m),
    "n < x": of("n", "x")(lambda n, x: n < x),
    "x > 1": of("x")(lambda x: x > 1),
    "x >= 1000": of("x")(lambda x: x >= 1000),
    "x = 0": of("x")(lambda x: x == 0),
    "w > 1e300": of("w")(lambda w: w > 1e300),
    "NOT x > 1": of("x")(lambda x: not x > 1),
    "c = 'a'": of("c")(lambda c: c == "a"),
    "c <> 'a'": of("c")(lambda c: c != "a"),
    "NOT c = 'a'": of("c")(lambda c: c != "a"),
    "c IN ('a', 'C d')": of("c")(lambda c: c in ("a", "C d")),
    "c NOT IN ('a', 'C d')": of("c")(lambda c: c not in ("a", "C d")),
    "k = 2": of("k")(lambda k: k == 2),
    "k > 1": of("k")(lambda k: k > 1),
    "k IN (1, 3)": of("k")(lambda k: k in (1, 3)),
    "n IN (1, 2, 7)": of("n")(lambda n: n in (1, 2, 7)),
    "x IN (1.5, 0.1, 1000)": of("x")(lambda x: x in (1.5, 0.1, 1000)),
    "t = 'it''s'": of("t")(lambda t: t == "it's"),
    "t = 'x\\y'": of("t")(lambda t: t == "x\\y"),
    "t = ''": of("t")(lambda t: t == ""),
    "t LIKE 'a%'": of("t")(lambda t: t.startswith("a")),
    "t LIKE '_'": of("t")(lambda t: len(t) == 1),
    "t LIKE '%本%'": of("t")(lambda t: "本" in t),
    "t LIKE '_本%'": of("t")(lambda t: t[1:2] == "本"),
    "t NOT LIKE '%b%'": of("t")(lambda t: "b" not in t),
    "c LIKE 'C%'": of("c")(lambda c: c.startswith("C")),
    "n BETWEEN 1 AND 7": of("n")(lambda n: 1 <= n <= 7),
    "x NOT BETWEEN -1 AND 1": of("x")(lambda x: not -1 <= x <= 1),
    "n IS NULL": lambda r: r.n is None,
    "x IS NULL": lambda r: r.x is None,
    "w IS NOT NULL": lambda r: r.w is not None,
    "c IS NULL": lambda r: r.c is None,
    "t IS NULL": lambda r: r.t is None,
    "x / y IS NULL": lambda r: of("x", "y")(divided)(r) is None,
    "f": of("f")(lambda f: f),
    "NOT f": of("f")(lambda f: not f),
    "f = TRUE": of("f")(lambda f: f),
    "f IS TRUE": lambda r: r.f is True,
    "f IS FALSE": lambda r: r.f is False,
    "f AND n > 5": lambda r: three_valued_and(r.f, None if r.n is None else r.n > 5),
    "f OR n > 5": lambda r: three_valued_or(r.f, None if r.n is None else r.n > 5),
    "NOT (f AND c = 'a')": lambda r: _not(three_valued_and(r.f, None if r.c is None else r.c == "a")),
    "(f OR x > 0) AND NOT f": lambda r: three_valued_and(
        three_valued_or(r.f, None if r.x is None else r.x > 0), _not(r.f)
    ),
    "d > DATE '2000-01-01'": of("d")(lambda d: d > date(2000, 1, 1)),
    "d > '2000-01-01'": of("d")(lambda d: d > date(2000, 1, 1)),
    "e = DATE '2020-01-01'": of("e")(lambda e: e == date(2020, 1, 1)),
    "e < DATE '2021-01-01'": of("e")(lambda e: e < date(2021, 1, 1)),
    "d BETWEEN DATE '1970-01-01' AND DATE '2020-12-31'": of("d")(lambda d: date(1970, 1, 1) <= d <= date(2020, 12, 31)),
}


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


CHOICES = {
    "CASE WHEN n > 5 THEN 'high' WHEN n > 0 THEN 'low' END": of("n")(
        lambda n: "high" if n > 5 else "low" if n > 0 else None
    ),
    "CASE WHEN n > 5 THEN 1 ELSE 0 END": lambda r: 1 if r.n is not None and r.n > 5 else 0,
    "CASE WHEN c = 'a' THEN 1 ELSE 2.5 END": lambda r: 1.0 if r.c == "a" else 2.5,
    "CASE c WHEN 'a' THEN 'x' WHEN 'b' THEN 'y' ELSE c END": lambda r: {"a": "x", "b": "y"}.get(r.c, r.c),
    "CASE k WHEN 1 THEN n ELSE m END": lambda r: r.n if r.k == 1 else r.m,
    "CASE WHEN NOT c = 'a' THEN 'other' ELSE 'a or none' END": lambda r: (
        "other" if r.c in ("b", "C d") else "a or none"
    ),
    "IF(f, n, 0)": lambda r: r.n if r.f else 0,
    "COALESCE(n, m, -1)": lambda r: next((v for v in (r.n, r.m) if v is not None), -1),
    "COALESCE(c, 'missing')": lambda r: "missing" if r.c is None else r.c,
    "COALESCE(x, 0)": lambda r: 0.0 if r.x is None else r.x,
    "COALESCE(e, DATE '2020-02-02')": lambda r: r.e or date(2020, 2, 2),
    "NULLIF(n, 7)": of("n")(lambda n: None if n == 7 else n),
    "NULLIF(c, 'b')": of("c")(lambda c: None if c == "b" else c),
    "COALESCE(f, FALSE)": lambda r: bool(r.f),
}
TEXTS = {
    "LENGTH(t)": of("t")(len),
    "LENGTH(c)": of("c")(len),
    "LOWER(t)": of("t")(lambda t: "".join(s.lower() if s.isascii() else s for s in t)),
    "UPPER(t)": of("t")(lambda t: "".join(s.upper() if s.isascii() else s for s in t)),
    "LOWER(c)": of("c")(str.lower),
    "UPPER(c)": of("c")(str.upper),
    "TRIM(t)": of("t")(lambda t: t.strip(" ")),
    "SUBSTRING(t, 2, 3)": of("t")(lambda t: t[1:4]),
    "SUBSTRING(t, 2)": of("t")(lambda t: t[1:]),
    "SUBSTRING(c, 1, 1)": of("c")(lambda c: c[:1]),
    "SUBSTR(t, 5, 0)": of("t")(lambda t: ""),
    "t || '!'": of("t")(lambda t: t + "!"),
    "c || t": of("c", "t")(lambda c, t: c + t),
    "c || '/' || CAST(k AS TEXT)": of("c", "k")(lambda c, k: f"{c}/{k}"),
    "CAST(n AS VARCHAR)": of("n")(str),
    "LOWER(TRIM(t)) = 'ab c'": of("t")(lambda t: t.strip(" ").lower() == "ab c"),
}
DATES = {
    "d": of("d")(lambda d: d),
    "e": of("e")(lambda e: e),
    "YEAR(d)": of("d")(lambda d: d.year),
    "MONTH(d)": of("d")(lambda d: d.month),
    "DAY(d)": of("d")(lambda d: d.day),
    "QUARTER(d)": of("d")(lambda d: (d.month + 2) // 3),
    "EXTRACT(YEAR FROM e)": of("e")(lambda e: e.year),
    "EXTRACT(month FROM e)": of("e")(lambda e: e.month),
    "d - e": of("d", "e")(lambda d, e: (d - e).days),
    "d - DATE '1970-01-01'": of("d")(lambda d: (d - date(1970, 1, 1)).days),
    "DATE_DIFF('day', e, d)": of("d", "e")(lambda d, e: (d - e).days),
    "e + INTERVAL 30 DAY": of("e")(lambda e: e + timedelta(days=30)),
    "e - INTERVAL '7' DAY": of("e")(lambda e: e - timedelta(days=7)),
    "(e - DATE '2020-01-01') / 7": of("e")(lambda e: (e - date(2020, 1, 1)).days / 7),
}
MODELS = {**ARITHMETIC, **ROUNDING, **POWERS, **CONDITIONS, **CHOICES, **TEXTS, **DATES}


def evaluated_tree(table: Table, written: list[str]) -> tuple[SelectedRows, list[Value]]:
    select = read_select("SELECT " + ", ".join(written) + " FROM people")
    rows = rows_of(select, Names(Catalogue({"people": table})))
    return rows, [Expressions(rows).value(node) for node in select.expressions]


def evaluated(table: Table, written: list[str]) -> tuple[list[Value], list[dict[str, Any]]]:
    """The values of expressions, and what the engine makes of them, row by row in the order of the rows."""
    rows, values = evaluated_tree(table, [*written, "id"])
    chosen = [value.sql.as_(f"v{place}", quoted=True) for place, value in enumerate(values)]
    query = exp.select(*chosen).from_(rows.relation().query.subquery("rows"))
    found = sorted(table.engine.query(query).to_pylist(), key=lambda row: row[f"v{len(written)}"])
    return values[:-1], found


def agrees(found: Any, expected: Any) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool) or found is None or expected is None:
        return found is expected
    if isinstance(expected, float):
        return math.isclose(found, expected, rel_tol=1e-12, abs_tol=0)
    return type(found) is type(expected) and found == expected


def lies_within(value: Value, found: Any) -> bool:
    if found is None:
        return True
    above = value.lower is None or found >= value.lower
    below = value.upper is None or found <= value.upper
    return above and below and (value.categories is None or found in value.categories)


def test_there_are_models_of_about_150_expressions() -> None:
    assert len(MODELS) >= 150


def test_every_expression_means_what_the_model_says(nasty_everywhere: Table) -> None:
    written = list(MODELS)
    cells = [clean(row) for row in _in_order(nasty_everywhere)]
    for start in range(0, len(written), 60):
        chunk = written[start : start + 60]
        values, found = evaluated(nasty_everywhere, chunk)
        for place, sql in enumerate(chunk):
            for row, answer in zip(cells, found, strict=True):
                shown = answer[f"v{place}"]
                assert agrees(shown, MODELS[sql](row)), (sql, row, shown)
                assert lies_within(values[place], shown), (sql, values[place], shown)


def _in_order(table: Table) -> list[dict[str, Any]]:
    return sorted(table.raw.rows().to_pylist(), key=lambda row: row["id"])


def understood(table: Table, written: list[str]) -> list[str]:
    kept = []
    for sql in written:
        with contextlib.suppress(QuestionError):
            evaluated_tree(table, [sql])
            kept.append(sql)
    return kept


def test_generated_expressions_come_out_alike_on_every_engine(
    nasty_everywhere: Table, nasty: Table, grammar: Any
) -> None:
    words = grammar(7)
    written = [words.one(words.number(2), words.text(2), words.condition(2)) for _ in range(200)]
    kept = understood(nasty, written)
    assert len(kept) > 80
    for start in range(0, len(kept), 40):
        chunk = kept[start : start + 40]
        _, expected = evaluated(nasty, chunk)
        _, found = evaluated(nasty_everywhere, chunk)
        for place, sql in enumerate(chunk):
            for wanted, shown in zip(expected, found, strict=True):
                assert agrees(shown[f"v{place}"], wanted[f"v{place}"]), (sql, shown[f"v{place}"], wanted[f"v{place}"])


def test_the_comparison_with_the_model_rejects_what_is_off_in_the_last_digits() -> None:
    assert agrees(1.0, 1.0)
    assert not agrees(1.0 + 1e-11, 1.0)
    assert not agrees(1, True)
    assert not agrees(None, 0)


@pytest.mark.parametrize("sql", ["x * 0.5", "n / m", "POWER(n, 2)", "BIN(x, 2.5)"])
def test_bounds_are_not_wider_than_twice_what_the_rows_reach(nasty: Table, sql: str) -> None:
    (value,), found = evaluated(nasty, [sql])
    reached = [row["v0"] for row in found if row["v0"] is not None]
    assert value.upper is not None
    assert value.lower is not None
    assert value.upper <= 2 * max(reached)
    assert value.lower >= 2 * min(reached) if value.lower < 0 else value.lower >= 0
