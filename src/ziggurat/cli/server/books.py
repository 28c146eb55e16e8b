"""What `ziggurat ledger` says of the ledger of a server: by the same verbs, for what whoever asks may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ziggurat.cli.server._reach import open_server, refuse_local
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.client import ServedEntry, ServedVerification
    from ziggurat.ledger import PopulationStatement

_MOST = 1_000  # entries that a server tells at once


def make_budget(url: str, table: str, epsilon: str, delta: str, relation: str) -> list[str]:
    """Set what may be spent on a table of a server; says what its account is then."""
    refuse_local("table", "epsilon", "delta", "relation")
    chosen: Any = relation
    with open_server(url) as server:
        return server.make_budget(table, epsilon, delta, relation=chosen).sentences()


def grant(url: str, budget: str, analyst: str, epsilon: str, delta: str, rule: str) -> list[str]:
    """Give an analyst a piece of a budget of a server; says what the grant is."""
    refuse_local("table", "analyst", "epsilon", "delta", "rule")
    chosen: Any = rule or None
    with open_server(url) as server:
        return server.grant(budget, analyst, epsilon, delta, chosen).sentences()


def close(url: str, budget: str, analyst: str) -> list[str]:
    """End a grant of a server."""
    refuse_local("table", "analyst")
    with open_server(url) as server:
        server.close_grant(budget, analyst)
    return [f"The grant of {analyst} on the table {budget} is closed."]


def read_accounts(url: str, name: str) -> tuple[list[PopulationStatement], list[str]]:
    """Read the accounts that whoever asks may see, and what is known of the witness."""
    refuse_local("table")
    with open_server(url) as server:
        known, seen = server.budgets(), server.witness()
    accounts = [each for each in known if name in ("", each.population, *each.tables, *_budgets(each))]
    if name and not accounts:
        raise ParameterError(f"The server has no account of {name!r} that you may see.")
    return accounts, [_say_witness(seen)]


def read_history(url: str, table: str, analyst: str, last: int) -> tuple[list[ServedEntry], list[tuple[str, str]]]:
    """Read entries of the ledger of a server, newest last, with the table and analyst that each is about."""
    refuse_local("table", "analyst", "last")
    found: list[ServedEntry] = []
    before: int | None = None
    with open_server(url) as server:
        while before != 1 and (not last or len(found) < last):
            part = server.entries(_MOST, before)
            chosen = [each for each in part if table in ("", each.table) and analyst in ("", each.analyst)]
            found, before = [*chosen, *found], part[0].seq if part else 1
    kept = found[-last:] if last else found
    return kept, [(each.table, each.analyst) for each in kept]


def verify(url: str, whole: bool) -> ServedVerification:
    """Have the ledger of a server verified by itself."""
    refuse_local("whole")
    with open_server(url) as server:
        return server.verify(whole)


def read_witness(url: str) -> list[str]:
    """Say who watches the ledger of a server."""
    refuse_local()
    with open_server(url) as server:
        return [_say_witness(server.witness())]


def _budgets(account: PopulationStatement) -> list[str]:
    return [each.table for each in account.budgets]


def _say_witness(seen: dict[str, Any]) -> str:
    if not seen["named"]:
        return "No witness watches the ledger of the server."
    if seen["trouble"]:
        return f"The witness of the ledger: {seen['trouble']}"
    return f"A witness watches the ledger; it has seen {seen['seen']} of {seen['entries']} entries."
