"""What every privatiser is: a record in, a report out that may leave, and an estimate from all reports."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, MixedNeighboursError, ParameterError
from ziggurat.local._estimates import LocalEstimate
from ziggurat.mechanisms import Mechanism, Noisy, neighbours_or_usual
from ziggurat.privacy import Amount, Neighbours, Relation, compose, exact_epsilon, in_words
from ziggurat.randomness import Source, choose_source

if TYPE_CHECKING:
    import pyarrow as pa

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_KINDS: dict[str, type[Privatizer]] = {}


@dataclass(frozen=True)
class Reports(Noisy[Any]):
    """What people sent, one report each: `value` may leave, `event` is what each of them paid, `origin` as ever."""

    @property
    def people(self) -> int:
        """How many reports there are, which is public."""
        return len(self.value)


class Privatizer(Mechanism):
    """Protects each record on its own, before anybody collects it (the local model).

    Promise: epsilon-differential privacy of one report under replace-one neighbours: whatever the record was, no
    report becomes more than e^epsilon times as likely by exchanging it for another. That somebody takes part is
    public, so every record sends a report, one with a missing value too. What the collector does with the reports is
    post-processing. A unit that stands behind several records pays for each.

    Attributes
    ----------
    event
        What one report costs its sender, and so what a whole collection costs, one report for each unit.
    """

    kind: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if cls.__dict__.get("kind"):
            _KINDS[cls.kind] = cls

    def __init__(self, epsilon: Amount, neighbours: Neighbours | None) -> None:
        self._asked = exact_epsilon(epsilon)
        self.neighbours = _replacing_one(neighbours)

    @property
    def epsilon(self) -> Fraction:
        """The exact epsilon promised for one report."""
        return compose(self.event).pure().epsilon

    def privatize(self, values: Any, source: Source | None = None) -> Reports:
        """Make one report of every value; all values are checked before anything is drawn.

        Parameters
        ----------
        values
            One for each record: a list, a NumPy or Arrow array, or a pandas or Polars series.
        source
            Secure randomness unless a rehearsal passes its own.
        """
        drawn_from = choose_source(source)
        return Reports(self._randomize(self._read(values), drawn_from), self.event, drawn_from.origin)

    @abstractmethod
    def estimate(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> LocalEstimate:
        """Estimate without bias what the reports are about, with intervals.

        Parameters
        ----------
        reports
            From `privatize`, or its `value` as it was sent.
        confidence
            With which each interval holds its truth.
        population
            By default the truth is that of the people who reported, so only the noise counts. With True they are
            taken for a random sample of a large population, whose truth is held; the intervals are then wider.
        """

    def to_dict(self) -> dict[str, Any]:
        """Give the public parameters in JSON: all that somebody needs to make or to read such reports."""
        stated = {"kind": self.kind, "epsilon": str(self._asked), **self._parameters()}
        return {**stated, "neighbours": self.neighbours.to_dict()}

    @staticmethod
    def from_dict(data: Any) -> Privatizer:
        """Make the privatiser that `to_dict` described; anything else raises `ParameterError`."""
        kinds = _know_kinds()
        made = kinds.get(str(data.get("kind"))) if isinstance(data, Mapping) else None
        if made is None:
            raise ParameterError(f"A privatiser needs a 'kind', one of {', '.join(sorted(kinds))}.")
        given = {name: value for name, value in data.items() if name != "kind"}
        if set(given) != set(inspect.signature(made).parameters):
            raise ParameterError(f"A {made.kind!r} privatiser has other parameters than these; write it anew.")
        whom = Neighbours.from_dict(given.pop("neighbours"))
        return made(**given, neighbours=whom)

    def recipe(self) -> dict[str, Any] | None:
        """Say in whole numbers how a report is drawn, for programs in other languages; None if only this one draws it.

        Rates are exact fractions as text: "exchange" keeps one of `answers` answers with probability 1 / (1 + e^-lean)
        and otherwise takes one of the others, each alike; "bits" sends for each of `answers` a bit that is 1 with
        probability 1 / (1 + e^others), of the answer held 0 with probability 1 / (1 + e^held), eight bits to a byte,
        the first one highest; "hash" exchanges the bucket of a hash instead of the answer.
        """
        return None

    def to_arrow(self, reports: Reports) -> pa.Array:
        """Give the reports as an Arrow column, ready to be written to a file."""
        import pyarrow as pa

        return pa.array(self._read_sent(reports), self.arrow_type)

    def from_arrow(self, column: pa.Array | pa.ChunkedArray, origin: str) -> Reports:
        """Read reports back from an Arrow column, as `to_arrow` gave it."""
        return Reports(self._read_sent(column), self.event, origin)

    @property
    @abstractmethod
    def arrow_type(self) -> pa.DataType:
        """The type of the column that `to_arrow` gives, for readers of files that do not tell."""

    @abstractmethod
    def _parameters(self) -> dict[str, Any]:
        """The public parameters other than epsilon and the neighbours, in JSON; named as in the constructor."""

    @abstractmethod
    def _read(self, values: Any) -> npt.NDArray[Any]:
        """Check the values and bring them into the public domain."""

    @abstractmethod
    def _randomize(self, values: Any, source: Source) -> npt.NDArray[Any]:
        """Draw the reports."""

    @abstractmethod
    def _check(self, sent: Any) -> npt.NDArray[Any]:
        """Refuse what this privatiser cannot have sent, and give the reports as an array."""

    def _read_sent(self, reports: Any) -> npt.NDArray[Any]:
        """The reports as an array; those of a privatiser that promises something else are refused."""
        if isinstance(reports, Reports):
            if reports.event != self.event:
                raise DataError("These reports were made by another privatiser; estimate with the one that made them.")
            return self._check(reports.value)
        return self._check(reports)

    def _some(self, reports: Any) -> npt.NDArray[Any]:
        """The reports to estimate from: at least one."""
        sent = self._read_sent(reports)
        if len(sent) == 0:
            raise DataError("There are no reports to estimate from.")
        return sent

    def __repr__(self) -> str:
        return f"{type(self).__name__}(epsilon {in_words(self._asked)})"


def _know_kinds() -> dict[str, type[Privatizer]]:
    """All kinds, each of which makes itself known when its module is imported; the door imports them one by one."""
    from ziggurat.local import _choice, _hashing, _numbers, _response, _unary, _vectors  # noqa: F401

    return _KINDS


def _replacing_one(neighbours: Neighbours | None) -> Neighbours:
    whom = neighbours_or_usual(neighbours, Relation.REPLACE_ONE)
    if whom.relation is not Relation.REPLACE_ONE:
        raise MixedNeighboursError(
            "Everybody sends a report, so adding or removing somebody shows; state replace-one neighbours."
        )
    return whom
