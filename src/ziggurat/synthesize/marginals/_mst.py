"""MST: measure the pairs of columns along one spanning tree."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from ziggurat.privacy import Event, RepeatedEvent
from ziggurat.randomness import Source
from ziggurat.synthesize.marginals._cliques import Clique
from ziggurat.synthesize.marginals._counts import CountedUnit, ExactCounts, NoisyCounts, part_of, score
from ziggurat.synthesize.marginals._folding import Folded, one_by_one
from ziggurat.synthesize.marginals._private import CopyTerms, PrivateSynthesis, Progress
from ziggurat.synthesize.marginals._solver import Distribution, cells

_THIRD = Fraction(1, 3)
_STEPS = 300


class MST(PrivateSynthesis):
    """Differentially private synthetic tables by a maximum spanning tree of pairs (McKenna, Miklau & Sheldon 2021).

    Every column is counted with noise; the pairs of a spanning tree are chosen privately, those first that differ most
    from independence; each of them is counted with noise; and a model is fitted to all. Fast, and what it costs is
    fixed in advance; `AIM` is better where the budget is not very small.

    Formal guarantee: (epsilon, delta)-DP for the unit of the table's schema, under `relation`. A third of the rho that
    follows from epsilon and delta is for the d columns (discrete Gaussian noise), a third for d - 1 choices (the
    exponential mechanism; the score of a pair is |counts - counts if independent|_1, of which a row changes the first
    by at most 1), and a third for d - 1 pairs (discrete Gaussian noise). The event lists them all.

    Parameters
    ----------
    epsilon, delta, columns, bins, missing, domain, domain_share, relation, rows_per_unit, solver, random_state
        As for `AIM`.
    max_cells
        How many cells the table of a pair may have; larger ones are not chosen.
    """

    def _events(self, terms: CopyTerms) -> list[Event]:
        columns, pairs = len(terms.names), len(terms.names) - 1
        events: list[Event] = [_several(terms.unit.noise(_for_columns(terms)).event, columns)]
        if pairs:
            choice, noise = _for_pairs(terms.unit, terms.rho, pairs)
            events += [_several(choice.event, pairs), _several(noise.event, pairs)]
        return events

    def _measure(
        self, counts: ExactCounts, terms: CopyTerms, total: float | None, source: Source, progress: Progress
    ) -> tuple[list[NoisyCounts], list[Folded], Distribution, Fraction]:
        noise = terms.unit.noise(_for_columns(terms))
        measured, folded, smaller = one_by_one(counts, noise, source)
        spent = len(terms.names) * noise.rho
        model = self._fit_distribution(smaller, measured, total, None, _STEPS)
        progress(f"{len(measured)} columns measured")
        if len(terms.names) > 1:
            choice, noise = _for_pairs(terms.unit, terms.rho, len(terms.names) - 1)
            scores = self._scores(smaller, model)
            pairs = _spanning(scores, terms.names, choice, source)
            measured += [smaller.measured(pair, noise, source) for pair in pairs]
            spent += len(pairs) * (choice.epsilon**2 / 8 + noise.rho)
            progress(f"{len(pairs)} pairs measured")
            model = self._fit_distribution(smaller, measured, total, model, _STEPS)
        return measured, folded, model, spent

    def _scores(self, counts: ExactCounts, model: Distribution) -> dict[Clique, int]:
        small = [pair for pair in combinations(counts.sizes, 2) if cells(counts.sizes, pair) <= self.max_cells]
        return {pair: score(counts.by(pair), model.tree.marginal(pair)) for pair in small}


def _for_columns(terms: CopyTerms) -> Fraction:
    """What one column may cost; a table of one column spends all on it."""
    return part_of(terms.rho, (_THIRD if len(terms.names) > 1 else Fraction(1)) / len(terms.names))


def _for_pairs(unit: CountedUnit, rho: Fraction, pairs: int) -> tuple[Any, Any]:
    each = part_of(rho, _THIRD / pairs)
    return unit.choice(each), unit.noise(each)


def _several(event: Event, count: int) -> Event:
    return event if count == 1 else RepeatedEvent(event.neighbours, event, count)


def _spanning(scores: dict[Clique, int], names: Sequence[str], choice: Any, source: Source) -> list[Clique]:
    """Choose pairs that join what is not joined yet, as Kruskal does, each by the exponential mechanism."""
    part = {name: name for name in names}
    chosen: list[Clique] = []
    while True:
        open_to = [pair for pair in scores if part[pair[0]] != part[pair[1]]]
        if not open_to:
            return chosen
        values = np.array([scores[pair] for pair in open_to], dtype=np.int64)
        one, other = pair = open_to[choice.release(values, source).value]
        chosen.append(pair)
        old, new = part[other], part[one]
        part = {name: new if group == old else group for name, group in part.items()}
