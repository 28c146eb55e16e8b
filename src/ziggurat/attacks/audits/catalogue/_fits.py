"""Fits that audits repeat: a model of `ziggurat.learn`, two invented tables, and what a reader of the model sees."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.audits._case import AuditCase, Draw
from ziggurat.privacy import Amount
from ziggurat.randomness import Source

Floats = npt.NDArray[np.float64]
InventedTable = tuple[Floats, Floats]
"""Features and targets."""


def invent_table(*groups: tuple[npt.ArrayLike, float, int]) -> InventedTable:
    """Make a table of groups of equal rows: their features, their target, and how many they are."""
    rows = [np.tile(np.atleast_2d(np.asarray(row, np.float64)), (times, 1)) for row, _, times in groups]
    targets = [np.full(times, target, np.float64) for _, target, times in groups]
    return np.concatenate(rows), np.concatenate(targets)


def with_one_more(row: npt.ArrayLike, target: float, *others: tuple[npt.ArrayLike, float, int]) -> Any:
    """Make the neighbours under add-or-remove-one: the others with a row more, and without it."""
    return invent_table((row, target, 1), *others), invent_table((row, target, 0), *others)


@dataclass(frozen=True)
class RepeatedFit:
    """A model that is fitted again and again, each time by noise of its own.

    Attributes
    ----------
    model
        What it is called in `ziggurat.learn`.
    settings
        Its parameters but for epsilon.
    tables
        The neighbours.
    read
        What an attacker makes of a fitted model: a number that tells the tables apart, or several.
    inner
        Parameters that are models themselves: what each is called, and its own settings.
    """

    model: str
    settings: Mapping[str, Any]
    tables: tuple[InventedTable, InventedTable]
    read: Callable[[Any], npt.ArrayLike]
    inner: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)

    def __call__(self, epsilon: Fraction) -> Draw:
        """Give the draws of the model made for this epsilon."""
        made = self.make(epsilon)

        def draw(world: Literal[0, 1], runs: int, source: Source) -> npt.ArrayLike:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # tiny tables are mostly noise, and every fit says so
                return np.array([self.read(self.fit(made, world, int(seed))) for seed in source.words(runs)])

        return draw

    def make(self, epsilon: Fraction) -> Any:
        """Make the model for this epsilon, unfitted."""
        from ziggurat import learn

        models = {name: getattr(learn, what)(**given) for name, (what, given) in self.inner.items()}
        return getattr(learn, self.model)(**self.settings, **models, epsilon=epsilon)

    def fit(self, made: Any, world: Literal[0, 1], seed: int) -> Any:
        """Fit a model without history on one of the neighbours."""
        return made.fresh().set_params(random_state=seed).fit(*self.tables[world])


def fit_case(
    fitted: RepeatedFit, pair: str, *, of: str = "", delta: Amount = 0, runs: int = 250, fault: Amount = 6
) -> AuditCase:
    """Make the audit of a model by what leaves it, `of` a method or a part of it; delta is that of its settings."""
    name = f"learn.{fitted.model}"
    return AuditCase(f"{name} ({of})" if of else name, pair, fitted, delta=delta, runs=runs, fault=fault)
