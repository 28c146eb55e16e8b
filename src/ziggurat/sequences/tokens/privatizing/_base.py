"""What every privatiser of sequences is: sequences in, sequences out that may leave, each protected on its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, PrivacyError
from ziggurat.mechanisms import Mechanism
from ziggurat.privacy import (
    Amount,
    ApproximateDP,
    ApproximateEvent,
    Event,
    PureDP,
    RepeatedEvent,
    UnboundedEvent,
    compose,
    compose_events,
    exact_epsilon,
    in_words,
    whole_number,
)
from ziggurat.randomness import Source, choose_source
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.tokens.privatizing._lengths import Length, LengthRule

Integers = npt.NDArray[np.int64]


class TrainedNetwork(Protocol):
    """What a privatiser needs to know of the network it uses: its domain, and what training it cost."""

    domain: SequenceDomain

    event: Event | None


@dataclass(frozen=True)
class ThesisClaim:
    """What document 000 says of an idea: an epsilon for the longest sequence, and its own words in short."""

    epsilon: Fraction
    sentence: str

    def __str__(self) -> str:
        return self.sentence


class SequencePrivatizer(Mechanism):
    """Protects each sequence on its own, before anybody collects it (the local model).

    Promise: what `event` records, for one sequence under replace-one: it is compared with whatever sequence the length
    rule lets take its place (`LengthRule`). That a sequence is there is public, and so is a label that goes with it:
    labels leave as they are. Somebody who owns several sequences pays for each, so that only sequences without owners
    are taken. The promise holds given the network; if that was trained on private sequences without protection, then
    its own event, which is unbounded, is part of `event`: the sequences it learned from have no promise at all. If it
    learned from what a private generator drew, then what that cost is part of `event`, too.

    Attributes
    ----------
    event
        What one sequence costs, the training of the network included.
    local_event
        The same, given the network.
    claimed
        What document 000 claims instead.
    """

    claimed: ThesisClaim

    def __init__(self, epsilon: Amount, network: TrainedNetwork, length: Length) -> None:
        self.epsilon = exact_epsilon(epsilon)
        self.network, self.domain = network, network.domain
        self.length = LengthRule.read(length, self.domain.longest)

    def _promise(self, once: Event, claimed: ThesisClaim, *, each_step: bool) -> None:
        """Record what is promised: by `once` for the whole sequence, or for each of its steps."""
        self._once, self._each_step = once, each_step
        self.local_event = self.event_of(self.length.most_steps)
        trained = self.network.event
        self.event = self.local_event if trained is None else compose_events([self.local_event, trained])
        self.claimed = claimed

    def event_of(self, steps: int) -> Event:
        """What a sequence costs that takes so many public steps, given the network."""
        count = whole_number(steps, "steps") if self._each_step else 1
        return self._once if count == 1 else RepeatedEvent(self._once.neighbours, self._once, count)

    def guarantee(self, delta: Amount = 0) -> PureDP | ApproximateDP:
        """Give the tightest proven promise at `delta` for one whole sequence; PrivacyError if there is none."""
        if self.is_unbounded:
            raise PrivacyError(f"There is no promise: {self.promise}")
        return super().guarantee(delta)

    @property
    def is_unbounded(self) -> bool:
        """Whether nothing is promised, at least to the sequences that the network learned from."""
        return any(isinstance(each, UnboundedEvent) for each in (self.local_event, self.network.event))

    @property
    def promise(self) -> str:
        """The promise that is true, in words."""
        if isinstance(self.local_event, UnboundedEvent):
            return "Nothing is promised: the vector is bounded after the noise, and not where it counts."
        said = f"One sequence, exchanged for {self.length.compared}: {self._in_words()}."
        if self.domain.classes:
            said += " Its label leaves as it is and is public."
        return said + self._about_network()

    def _about_network(self) -> str:
        trained = self.network.event
        if trained is None:
            return ""
        if isinstance(trained, UnboundedEvent):
            return (
                " This holds given the network, which was trained on private sequences without protection: those "
                "sequences have no promise."
            )
        if isinstance(trained, ApproximateEvent):
            amounts = [trained.epsilon, trained.delta]
        else:
            amounts = [compose(trained).pure().epsilon]
        return (
            f" The network learned from what a private generator drew, at ({', '.join(map(in_words, amounts))}), which "
            "adds up with this for the sequences behind it."
        )

    def _in_words(self) -> str:
        return f"{in_words(compose(self.local_event).pure().epsilon)}-differential privacy"

    def privatize(self, sequences: Sequences, source: Source | None = None) -> Sequences:
        """Protect every sequence; labels go with them.

        Parameters
        ----------
        sequences
            Of the domain that the network knows, each its own unit.
        source
            Secure randomness unless a rehearsal passes its own.
        """
        self._check(sequences)
        drawn = self._protect(sequences, self.length.steps(sequences.lengths), choose_source(source))
        inside = np.cumsum(drawn == self.domain.size, axis=1) == 0
        offsets = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        return Sequences(sequences.domain, drawn[inside].astype(np.int32), offsets, sequences.labels)

    def _check(self, sequences: Sequences) -> None:
        if sequences.owners is not None:
            raise DataError("Sequences are protected one by one, and an owner pays for each; leave the owners out.")
        if (sequences.domain.tokens, sequences.domain.longest) != (self.domain.tokens, self.domain.longest):
            raise DataError("The network was made for sequences of another domain; give it the same one.")

    @abstractmethod
    def _protect(self, sequences: Sequences, steps: Integers, source: Source) -> Integers:
        """Draw a matrix of symbols, a row for each sequence; `domain.size` fills it up and ends what is before it."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(epsilon {in_words(self.epsilon)}, length {self.length.stated})"
