"""Whom a promise protects: the unit, and what makes two tables neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import MixedNeighboursError, ParameterError, ZigguratError


class Relation(StrEnum):
    """When two tables count as neighbours."""

    ADD_OR_REMOVE_ONE = "add-or-remove-one"
    REPLACE_ONE = "replace-one"


@dataclass(frozen=True)
class Neighbours(Shown):
    """The unit and the relation, which are part of every guarantee.

    Two tables are neighbours when one can be had from the other by adding or removing everything one unit
    contributes (`add-or-remove-one`), or by replacing it with what another would have contributed
    (`replace-one`; the number of units is then public).
    """

    unit: Unit = Unit()
    relation: Relation = Relation.ADD_OR_REMOVE_ONE

    def __post_init__(self) -> None:
        if not isinstance(self.unit, Unit):
            raise ParameterError("The unit of neighbours must be a Unit, such as Unit.person('patient').")
        try:
            object.__setattr__(self, "relation", Relation(self.relation))
        except ValueError:
            raise ParameterError("The relation must be 'add-or-remove-one' or 'replace-one'.") from None

    def __str__(self) -> str:
        return f"{self.unit}, {self.relation}"

    def require(self, other: Neighbours) -> None:
        """Raise unless `other` promises about the same unit and relation."""
        if self != other:
            raise MixedNeighboursError(
                f"A promise about {other} cannot be combined with one about {self}; restate one of them first."
            )

    def to_dict(self) -> dict[str, str]:
        """Give the JSON form."""
        unit = {"unit": self.unit.name, "relation": str(self.relation)}
        return unit if self.unit.column is None else {**unit, "column": self.unit.column}

    @classmethod
    def from_dict(cls, data: dict[str, str]) -> Neighbours:
        """Read the JSON form."""
        try:
            return cls(Unit(data["unit"], data.get("column")), Relation(data["relation"]))
        except (KeyError, ValueError, TypeError, AttributeError, ZigguratError):
            raise ParameterError(
                "A neighbour relation needs a unit and 'add-or-remove-one' or 'replace-one'."
            ) from None
