"""How what the analyst wrote is read: strictly, and quoted in at most a few words when it is refused."""

from __future__ import annotations

from itertools import islice

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ziggurat.errors import QuestionError

LONGEST_TEXT = 20_000
"""The most characters of a question."""

_QUOTED = 60
_DEEPEST = 40
_DEEPEST_QUERY = 160
_LONGEST_QUERY = 30_000
_MOST_JOINS = 10


def only(node: exp.Expr, *names: str) -> None:
    """Refuse a node with parts other than these."""
    for name, part in node.args.items():
        if name not in names and not (part is None or part is False or part == []):
            raise QuestionError(f"This part of {show(node)} is not understood: {name.strip('_').replace('_', ' ')}.")


def show(node: exp.Expr) -> str:
    """Return what the analyst wrote, shortened."""
    text = " ".join(node.sql(dialect="duckdb").split())
    return repr(text if len(text) <= _QUOTED else text[:_QUOTED] + "...")


def not_understood(node: exp.Expr) -> str:
    """Return why an expression is refused, and what to write instead."""
    if isinstance(node, exp.Subquery | exp.Exists | exp.Select):
        return "A sub-query may stand in FROM, or after IN if it selects one column of a public table; join it instead."
    if isinstance(node, exp.Window):
        return "Window functions mix the rows of different people; use GROUP BY, or totals per unit in a sub-query."
    if isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup):
        return f"The aggregate {show(node)} cannot stand here; it must be a column of SELECT on its own."
    if isinstance(node, exp.Star):
        return "* stands only in COUNT(*) and in a sub-query; name the columns."
    if isinstance(node, exp.ILike | exp.RegexpLike | exp.RegexpILike | exp.SimilarTo):
        return "Of patterns only LIKE is understood; for any case write LOWER(x) LIKE 'abc%'."
    if isinstance(node, exp.IntDiv):
        return "Whole division differs between engines for negative numbers; write FLOOR(x / y)."
    if isinstance(node, exp.Concat):
        return "Engines disagree on CONCAT of NULL; write a || b, which is NULL if one of them is."
    if isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ):
        return "IS DISTINCT FROM is not understood; write x = y, and IS NULL where you need it."
    return f"{show(node)} is not understood; docs/reference/sql.md lists what is."


def read_select(sql: str) -> exp.Select:
    """Return the one SELECT that a text holds, as it was written, or refuse it."""
    if not isinstance(sql, str) or len(sql) > LONGEST_TEXT:
        raise QuestionError(f"A question is text of at most {LONGEST_TEXT:,} characters.")
    statements = [each for each in _statements(sql) if each is not None]
    if len(statements) != 1:
        raise QuestionError("Ask one SELECT at a time.")
    select = statements[0].unnest()
    if not isinstance(select, exp.Select):
        raise QuestionError("A question is one SELECT; nothing else is understood, UNION included.")
    if _depth(select) > _DEEPEST:
        raise QuestionError("The question is nested too deeply; compute parts of it in WITH.")
    return select


def _statements(sql: str) -> list[exp.Expr | None]:
    reason = "it is not SQL."
    try:
        return list(sqlglot.parse(sql, read="duckdb"))
    except RecursionError:
        reason = "it is nested too deeply."
    except SqlglotError as error:
        reason = _where(error)
    except Exception:  # noqa: BLE001, S110  (the parser meets garbage here, and raises what it likes)
        pass
    raise QuestionError(f"The question cannot be read: {reason}")


def _where(error: SqlglotError) -> str:
    found = getattr(error, "errors", None)
    if not found:
        return "a quotation mark or comment is not closed."
    first = found[0]
    return f"line {first.get('line')}, column {first.get('col')}, near {str(first.get('highlight'))[:40]!r}."


def refuse_large(query: exp.Expr) -> None:
    """Refuse a query that engines could not take, because sub-queries are nested or repeated too often."""
    if sum(1 for _ in islice(query.walk(), _LONGEST_QUERY + 1)) > _LONGEST_QUERY or _depth(query) > _DEEPEST_QUERY:
        raise QuestionError("The question is too large once its sub-queries are written out; nest and repeat fewer.")
    if sum(1 for _ in query.find_all(exp.Join)) > _MOST_JOINS:
        raise QuestionError(
            f"The question joins tables more than {_MOST_JOINS} times once its sub-queries are written out."
        )


def _depth(tree: exp.Expr) -> int:
    """How deeply expressions are nested; a chain of AND or OR counts once."""
    deepest, stack = 0, [(tree, 1)]
    while stack:
        node, depth = stack.pop()
        deepest = max(deepest, depth)
        for child in node.iter_expressions():
            chain = isinstance(node, exp.Connector) and type(child) is type(node)
            stack.append((child, depth if chain else depth + 1))
    return deepest
