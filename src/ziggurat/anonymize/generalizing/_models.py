"""Privacy models: what every class of rows that look alike must satisfy.

None of them is differential privacy, and none bounds what an attacker with other knowledge learns: k-anonymity says
nothing of the sensitive values, diversity nothing of how alike they are, and no model survives the intersection of two
releases of one table.

A missing cell is no value: the models of sensitive columns hold whatever stands in the missing cells, so that a class
of two illnesses and many missing cells has two values and not three. `missing_is_a_value` says otherwise, where
"missing" is itself what is to be protected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ziggurat.anonymize.generalizing import _kernels as kernels
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._combinations import Ladder
    from ziggurat.data import Hierarchy, Table


@dataclass(frozen=True)
class ModelNumbers:
    """A model in numbers, for the compiled search."""

    kind: int
    first: float
    second: float = 0.0
    about: int = -1
    smallest: int = 1
    tree: Ladder | None = None
    missing_is_a_value: bool = False


@dataclass(frozen=True)
class PrivacyModel:
    """A condition on classes of rows that agree in all quasi-identifiers."""

    sensitive: ClassVar[bool] = False
    population_needed: ClassVar[bool] = False

    def to_numbers(self) -> ModelNumbers:
        """Return the model in numbers; of which sensitive column it speaks is added by whoever knows its place."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """What holds for every row that is released, in words."""
        raise NotImplementedError


@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every row looks like at least k - 1 others (Samarati and Sweeney 1998).

    Parameters
    ----------
    k
        The size of the smallest class, at least 2.
    """

    k: int

    def __post_init__(self) -> None:
        _require_whole(self.k, "k", 2)

    def to_numbers(self) -> ModelNumbers:
        return ModelNumbers(kernels.K_ANONYMITY, self.k, smallest=self.k)

    @property
    def sentence(self) -> str:
        return f"every row looks like at least {self.k - 1} others"


@dataclass(frozen=True)
class KMap(PrivacyModel):
    """Every row looks like at least k people of a population (Sweeney 2001).

    Parameters
    ----------
    k
        At least 2.
    population
        A table of the population with the same quasi-identifiers; an attacker is taken to know no larger one.
    """

    k: int
    population: Table

    population_needed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require_whole(self.k, "k", 2)

    def to_numbers(self) -> ModelNumbers:
        return ModelNumbers(kernels.K_MAP, self.k)

    @property
    def sentence(self) -> str:
        return f"every row looks like at least {self.k} people of the population"


@dataclass(frozen=True)
class LDiversity(PrivacyModel):
    """Every class has at least l well-represented values of a sensitive column (Machanavajjhala et al. 2006).

    Parameters
    ----------
    column
        The sensitive column.
    l
        How many, at least 2; with kind "entropy" any number above 1.
    kind
        "distinct": l different values. "entropy": their entropy is at least log l. "recursive": the most frequent
        value is rarer than c times all but the l - 1 most frequent together.
    c
        For "recursive" only.
    missing_is_a_value
        Whether missing cells count as one more value. Otherwise the model holds whatever they are.
    """

    column: str
    l: float  # noqa: E741 - as in the literature
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: float | None = None
    missing_is_a_value: bool = False

    sensitive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.kind not in ("distinct", "entropy", "recursive"):
            raise ParameterError("The kind of l-diversity must be 'distinct', 'entropy' or 'recursive'.")
        if self.kind != "entropy":
            _require_whole(self.l, "l", 2)
        elif not _is_number(self.l) or self.l <= 1:
            raise ParameterError("l must be a number above 1.")
        if (self.kind == "recursive") != (self.c is not None):
            raise ParameterError("Recursive l-diversity needs c, and no other kind does.")
        if self.c is not None and not (_is_number(self.c) and self.c > 0):
            raise ParameterError("c must be a number above 0.")

    def to_numbers(self) -> ModelNumbers:
        least = math.ceil(self.l - 1e-9)
        shared: dict[str, Any] = {"smallest": least, "missing_is_a_value": self.missing_is_a_value}
        if self.kind == "distinct":
            return ModelNumbers(kernels.DISTINCT, self.l, **shared)
        if self.kind == "entropy":
            return ModelNumbers(kernels.ENTROPY_L, self.l, **shared)
        return ModelNumbers(kernels.RECURSIVE, self.c or 0.0, self.l, **shared)

    @property
    def sentence(self) -> str:
        what = f"of {self.column!r}{_counting(self.missing_is_a_value)} in every class"
        if self.kind == "distinct":
            return f"there are at least {self.l:g} different values {what}"
        if self.kind == "entropy":
            return f"the values {what} are as spread as {self.l:g} equally frequent ones"
        return f"the most frequent value {what} is rarer than {self.c:g} times all but the {self.l - 1:g} most frequent"


@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """The sensitive values of every class are distributed like those of the table (Li, Li, Venkatasubramanian 2007).

    Parameters
    ----------
    column
        The sensitive column.
    t
        The largest earth mover's distance, between 0 and 1.
    distance
        What moving a share of rows costs from one value to another: "equal" always 1; "ordered" their difference in
        rank; "hierarchical" the height at which they meet in a hierarchy.
    hierarchy
        For "hierarchical"; by default the one in the schema.
    missing_is_a_value
        Whether missing cells count as one more value, the last in order and far from all others in a hierarchy.
        Otherwise the model holds whatever they are, and t is at least their share in the table.
    """

    column: str
    t: float
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    hierarchy: Hierarchy | None = None
    missing_is_a_value: bool = False

    sensitive: ClassVar[bool] = True
    KINDS: ClassVar[Mapping[str, int]] = {
        "equal": kernels.EQUAL_T,
        "ordered": kernels.ORDERED_T,
        "hierarchical": kernels.HIERARCHICAL_T,
    }

    def __post_init__(self) -> None:
        _require_share(self.t, "t")
        if self.distance not in self.KINDS:
            raise ParameterError("The distance of t-closeness must be 'equal', 'ordered' or 'hierarchical'.")
        if self.hierarchy is not None and self.distance != "hierarchical":
            raise ParameterError("Only the hierarchical distance takes a hierarchy.")

    def to_numbers(self) -> ModelNumbers:
        return ModelNumbers(self.KINDS[self.distance], self.t, missing_is_a_value=self.missing_is_a_value)

    @property
    def sentence(self) -> str:
        return (
            f"the values of {self.column!r}{_counting(self.missing_is_a_value)} in every class are within {self.t:g} "
            f"({self.distance} earth mover's distance) of the whole table"
        )


@dataclass(frozen=True)
class Presence(PrivacyModel):
    """How sure anybody can be that a person of the population is in the table (delta-presence, Nergiz et al. 2007).

    Parameters
    ----------
    lower, upper
        The share of each class of the population that is in the table lies between them. If `lower` is above 0,
        nothing can be published as long as some people of the population look like no published row, so that nothing
        may be suppressed.
    population
        A table of the population with the same quasi-identifiers, the people of the table among them.
    """

    lower: float
    upper: float
    population: Table

    population_needed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _require_share(self.lower, "lower")
        _require_share(self.upper, "upper")
        if self.lower > self.upper:
            raise ParameterError("The lower share is above the upper one; swap them.")

    def to_numbers(self) -> ModelNumbers:
        return ModelNumbers(kernels.PRESENCE, self.lower, self.upper)

    @property
    def sentence(self) -> str:
        return f"a person of the population is in the table with a chance between {self.lower:g} and {self.upper:g}"


@dataclass(frozen=True)
class HighestRisk(PrivacyModel):
    """Nobody is re-identified with a higher chance than this by somebody who knows that they are in the table.

    Parameters
    ----------
    risk
        Above 0 and at most 1: the same as k-anonymity with k = 1 / risk, rounded up.
    """

    risk: float

    def __post_init__(self) -> None:
        _require_share(self.risk, "risk", positive=True)

    def to_numbers(self) -> ModelNumbers:
        least = math.ceil(1 / self.risk - 1e-9)
        return ModelNumbers(kernels.K_ANONYMITY, least, smallest=least)

    @property
    def sentence(self) -> str:
        return f"the highest risk of re-identification is {self.risk:g}"


@dataclass(frozen=True)
class AverageRisk(PrivacyModel):
    """Rows are re-identified with at most this chance on average; the smallest classes are suppressed to get there.

    Parameters
    ----------
    risk
        Above 0 and at most 1.
    """

    risk: float

    def __post_init__(self) -> None:
        _require_share(self.risk, "risk", positive=True)

    def to_numbers(self) -> ModelNumbers:
        return ModelNumbers(kernels.AVERAGE, self.risk)

    @property
    def sentence(self) -> str:
        return f"the average risk of re-identification is at most {self.risk:g}"


def _counting(missing: bool) -> str:
    return ", a missing cell counted as one," if missing else ""


def _require_whole(value: float, name: str, least: int) -> None:
    if not _is_number(value) or value != int(value) or not least <= value < 2**53:
        raise ParameterError(f"{name} must be a whole number, at least {least}.")


def _require_share(value: float, name: str, *, positive: bool = False) -> None:
    if not _is_number(value) or not (value >= 1e-15 if positive else value >= 0) or value > 1:
        raise ParameterError(f"{name} must be {'above 0' if positive else 'at least 0'} and at most 1.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
