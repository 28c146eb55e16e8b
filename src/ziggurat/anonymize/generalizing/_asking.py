"""What is asked of a table, checked before anything is searched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ziggurat.anonymize.generalizing._combinations import Combinations, Ladder, code_levels, count_values
from ziggurat.anonymize.generalizing._models import LDiversity, ModelNumbers, PrivacyModel, TCloseness
from ziggurat.anonymize.hierarchies import propose, reads_values
from ziggurat.data import Hierarchy, Kind, Role, Table
from ziggurat.data.expressions import reference
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.data import Column

MOST_COLUMNS = 64


@dataclass(frozen=True)
class ProtectedColumns:
    """Which columns can single somebody out, which are to be protected, and by which models."""

    models: tuple[PrivacyModel, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    population: Table | None

    def to_numbers(self, counted: Combinations, table: Table) -> list[ModelNumbers]:
        """Return the models in numbers."""
        return [self._numbers(model, counted, table) for model in self.models]

    def _numbers(self, model: PrivacyModel, counted: Combinations, table: Table) -> ModelNumbers:
        if not isinstance(model, LDiversity | TCloseness):
            return model.to_numbers()
        place, tree = self.sensitive.index(model.column), None
        if isinstance(model, TCloseness) and model.distance == "hierarchical":
            tree = _tree(model, counted.values[place], table.schema[model.column])
        return replace(model.to_numbers(), about=place, tree=tree)


def question_of(
    table: Table, models: Sequence[PrivacyModel] | PrivacyModel, quasi_identifiers: Sequence[str] | None
) -> ProtectedColumns:
    """Check models and columns against the schema of a table; nothing is read but the number of its rows."""
    given = tuple(models) if isinstance(models, Sequence) else (models,)
    if not given or not all(isinstance(model, PrivacyModel) for model in given):
        raise ParameterError("Give at least one privacy model, such as KAnonymity(5).")
    sensitive = tuple(dict.fromkeys(model.column for model in given if isinstance(model, LDiversity | TCloseness)))
    columns = _columns(table, quasi_identifiers, sensitive)
    for model in given:
        if isinstance(model, TCloseness) and model.distance == "ordered":
            _require_order(table.schema[model.column])
    _require_one_tree_each(given)
    _require_one_row_each(table)
    return ProtectedColumns(given, columns, sensitive, _population(given))


def hierarchies_for(table: Table, names: Sequence[str], given: Mapping[str, Hierarchy] | None) -> dict[str, Hierarchy]:
    """Return a hierarchy for each column: the given one, that of the schema, or else a proposed one."""
    for name in given or {}:
        if name not in names:
            raise ParameterError(f"There is a hierarchy for {name!r}, which is not a quasi-identifier.")
        if not isinstance((given or {})[name], Hierarchy):
            raise ParameterError(f"What is given for {name!r} is not a Hierarchy; make one, or read it from a file.")
    made = {}
    for name in names:
        column = table.schema[name]
        found = (given or {}).get(name) or column.hierarchy
        made[name] = found if found is not None else _propose(table, name)
    return made


def _propose(table: Table, name: str) -> Hierarchy:
    values = count_values(table, name)
    if not values and reads_values(table.schema[name]):
        raise DataError(
            f"Every cell of the quasi-identifier {name!r} is missing, so that it tells nobody apart; leave it out of "
            "them, and drop it."
        )
    return propose(table.schema[name], values).hierarchy


def value_orders(table: Table, names: Sequence[str]) -> dict[str, tuple[object, ...]]:
    """Return the public order of the values of those columns that have one."""
    found: dict[str, tuple[object, ...]] = {}
    for name in names:
        categories = table.schema[name].categories
        if categories is not None and categories.ordered:
            found[name] = tuple(categories.values)
    return found


def _columns(table: Table, given: Sequence[str] | None, sensitive: Sequence[str]) -> tuple[str, ...]:
    schema = table.schema
    if isinstance(given, str):
        raise ParameterError("Give the quasi-identifiers as a list of names.")
    for name in [*(given or ()), *sensitive]:
        schema[name]  # SchemaError names the nearest column
    if given is None:
        chosen = [each.name for each in schema.columns if each.role is Role.QUASI_IDENTIFIER]
        chosen = [name for name in chosen if name not in sensitive]
    else:
        chosen = list(given)
    if not chosen:
        raise SchemaError("No column is a quasi-identifier; give some that role in the schema, or name them.")
    if len(set(chosen)) != len(chosen):
        raise ParameterError("A quasi-identifier is named twice.")
    if table.unit.column in chosen:
        raise ParameterError(f"Column {table.unit.column!r} tells people apart and never leaves; do not name it.")
    for name in sensitive:
        if name in chosen:
            raise ParameterError(f"Column {name!r} cannot be both a quasi-identifier and sensitive; choose one.")
    if len(chosen) > MOST_COLUMNS:
        raise ParameterError(
            f"{len(chosen):,} quasi-identifiers are too many: in so many columns almost every row is alone, and all "
            f"would be suppressed; name the at most {MOST_COLUMNS} that others could know, and mask or drop the rest."
        )
    return tuple(chosen)


def _population(models: Sequence[PrivacyModel]) -> Table | None:
    found = [getattr(model, "population") for model in models if model.population_needed]  # noqa: B009
    if not all(isinstance(each, Table) for each in found):
        raise ParameterError("The population must be a table, as ziggurat.data.read returns it.")
    if any(each is not found[0] for each in found):
        raise ParameterError("Two models name different populations; use one table for both.")
    return found[0] if found else None


def _require_one_tree_each(models: Sequence[PrivacyModel]) -> None:
    trees: dict[str, Hierarchy | None] = {}
    for model in models:
        if not isinstance(model, TCloseness) or model.distance != "hierarchical":
            continue
        if trees.setdefault(model.column, model.hierarchy) != model.hierarchy:
            raise ParameterError(f"Two models name different hierarchies of {model.column!r}; use one for both.")


def _require_order(column: Column) -> None:
    ordered = column.categories is not None and column.categories.ordered
    if column.kind in (Kind.TEXT, Kind.CATEGORY) and not ordered and column.storage is Kind.TEXT:
        raise ParameterError(
            f"The values of {column.name!r} have no order; declare ordered categories in the schema, "
            "or use the equal or hierarchical distance."
        )


def _require_one_row_each(table: Table) -> None:
    """These models count rows: a class of five rows of one person would hide nobody."""
    if table.unit.is_row or table.unit.column is None:
        return
    who = reference(table.schema[table.unit.column])
    rows = exp.Count(this=exp.Star()).as_("rows")
    units = exp.Count(this=exp.Distinct(expressions=[who])).as_("units")
    answer = table.aggregate(rows, units).to_pylist()[0]
    if answer["rows"] != answer["units"]:
        raise DataError(
            f"Some {table.unit.name}s have several rows, and these models count rows, so that they would hide nobody; "
            "make one row of them with 'ziggurat table reshape' (ziggurat.data.people.reshape_people), or ask "
            "questions or draw a private synthetic table, which protect several rows (rows_per_unit, --rows-per-unit)."
        )


def _tree(model: TCloseness, values: Sequence[Any], column: Column) -> Ladder:
    """The hierarchy over the values that occur, ending in one root; missing cells meet others there only."""
    hierarchy = model.hierarchy or column.hierarchy
    if hierarchy is None:
        raise ParameterError(f"The hierarchical distance needs a hierarchy of {model.column!r}.")
    absent = sum(value is not None and value not in hierarchy.levels for value in values)
    if absent:
        raise DataError(
            f"{count_noun(absent, 'value')} of column {model.column!r} cannot be found in its hierarchy; complete it."
        )
    between = hierarchy.depth - (len({labels[-1] for labels in hierarchy.levels.values()}) == 1)
    paths = [
        (*hierarchy.levels[value][:between], "*") if value is not None else (None,) * between + ("*",)
        for value in values
    ]
    return code_levels(model.column, [list(values), *map(list, zip(*paths, strict=True))])
