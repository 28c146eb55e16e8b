"""An audit of any estimator with its own settings, on invented neighbours.

The table is invented within what the estimator declares: bounds, classes, categories. A canary row stands in a corner
of the bounds with a label that nobody else has; the neighbour lacks it, or has the opposite corner in its place, as the
estimator promises. Fresh copies are fitted on both, and what would leave, the public fitted attributes and what is
predicted for a few rows, is told apart by a classifier. No private row is read, so what is found may stand on a
certificate. An attacker who sees only what leaves of a model sees less than the proof grants; such an audit finds gross
faults, such as noise that is left out, and `catalogue` has sharper ones for every model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import CONFIDENCE, AuditCase, AuditedPromise, Draw, audit_case
from ziggurat.attacks.audits._invented import InventedPair, invent_pair
from ziggurat.errors import ParameterError
from ziggurat.privacy import Amount, Guarantee, compose, exact_delta, exact_epsilon, whole_number
from ziggurat.randomness import Source, uniform_below

Floats = npt.NDArray[np.float64]
Progress = Callable[[str], None]

_ANSWERS = ("predict_proba", "decision_function", "predict", "score_samples")
_LARGEST = 1e100
_STEPS = 10  # how often progress is told of the fits on one neighbour


def audit_estimator(
    model: Any,
    *,
    columns: int,
    rows: int = 20,
    runs: int = 1000,
    confidence: Amount = CONFIDENCE,
    random_state: int | None = None,
    progress: Progress | None = None,
) -> AuditedPromise:
    """Fit fresh copies of an estimator on invented neighbours, and say which epsilon is proven.

    Promise: as for `audit_case`; the claim is what the estimator itself plans for such a table, at its own delta.

    Parameters
    ----------
    model
        Of `ziggurat.learn`, or anything in the manner of scikit-learn that says what it costs by `planned(rows,
        columns)` or, once it is fitted, by `guarantee_`. It is not fitted itself.
    columns
        How many columns its rows have.
    rows
        How many rows the invented table has besides the canary.
    runs
        How often it is fitted on each neighbour.
    confidence
        With which probability a promise that holds is not refuted.
    random_state
        Seeds the runs, so that they repeat; secure randomness without.
    progress
        Called with a few words before every step that may take long.
    """
    found = make_estimator_case(model, columns=columns, rows=rows, runs=runs, progress=progress)
    claimed = state_claim(model, columns=columns, rows=rows)
    return audit_case(found, claimed, confidence=confidence, random_state=random_state, progress=progress)


def make_estimator_case(
    model: Any, *, columns: int, rows: int = 20, runs: int = 1000, progress: Progress | None = None
) -> AuditCase:
    """Return the audit of an estimator as a case, whose `make` sets the parameter `epsilon` of fresh copies.

    Parameters
    ----------
    model, columns, rows, runs, progress
        As for `audit_estimator`.
    """
    times = whole_number(runs, "runs", 200)
    pair = invent_pair(model, whole_number(rows, "rows", 2), whole_number(columns, "columns"))
    given = model.get_params(deep=False)
    claimed = state_claim(model, columns=columns, rows=rows)
    # What is planned may be a little less than what is allowed; built for the claim it is the model as it is.
    allowed = exact_epsilon(given.get("epsilon", claimed))
    delta = exact_delta(given.get("delta", 0))

    def make(epsilon: Fraction) -> Draw:
        return _Fits(model, pair, epsilon * allowed / claimed, progress or (lambda _words: None)).draw

    return AuditCase(type(model).__name__, pair.words, make, delta=delta, runs=times, fault=8)


def state_claim(model: Any, *, columns: int, rows: int = 20) -> Fraction:
    """Return the epsilon that an estimator promises for a table of this shape, at its own delta.

    Parameters
    ----------
    model, columns, rows
        As for `audit_estimator`.
    """
    delta = exact_delta(model.get_params(deep=False).get("delta", 0))
    if hasattr(model, "planned"):
        account = compose(model.planned(rows, columns))
        return account.approximate(delta).epsilon if delta else account.pure().epsilon
    promised: Guarantee | None = getattr(invent_pair(model, rows, columns).fit(_copy(model), 0), "guarantee_", None)
    epsilon = getattr(promised, "epsilon", None)
    if epsilon is None:
        raise ParameterError("An estimator can be audited if it says what it promises: by planned() or guarantee_.")
    return Fraction(epsilon)


def _copy(model: Any, **parameters: Any) -> Any:
    """An unfitted copy that shares no history; only parameters that the estimator has are set."""
    from sklearn.base import clone

    made = model.fresh() if hasattr(model, "fresh") else clone(model)
    known = made.get_params(deep=False)
    return made.set_params(**{name: value for name, value in parameters.items() if name in known})


@dataclass
class _Fits:
    """Runs of one estimator on two neighbours; the first run says how what leaves is laid out in a row."""

    model: Any
    pair: InventedPair
    epsilon: Fraction
    tell: Progress
    layout: dict[str, int] = field(default_factory=dict)

    def draw(self, world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
        """Fit so often on one neighbour, and give what leaves, a row for each fit."""
        seeds = np.asarray(uniform_below(2**31, size=runs, source=source))
        seen = []
        for at, seed in enumerate(seeds):
            if at % max(1, runs // _STEPS) == 0:
                self.tell(f"fitted {at:,} of {runs:,}")
            chosen = {"epsilon": self.epsilon, "random_state": None if source.secure else int(seed)}
            seen.append(self._lay_out(dict(self._leave(self.pair.fit(_copy(self.model, **chosen), world)))))
        return np.array(seen)

    def _leave(self, fitted: Any) -> Iterator[tuple[str, Floats]]:
        """What leaves of a fitted estimator, by name: public attributes that are numbers, and answers about rows."""
        for name, value in sorted(vars(fitted).items()):
            if name.endswith("_") and not name.startswith("_"):
                yield from _numbers_in(name, value)
        for name in _ANSWERS:
            if hasattr(fitted, name):
                yield from _numbers_in(name, _ask(fitted, name, self.pair.probes))

    def _lay_out(self, left: Mapping[str, Floats]) -> Floats:
        """One row, as the first run has it: a number that is missing, as of another tree, is 0."""
        if not self.layout:
            self.layout |= {name: value.size for name, value in left.items()}
        row = np.zeros(sum(self.layout.values()))
        start = 0
        for name, size in self.layout.items():
            value = left.get(name, np.zeros(0))[:size]
            row[start : start + value.size] = value
            start += size
        return row


def _numbers_in(name: str, value: Any) -> Iterator[tuple[str, Floats]]:
    """A value as a flat array of finite numbers, if it is made of numbers."""
    try:
        flat = np.asarray(value)
    except ValueError:  # ragged
        return
    if flat.dtype.kind in "biuf" and flat.size:
        yield name, np.nan_to_num(flat.astype(np.float64).ravel(), nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)


def _ask(fitted: Any, name: str, probes: Floats) -> Any:
    """Answers about probing rows; None from an estimator that says it has none, as scikit-learn allows."""
    try:
        return getattr(fitted, name)(probes)
    except (AttributeError, NotImplementedError):
        return None
