"""How the options of `ziggurat mask` that name columns become techniques."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._tables import split_columns
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.anonymize import Keep, MaskPlan, Technique
    from ziggurat.data import Schema, Table

Several = list[str] | None


@dataclass(frozen=True)
class ColumnChoices:
    """What is to happen to columns that the command line names."""

    text: Annotated[Several, typer.Option(help="A column of notes: names, dates, numbers become [NAME] ...")] = None
    names: Annotated[Several, typer.Option(help="With --text: a file of names to look for, one in a line.")] = None
    names_in: Annotated[
        Several,
        typer.Option(help="With --text: columns that hold names; by default identifiers and those named so."),
    ] = None
    countries: Annotated[str, typer.Option(help="With --text: whose numbers and addresses: de,fr,gb,us.")] = ""
    exact_names: Annotated[bool, typer.Option("--exact-names", help="With --text: do not look for misspelt names.")] = (
        False
    )
    codes: Annotated[Several, typer.Option(help="A column of text that becomes random codes.")] = None
    drop: Annotated[Several, typer.Option(help="A column that does not leave, once for each or with commas.")] = None
    keep: Annotated[
        Several, typer.Option(help="note=why: a column of text that leaves as it is; the reason is recorded.")
    ] = None

    @property
    def given(self) -> bool:
        """Whether any column is named."""
        return bool(self.text or self.codes or self.drop or self.keep)

    def require_consistent(self) -> None:
        """Refuse what goes with --text if there is none."""
        others = (self.names, self.names_in, self.countries, self.exact_names)
        if not self.text and any(others):
            raise ParameterError("--names, --names-in, --countries and --exact-names go with --text.")

    def add_to(self, plan: MaskPlan, table: Table, progress: Callable[[int, int], None] | None) -> MaskPlan:
        """Return a plan with these choices first: notes are masked while the columns of names are still there."""
        from ziggurat.anonymize import Codes, Drop

        schema = table.declared
        chosen: MaskPlan = {}
        for name in _columns(schema, self.text):
            chosen[name] = [self._mask_text(table, progress)]
        steps: list[tuple[str, Technique]] = [(name, Codes()) for name in _columns(schema, self.codes)]
        steps += [(name, Drop()) for name in _columns(schema, self.drop)]
        for name, technique in [*steps, *self._kept(schema)]:
            if name in chosen:
                raise ParameterError(f"Column {name!r} is named by two options; choose one.")
            chosen[name] = [technique]
        planned = {name for key in plan for name in ((key,) if isinstance(key, str) else key)}
        for both in planned.intersection(map(str, chosen)):
            raise ParameterError(f"Column {both!r} is in the plan and named by an option; choose one.")
        return {**chosen, **plan}

    def add_words(self, plan: dict[str, Any], schema: Schema, lists: Sequence[str]) -> dict[str, Any]:
        """Return a plan in the words of its file with these choices first; `lists` are sent lists of names."""
        chosen: dict[str, Any] = {name: self._text_words(schema, lists) for name in _columns(schema, self.text)}
        steps: list[tuple[str, Any]] = [(name, "codes") for name in _columns(schema, self.codes)]
        steps += [(name, "drop") for name in _columns(schema, self.drop)]
        kept = [(name, {"technique": "keep", "because": each.because}) for name, each in self._kept(schema)]
        for name, technique in [*steps, *kept]:
            if name in chosen:
                raise ParameterError(f"Column {name!r} is named by two options; choose one.")
            chosen[name] = technique
        planned = {part.strip() for name in plan for part in (name, *name.split(","))}
        for both in planned.intersection(chosen):
            raise ParameterError(f"Column {both!r} is in the plan and named by an option; choose one.")
        return {**chosen, **plan}

    def _text_words(self, schema: Schema, lists: Sequence[str]) -> dict[str, Any]:
        own = _columns(schema, self.text)
        held = [name for name in _columns(schema, self.names_in) or self._find_names(schema) if name not in own]
        said: dict[str, Any] = {"technique": "mask-text", "names_in": held, "misspelt": not self.exact_names}
        said |= {"countries": self.countries.split(",")} if self.countries else {}
        return said | ({"names": {"file": list(lists)}} if lists else {})

    def _mask_text(self, table: Table, progress: Callable[[int, int], None] | None) -> Technique:
        from ziggurat.anonymize import MaskText, read_names

        listed = tuple(name for file in self.names or () for name in read_names(file))
        where = _columns(table.declared, self.names_in) or self._find_names(table.declared)
        held = tuple(name for name in where if name not in _columns(table.declared, self.text))
        told = {"countries": tuple(self.countries.split(","))} if self.countries else {}
        return MaskText(listed, held, misspelt=not self.exact_names, progress=progress, **told)

    def _find_names(self, schema: Schema) -> tuple[str, ...]:
        """The columns that tell people apart, and those that are named like names of people."""
        from ziggurat.anonymize import names_people
        from ziggurat.data import Kind, Role

        wanted = (Kind.TEXT, Kind.INTEGER)
        columns = [column for column in schema.columns if column.storage in wanted]
        return tuple(column.name for column in columns if column.role is Role.IDENTIFIER or names_people(column.name))

    def _kept(self, schema: Schema) -> list[tuple[str, Keep]]:
        from ziggurat.anonymize import Keep

        pairs = [text.split("=", 1) for text in self.keep or ()]
        for pair in pairs:
            if len(pair) != 2 or not all(part.strip() for part in pair):
                raise ParameterError('Say which column stays and why, such as --keep "note=read by two people".')
        return [(schema[name.strip()].name, Keep(why.strip())) for name, why in pairs]


def _columns(schema: Schema, given: Several) -> tuple[str, ...]:
    return tuple(schema[name].name for name in split_columns(schema, given) or ())
