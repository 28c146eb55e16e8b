"""How the cost of a question is split, and which noise each part of it gets.

Promise: with `epsilon_i` for every part, all parts together cost the sum by composition. Additive parts measured with
Gaussian noise share one mu: their mu_i^2 add up to mu^2, and mu is the exact one for what epsilon and delta they
have together (Dong, Roth and Su 2022, Corollary 3.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, prod

from ziggurat.errors import QuestionError
from ziggurat.mechanisms import AdditiveNoise, Gaussian, Laplace, PartitionSelection
from ziggurat.privacy import Neighbours, compose, compose_events, exact, gaussian_mu
from ziggurat.queries._question import Aggregate, Measure, Question
from ziggurat.queries._terms import Terms
from ziggurat.queries._value import MOST_KEYS
from ziggurat.queries.answering._additive import Need
from ziggurat.queries.answering._contribution import Contribution

LEARNING = Fraction(1, 4)
"""The part of an aggregate's cost that learning the bounds of its column takes."""

ADDITIVE = {
    Measure.COUNT,
    Measure.COUNT_UNITS,
    Measure.COUNT_DISTINCT,
    Measure.SUM,
    Measure.MEAN,
    Measure.VARIANCE,
    Measure.DEVIATION,
}


@dataclass(frozen=True)
class Split:
    """What each part of a question may spend, in epsilon; `keys` is for naming groups, None if they are public.

    `named_by` is the aggregate that is answered by the very counts that decide which groups are named.
    """

    aggregates: dict[str, Fraction]
    keys: Fraction | None
    named_by: str | None
    effects: Fraction
    delta_keys: Fraction
    delta_noise: Fraction


def split_cost(question: Question, terms: Terms, shared: Contribution, effects: bool) -> Split:
    """Split the cost; aggregates get their shares of what the estimates of effects and the naming of groups leave."""
    names = tuple(each.name for each in question.aggregates)
    for_effects = terms.effects * terms.epsilon if effects else Fraction(0)
    left = terms.epsilon - for_effects
    shares = terms.split(names)
    private = has_private_keys(question)
    named_by = _naming_aggregate(question, shared) if private else None
    keys = None
    if private:
        keys = left * shares[named_by] if named_by else left / (len(names) + 1)
        left = left if named_by else left - keys
    amounts = {name: left * share for name, share in shares.items()}
    if named_by:
        del amounts[named_by]
    noisy = terms.noise == "gaussian" and any(each.measure in ADDITIVE for each in _others(question, named_by))
    return Split(amounts, keys, named_by, for_effects, *_deltas(terms, private, noisy))


def has_private_keys(question: Question) -> bool:
    """Whether the names of the groups are not public, so that naming one has to be paid for."""
    return any(key.value.domain() is None for key in question.keys) or not _few_enough(question)


def _few_enough(question: Question) -> bool:
    return prod(len(key.value.domain() or ()) for key in question.keys) <= MOST_KEYS


def _naming_aggregate(question: Question, shared: Contribution) -> str | None:
    """The first aggregate that counts units, or rows where these are the same."""
    for each in question.aggregates:
        plain = each.where is None and each.value is None
        if plain and (each.measure is Measure.COUNT_UNITS or (each.measure is Measure.COUNT and shared.total == 1)):
            return each.name
    return None


def _others(question: Question, named_by: str | None) -> list[Aggregate]:
    return [each for each in question.aggregates if each.name != named_by]


def _deltas(terms: Terms, private: bool, noisy: bool) -> tuple[Fraction, Fraction]:
    if private and terms.delta == 0:
        raise QuestionError(
            "The names of the groups are not public, and naming them needs a delta; state one such as 1e-6, "
            "or declare the categories (or bounds) of the columns that are grouped by."
        )
    parts = private + noisy
    each = terms.delta / parts if parts else Fraction(0)
    return (each if private else Fraction(0), each if noisy else Fraction(0))


def selection_of_keys(parts: Split, question: Question, shared: Contribution, whom: Neighbours) -> PartitionSelection:
    """The mechanism that names groups."""
    if shared.total > 1 and question.relation.unit_column is None:
        raise QuestionError(
            "A row that meets several public rows may stand alone in several groups; "
            "join to a public table with one row per key, or group by columns with public categories."
        )
    assert parts.keys is not None
    return PartitionSelection(parts.keys, parts.delta_keys, groups=shared.groups, neighbours=whom)


def noises(
    needs: Sequence[Need], epsilons: Sequence[Fraction], delta: Fraction, shared: Contribution, whom: Neighbours
) -> list[AdditiveNoise]:
    """The noise for everything that is measured, each with its own part of the cost; Gaussian if delta is given."""
    if delta == 0:
        reaches = [shared.l1(need.largest * need.fineness, need.once) for need in needs]
        return [
            Laplace(reach, reach / epsilon, values="integers", coordinates=shared.groups, neighbours=whom)
            for reach, epsilon in zip(reaches, epsilons, strict=True)
        ]
    return _gaussians(needs, epsilons, delta, shared, whom)


def _gaussians(
    needs: Sequence[Need], epsilons: Sequence[Fraction], delta: Fraction, shared: Contribution, whom: Neighbours
) -> list[AdditiveNoise]:
    total = sum(epsilons, Fraction(0))
    mu = exact(gaussian_mu(float(total), float(delta)), "mu")
    while True:
        made: list[AdditiveNoise] = []
        for need, epsilon in zip(needs, epsilons, strict=True):
            reach = shared.l2(need.largest * need.fineness, need.once)
            sigma = reach / (mu * _root_below(epsilon / total))
            made.append(Gaussian(reach, sigma, values="integers", coordinates=shared.groups, neighbours=whom))
        if compose(compose_events(each.event for each in made)).gaussian_epsilon(delta) <= total:
            return made
        mu *= 1 - Fraction(1, 2**30)


def _root_below(square: Fraction) -> Fraction:
    return Fraction(isqrt(int(square * 2**60)), 2**30)
