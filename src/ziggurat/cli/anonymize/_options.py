"""How the options of `ziggurat anonymize` become models, metrics and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from ziggurat.cli._options import GoOn, Where
from ziggurat.cli._tables import split_columns
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.anonymize import Anonymized, LDiversity, Metric, PrivacyModel, TCloseness
    from ziggurat.data import Hierarchy, Schema, Table

Several = list[str] | None


@dataclass(frozen=True)
class ModelOptions:
    """What was asked of the classes, as it was written."""

    k: Annotated[int | None, typer.Option("--k", help="Every row looks like at least k - 1 others.")] = None
    l_diversity: Annotated[
        Several,
        typer.Option("--l", help="diagnosis=3: so many different values in every class; 3:entropy, 3:recursive:2."),
    ] = None
    t_closeness: Annotated[
        Several,
        typer.Option("--t", help="diagnosis=0.2: every class is so close to the table; :ordered, :hierarchical."),
    ] = None
    missing_counts: Annotated[
        Several,
        typer.Option(help="A column of --l or --t whose missing cells count as a value; by default they are none."),
    ] = None
    k_map: Annotated[int | None, typer.Option(help="Every row looks like so many people of --population.")] = None
    presence: Annotated[str, typer.Option(help="0.1:0.5: the share of --population's classes in the table.")] = ""
    population: Annotated[str, typer.Option(help="A table of the population with the same columns.")] = ""
    highest_risk: Annotated[float | None, typer.Option(help="Nobody's risk is higher, for instance 0.2.")] = None
    average_risk: Annotated[float | None, typer.Option(help="The average risk is not higher.")] = None

    def models(self, population: Table | None, trees: Mapping[str, Hierarchy]) -> list[PrivacyModel]:
        """Return the models; ParameterError says how an option is written."""
        from ziggurat.anonymize import AverageRisk, HighestRisk, KAnonymity, KMap

        if (self.k_map is not None or bool(self.presence)) != (population is not None):
            raise ParameterError("--k-map and --presence need --population, and it serves nothing else.")
        found: list[PrivacyModel] = [] if self.k is None else [KAnonymity(self.k)]
        if self.k_map is not None and population is not None:
            found.append(KMap(self.k_map, population))
        if self.presence and population is not None:
            found.append(_read_presence(self.presence, population))
        found += self._about_values(trees)
        found += [] if self.highest_risk is None else [HighestRisk(self.highest_risk)]
        found += [] if self.average_risk is None else [AverageRisk(self.average_risk)]
        if not found:
            raise ParameterError("Say what classes must satisfy, for instance --k 5 or --l diagnosis=3.")
        return found

    def _about_values(self, trees: Mapping[str, Hierarchy]) -> list[PrivacyModel]:
        made = [_read_diversity(text) for text in self.l_diversity or ()]
        made += [_read_closeness(text, trees) for text in self.t_closeness or ()]
        counting = {name for text in self.missing_counts or () for name in (text, *text.split(","))}
        for name in sorted(self.missing_counts or ()):
            if not {name, *name.split(",")} & {model.column for model in made}:
                raise ParameterError(f"--missing-counts names {name!r}, of which neither --l nor --t speaks.")
        return [replace(model, missing_is_a_value=model.column in counting) for model in made]


@dataclass(frozen=True)
class SearchOptions:
    """Which columns are generalised, how, and what is lost least."""

    qi: Annotated[
        Several,
        typer.Option(help="A column that others know, once for each or with commas; by default by the schema."),
    ] = None
    suppress: Annotated[str, typer.Option(help="The share of rows that may be left out, exact: 0.02.")] = "0"
    metric: Annotated[
        str, typer.Option(help="What to lose least of: loss, entropy, precision, discernibility or class-size.")
    ] = "loss"
    weight: Annotated[Several, typer.Option(help="age=2: this column matters twice as much.")] = None
    hierarchies: Annotated[
        Several, typer.Option(help="A CSV file of hierarchies, or a folder of them, once for each.")
    ] = None
    recoding: Annotated[str, typer.Option(help="global: one level a column; local or mondrian: by row.")] = "global"
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which the best so far will do.")] = None

    @property
    def weights(self) -> dict[str, float]:
        """How much each column matters, of those that were given as age=2."""
        pairs = [_split(text, "--weight age=2") for text in self.weight or ()]
        return {column: _read_number(value, "--weight age=2") for column, value in pairs}

    def measure(self) -> Metric:
        """The metric of the name that was given, with its weights."""
        from ziggurat.anonymize import METRICS
        from ziggurat.wording import nearest

        if self.metric not in METRICS:
            raise ParameterError(f"There is no metric {self.metric!r}; {nearest(self.metric, METRICS)}")
        return METRICS[self.metric](self.weights)

    def search(
        self, table: Table, models: list[PrivacyModel], trees: Mapping[str, Hierarchy], progress: Any
    ) -> Anonymized:
        """Find the generalisation that loses least."""
        from ziggurat.anonymize import anonymize
        from ziggurat.data import Role

        known = split_columns(table.schema, self.qi)
        secret = {getattr(model, "column", "") for model in models}
        roles = [column.name for column in table.schema.with_role(Role.QUASI_IDENTIFIER) if column.name not in secret]
        return anonymize(
            table,
            models,
            quasi_identifiers=known,
            hierarchies={name: tree for name, tree in trees.items() if name in (known or roles)},
            suppression=self.suppress,
            metric=self.measure(),
            recoding=cast(Any, self.recoding),
            time_limit=self.time_limit,
            progress=progress,
        )


@dataclass(frozen=True)
class LeavingOptions:
    """What leaves, and where that is remembered."""

    keep: Annotated[
        Several,
        typer.Option(
            help="cost, or cost=why: it leaves as it is although it undoes something; the reason is recorded."
        ),
    ] = None
    drop: Annotated[Several, typer.Option(help="A column that does not leave, once for each or with commas.")] = None
    ledger: Where = ""
    budget: Annotated[str, typer.Option(help="What the ledger calls the table; by default the file's name.")] = ""
    note: Annotated[str, typer.Option(help="What the release is for, in a sentence; it stays in the ledger.")] = ""
    go_on: GoOn = ""

    def settings(self, schema: Schema) -> dict[str, Any]:
        """What the release is asked for."""
        dropped = split_columns(schema, self.drop) or ()
        return {"keep": self._read_kept(schema), "drop": dropped, "note": self.note, "go_on": self.go_on}

    def _read_kept(self, schema: Schema) -> dict[str, str]:
        """Read which columns stay as they are, each with the reason: cost=known to the insurer only, or cost,visits."""
        found: dict[str, str] = {}
        for text in self.keep or ():
            name, _, reason = text.partition("=")
            if text not in schema and name in schema and reason:
                found[name] = reason.strip()
                continue
            names = [text] if text in schema else [part.strip() for part in text.split(",")]
            found |= {schema[each].name: "" for each in names}
        return found


def _read_diversity(text: str) -> LDiversity | TCloseness:
    from ziggurat.anonymize import LDiversity

    example = "--l diagnosis=3, diagnosis=3:entropy or diagnosis=3:recursive:2"
    column, given = _split(text, example)
    amount, *rest = given.split(":")
    if len(rest) > 2 or (rest and rest[0] not in ("distinct", "entropy", "recursive")):
        raise ParameterError(f"l-diversity is written as {example}.")
    kind = cast(Literal["distinct", "entropy", "recursive"], rest[0] if rest else "distinct")
    return LDiversity(
        column, _read_number(amount, example), kind, _read_number(rest[1], example) if len(rest) == 2 else None
    )


def _read_closeness(text: str, trees: Mapping[str, Hierarchy]) -> LDiversity | TCloseness:
    from ziggurat.anonymize import TCloseness

    example = "--t diagnosis=0.2, cost=0.2:ordered or diagnosis=0.2:hierarchical"
    column, given = _split(text, example)
    amount, _, distance = given.partition(":")
    if distance not in ("", "equal", "ordered", "hierarchical"):
        raise ParameterError(f"t-closeness is written as {example}.")
    chosen: Any = distance or "equal"
    tree = trees.get(column) if distance == "hierarchical" else None
    return TCloseness(column, _read_number(amount, example), chosen, tree)


def _read_presence(text: str, population: Table) -> PrivacyModel:
    from ziggurat.anonymize import Presence

    example = "--presence 0.1:0.5"
    lower, colon, upper = text.partition(":")
    if not colon:
        raise ParameterError(f"The presence is written as {example}.")
    return Presence(_read_number(lower, example), _read_number(upper, example), population)


def _split(text: str, example: str) -> tuple[str, str]:
    column, equals, value = text.rpartition("=")
    if not (column and equals and value):
        raise ParameterError(f"{text!r} must name a column and a number, for instance {example}.")
    return column, value


def _read_number(text: str, example: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{text!r} is not a number; write it as in {example}.") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ParameterError(f"{text!r} is not a number that can be used; write it as in {example}.")
    return int(value) if value.is_integer() else value
