"""Audits of what protects single records, at the two that are hardest to keep apart; all that is sent is seen."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.local import (
    CountNoise,
    LocalHashing,
    Privatizer,
    RecordChoice,
    RecordLaplace,
    Response,
    UnaryEncoding,
    VectorNoise,
    WholeRecord,
)
from ziggurat.randomness import Source

MANY = 40_000  # reports that are made all at once
_CATEGORIES = 4
_LAST = _CATEGORIES - 1


def _report(
    make: Callable[[Fraction], Privatizer], pair: tuple[Any, Any], look: Callable[[Any, Any], npt.ArrayLike]
) -> Callable[[Fraction], Draw]:
    """Reports of one record, or of the other; `look` is a public function of what is sent."""

    def built(epsilon: Fraction) -> Draw:
        made = make(epsilon)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            return look(made, made.privatize(np.array([pair[world]] * runs), source).value)

        return draw

    return built


def _see_whole(_made: Privatizer, sent: Any) -> npt.ArrayLike:
    return np.asarray(sent, np.float64)


def _see_both_bits(_made: Privatizer, sent: Any) -> npt.ArrayLike:
    """The log ratio of likelihoods is a function of the two bits that differ: (1, 0) tells most."""
    bits = np.unpackbits(sent, axis=1, count=_CATEGORIES).astype(np.float64)
    return np.asarray(bits[:, _LAST] - bits[:, 0])


def _see_support(made: Privatizer, sent: Any) -> npt.ArrayLike:
    """Whether a report speaks for the last category and not for the first, by the public hash of its own seed."""
    assert isinstance(made, LocalHashing)
    spoken = [
        [made.estimate(sent[at : at + 1], values=[item]).counts[0] for item in (0, _LAST)] for at in range(len(sent))
    ]
    first, last = np.array(spoken).T
    return np.asarray(last - first)


def _see_ratio(_made: Privatizer, sent: Any) -> npt.ArrayLike:
    """The log ratio of likelihoods of a vector between two corners of the ball, up to its scale."""
    return np.asarray(np.abs(sent[:, 0] + 1) - np.abs(sent[:, 0] - 1))


def _report_record(epsilon: Fraction) -> Draw:
    """Two columns at half of epsilon each; what tells the records apart is how many reports speak for the second."""
    import pyarrow as pa

    made = WholeRecord({"a": Response(epsilon / 2, _CATEGORIES), "b": Response(epsilon / 2, _CATEGORIES)})

    def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        held = pa.array([world * _LAST] * runs)
        sent = made.privatize(pa.table({"a": held, "b": held}), source).value
        columns = [sent.column(name).to_numpy() for name in ("a", "b")]
        return np.asarray(np.sum([(each == _LAST).astype(int) - (each == 0) for each in columns], axis=0))

    return draw


_ENDS = "the first and the last of four categories, one record replaced"
_NUMBERS = "the ends 0 and 6 of a range, one record replaced"

CASES = (
    AuditCase(
        "local.Response",
        _ENDS,
        _report(lambda epsilon: Response(epsilon, _CATEGORIES), (0, _LAST), _see_whole),
        runs=MANY,
    ),
    AuditCase(
        "local.UnaryEncoding",
        _ENDS,
        _report(lambda epsilon: UnaryEncoding(epsilon, _CATEGORIES), (0, _LAST), _see_both_bits),
        runs=MANY,
    ),
    AuditCase(
        "local.LocalHashing",
        _ENDS,
        _report(lambda epsilon: LocalHashing(epsilon, _CATEGORIES), (0, _LAST), _see_support),
        runs=3000,
        fault=3,
    ),
    AuditCase(
        "local.RecordChoice",
        _ENDS,
        _report(lambda epsilon: RecordChoice(epsilon, _CATEGORIES), (0, _LAST), _see_whole),
        runs=MANY,
    ),
    AuditCase(
        "local.CountNoise", _NUMBERS, _report(lambda epsilon: CountNoise(epsilon, 0, 6), (0, 6), _see_whole), runs=MANY
    ),
    AuditCase(
        "local.RecordLaplace",
        _NUMBERS,
        _report(lambda epsilon: RecordLaplace(epsilon, 0, 6), (0.0, 6.0), _see_whole),
        runs=MANY,
    ),
    AuditCase(
        "local.VectorNoise",
        "two opposite corners of the l1 ball, one vector replaced",
        _report(lambda epsilon: VectorNoise(epsilon, 3), ([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]), _see_ratio),
        runs=MANY,
    ),
    AuditCase(
        "local.WholeRecord",
        "records that differ in both of two columns, one record replaced",
        _report_record,
        runs=MANY,
    ),
)
