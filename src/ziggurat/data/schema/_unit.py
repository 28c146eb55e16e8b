"""The privacy unit: whose contribution a promise hides."""

from dataclasses import dataclass

from ziggurat.errors import SchemaError


@dataclass(frozen=True)
class Unit:
    """What one person, or one organisation, contributes to a table.

    A promise of differential privacy hides the presence of one unit. If a person may hold several rows,
    a promise per row is weaker than it sounds; the unit says which is meant.

    Parameters
    ----------
    name
        The unit in words: "row", "person", "organisation".
    column
        The column whose equal values belong to the same unit; None for rows, which need none.
    """

    name: str = "row"
    column: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SchemaError("A unit needs a name in words, such as 'person'.")
        if self.name == "row" and self.column is not None:
            raise SchemaError("The unit 'row' has no column; name the unit (for example 'person') or drop it.")
        if self.name != "row" and not (isinstance(self.column, str) and self.column):
            raise SchemaError(f"The unit {self.name!r} needs the column that tells its members apart.")

    @classmethod
    def row(cls) -> "Unit":
        """Return the unit in which every row is somebody else."""
        return cls()

    @classmethod
    def person(cls, column: str) -> "Unit":
        """Return the unit in which rows with the same value of `column` belong to one person."""
        return cls("person", column)

    @classmethod
    def of(cls, column: str, name: str) -> "Unit":
        """Return the unit `name` (in words) whose members `column` tells apart."""
        return cls(name, column)

    @property
    def is_row(self) -> bool:
        """Whether every row is its own unit."""
        return self.column is None

    def __str__(self) -> str:
        return "one row" if self.column is None else f"one {self.name} (column {self.column})"
