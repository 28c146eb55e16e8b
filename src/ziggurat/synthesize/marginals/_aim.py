"""AIM: measure what the model gets most wrong, and ever more exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ziggurat.mechanisms import DiscreteGaussian
from ziggurat.privacy import Event, ZeroConcentratedEvent, whole_number
from ziggurat.randomness import Source
from ziggurat.synthesize.marginals._cliques import Clique, Integers
from ziggurat.synthesize.marginals._counts import (
    ExactCounts,
    NoisyCounts,
    RhoLeft,
    candidates,
    check_workload,
    noise_in,
    part_of,
    score,
)
from ziggurat.synthesize.marginals._folding import Folded, one_by_one
from ziggurat.synthesize.marginals._private import CopyTerms, PrivateSynthesis, Progress
from ziggurat.synthesize.marginals._solver import Distribution, model_cells

# A third and four rounds a column were the best of a few settings tried on Adult at epsilon 0.1 and 1.
_COLUMNS_SHARE = Fraction(1, 3)
_MEASURING = Fraction(9, 10)
_ROUNDS_PER_COLUMN = 4
# A remainder below this part of rho is not worth a round.
_CRUMBS = Fraction(1, 10**4)
_STEPS, _LAST_STEPS = 60, 300


@dataclass(eq=False, repr=False, kw_only=True)
class AIM(PrivateSynthesis):
    """Differentially private synthetic tables by the adaptive iterative mechanism (McKenna et al. 2022).

    Every column is counted with noise. Then, round by round, the set of columns that the model gets most wrong is
    chosen privately, counted with noise, and the model is fitted again. Where a round taught less than its noise, the
    next ones are twice as exact.

    Formal guarantee: (epsilon, delta)-DP for the unit of the table's schema, under `relation`. All that is read of the
    rows are counts, protected by discrete Gaussian noise, and choices by the exponential mechanism. The score of a set
    r is w_r (|counts - model|_1 - expected noise), of which a row changes the first term by at most 1: its sensitivity
    is max w_r times the rows of a unit, doubled under replace-one. What every round costs is chosen in the light of
    noisy answers, and the sum never exceeds the rho that follows from epsilon and delta, so that the whole is rho-zCDP
    (see `_marginals`), which is the event. The model, and any number of rows drawn from it, is post-processing.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost; exact ("0.1" is one tenth).
    workload
        The sets of columns whose counts matter, such as [("age", "income")]; all pairs by default.
    columns
        Which columns to synthesise, by default all but the one that tells units apart.
    bins
        Into how many cells numbers and dates are cut between their public bounds; or, by column, a number or a list of
        edges.
    missing
        The columns in which values may be missing, by default all; elsewhere a missing value counts as the first cell.
    domain
        "public": categories and bounds are those that the schema declares as public. "pay": those that it does not
        declare are learned with `domain_share` of the budget; categories, under add-or-remove-one only, with half of
        delta.
    domain_share
        The share of the budget for that.
    relation
        "add-or-remove-one", or "replace-one" (the number of units is public).
    rows_per_unit
        Where the unit is not a row: how many rows of each count at most, chosen by lot.
    rounds
        Into how many rounds the budget is divided at first; fewer follow if they become more exact. By default four
        for each column.
    max_cells
        How many cells the tables of the model may have together; more take longer.
    solver
        "tree" (our own), or "mbi" (needs the extra `marginals`; the same model, much slower).
    random_state
        None for secure randomness; a whole number makes a rehearsal, which must not be published.
    """

    workload: Sequence[Sequence[str]] | None = None
    rounds: int | None = None

    def _events(self, terms: CopyTerms) -> list[Event]:
        check_workload(self.workload, terms.names)
        rounds = self._rounds(terms)
        least = part_of(terms.rho, (1 - _COLUMNS_SHARE) * (1 - _MEASURING) / rounds)
        terms.unit.noise(least)  # refused here, before anything is read, if epsilon is too small
        return [ZeroConcentratedEvent(terms.unit.neighbours, terms.rho)]

    def _rounds(self, terms: CopyTerms) -> int:
        return _ROUNDS_PER_COLUMN * len(terms.names) if self.rounds is None else whole_number(self.rounds, "rounds")

    def _measure(
        self, counts: ExactCounts, terms: CopyTerms, total: float | None, source: Source, progress: Progress
    ) -> tuple[list[NoisyCounts], list[Folded], Distribution, Fraction]:
        purse = RhoLeft(terms.rho)
        noise = terms.unit.noise(part_of(terms.rho, _COLUMNS_SHARE / len(terms.names)))
        purse.pay(len(terms.names) * noise.rho)
        measured, folded, smaller = one_by_one(counts, noise, source)
        run = _AimRun(self, terms, smaller, measured, total, source)
        step = part_of(purse.left, Fraction(1, self._rounds(terms)))
        while purse.left > _CRUMBS * terms.rho:
            step = part_of(purse.left, Fraction(1)) if purse.left < 2 * step else step
            learned_little = run.round(step, purse)
            progress(f"{len(run.measured)} tables measured, {float(purse.left / purse.rho):.0%} of the budget left")
            if learned_little:
                step = min(4 * step, part_of(purse.left, Fraction(1)))
        run.refit(_LAST_STEPS)
        return run.measured, folded, run.model, terms.rho - purse.left


class _AimRun:
    """The state of one run: what was measured, and the model of it."""

    def __init__(
        self,
        settings: AIM,
        terms: CopyTerms,
        counts: ExactCounts,
        measured: list[NoisyCounts],
        total: float | None,
        source: Source,
    ) -> None:
        self.settings, self.terms, self.counts, self.source = settings, terms, counts, source
        self.measured, self.total = measured, total
        self.weights = candidates(check_workload(settings.workload, terms.names))
        self.exact: dict[Clique, Integers] = {}
        self.model = settings._fit_distribution(counts, measured, total, None, _STEPS)

    def refit(self, steps: int) -> None:
        """Fit the model to all that was measured."""
        self.model = self.settings._fit_distribution(self.counts, self.measured, self.total, self.model, steps)

    def round(self, rho: Fraction, purse: RhoLeft) -> bool:
        """Choose, measure and fit once, for at most this rho; tell whether that taught less than its noise."""
        noise = self.terms.unit.noise(part_of(rho, _MEASURING))
        chosen = self._choose(part_of(rho, 1 - _MEASURING), noise, purse)
        before = self.model.tree.marginal(chosen)
        purse.pay(noise.rho)
        self.measured.append(self.counts.measured(chosen, noise, self.source))
        self.refit(_STEPS)
        change = np.abs(self.model.tree.marginal(chosen) - before).sum()
        return bool(change <= noise_in(before.size, noise.sigma))

    def _choose(self, rho: Fraction, noise: DiscreteGaussian, purse: RhoLeft) -> Clique:
        open_to = self._within(float((purse.rho - purse.left) / purse.rho) * self.settings.max_cells)
        choice = self.terms.unit.choice(rho, max(self.weights[each] for each in open_to))
        scores = [self._score(each, noise) for each in open_to]
        purse.pay(choice.epsilon**2 / 8)
        return open_to[choice.release(np.array(scores, dtype=np.int64), self.source).value]

    def _score(self, columns: Clique, noise: DiscreteGaussian) -> int:
        """How wrong the model is about these columns, beyond what the noise of a measurement would be."""
        if columns not in self.exact:
            self.exact[columns] = self.counts.by(columns)
        exact, expected = self.exact[columns], self.model.tree.marginal(columns)
        return score(exact, expected, self.weights[columns], noise_in(exact.size, noise.sigma))

    def _within(self, room: float) -> list[Clique]:
        """The sets that the model can take in without growing too large; single columns always can."""
        now = [node.columns for node in self.model.tree.nodes]
        sizes = self.counts.sizes
        return [
            each
            for each in self.weights
            if any(set(each) <= set(clique) for clique in now) or model_cells(sizes, [*now, each]) <= room
        ]
