"""Whose communities are which, given the communities: people are folded into a fitted model, and judged by it.

Given the places and hours of all communities, the chances of each visit's topic are found by repeating

    q_i(k)  in proportion to  (sum of q_j(k) over the person's other visits j, + alpha_k) * phi_k(l_i) * psi_k(t_i)

until they stand still: equation 5.2 with counts that are expected instead of drawn (zero-order collapsed variational
inference, Asuncion et al. 2009). Nothing is drawn, so the same people give the same memberships.
"""

from __future__ import annotations

import numpy as np

from ziggurat.compiling import compiled, part
from ziggurat.sequences.mobility.communities._bags import Bags, Codes, Offsets, Reals

_ROUNDS, _STILL = 100, 1e-4


def fold_in(bags: Bags, first: Reals, second: Reals, people: Reals) -> Reals:
    """Memberships of people, one row each; `first[place, k]` and `second[hour, k]` are chances, `people` the prior."""
    return _fold(bags.offsets, bags.first, bags.second, first, second, people)


def complete(bags: Bags, first: Reals, second: Reals, people: Reals) -> float:
    """The log-likelihood per visit of every second visit of each person, given the others: document completion.

    After Wallach, Murray, Salakhutdinov and Mimno (2009), "Evaluation methods for topic models". People with one visit
    are judged by the prior.
    """
    return float(_complete(bags.offsets, bags.first, bags.second, first, second, people))


@compiled
def _fold(
    offsets: Offsets, first_codes: Codes, second_codes: Codes, first: Reals, second: Reals, people: Reals
) -> Reals:
    count, wide = offsets.size - 1, people.size
    longest = 1
    for at in range(count):
        longest = max(longest, offsets[at + 1] - offsets[at])
    chances, shares, found = np.empty((longest, wide)), np.empty((longest, wide)), np.empty((count, wide))
    for at in range(count):
        visits = offsets[at + 1] - offsets[at]
        for i in range(visits):
            _weigh(first_codes, second_codes, offsets[at] + i, first, second, chances[i])
        _expect(chances[:visits], shares[:visits], people, found[at])
    return found


@compiled
def _complete(
    offsets: Offsets, first_codes: Codes, second_codes: Codes, first: Reals, second: Reals, people: Reals
) -> float:
    count, wide, told, judged = offsets.size - 1, people.size, 0.0, 0
    longest = 1
    for at in range(count):
        longest = max(longest, offsets[at + 1] - offsets[at])
    chances, shares, found = np.empty((longest, wide)), np.empty((longest, wide)), np.empty(wide)
    for at in range(count):
        visits = (offsets[at + 1] - offsets[at]) // 2
        for i in range(visits):
            _weigh(first_codes, second_codes, offsets[at] + 2 * i + 1, first, second, chances[i])
        _expect(chances[:visits], shares[:visits], people, found)
        for i in range(offsets[at], offsets[at + 1], 2):
            _weigh(first_codes, second_codes, i, first, second, chances[0])
            chance = 0.0
            for k in range(wide):
                chance += chances[0, k] * found[k]
            told += np.log(chance)
            judged += 1
    return told / max(judged, 1)


@part
def _weigh(first_codes: Codes, second_codes: Codes, i: int, first: Reals, second: Reals, chances: Reals) -> None:
    """How likely each community is to make this visit."""
    if second_codes.size:
        for k in range(chances.size):
            chances[k] = first[first_codes[i], k] * second[second_codes[i], k]
    else:
        for k in range(chances.size):
            chances[k] = first[first_codes[i], k]


@part
def _expect(chances: Reals, shares: Reals, people: Reals, found: Reals) -> None:
    """The memberships of one person, whose visits are so likely in each community."""
    visits, wide = chances.shape
    counts, before, each = np.zeros(wide), np.empty(wide), np.empty(wide)
    shares[:] = 0.0
    for _ in range(_ROUNDS):
        before[:] = counts
        for i in range(visits):
            total = 0.0
            for k in range(wide):
                each[k] = (counts[k] - shares[i, k] + people[k]) * chances[i, k]
                total += each[k]
            for k in range(wide):
                share = each[k] / total
                counts[k] += share - shares[i, k]
                shares[i, k] = share
        still = 0.0
        for k in range(wide):
            still = max(still, abs(counts[k] - before[k]))
        if still < _STILL:
            break
    mass = visits + people.sum()
    for k in range(wide):
        found[k] = (max(counts[k], 0.0) + people[k]) / mass
