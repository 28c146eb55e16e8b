"""Local hashing: a category out of a long list is hashed to a few buckets, and the bucket is randomised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ziggurat import randomness
from ziggurat.errors import DataError, ParameterError
from ziggurat.local._base import Integers, Privatizer
from ziggurat.local._categories import PublicList, Stated
from ziggurat.local._draw import Exchange
from ziggurat.local._estimates import Frequencies, Label
from ziggurat.local._intervals import Support
from ziggurat.mechanisms import as_array
from ziggurat.privacy import Amount, Event, Neighbours, RandomizedResponseEvent, exact_confidence, whole_number
from ziggurat.randomness import Source

if TYPE_CHECKING:
    import pyarrow as pa

_SEEDS = 1 << 32
_MOST_BUCKETS = 1 << 24
_BUCKET_BITS = 31


class LocalHashing(Privatizer):
    """Hash the category to one of g buckets with a seed of one's own, and send the seed and the randomised bucket.

    Promise: epsilon-differential privacy of one report, replace-one. Proof: the seed does not depend on the category,
    and given the seed the report is randomised response over g buckets, whatever the hash does.
    Estimates rest on the hash: over the seeds, two different categories share a bucket with probability 1/g, and
    people's seeds are independent. The hash (two rounds of SplitMix64's finaliser) is public and fixed; that it does
    so is tested, not proven. A report speaks for all categories of its bucket (Wang, Blocki, Li & Jha 2017).
    They take g = e^epsilon + 1, best for a category that nobody holds; here g is by default what makes the variance
    least on average over the list, which for long lists is the same, and for a large epsilon makes reports exact.

    A report is one integer, 2**31 times the seed of 32 bits plus the bucket.

    Parameters
    ----------
    epsilon, categories, missing, other, neighbours
        As for `Response`; give a number of categories for the values from 0 on.
    buckets
        The number g, from 2 to 2**24.
    """

    kind: ClassVar[str] = "local-hashing"

    def __init__(
        self,
        epsilon: Amount,
        categories: Stated,
        *,
        missing: bool = False,
        other: str | int | None = None,
        buckets: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(epsilon, neighbours)
        self.list = PublicList(categories, missing, other)
        self.buckets = (
            best_buckets(self._asked, len(self.list)) if buckets is None else whole_number(buckets, "buckets", 2)
        )
        if self.buckets > _MOST_BUCKETS:
            raise ParameterError("buckets must be at most 2**24.")
        self._exchange = Exchange(self._asked, self.buckets)
        self.event: Event = RandomizedResponseEvent(self.neighbours, self._asked, self.buckets)

    @property
    def support(self) -> Support:
        """The probabilities that a report speaks for the category held, and for any other."""
        return Support(self._exchange.kept, 1 / self.buckets)

    def estimate(
        self,
        reports: Any,
        confidence: Amount = "0.95",
        *,
        population: bool = False,
        values: Sequence[Label] | None = None,
    ) -> Frequencies:
        """Estimate without bias how many people hold each category, or each of `values`.

        The time is of the order of the number of reports times that of the categories asked for.
        """
        level = exact_confidence(confidence)
        words = self._some(reports)
        places = self.list.places_of(values)
        seen = self._supports(words, places).astype(np.float64)
        counts = self.support.counts(seen, words.size)
        low, high = self.support.interval(seen, words.size, level, population)
        labels = self.list.labels
        asked = tuple(labels[place] for place in places)
        return Frequencies(words.size, level, population, asked, counts, low, high)

    def _supports(self, words: Integers, places: Integers) -> Integers:
        from ziggurat.local import _kernels

        seen = np.zeros(places.size, dtype=np.int64)
        seeds, sent = (words >> _BUCKET_BITS).astype(np.uint64), (words & ((1 << _BUCKET_BITS) - 1)).astype(np.uint64)
        _kernels.count_support(seen, seeds, sent, places.astype(np.uint64), np.uint64(self.buckets))
        return seen

    def recipe(self) -> dict[str, Any]:
        """As `Privatizer.recipe`: a hash."""
        rates = {"buckets": self.buckets, "lean": str(self._exchange.lean)}
        return {"draw": "hash", "answers": len(self.list), **rates}

    @property
    def arrow_type(self) -> pa.DataType:
        """Whole numbers: a seed and a bucket in one."""
        import pyarrow as pa

        return pa.int64()

    def _parameters(self) -> dict[str, Any]:
        return {**self.list.parameters(), "buckets": self.buckets}

    def _read(self, values: Any) -> Integers:
        return self.list.read(values)

    def _randomize(self, values: Integers, source: Source) -> Integers:
        from ziggurat.local import _kernels

        seeds = randomness.uniform_below(_SEEDS, size=values.size, source=source)
        buckets = np.empty_like(values)
        _kernels.hash_each(buckets, seeds.astype(np.uint64), values.astype(np.uint64), np.uint64(self.buckets))
        return (seeds << _BUCKET_BITS) | self._exchange.draw(buckets, source)

    def _check(self, sent: Any) -> Integers:
        words = as_array(sent)
        if words.ndim != 1 or words.dtype.kind not in "iu":
            raise DataError("The reports of local hashing are whole numbers; these belong to another collection.")
        words = words.astype(np.int64)
        if words.size and (words.min() < 0 or (words & ((1 << _BUCKET_BITS) - 1)).max() >= self.buckets):
            raise DataError("A report names a bucket that does not exist; the reports belong to another collection.")
        return words


def best_buckets(epsilon: Fraction, categories: int) -> int:
    """How many buckets make the variance least, on average over the list: a search in ever smaller steps."""

    def mean_spread(buckets: int) -> float:
        kept = 1 / (1 + (buckets - 1) * math.exp(-float(epsilon)))
        return Support(kept, 1 / buckets).spread(1 / categories)

    # The best number for a rare category is e^epsilon + 1, for a common one about e^(epsilon/2) sqrt(k).
    growth = math.exp(min(float(epsilon), 20.0))
    low, high = 2, min(math.ceil(2 * (growth + math.sqrt(growth * categories) + 1)), _MOST_BUCKETS)
    while high - low > 2:
        third = max((high - low) // 3, 1)
        if mean_spread(low + third) <= mean_spread(high - third):
            high -= third
        else:
            low += third
    return min(range(low, high + 1), key=mean_spread)
