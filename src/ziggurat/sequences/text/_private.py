"""Writers with a promise: private gradient descent whose row is a headline, or all that counts of a publisher.

Formal guarantee: (epsilon, delta)-DP for adding or removing one unit. Let the headlines be grouped by unit, a headline
or a publisher. What a unit contributes is one row (`RowShape.fill`), a function of its own headlines and of public
numbers: how many of them count, how many words of each, the word list, the topics, and tags that a public tagger gives
each headline alone. So neighbours differ in one row, and `ziggurat.descent` protects rows: at each of a fixed number of
steps every row takes part with probability q, the gradient of its loss, all trigrams together, is clipped to length C
once, and the sum gets Gaussian noise of sigma C, composed as `event_of_rounds` writes down. Nothing else sees the
headlines: no validation decides when to stop, and the number of steps, the word list and the first weights are public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.data import Unit
from ziggurat.descent import Rounds, noise_multiplier, warn_of_noise
from ziggurat.errors import DataError, NotPublicError, ParameterError
from ziggurat.privacy import Amount, Neighbours, Relation, SampledGaussianEvent, whole_number
from ziggurat.privacy.accounting import Size

if TYPE_CHECKING:
    from ziggurat.randomness import Source
    from ziggurat.sequences.text._rows import RowNetwork

Rows = npt.NDArray[np.int64]
UNITS = {"headline": Unit(), "publisher": Unit("publisher", "publisher")}


@dataclass(frozen=True)
class PrivacyTerms:
    """What a private fit promises, and the public numbers that it rests on."""

    epsilon: Fraction
    delta: Fraction
    unit: str
    headlines: int
    longest: int
    expected: int
    clip: Fraction

    def __post_init__(self) -> None:
        if self.longest < 4:
            raise ParameterError("At least four words of a headline must count; choose a larger longest.")

    def event(self, batch: int | None, epochs: Amount) -> SampledGaussianEvent:
        """Say what fitting costs, by public numbers alone."""
        rounds = Rounds.of(self.expected, batch, epochs)
        sigma = noise_multiplier(self.epsilon, self.delta, rounds)
        return SampledGaussianEvent(Neighbours(UNITS[self.unit]), rounds.sampling, sigma, rounds.steps)

    def group(self, headlines: int, publishers: Sequence[Any] | None) -> tuple[Rows, int]:
        """Say whose each headline is, and how many units there are."""
        if self.unit == "headline":
            units = np.arange(headlines)
        elif publishers is None or len(publishers) != headlines:
            raise DataError("If the unit is a publisher, give the publisher of every headline.")
        else:
            units = np.unique([str(each) for each in publishers], return_inverse=True)[1]
        count = int(units.max(initial=-1)) + 1
        Size.of(Relation.ADD_OR_REMOVE_ONE, count, self.expected).require(count)
        return units.astype(np.int64), count


def read_unit(unit: str, most: int | None) -> int:
    """How many headlines of a unit count."""
    if unit not in UNITS:
        raise ParameterError(f"The unit must be one of {', '.join(UNITS)}.")
    if unit == "headline":
        if most not in (None, 1):
            raise ParameterError("If the unit is a headline, each counts once; leave headlines_per_publisher out.")
        return 1
    if most is None:
        raise ParameterError("State headlines_per_publisher=..., how many headlines of a publisher count at most.")
    return whole_number(most, "headlines_per_publisher")


def require_public_words(vocabulary: Any, start: Any) -> None:
    """Refuse to learn the word list from private headlines."""
    if vocabulary is None and start is None:
        raise NotPublicError(
            "Which words occur is private; give a public word list as vocabulary=..., or begin with a public writer "
            "as start=..."
        )


def descend(
    module: RowNetwork,
    rows: Rows,
    terms: PrivacyTerms,
    event: SampledGaussianEvent,
    learning_rate: float,
    source: Source,
    progress: Any,
) -> None:
    """Train a network of rows where it lies."""
    import torch

    from ziggurat.descent import Descent, DescentPlan, Gradients, PrivateTraining, count_parameters
    from ziggurat.sequences.text._rows import row_losses

    gradients = Gradients(module.train(), row_losses, "noted")
    rounds = Rounds(event.sampling, event.steps)
    warn_of_noise(rounds, event.noise_multiplier, terms.expected, count_parameters(module))
    block = gradients.fitting_block(float(rounds.sampling * terms.expected))
    plan = DescentPlan(rounds, event.noise_multiplier, terms.clip, block, terms.expected)
    training = PrivateTraining(gradients, plan, Descent(learning_rate, "adam", 0.9, average=True), source)
    place = next(module.parameters()).device
    given = torch.from_numpy(rows).to(place)
    targets = torch.zeros(len(rows), dtype=torch.int64, device=place)
    training.run(given, targets, None, 1, lambda done, of: progress("steps", done, of))
