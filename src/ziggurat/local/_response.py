"""Randomised response over a public list of categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.local._base import Integers, Privatizer
from ziggurat.local._categories import PublicList, Stated
from ziggurat.local._draw import Exchange
from ziggurat.local._estimates import Frequencies
from ziggurat.local._intervals import Support
from ziggurat.privacy import Amount, Event, Neighbours, RandomizedResponseEvent, exact_confidence
from ziggurat.randomness import Source

if TYPE_CHECKING:
    import pyarrow as pa


class Response(Privatizer):
    """Answer truthfully with probability e^epsilon / (e^epsilon + k - 1), otherwise with one of the other k - 1.

    Promise: epsilon-differential privacy of one report, replace-one. Proof: the largest and the smallest probability
    of any answer differ by the factor e^epsilon (Warner 1965; k-ary: Kairouz, Bonawitz & Ramage 2016). The law is
    that of `mechanisms.RandomizedResponse`; the draw takes the same time for two and for a million categories. The
    best choice for short lists: see `best_for_frequencies`.

    Parameters
    ----------
    epsilon
        What one report may cost.
    categories
        The public list; the values and the answers are these very categories.
    missing
        Whether a missing value is an answer of its own, None; otherwise it is refused before anything is sent.
    other
        The category that stands for values that are not listed; without it they are refused.
    neighbours
        The unit, under replace-one.
    """

    kind: ClassVar[str] = "response"

    def __init__(
        self,
        epsilon: Amount,
        categories: Stated,
        *,
        missing: bool = False,
        other: str | int | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(epsilon, neighbours)
        self.list = PublicList(categories, missing, other)
        self._exchange = Exchange(self._asked, len(self.list))
        self.event: Event = RandomizedResponseEvent(self.neighbours, self._asked, len(self.list))

    @property
    def support(self) -> Support:
        """The probabilities that a report speaks for the category held, and for any other."""
        return Support(self._exchange.kept, self._exchange.other)

    def estimate(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> Frequencies:
        """Estimate without bias how many people hold each category.

        A category is named by Binomial(c, kept) + Binomial(n - c, other) people, where c hold it; see `Support`.
        """
        level = exact_confidence(confidence)
        codes = self.list.sent(self._some(reports))
        seen = np.bincount(codes, minlength=len(self.list)).astype(np.float64)
        counts = self.support.counts(seen, codes.size)
        low, high = self.support.interval(seen, codes.size, level, population)
        return Frequencies(codes.size, level, population, self.list.labels, counts, low, high)

    def recipe(self) -> dict[str, Any]:
        """As `Privatizer.recipe`: an exchange."""
        return {"draw": "exchange", "answers": len(self.list), "lean": str(self._exchange.lean)}

    @property
    def arrow_type(self) -> pa.DataType:
        """Text or whole numbers, as the categories."""
        return self.list.type

    def _parameters(self) -> dict[str, Any]:
        return self.list.parameters()

    def _read(self, values: Any) -> Integers:
        return self.list.read(values)

    def _randomize(self, values: Integers, source: Source) -> npt.NDArray[Any]:
        return self.list.answers(self._exchange.draw(values, source))

    def _check(self, sent: Any) -> npt.NDArray[Any]:
        return self.list.answers(self.list.sent(sent))
