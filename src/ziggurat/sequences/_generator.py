"""What every private generator of sequences shares: a price before anything is read, sampling, saving, a promise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ziggurat.archives import Array, read_archive, write_archive
from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import (
    Amount,
    Event,
    Guarantee,
    Neighbours,
    Relation,
    compose,
    event_from_dict,
    exact_delta,
    whole_number,
)
from ziggurat.randomness import Source, choose_source
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._sequences import Sequences

Progress = Callable[[str, int, int], None]
"""Is told what is done, how much of it, and how much in all; from public or noisy facts alone."""

_FORMAT = "ziggurat/sequences/2"
_CHECKPOINT = "checkpoint"  # where it lies on the machine that learned is nobody else's business


class SequenceGenerator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A differentially private model of sequences, from which new ones are drawn.

    Unit: what the domain says: one sequence, or somebody with at most `sequences_per_unit` of them that count (more
    are left out at random). Relation: add or remove one unit. What fitting costs follows from the parameters and the
    public domain alone (`planned`), and whatever is drawn afterwards is post-processing.

    A subclass says in `_plan_event` what learning costs, learns in `_learn`, draws in `_draw`, and says in `_state` and
    `_restore` what it keeps.

    Attributes
    ----------
    domain_
        What was publicly known.
    sizes_
        How many sequences of each class the model stands for, by noisy counts.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    _domain_class: ClassVar[type[SequenceDomain]] = SequenceDomain

    epsilon: Amount
    delta: Amount
    sequences_per_unit: int | None
    random_state: int | None

    domain_: SequenceDomain
    sizes_: tuple[int, ...]
    event_: Event
    origin_: str

    @abstractmethod
    def _plan_event(self, domain: SequenceDomain, neighbours: Neighbours, most: int) -> Event:
        """Say what learning will cost, if one unit holds at most `most` sequences; nothing is read."""

    @abstractmethod
    def _learn(self, sequences: Sequences, most: int, source: Source, progress: Progress) -> tuple[int, ...]:
        """Learn from bounded sequences, and say by noisy counts how many there are of each class."""

    @abstractmethod
    def _draw(self, labels: Array, draw: np.random.Generator) -> tuple[Array, Array]:
        """Draw a sequence for every class code: all codes one after the other, and the length of each."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """What was learned, as facts for JSON and as arrays."""

    @abstractmethod
    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Take up what `_state` gave."""

    def planned(self, domain: SequenceDomain) -> Event:
        """Say what fitting sequences of this domain will cost; nothing is read."""
        neighbours = Neighbours(domain.unit, Relation.ADD_OR_REMOVE_ONE)
        return self._plan_event(domain, neighbours, self._most(domain))

    def fit(self, sequences: Sequences, *, progress: Progress | None = None) -> Self:
        """Learn from sequences, with noise.

        Parameters
        ----------
        sequences
            As `read_sequences` gives them.
        progress
            Is told how far it is; from noisy facts alone.
        """
        event = self.planned(sequences.domain)
        source, most = self._source(), self._most(sequences.domain)
        bounded = self._bound(sequences, most, source)
        self.domain_ = sequences.domain
        self.sizes_ = self._learn(bounded, most, source, progress or _say_nothing)
        self.event_, self.origin_ = event, source.origin
        return self

    def _bound(self, sequences: Sequences, most: int, source: Source) -> Sequences:
        """Leave out what is more than `most` of one unit, unless a subclass weighs all of them down instead."""
        return sequences.bounded(most, source.child("bounding"))

    def sample(
        self,
        count: int | None = None,
        *,
        sizes: Mapping[Any, int] | None = None,
        random_state: int | None = None,
    ) -> Sequences:
        """Draw sequences: post-processing, which costs nothing.

        Parameters
        ----------
        count
            How many in all, by class as the model counted them; by default as many as it stands for.
        sizes
            How many of each class instead; for classes whose sizes are public.
        random_state
            Drawn anew each time or, with a whole number, the same ones again.
        """
        check_is_fitted(self)
        draw = choose_source(random_state).simulation()
        labels = np.repeat(np.arange(self.domain_.groups, dtype=np.int32), self._wanted(count, sizes))
        draw.shuffle(labels)
        return self._make(labels, draw)

    def _make(self, labels: Array, draw: np.random.Generator) -> Sequences:
        codes, lengths = self._draw(labels, draw)
        owners = None if self.domain_.unit.is_row else np.arange(len(labels))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Sequences(self.domain_, codes, offsets, labels if self.domain_.classes else None, owners)

    def _wanted(self, count: int | None, sizes: Mapping[Any, int] | None) -> list[int]:
        if sizes is not None:
            if count is not None or not self.domain_.classes:
                raise ParameterError("Give either how many sequences in all, or how many of each class.")
            wanted = {self.domain_.class_code(name): whole_number(each, "sizes") for name, each in sizes.items()}
            return [wanted.get(code, 0) for code in range(self.domain_.groups)]
        if count is None:
            return list(self.sizes_)
        return _share_out(whole_number(count, "count"), self.sizes_)

    @property
    def guarantee_(self) -> Guarantee:
        """The promise that fitting keeps, for the unit and relation that it names."""
        allowed = exact_delta(self.delta)
        return compose(self.event_).approximate(allowed) if allowed else compose(self.event_).pure()

    @property
    def rehearsal_(self) -> bool:
        """Whether seeded randomness was used, so that nothing of it must be published."""
        return self.origin_ != "secure"

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file: noisy facts and what follows from them, as safe as what is drawn."""
        check_is_fitted(self)
        facts, arrays = self._state()
        parameters = self.get_params(deep=False)
        said = {
            "class": type(self).__name__,
            "parameters": {name: _plain(value) for name, value in parameters.items() if name != _CHECKPOINT},
            "domain": self.domain_.to_plain(),
            "sizes": self.sizes_,
            "event": self.event_.to_dict(),
            "origin": self.origin_,
            "learned": facts,
        }
        write_archive(path, _FORMAT, said, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a generator that `save` of this class wrote; nothing in the file is run.

        What the file says of its own cost is no evidence: the entry of the ledger that paid is.
        """
        facts, arrays = read_archive(path, _FORMAT, "generator of sequences")
        if facts.get("class") != cls.__name__:
            raise DataError(f"What is in {str(path)!r} is no {cls.__name__} that this version saved.")
        try:
            made = cls(**facts["parameters"])
            made.domain_ = cls._domain_class.from_plain(facts["domain"])
            made.sizes_ = tuple(int(each) for each in facts["sizes"])
            made.event_, made.origin_ = event_from_dict(facts["event"]), str(facts["origin"])
            made._restore(facts["learned"], arrays)
        except (KeyError, TypeError, ValueError):
            raise DataError(f"The {cls.__name__} in {str(path)!r} is damaged; restore a copy, or fit again.") from None
        return made

    def _source(self) -> Source:
        return choose_source(self.random_state)

    def _most(self, domain: SequenceDomain) -> int:
        if domain.unit.is_row:
            if self.sequences_per_unit not in (None, 1):
                raise ParameterError("If the unit is one sequence, each counts once; leave sequences_per_unit out.")
            return 1
        if self.sequences_per_unit is None:
            raise ParameterError(f"State sequences_per_unit=..., how many sequences of {domain.unit} count at most.")
        return whole_number(self.sequences_per_unit, "sequences_per_unit")


def _say_nothing(what: str, done: int, of: int) -> None:
    """Tell nobody."""


def _share_out(count: int, sizes: tuple[int, ...]) -> list[int]:
    """Share a number out in proportion, the largest remainders first; evenly if nothing was counted."""
    sizes = sizes if any(sizes) else (1,) * len(sizes)
    total = sum(sizes)
    whole = [count * size // total for size in sizes]
    remainders = sorted(range(len(sizes)), key=lambda at: (-(count * sizes[at] % total), at))
    for at in remainders[: count - sum(whole)]:
        whole[at] += 1
    return whole


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str | list | dict) else str(value)
