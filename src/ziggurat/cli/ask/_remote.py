"""Questions to a server: the same options as far as they mean something there, and the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ziggurat.cli.server import open_server, refuse_local
from ziggurat.cli.terminal import show_status
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.cli.ask._options import QuestionOptions
    from ziggurat.queries import Answer
    from ziggurat.release import Quotation

_TERMS = (
    "epsilon", "delta", "rows_per_unit", "groups_per_unit", "share", "learn", "bounds", "bounding", "noise", "effects",
    "confidence", "quote_only",
)  # fmt: skip
_ASKED = ("data", "sql", *_TERMS, "out", "picture", "explain", "sweep")
_PRICED = ("data", "sql", *_TERMS, "group_size", "sweep")


def ask_server(asked: QuestionOptions, table: str, sql: str) -> tuple[Answer, str]:
    """Ask about a table of a server; gives the answer, and what is left in words."""
    from ziggurat.queries import Answer

    refuse_local(*_ASKED)
    if asked.sweep:
        raise ParameterError("A sweep is asked on this machine; ask a server once at each epsilon.")
    with open_server(asked.server) as server, show_status("Asking …"):
        made = server.session(table).release(sql, asked.epsilon, asked.delta, **asked.terms)
    assert isinstance(made.output, Answer)
    return made.output, made.left


def price_on_server(
    asked: QuestionOptions, table: str, questions: Sequence[tuple[str, str]], group_size: int
) -> Quotation:
    """Price questions about a table of a server, asked one after the other."""
    refuse_local(*_PRICED)
    texts, amounts = [each for each, _ in questions], [amount for _, amount in questions]
    with open_server(asked.server) as server:
        return server.session(table).quote(texts, amounts, asked.delta, group_size=group_size, **asked.terms)
