"""Attacks on the files of a synthetic table: with people who were kept back, or without where there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.attacks import (
    AttributeInference,
    ClosestRecords,
    Finding,
    Linkability,
    Scenario,
    Share,
    SyntheticSinglingOut,
    closest_records,
    inference,
    linkability,
    match_risk,
    synthetic_singling_out,
)
from ziggurat.attacks._alike import alike, classes, copies_named
from ziggurat.data import Role, Schema, Table
from ziggurat.errors import ParameterError

Told = Callable[[str, str, int, int], None]

_NO_CONTROL = "Nobody was kept back, so there is no control to tell a risk from chance."
_PARTIAL = "A partially synthetic table keeps its people, so that nobody can be kept back as a control."
_NOTHING_KNOWN = "Neither the schema nor the caller says which columns attackers know."
_NOTHING_TO_LEARN = "Neither the schema nor the caller says which column is secret."
_NOTHING_ELSE = "Attackers know every column, so that there is nothing left to link."
_ALARM = "Warning: these files tell more about the people in the table than about others ({})."
_CONTROLLED = ("closest records", "singling out", "linking", "inferring")


@dataclass(frozen=True)
class ExactCopies(Finding):
    """How many synthetic rows equal a real one, without a control to say how many would by chance.

    Attributes
    ----------
    copies
        Of fully synthetic copies the rows that equal any row that was learned from; of partially synthetic ones the
        rows that are as they were.
    partial
        Which of the two.
    """

    copies: Share
    partial: bool

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        if self.partial:
            return f"{self.copies} of the rows left as they were: whoever they are about is in the files."
        return f"{self.copies} of the synthetic rows equal a real one; nobody was kept back to compare with."

    @property
    def table(self) -> pa.Table:
        """The share with its interval."""
        ends = {end: [getattr(self.copies, end)] for end in ("rate", "low", "high")}
        return pa.table({"figure": ["rows that equal a real one"], **ends})


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
class Attacked:
    """What attacks found, and which were not made.

    Attributes
    ----------
    findings
        By what the attack is called.
    skipped
        Why an attack was not made.
    """

    findings: Mapping[str, Finding] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold."""
        made = {name: each.to_dict() for name, each in self.findings.items()}
        return {"made": made, "skipped": dict(self.skipped), "alarms": self.alarms}

    @property
    def alarms(self) -> list[str]:
        """The attacks that did better on people in the table than on the control, by more than chance."""
        return [name for name, each in self.findings.items() if _alarming(each)]

    @property
    def sentences(self) -> list[str]:
        """What was found, and what was not tried, for a steward."""
        return [*(each.sentence for each in self.findings.values()), *self.remarks]

    @property
    def remarks(self) -> list[str]:
        """What was not tried and why, and a warning if an attack learned more than chance explains."""
        reasons: dict[str, list[str]] = {}
        for name, why in self.skipped.items():
            reasons.setdefault(why, []).append(name)
        not_made = [f"Not attacked by {', '.join(names)}: {why}" for why, names in reasons.items()]
        warned = [_ALARM.format(", ".join(self.alarms))] if self.alarms else []
        return [*not_made, *warned]


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


def attack_fully(
    original: Table, files: Sequence[Table], control: Table | None, who: Attackers, seed: Any, told: Told
) -> Attacked:
    """Attack fully synthetic copies; without a control only exact copies can be counted."""
    if control is None:
        return Attacked({"exact copies": _copied(original, files)}, dict.fromkeys(_CONTROLLED, _NO_CONTROL))
    held = (original, list(files), control)
    todo: dict[str, Callable[[], Finding]] = {
        "closest records": lambda: closest_records(original, list(files), control, random_state=seed),
        "singling out": lambda: synthetic_singling_out(*held, random_state=seed),
    }
    skipped: dict[str, str] = {}
    rest = tuple(name for name in original.schema.names if name not in who.known)
    if who.known and rest:
        todo["linking"] = lambda: linkability(*held, known=(who.known, rest), random_state=seed)
    else:
        skipped["linking"] = _NOTHING_ELSE if who.known else _NOTHING_KNOWN
    for secret in who.secrets if who.known else ():
        todo[f"inferring {secret}"] = lambda secret=secret: inference(  # type: ignore[misc]
            *held, known=who.known, secret=secret, random_state=seed
        )
    if not (who.known and who.secrets):
        skipped["inferring"] = _NOTHING_TO_LEARN if who.known else _NOTHING_KNOWN
    return Attacked(_made(todo, told), skipped)


def attack_partially(
    original: Table, files: Sequence[Table], names: Sequence[str], who: Attackers, targets: str, told: Told
) -> Attacked:
    """Attack partially synthetic copies: by an intruder who matches what is known of the people who were changed."""
    scenario = who.scenario or (Scenario(who.known, targets) if who.known else None)  # type: ignore[arg-type]
    todo: dict[str, Callable[[], Finding]] = {"exact copies": lambda: _unchanged(original, files, names)}
    skipped = dict.fromkeys(_CONTROLLED, _PARTIAL)
    if scenario is None:
        skipped["matching"] = _NOTHING_KNOWN
    else:
        todo["matching"] = lambda: match_risk(original, list(files), scenario)
    return Attacked(_made(todo, told), skipped)


def _made(todo: Mapping[str, Callable[[], Finding]], told: Told) -> dict[str, Finding]:
    found = {}
    for place, (name, attack) in enumerate(todo.items()):
        told("attacking", name, place, len(todo))
        found[name] = attack()
    return found


def _alarming(finding: Finding) -> bool:
    if isinstance(finding, ClosestRecords):
        return finding.overfit
    if isinstance(finding, SyntheticSinglingOut):
        return finding.univariate.risk.more_than_chance or finding.multivariate.risk.more_than_chance
    return isinstance(finding, Linkability | AttributeInference) and finding.guesses.risk.more_than_chance


def _with_role(schema: Schema, names: Sequence[str], role: Role) -> list[str]:
    return [column.name for column in schema.with_role(role) if column.name in names]


def _copied(original: Table, files: Sequence[Table]) -> ExactCopies:
    first, *copies = (each.cells for each in alike(original, copies_named(list(files)), original.schema.names))
    real, *made = classes([first, *copies])
    found = np.isin(np.concatenate(made), real)
    return ExactCopies(Share(int(found.sum()), found.size), partial=False)


def _unchanged(original: Table, files: Sequence[Table], names: Sequence[str]) -> ExactCopies:
    first, *copies = (each.cells for each in alike(original, copies_named(list(files)), names))
    same = [((first == copy) | (np.isnan(first) & np.isnan(copy))).all(axis=1) for copy in copies]
    return ExactCopies(Share(int(np.sum(same)), sum(each.size for each in same)), partial=True)
