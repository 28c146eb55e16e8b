"""Judging synthetic copies: `ziggurat.utility` says what they are good for, `ziggurat.attacks` what they give away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import pyarrow as pa

from ziggurat.attacks import (
    Scenario,
    closest_records,
    inference,
    linkability,
    match_risk,
    synthetic_singling_out,
)
from ziggurat.data import Kind, Role, Schema, Table
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import seeded
from ziggurat.release.comparing._candidate import Candidate
from ziggurat.utility import ROWS, Comparison, Formula, compare
from ziggurat.wording import nearest

Progress = Callable[[str, int, int], object]
Synthesis = Literal["fully", "partially"]

_NUMBERS = (Kind.INTEGER, Kind.REAL)
_MOST_SECRETS = 4


@dataclass(frozen=True)
class JudgingTerms:
    """What is asked of every candidate.

    Attributes
    ----------
    target, formula
        What to predict, and which regression to fit; "" for none.
    known, secrets
        What attackers know of a person, and what they are after.
    rows
        At most how many rows of each table usefulness is judged on.
    random_state
        A seed for a rehearsal.
    """

    target: str = ""
    formula: str = ""
    known: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    rows: int = ROWS
    random_state: int | None = None

    @classmethod
    def of(
        cls,
        schema: Schema,
        *,
        target: str | None = None,
        formula: str | None = None,
        known: Iterable[str] | None = None,
        secret: Iterable[str] | str | None = None,
        rows: int | None = None,
        random_state: int | None = None,
    ) -> JudgingTerms:
        """Check names against a schema; what attackers know and want is by default what its roles say."""
        secrets = _as_names(secret) or _with_role(schema, Role.SENSITIVE)[:_MOST_SECRETS]
        names = _as_names(known) or _with_role(schema, Role.QUASI_IDENTIFIER)
        terms = Formula.parse(formula).columns if formula else ()
        _check(schema, ("target", [target] if target else []), ("regression", terms))
        _check(schema, ("known column", names), ("secret", secrets))
        if secret and known and set(names) & set(secrets):
            raise ParameterError("A column is named both as known and as secret.")
        names = tuple(name for name in names if name not in secrets)
        if secret and not names:
            raise ParameterError("Say what attackers know of a person whose secret they are after (known columns).")
        return cls(target or "", formula or "", names, secrets if names else (), rows or ROWS, random_state)


def count_steps(terms: JudgingTerms, held_out: bool, kind: Synthesis | None) -> int:
    """Return in how many steps a candidate is judged."""
    return 1 + len(_attacks(terms, held_out, kind))


def judge_copies(
    name: str,
    original: Table,
    copies: object,
    terms: JudgingTerms,
    *,
    holdout: pa.Table | Table | None = None,
    kind: Synthesis | None = None,
    seconds: float | None = None,
    promise: str = "",
    told: Callable[[str], object] = lambda _: None,
) -> Candidate:
    """Compare and attack the copies of one synthesis.

    Parameters
    ----------
    name
        What the candidate is called.
    original
        The rows that the copies were made from.
    copies
        What `ziggurat.utility.compare` takes.
    terms
        What to judge.
    holdout
        Rows that the copies were not made from; without them no attack has a control, and none is made.
    kind
        Whether the copies are "fully" or "partially" synthetic, where they do not say it themselves.
    seconds, promise
        As in `Candidate`.
    told
        Called with what is done next.
    """
    told(f"{name}: comparing")
    found = _compare(original, copies, terms, holdout, kind)
    columns = [each.column for each in found.marginals.columns]
    attacks: dict[str, Finding] = {}
    for title, attack in _attacks(terms, holdout is not None, kind):
        told(f"{name}: {title}")
        attacks[title] = attack(original, copies, holdout, columns)
    return Candidate(name, found, attacks, seconds, promise)


def _compare(
    original: Table, copies: object, terms: JudgingTerms, holdout: object, kind: Synthesis | None
) -> Comparison:
    numeric = terms.formula and original.schema[Formula.parse(terms.formula).target].kind in _NUMBERS
    several = isinstance(copies, list | tuple) and len(copies) > 1
    return compare(
        original,
        copies,
        target=terms.target or None,
        holdout=holdout,
        formula=terms.formula or None,
        kind="linear" if numeric else "logistic",
        combining=None if kind != "partially" else "partially" if several else "as real",
        rows=terms.rows,
        source=None if terms.random_state is None else seeded(terms.random_state),
    )


Attack = Callable[[Table, object, Any, Sequence[str]], Finding]


def _attacks(terms: JudgingTerms, held_out: bool, kind: Synthesis | None) -> list[tuple[str, Attack]]:
    """What can be attacked: linking and inferring need to know what attackers know, all but matching a hold-out."""
    found: list[tuple[str, Attack]] = []
    seed: dict[str, Any] = {"random_state": terms.random_state}
    known = terms.known
    if held_out:
        found.append(("closest records", lambda a, b, c, names: closest_records(a, b, c, columns=names, **seed)))
        found.append(("singling out", lambda a, b, c, names: synthetic_singling_out(a, b, c, columns=names, **seed)))
        if len(known) > 1:
            both = known[: len(known) // 2], known[len(known) // 2 :]
            found.append(("linking", lambda a, b, c, _: linkability(a, b, c, known=both, **seed)))
        found += [(f"inferring {secret!r}", partial(_infer, terms, secret)) for secret in terms.secrets]
    if kind == "partially" and known:
        found.append(("matching", lambda a, b, _, __: match_risk(a, b, Scenario(known))))  # type: ignore[arg-type]
    return found


def _infer(
    terms: JudgingTerms, secret: str, original: Table, copies: object, holdout: Any, _: Sequence[str]
) -> Finding:
    return inference(original, copies, holdout, known=terms.known, secret=secret, random_state=terms.random_state)


def _check(schema: Schema, *named: tuple[str, Sequence[str]]) -> None:
    for what, names in named:
        for name in names:
            if name not in schema:
                raise ParameterError(
                    f"The {what} {name!r} is no column that is compared; {nearest(name, schema.names)}"
                )


def _as_names(given: Iterable[str] | str | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _with_role(schema: Schema, role: Role) -> tuple[str, ...]:
    return tuple(column.name for column in schema.with_role(role))
