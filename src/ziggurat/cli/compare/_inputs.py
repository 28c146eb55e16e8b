"""What `ziggurat compare` was given: files of copies under names, an original cut to their columns, rows held out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli._tables import open_if_named
from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.data import Column, Table

KINDS = ("fully", "partially")
_PRIVATE = {"aim": "AIM", "mst": "MST"}


@dataclass(frozen=True)
class Copies:
    """The copies of one synthesis: its name, their files, and what these say about themselves."""

    name: str
    paths: tuple[str, ...]
    facts: dict[str, Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the first copy."""
        from ziggurat.data import read

        return tuple(read(self.paths[0]).schema.names)

    @property
    def promise(self) -> str:
        """What is promised of them; nothing is of most."""
        said = self.facts.get("promise", "")
        return "" if said == "unbounded" else str(said)


def find_copies(given: Sequence[str], kind: str) -> list[Copies]:
    """Take files for copies of one synthesis, or name=file,file for several; `kind` takes the place of theirs."""
    if kind and kind not in KINDS:
        raise ParameterError("The kind of synthetic copies is 'fully' or 'partially'.")
    named = [None if Path(each).is_file() else _NAMED.match(each) for each in given]  # a name may hold an =
    if not any(named):
        return [_describe("synthetic", given, kind)]
    if not all(named):
        raise ParameterError("Name every candidate (cart=cart.parquet forest=forest.parquet), or none of them.")
    found = [_describe(each[1], _split_files(each[2]), kind) for each in named if each]
    if len({each.name for each in found}) < len(found):
        raise ParameterError("Two candidates have the same name; write the copies of one as name=file,file.")
    return found


def _split_files(files: str) -> list[str]:
    return [files] if Path(files).is_file() else files.split(",")  # a name may hold a comma


_NAMED = re.compile(r"([^=/\\]+)=(.+)")


def _describe(name: str, given: Sequence[str], kind: str) -> Copies:
    paths = [file for each in given for file in _find_files(each.strip())]
    facts = _read_facts(paths[0])
    return Copies(name, tuple(paths), {**facts, **({"kind": kind} if kind else {})})


def _find_files(file: str) -> list[str]:
    """The file, or NAME.1.parquet and so on if these are there in its place."""
    path = Path(file)
    if path.is_file():
        return [file]
    numbered = re.compile(re.escape(path.stem) + r"\.(\d+)" + re.escape(path.suffix))
    folder = path.parent if path.parent.is_dir() else None
    found = [
        (int(hit[1]), each) for each in (folder.iterdir() if folder else ()) if (hit := numbered.fullmatch(each.name))
    ]
    if not found:
        raise DataError(f"There is no file {file!r} of synthetic rows; check the name.")
    return [str(each) for _, each in sorted(found)]


def _read_facts(path: str) -> dict[str, Any]:
    import pyarrow as pa

    from ziggurat.synthesize import read_facts

    try:
        return read_facts(path)
    except (pa.ArrowException, OSError, ValueError):
        raise DataError(f"{path!r} is no Parquet file that can be read; write it again.") from None


def cut_to(table: Table, wanted: tuple[str, ...] | None, copies: Sequence[Copies]) -> tuple[Table, list[str]]:
    """Return the original with the columns that all copies have, in memory, and notes on those left out.

    Codes for missing numbers that the files know of count as missing in the original too.
    """
    from ziggurat.data import Schema, Unit, read

    names, notes = _choose_columns(table, wanted, copies)
    codes: dict[str, Any] = {}
    for each in copies:
        codes |= each.facts.get("missing", {})
    columns = tuple(_with_codes(table.schema[name], codes.get(name, ())) for name in names)
    rows = table.raw.rows(names)
    if rows.num_rows == 0:
        raise DataError("The original has no rows; there is nothing to compare.")
    return read(rows, Schema(columns, Unit.row(), table.schema.name), on_bad_cell="missing"), notes


def _with_codes(column: Column, codes: Sequence[Any]) -> Column:
    return replace(column, missing=tuple(dict.fromkeys((*column.missing, *codes))))


def _choose_columns(
    table: Table, wanted: tuple[str, ...] | None, copies: Sequence[Copies]
) -> tuple[list[str], list[str]]:
    held = {each.name: each.columns for each in copies}
    if wanted is not None:
        for name in wanted:
            _require(name, table.schema[name].name in table.schema, held)
        return list(dict.fromkeys(wanted)), []
    for each, columns in held.items():
        strange = [name for name in columns if name not in table.schema]
        if strange:
            raise DataError(
                f"Column {strange[0]!r} of {each!r} is not in the original; name columns of both (--columns)."
            )
    names = [name for name in table.schema.names if all(name in columns for columns in held.values())]
    if not names:
        raise DataError("The original and the synthetic tables have no column in common.")
    return names, [
        f"Column {name!r} is left out: not every synthetic table has it."
        for name in table.schema.names
        if name not in names
    ]


def _require(name: str, known: bool, held: dict[str, tuple[str, ...]]) -> None:
    for each, columns in held.items():
        if not known or name not in columns:
            raise DataError(f"Column {name!r} is not in {each!r}; name columns that all tables have.")


def open_holdout(data: str, original: Table) -> pa.Table | None:
    """Return the rows that were kept back, with the columns of the original."""
    table = open_if_named(data)
    if table is None:
        return None
    for name in original.schema.names:
        if name not in table.schema:
            raise DataError(f"Column {name!r} is not in the hold-out; it must have the columns of the original.")
    rows = table.raw.rows(original.schema.names)
    if rows.num_rows == 0:
        raise DataError("The hold-out has no rows; leave it out, or name rows that no synthesiser has seen.")
    return rows


def read_models(text: str, seed: int | None, rows_per_unit: int | None) -> dict[str, Any]:
    """Read "cart,forest,aim@1": methods of synthesis by name, those with a guarantee with their epsilon."""
    found = {each.strip(): _read_model(each.strip(), seed, rows_per_unit) for each in text.split(",") if each.strip()}
    if not found:
        raise ParameterError("Name what to try, for instance --try cart,forest,aim@1.")
    return found


def _read_model(text: str, seed: int | None, rows_per_unit: int | None) -> Any:
    import ziggurat.synthesize as made
    from ziggurat.privacy import exact_epsilon
    from ziggurat.synthesize.learners import METHOD_NAMES
    from ziggurat.wording import nearest

    name, at, epsilon = text.partition("@")
    if name in _PRIVATE:
        if not epsilon:
            raise ParameterError(f"Say at which epsilon {name!r} is tried: {name}@1.")
        kind = getattr(made, _PRIVATE[name])
        return kind(epsilon=exact_epsilon(epsilon), rows_per_unit=rows_per_unit, random_state=seed)
    if name not in METHOD_NAMES or at:
        raise ParameterError(f"{text!r} is no way to synthesise; {nearest(text, [*METHOD_NAMES, 'aim@1', 'mst@1'])}")
    return made.Synthesizer(name, random_state=seed)
