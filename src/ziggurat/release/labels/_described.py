"""Aggregators and features in JSON: enough to tell them apart exactly, and to account for them again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ziggurat.pate import (
    Aggregator,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    ThresholdTest,
    VotingStep,
)
from ziggurat.pate.voting import AGGREGATORS
from ziggurat.privacy import in_words


def is_own(aggregator: Aggregator) -> bool:
    """Whether an aggregator is exactly one of Ziggurat's, whose public parameters say everything about it."""
    return type(aggregator) in AGGREGATORS.values()


def describe_step(step: VotingStep) -> dict[str, Any]:
    """Give every public parameter of an aggregator, exact; its `repr` rounds, and does not show every test."""
    public = {name: value for name, value in sorted(vars(step).items()) if not name.startswith("_")}
    return {"kind": _name(type(step)), **{name: _plain(value) for name, value in public.items()}}


def _name(kind: type[VotingStep]) -> str:
    ours = kind.__module__.startswith("ziggurat.pate.")
    return kind.__name__ if ours else f"{kind.__module__}.{kind.__qualname__}"


def _plain(value: Any) -> Any:
    if isinstance(value, VotingStep):
        return describe_step(value)
    if isinstance(value, Fraction):
        return str(value)
    return value if value is None or isinstance(value, str | int) else repr(value)


def aggregator_from(facts: Mapping[str, Any]) -> Aggregator | None:
    """Make the aggregator that `describe_step` wrote down; None for one that is not Ziggurat's own."""
    made = _KINDS.get(facts["kind"])
    return None if made is None else made(facts)


def _read_test(facts: Mapping[str, Any]) -> ThresholdTest | None:
    test = facts["test"]
    return None if test is None else ThresholdTest(test["threshold"], test["sigma"])


_KINDS: dict[str, Callable[[Mapping[str, Any]], Aggregator]] = {
    "GumbelNoisyMax": lambda facts: GumbelNoisyMax(facts["gamma"], test=_read_test(facts)),
    "LaplaceNoisyMax": lambda facts: LaplaceNoisyMax(facts["gamma"], test=_read_test(facts)),
    "GaussianNoisyMax": lambda facts: GaussianNoisyMax(facts["sigma"], test=_read_test(facts)),
    "ConfidentGaussianMax": lambda facts: ConfidentGaussianMax(
        facts["test"]["threshold"], facts["test"]["sigma"], facts["sigma"]
    ),
}


def in_a_phrase(facts: Mapping[str, Any]) -> str:
    """Say which aggregator it was, for people."""
    shown = [_show(name, value) for name, value in facts.items() if name not in ("kind", "test") and value is not None]
    if facts.get("test"):
        shown.append(f"after a test of threshold {_amount(facts['test']['threshold'])} with sigma "
                     f"{_amount(facts['test']['sigma'])}")  # fmt: skip
    return f"{facts['kind']} ({', '.join(shown)})"


def _show(name: str, value: Any) -> str:
    return f"{name} {_amount(value)}"


def _amount(value: Any) -> str:
    try:
        return in_words(Fraction(value))
    except (ValueError, TypeError, ZeroDivisionError):
        return str(value)


def features_digest(features: Any) -> str:
    """Return the SHA-256 of rows of numbers: the same for a list, an array or a frame of the same values."""
    rows = np.ascontiguousarray(np.asarray(features), dtype=np.float64)
    digest = hashlib.sha256(f"{len(rows)} rows\n".encode())
    digest.update(rows.tobytes())
    return digest.hexdigest()
