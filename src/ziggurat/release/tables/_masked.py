"""Release a masked table: written down as unbounded, and only then let go."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.data import Role
from ziggurat.data.writing import check_table_file
from ziggurat.errors import DataError
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import Plan, Progress, ShownPlan
from ziggurat.release._purse import Purse

if TYPE_CHECKING:
    from ziggurat.anonymize import MaskedTable
    from ziggurat.data import Table
    from ziggurat.ledger import Ledger
    from ziggurat.randomness import Source
    from ziggurat.release._gate import Gate
    from ziggurat.release._release import Release

NOT_PROMISED_OF_MASKS = (
    "This is not differential privacy, and no class of rows was made to look alike: the rest of a row may still tell "
    "whose it is. Measure that with 'ziggurat risk'."
)
"""What every masked table says of itself."""


@dataclass(frozen=True, eq=False)
class MaskedPlan(ShownPlan, Plan["MaskedTable"]):
    """A masked table before it leaves; nothing bounds what it tells.

    Attributes
    ----------
    masked
        What was done to the columns.
    target
        Where its file will be.
    original
        The table that was masked, if people in it are to be looked for in the file.
    """

    masked: MaskedTable
    target: Path
    original: Table | None = field(default=None, repr=False)
    kind = "masked table"
    event = None

    @property
    def text(self) -> str:
        """How many rows, and what was done to which columns."""
        done = ", ".join(f"{record.technique} of {list(record.columns)}" for record in self.masked.records)
        return f"Masked table ({self.masked.table.num_rows:,} rows): {done}"

    @property
    def rehearsal(self) -> bool:
        """Whether anything was drawn with a seed."""
        return self.masked.rehearsal

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that leave."""
        return tuple(self.masked.table.column_names)

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Somebody who knows the quasi-identifiers, where the original is at hand."""
        return () if self.original is None else ("linkage",)

    def ready(self) -> None:
        """Refuse a place where the file must not or cannot be."""
        if self.target.is_dir():
            raise DataError(f"{str(self.target)!r} is a folder; name a file.")
        self.masked.require_apart(self.target)
        check_table_file(self.target, self.masked.table.column_names, self.masked.table.num_rows)

    def run(self, source: Source, progress: Progress | None) -> MaskedTable:  # noqa: ARG002
        """The table as it was masked."""
        return self.masked

    def judge(self, output: MaskedTable, progress: Progress | None) -> Evidence:  # noqa: ARG002
        """How exposed people are to whoever knows the quasi-identifiers, before and after."""
        if self.original is None:
            return Evidence()
        from ziggurat.attacks import risk
        from ziggurat.release.tables._anonymized import risk_facts

        roles = self.original.schema.with_role(Role.QUASI_IDENTIFIER)
        known = [column.name for column in roles if column.name in output.table.column_names]
        if not known:
            return Evidence(skipped={"linkage": "The schema names no quasi-identifier that is in the file."})
        before, after = risk(self.original, known), risk(output.table, known)
        return Evidence({"linkage": after}, facts={"risk": {"before": risk_facts(before), "after": risk_facts(after)}})

    def artefacts(self, output: MaskedTable, folder: Path) -> list[Path]:
        """The table."""
        file = folder / self.target.name
        output.write(file)
        return [file]

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What masking does not promise."""
        return (NOT_PROMISED_OF_MASKS,)

    def details(self, output: MaskedTable) -> dict[str, Any]:
        """What was done to which columns."""
        return output.to_dict()


def release_masked(
    masked: MaskedTable,
    path: str | Path,
    *,
    ledger: Ledger | None = None,
    budget: str = "",
    original: Table | None = None,
    gate: Gate | None = None,
    go_on: str = "",
) -> Release[MaskedTable]:
    """Write a masked table down as unbounded, once nothing is left that could be refused, and then its file.

    Parameters
    ----------
    masked
        What `mask` returned.
    path
        The .parquet, .csv, .xlsx or other file (`TABLE_ENDINGS`); the record of what was done is NAME.mask.json.
    ledger, budget
        Where to remember the release, and the name of the budget there; without a ledger nothing remembers it.
    original
        The table that was masked, so that the file is attacked before it leaves.
    gate, go_on
        What stops the release, and why it shall leave all the same (see `Purse.release`).
    """
    made = Purse(ledger, budget).release(MaskedPlan(masked, Path(path), original), gate=gate, go_on=go_on)
    masked.save(path)
    return made
