"""Attacks on the files of a synthetic table: with people who were kept back, or without where there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ziggurat.attacks import (
    AttributeInference,
    Linkability,
    Scenario,
    Share,
    closest_records,
    epsilon_bound,
    inference,
    linkability,
    match_risk,
    synthetic_singling_out,
)
from ziggurat.attacks.synthetic import GUESSES, name_copies, number_alike, read_alike
from ziggurat.data import Role, Schema, Table
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.privacy import Guarantee, Relation
from ziggurat.release._drafts import Told
from ziggurat.release._evidence import Evidence
from ziggurat.release._tried import ExactCopies

_NO_CONTROL = "Nobody was kept back, so there is no control to tell a risk from chance."
_PARTIAL = "A partially synthetic table keeps its people, so that nobody can be kept back as a control."
_NOTHING_KNOWN = "Neither the schema nor the caller says which columns attackers know."
_NOTHING_TO_LEARN = "Neither the schema nor the caller says which column is secret."
_NOTHING_ELSE = "Attackers know every column, so that there is nothing left to link."
_EPSILON = "epsilon"
_MOST_TESTED = 30_000
_CONTROLLED = ("closest records", "singling out", "linking", "inferring")


@dataclass(frozen=True)
class Attackers:
    """What attackers know, and what they want to learn.

    Attributes
    ----------
    known, secrets
        Columns that are known, and columns to be learned.
    scenario
        Of an intruder who matches records of partially synthetic copies.
    """

    known: tuple[str, ...]
    secrets: tuple[str, ...]
    scenario: Scenario | None = None


@dataclass(frozen=True)
class Claim:
    """The promise of a table that was learned from people each of whom was kept back, or not, by a coin.

    Attributes
    ----------
    guarantee
        What is promised.
    kept_back, coins
        The probability of being kept back, and for how many people a coin was tossed; 0 if none was.
    """

    guarantee: Guarantee
    kept_back: float
    coins: int

    def why_untested(self, rows: int, copies: int) -> str:
        """Say why the promise cannot be tested by guesses about `rows` rows; nothing if it can."""
        if not self.coins or not 0 < self.kept_back < 1:
            return "The promise is not tested: nobody was kept back by a coin."
        if self.guarantee.neighbours.relation is not Relation.ADD_OR_REMOVE_ONE:
            return "The promise is not tested: it is about replacing somebody, and a coin adds or removes."
        if self.coins != rows or copies != 1:
            return "The promise is not tested: that takes one row for each person, and one copy."
        return (
            "" if rows <= _MOST_TESTED else f"The promise is not tested: there are more than {_MOST_TESTED:,} people."
        )


def attackers_of(
    schema: Schema,
    names: Sequence[str],
    known: Sequence[str] | None,
    secret: str | Sequence[str] | None,
    scenario: Scenario | None = None,
) -> Attackers:
    """Say who attacks: as the caller says, and otherwise by the roles of the columns that are released."""
    wanted = (secret,) if isinstance(secret, str) else secret
    if isinstance(known, str):
        raise ParameterError("'known' takes a list of columns, not one text.")
    for name in (*(known or ()), *(wanted or ())):
        if schema[name].name not in names:
            raise ParameterError(f"Column {name!r} is not released; attackers can be given only columns that are.")
    secrets = tuple(_with_role(schema, names, Role.SENSITIVE) if wanted is None else wanted)
    told = _with_role(schema, names, Role.QUASI_IDENTIFIER) if known is None else known
    return Attackers(tuple(name for name in told if name not in secrets), secrets, scenario)


def plan_attacks(who: Attackers, names: Sequence[str], *, control: bool, partial: bool = False) -> tuple[str, ...]:
    """Say which attacks will be tried, as the evidence will call them."""
    if partial:
        return ("exact copies", *(("matching",) if who.scenario or who.known else ()))
    if not control:
        return ("exact copies",)
    linking = ("linking",) if who.known and set(names) - set(who.known) else ()
    inferring = tuple(f"inferring {name}" for name in who.secrets) if who.known else ()
    return ("closest records", "singling out", *linking, *inferring)


def attack_fully(
    original: Table,
    files: Sequence[Table],
    control: Table | None,
    who: Attackers,
    seed: Any,
    told: Told,
    claim: Claim | None = None,
) -> Evidence:
    """Attack fully synthetic copies; without a control only exact copies can be counted.

    With a `claim`, linking and inferring are tried on everybody, and test its epsilon.
    """
    if control is None:
        return Evidence({"exact copies": _count_copies(original, files)}, dict.fromkeys(_CONTROLLED, _NO_CONTROL))
    held = (original, list(files), control)
    people = original.raw.count_rows() + control.raw.count_rows()
    untested = "" if claim is None else claim.why_untested(people, len(files))
    guesses = GUESSES if claim is None or untested else max(GUESSES, people)
    todo: dict[str, Callable[[], Finding]] = {
        "closest records": lambda: closest_records(original, list(files), control, random_state=seed),
        "singling out": lambda: synthetic_singling_out(*held, random_state=seed),
    }
    skipped: dict[str, str] = {}
    rest = tuple(name for name in original.schema.names if name not in who.known)
    if who.known and rest:
        todo["linking"] = lambda: linkability(*held, known=(who.known, rest), guesses=guesses, random_state=seed)
    else:
        skipped["linking"] = _NOTHING_ELSE if who.known else _NOTHING_KNOWN
    for secret in who.secrets if who.known else ():
        todo[f"inferring {secret}"] = lambda secret=secret: inference(  # type: ignore[misc]
            *held, known=who.known, secret=secret, guesses=guesses, random_state=seed
        )
    if not (who.known and who.secrets):
        skipped["inferring"] = _NOTHING_TO_LEARN if who.known else _NOTHING_KNOWN
    found = _attack_all(todo, told)
    if claim is not None and untested:
        skipped[_EPSILON] = untested
    elif claim is not None:
        found |= _bounds(found, claim)
    return Evidence(found, skipped)


def _bounds(found: Mapping[str, Finding], claim: Claim) -> dict[str, Finding]:
    """What each attack on everybody shows of the epsilon: whether it is right about somebody follows from the file."""
    promised: Any = claim.guarantee
    terms: dict[str, Any] = {"people": claim.coins, "kept_back": claim.kept_back}
    terms |= {"epsilon": promised.epsilon, "delta": getattr(promised, "delta", 0)}
    return {
        f"{_EPSILON} by {name}": epsilon_bound(name, each.guesses, **terms)
        for name, each in found.items()
        if isinstance(each, Linkability | AttributeInference)
    }


def attack_partially(
    original: Table, files: Sequence[Table], names: Sequence[str], who: Attackers, targets: str, told: Told
) -> Evidence:
    """Attack partially synthetic copies: by an intruder who matches what is known of the people who were changed."""
    scenario = who.scenario or (Scenario(who.known, targets) if who.known else None)  # type: ignore[arg-type]
    todo: dict[str, Callable[[], Finding]] = {"exact copies": lambda: _count_unchanged(original, files, names)}
    skipped = dict.fromkeys(_CONTROLLED, _PARTIAL)
    if scenario is None:
        skipped["matching"] = _NOTHING_KNOWN
    else:
        todo["matching"] = lambda: match_risk(original, list(files), scenario)
    return Evidence(_attack_all(todo, told), skipped)


def _attack_all(todo: Mapping[str, Callable[[], Finding]], told: Told) -> dict[str, Finding]:
    found = {}
    for place, (name, attack) in enumerate(todo.items()):
        told("attacking", name, place, len(todo))
        found[name] = attack()
    return found


def _with_role(schema: Schema, names: Sequence[str], role: Role) -> list[str]:
    return [column.name for column in schema.with_role(role) if column.name in names]


def _count_copies(original: Table, files: Sequence[Table]) -> ExactCopies:
    first, *copies = (each.cells for each in read_alike(original, name_copies(list(files)), original.schema.names))
    real, *made = number_alike([first, *copies])
    found = np.isin(np.concatenate(made), real)
    return ExactCopies(Share(int(found.sum()), found.size), partial=False)


def _count_unchanged(original: Table, files: Sequence[Table], names: Sequence[str]) -> ExactCopies:
    first, *copies = (each.cells for each in read_alike(original, name_copies(list(files)), names))
    same = [((first == copy) | (np.isnan(first) & np.isnan(copy))).all(axis=1) for copy in copies]
    return ExactCopies(Share(int(np.sum(same)), sum(each.size for each in same)), partial=True)
