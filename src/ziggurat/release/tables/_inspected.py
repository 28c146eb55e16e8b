"""Read an anonymised file back as an outsider would: verify every model, attack it, and look for what undoes it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlglot import exp

from ziggurat.anonymize import Anonymized
from ziggurat.attacks import (
    Claims,
    ColumnCounts,
    Cover,
    Homogeneity,
    RiskReport,
    Undone,
    Verified,
    find_undone,
    homogeneity_of,
    risk_of,
    verify_models,
)
from ziggurat.data import Column, Kind, Role, Schema, Table
from ziggurat.data.engines import DuckDBEngine, Engine
from ziggurat.data.reading.formats import attach_file
from ziggurat.errors import PrivacyError

HIGH_RISK = 0.2


@dataclass(frozen=True)
class Inspected:
    """What a file holds, and what attackers make of it.

    Attributes
    ----------
    verified
        Every model, judged by the cells of the file.
    before, after
        How exposed people were in the table, and are in the file.
    homogeneity
        What classes of the file give away, by sensitive column.
    undone
        What the columns that left as they were undo, those included of which somebody decided that they stay.
    undecided
        The same without those.
    """

    verified: tuple[Verified, ...]
    before: RiskReport
    after: RiskReport
    homogeneity: Mapping[str, Homogeneity]
    undone: Undone
    undecided: Undone


def inspect_file(
    anonymized: Anonymized, file: Path, *, dropped: Collection[str] = (), kept: Collection[str] = ()
) -> Inspected:
    """Read a file back, judge every model by its cells, and attack it; PrivacyError if it is not what it should be."""
    if not anonymized.publication.rows:
        raise PrivacyError("Every row would be suppressed, and nothing is left to release; ask less of the classes.")
    raw, known = anonymized.publication.original, anonymized.question.quasi_identifiers
    schema = schema_of_file(anonymized, dropped)
    with _read_back(raw.engine, file) as (engine, relation):
        _require_columns(raw, schema, list(engine.columns(relation)))
        released = ColumnCounts(Table(engine, relation, schema, on_bad_cell="missing"), schema.names)
        original = ColumnCounts(raw, schema.names)
        held = _verify(anonymized, released, original)
        options: dict[str, Any] = {
            "shown": schema.names,
            "covers": _covers(anonymized),
            "protected": anonymized.question.sensitive,
        }
        found = find_undone(released, original, raw.schema, known, **options)
        left = find_undone(released, original, raw.schema, known, **options, kept=kept) if kept else found
        return Inspected(
            verified=held,
            before=risk_of(original.of(known), threshold=HIGH_RISK),
            after=risk_of(released.of(known), threshold=HIGH_RISK),
            homogeneity={
                name: homogeneity_of(released.of([*known, name])) for name in sensitive_of(anonymized, schema.names)
            },
            undone=found,
            undecided=left,
        )


@contextmanager
def _read_back(writer: Engine, file: Path) -> Iterator[tuple[Engine, str]]:
    """Open a file where it is counted: in DuckDB in this process, or by all machines that wrote it as Parquet.

    Either reads what stands on the disk; of a large file only counts come here, one for each combination of cells.
    """
    if writer.spread and file.suffix.lower() == ".parquet" and ".parquet" in writer.writes:
        relation = writer.attach(f"{file}/*.parquet" if file.is_dir() else file)
        try:
            yield writer, relation
        finally:
            writer.take_back(exp.to_table(relation))
    else:
        with DuckDBEngine() as engine:
            yield engine, attach_file(engine, file)


def schema_of_file(anonymized: Anonymized, dropped: Collection[str] = ()) -> Schema:
    """Return what the file holds: labels are text, and columns that were not generalised are what they were."""
    raw, levels = anonymized.publication.original, anonymized.levels
    shown = [each for each in raw.schema.columns if not tells_people_apart(raw, each) and each.name not in dropped]
    return Schema(tuple(each if levels.get(each.name, 0) == 0 else Column(each.name, Kind.TEXT) for each in shown))


def tells_people_apart(table: Table, column: Column) -> bool:
    """Return whether a column never leaves."""
    return column.role is Role.IDENTIFIER or column.name == table.unit.column


def _require_columns(raw: Table, schema: Schema, shown: Sequence[str]) -> None:
    for column in raw.declared.columns:
        if column.name in shown and tells_people_apart(raw, column):
            raise PrivacyError(
                f"The anonymised table still shows column {column.name!r}, which tells people apart; nothing was "
                "released: leave that column out of the table."
            )
    for name in shown:
        if name not in schema:
            raise PrivacyError(f"The file shows column {name!r}, which should not leave; nothing was released.")


def _verify(anonymized: Anonymized, released: ColumnCounts, original: ColumnCounts) -> tuple[Verified, ...]:
    """What a file shows is judged by other code than what made it; both must agree."""
    question = anonymized.question
    claims = Claims(
        models=question.models,
        quasi_identifiers=question.quasi_identifiers,
        original={name: original.of([name]) for name in question.sensitive},
        schema=anonymized.publication.original.schema,
        covers={name: _cover(anonymized, name) for name in question.quasi_identifiers},
        people=None if question.population is None else ColumnCounts(question.population, question.quasi_identifiers),
    )
    held = verify_models(released.of([*question.quasi_identifiers, *question.sensitive]), claims)
    wrong = [f"{each.model} (measured: {each.figure} {each.measured:.5g})" for each in held if not each.held]
    if released.rows != anonymized.publication.rows:
        wrong.append(f"it has {released.rows:,} rows and should have {anonymized.publication.rows:,}")
    if wrong:
        raise PrivacyError(
            "The file does not satisfy its models when it is read back, and nothing was released; it does not hold "
            f"that {'; '.join(wrong)}."
        )
    return held


def _cover(anonymized: Anonymized, name: str) -> Cover:
    number = anonymized.publication.original.schema[name].kind in (Kind.INTEGER, Kind.REAL)
    ranges = anonymized.recoding == "mondrian" and number
    return Cover(anonymized.hierarchies[name], anonymized.levels[name], ranges)


def _covers(anonymized: Anonymized) -> dict[str, Cover]:
    return {name: _cover(anonymized, name) for name, level in anonymized.levels.items() if level != 0}


def sensitive_of(anonymized: Anonymized, shown: Collection[str]) -> tuple[str, ...]:
    """Return the columns that models protect, and those with that role, where the file shows them."""
    declared = (column.name for column in anonymized.publication.original.schema.with_role(Role.SENSITIVE))
    names = dict.fromkeys((*anonymized.question.sensitive, *declared))
    return tuple(name for name in names if name in shown and name not in anonymized.question.quasi_identifiers)
