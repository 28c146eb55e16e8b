"""Questions in the words in which a server takes them: the same that release files use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from ziggurat.errors import ParameterError, QuestionError
from ziggurat.privacy import Amount, exact
from ziggurat.queries import Answer, Query, Terms, Workload, WorkloadAnswer
from ziggurat.release import TermOptions
from ziggurat.signatures import take_options_of
from ziggurat.wording import nearest

Asking = str | Query | Workload
"""What can be asked of a server."""

tell_terms = take_options_of(Terms, leave_out=("epsilon", "delta"), bounds=None)
"""Shows the terms of a question by name in what takes them."""

_TERMS = tuple(TermOptions.__annotations__)
_OF_WORKLOADS = ("rows_per_unit", "noise", "confidence")
_AMOUNTS = ("effects", "confidence")


def say_question(asked: Asking, epsilon: Amount, delta: Amount, terms: TermOptions) -> dict[str, Any]:
    """Write a question on its terms as JSON; what cannot be said so is refused by name.

    Parameters
    ----------
    asked
        SQL, a `Query` or a `Workload`.
    epsilon, delta
        What it may cost, exact.
    terms
        As in `Terms`.
    """
    for name in terms:
        if name not in _TERMS:
            raise ParameterError(f"There is no term {name!r} of a question; {nearest(name, _TERMS)}")
    cost = {"epsilon": str(exact(epsilon, "epsilon")), "delta": str(exact(delta, "delta"))}
    if isinstance(asked, Workload):
        return {"kind": "workload", **cost, **_say_workload(asked, terms)}
    if not isinstance(asked, str | Query):
        raise ParameterError("Ask SQL, a Query or a Workload; a plan is made by the server, which knows its tables.")
    sql = asked.sql() if isinstance(asked, Query) else asked
    return {"kind": "question", "sql": sql, **cost, **{name: _plain(name, each) for name, each in _given(terms)}}


def read_answer(data: Mapping[str, Any], *, replayed: bool = False) -> Answer | WorkloadAnswer:
    """Make the answer again that a server told, of whichever kind."""
    kind: type[Answer] | type[WorkloadAnswer] = Answer if "estimates" in data else WorkloadAnswer
    answer = kind.from_dict(data)
    return answer.again() if replayed else answer


def _given(terms: TermOptions) -> list[tuple[str, Any]]:
    return [(name, each) for name, each in terms.items() if each is not None]


def _plain(name: str, value: Any) -> Any:
    if name == "shares":
        return {column: str(exact(each, "share")) for column, each in value.items()}
    if name == "bounds":
        return {column: [_write_end(end) for end in ends] for column, ends in value.items()}
    if name == "learn":
        return list(value)
    return str(exact(value, name)) if name in _AMOUNTS else value


def _write_end(end: Any) -> Any:
    if isinstance(end, date):
        return end.isoformat()
    return end.item() if hasattr(end, "item") else end


def _say_workload(asked: Workload, terms: TermOptions) -> dict[str, Any]:
    for name, _ in _given(terms):
        if name not in _OF_WORKLOADS:
            raise ParameterError(f"A workload takes no {name}; it takes {', '.join(_OF_WORKLOADS)}.")
    ranged = any(each is not None for group in asked.groups for each in group.factors.values())
    if ranged or asked.edges or any(group.weight != 1 for group in asked.groups):
        raise QuestionError(
            "A server answers marginals and the total, with even bins and equal weights; ask for those, or for ranges, "
            "edges and weights in a release file."
        )
    columns = [list(group.columns) for group in asked.groups]
    marginals = [each for each in columns if each]
    if not marginals or columns.count([]) > 1:
        raise QuestionError("A workload for a server has at least one marginal, and the total once.")
    said = {name: _plain(name, each) for name, each in _given(terms)}
    return {"marginals": marginals, "total": [] in columns, "bins": asked.bins, **said}
