"""What a checkpoint says: the state of a ledger as JSON, written and read.

A checkpoint is an entry like any other, inside the hash chain: whoever forges one must rehash all that follows, which a
receipt or a witness finds out, and `verify` recomputes each from the entries before it. It holds what decides over the
next spend (budgets, grants with their exact totals, open reservations) and who watches. Of what grows for ever it holds
a count and a digest; the rest is found through the index, which is written with the checkpoint in one transaction.

A reservation that has expired by the writer's clock when the checkpoint is written is lost from there on, even if the
clock is set back later. Its cost stays spent.
"""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from typing import Any

from ziggurat.errors import LedgerError, ZigguratError
from ziggurat.ledger._chain import Head, frame_texts
from ziggurat.ledger._entries import Budget, Checkpoint, Grant, Membership, Unbounded, WentOn, WitnessNamed, check_text
from ziggurat.ledger._state import GrantState, HoldState, NoteList, State, TableState
from ziggurat.privacy import Neighbours, Spent

EVERY = 500
"""How many entries there are between two checkpoints."""

_AMOUNTS = ("epsilon", "delta", "rho", "mu_squared")


def make_checkpoint(state: State, time: str) -> Checkpoint:
    """Say what the entries so far add up to, at `time`."""
    return Checkpoint(
        sorted(seq for seq, hold in state.holds.items() if hold.live(time)),
        {
            "ledger": state.ledger,
            "tables": [_write_table(name, table, time) for name, table in state.tables.items()],
            "members": [member.to_body() for member in state.members.values()],
            "witness": None if state.witness is None else state.witness.to_body(),
            "witness_since": state.witness_since,
        },
    )


def open_checkpoint(record: Checkpoint, head: Head) -> State:
    """Begin with what a checkpoint says; `head` is its entry. What makes no sense raises `LedgerError`."""
    try:
        state = _read_state(record.state)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, ZigguratError):
        raise LedgerError("does not say what a 'checkpoint' entry must say") from None
    if sorted(state.holds) != sorted(record.open):
        raise LedgerError("does not list the reservations that are open")
    state.head, state.base = head, head.seq
    return state


def point(state: State) -> list[tuple[str, int]]:
    """List what the next checkpoint lets go of, for the index: a key, and the number of the entry it leads to."""
    answers = [(hold.key.hex(), hold.committed) for hold in state.holds.values() if hold.key and hold.committed]
    return answers + [
        (name_notes(kind, name), seq)
        for name, table in state.tables.items()
        for kind, notes in ((Unbounded.kind, table.unbounded), (WentOn.kind, table.decisions))
        for seq, _ in notes.recent
    ]


def name_notes(kind: str, table: str) -> str:
    """The key under which the index keeps the texts of a kind about a table."""
    return sha256(frame_texts(("notes", kind, table))).hexdigest()


def _write_table(name: str, table: TableState, time: str) -> dict[str, Any]:
    return {
        "name": name,
        "budget": None if table.budget is None else table.budget.to_body(),
        "grants": [_write_grant(grant, time) for grant in table.grants],
        "unbounded": [table.unbounded.count, table.unbounded.digest],
        "decisions": [table.decisions.count, table.decisions.digest],
    }


def _write_grant(grant: GrantState, time: str) -> dict[str, Any]:
    live = [hold for hold in grant.open_holds.values() if hold.live(time)]
    return {
        "grant": grant.grant.to_body(),
        "since": grant.since,
        "closed": grant.closed,
        "spent": _write_spent(grant.spent),
        "open": [[one.seq, one.key.hex() if one.key else None, one.expires, one.rehearsal] for one in live],
        "lost": grant.lost + len(grant.open_holds) - len(live),
        "rehearsals": grant.rehearsals,
    }


def _write_spent(spent: Spent) -> dict[str, Any]:
    amounts = {name: getattr(spent, name) for name in _AMOUNTS}
    return {
        "count": spent.count,
        **{name: None if amount is None else str(amount) for name, amount in amounts.items()},
        "neighbours": None if spent.neighbours is None else spent.neighbours.to_dict(),
    }


def _read_state(body: dict[str, Any]) -> State:
    state = State(check_text(body["ledger"], "The name of a ledger"))
    for each in body["tables"]:
        state.tables[check_text(each["name"], "The name of a table")] = table = _read_table(each)
        for grant in table.grants:
            state.holds.update(grant.open_holds)
    state.holds = dict(sorted(state.holds.items()))
    state.questions = {hold.key: hold for hold in state.holds.values() if hold.key is not None}
    for member in map(Membership.from_body, body["members"]):
        state.members[member.table] = member
    state.witness = None if body["witness"] is None else WitnessNamed.from_body(body["witness"])
    state.witness_since = _count(body["witness_since"])
    return state


def _read_table(body: dict[str, Any]) -> TableState:
    grants = [_read_grant(each) for each in body["grants"]]
    return TableState(
        None if body["budget"] is None else Budget.from_body(body["budget"]),
        grants,
        {grant.grant.analyst: grant for grant in grants if not grant.closed},
        NoteList(_count(body["unbounded"][0]), str(body["unbounded"][1])),
        NoteList(_count(body["decisions"][0]), str(body["decisions"][1])),
    )


def _read_grant(body: dict[str, Any]) -> GrantState:
    grant = GrantState(Grant.from_body(body["grant"]), _count(body["since"]), _read_spent(body["spent"]))
    grant.closed, grant.lost, grant.rehearsals = bool(body["closed"]), _count(body["lost"]), _count(body["rehearsals"])
    for seq, key, expires, rehearsal in body["open"]:
        hold = HoldState(_count(seq), grant, bytes.fromhex(key) if key else None, str(expires), bool(rehearsal))
        grant.open_holds[hold.seq] = hold
    return grant


def _read_spent(body: dict[str, Any]) -> Spent:
    epsilon, delta, rho, mu = (None if body[name] is None else Fraction(body[name]) for name in _AMOUNTS)
    if delta is None or any(amount is not None and amount < 0 for amount in (epsilon, delta, rho, mu)):
        raise LedgerError("counts less than nothing")
    whom = None if body["neighbours"] is None else Neighbours.from_dict(body["neighbours"])
    return Spent(_count(body["count"]), epsilon, delta, rho, mu, whom)


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise LedgerError("counts less than nothing")
    return value
