"""How the options of `ziggurat anonymize` become models, metrics and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.anonymize import LDiversity, Metric, PrivacyModel, TCloseness
    from ziggurat.data import Hierarchy, Table


@dataclass(frozen=True)
class Wanted:
    """What was asked of the classes, as it was written."""

    k: int | None
    diversity: Sequence[str]
    closeness: Sequence[str]
    missing_counts: Sequence[str]
    k_map: int | None
    presence: str
    highest_risk: float | None
    average_risk: float | None

    def models(self, population: Table | None, trees: Mapping[str, Hierarchy]) -> list[PrivacyModel]:
        """Return the models; ParameterError says how an option is written."""
        from ziggurat.anonymize import AverageRisk, HighestRisk, KAnonymity, KMap

        if (self.k_map is not None or bool(self.presence)) != (population is not None):
            raise ParameterError("--k-map and --presence need --population, and it serves nothing else.")
        found: list[PrivacyModel] = [] if self.k is None else [KAnonymity(self.k)]
        if self.k_map is not None and population is not None:
            found.append(KMap(self.k_map, population))
        if self.presence and population is not None:
            found.append(_presence(self.presence, population))
        found += self._about_values(trees)
        found += [] if self.highest_risk is None else [HighestRisk(self.highest_risk)]
        found += [] if self.average_risk is None else [AverageRisk(self.average_risk)]
        if not found:
            raise ParameterError("Say what classes must satisfy, for instance --k 5 or --l diagnosis=3.")
        return found

    def _about_values(self, trees: Mapping[str, Hierarchy]) -> list[PrivacyModel]:
        made = [_diversity(text) for text in self.diversity] + [_closeness(text, trees) for text in self.closeness]
        counting = {name for text in self.missing_counts for name in (text, *text.split(","))}
        for name in sorted(self.missing_counts):
            if not {name, *name.split(",")} & {model.column for model in made}:
                raise ParameterError(f"--missing-counts names {name!r}, of which neither --l nor --t speaks.")
        return [replace(model, missing_is_a_value=model.column in counting) for model in made]


def metric_of(name: str, weights: Sequence[str]) -> Metric:
    """Return the metric of a name, with weights such as age=2."""
    from ziggurat.anonymize import METRICS
    from ziggurat.wording import nearest

    if name not in METRICS:
        raise ParameterError(f"There is no metric {name!r}; {nearest(name, METRICS)}")
    pairs = [_split(text, "--weight age=2") for text in weights]
    return METRICS[name]({column: _number(value, "--weight age=2") for column, value in pairs})


def kept_in(given: Sequence[str], table: Table) -> dict[str, str]:
    """Read which columns are kept as they are, each with the reason: cost=known to the insurer only, or cost,visits."""
    found: dict[str, str] = {}
    for text in given:
        name, _, reason = text.partition("=")
        if text not in table.schema and name in table.schema and reason:
            found[name] = reason.strip()
            continue
        names = [text] if text in table.schema else [part.strip() for part in text.split(",")]
        found |= {table.schema[each].name: "" for each in names}
    return found


def _diversity(text: str) -> LDiversity | TCloseness:
    from ziggurat.anonymize import LDiversity

    example = "--l diagnosis=3, diagnosis=3:entropy or diagnosis=3:recursive:2"
    column, given = _split(text, example)
    amount, *rest = given.split(":")
    if len(rest) > 2 or (rest and rest[0] not in ("distinct", "entropy", "recursive")):
        raise ParameterError(f"l-diversity is written as {example}.")
    kind = cast(Literal["distinct", "entropy", "recursive"], rest[0] if rest else "distinct")
    return LDiversity(column, _number(amount, example), kind, _number(rest[1], example) if len(rest) == 2 else None)


def _closeness(text: str, trees: Mapping[str, Hierarchy]) -> LDiversity | TCloseness:
    from ziggurat.anonymize import TCloseness

    example = "--t diagnosis=0.2, cost=0.2:ordered or diagnosis=0.2:hierarchical"
    column, given = _split(text, example)
    amount, _, distance = given.partition(":")
    if distance not in ("", "equal", "ordered", "hierarchical"):
        raise ParameterError(f"t-closeness is written as {example}.")
    chosen: Any = distance or "equal"
    tree = trees.get(column) if distance == "hierarchical" else None
    return TCloseness(column, _number(amount, example), chosen, tree)


def _presence(text: str, population: Table) -> PrivacyModel:
    from ziggurat.anonymize import Presence

    example = "--presence 0.1:0.5"
    lower, colon, upper = text.partition(":")
    if not colon:
        raise ParameterError(f"The presence is written as {example}.")
    return Presence(_number(lower, example), _number(upper, example), population)


def _split(text: str, example: str) -> tuple[str, str]:
    column, equals, value = text.rpartition("=")
    if not (column and equals and value):
        raise ParameterError(f"{text!r} must name a column and a number, for instance {example}.")
    return column, value


def _number(text: str, example: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{text!r} is not a number; write it as in {example}.") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ParameterError(f"{text!r} is not a number that can be used; write it as in {example}.")
    return int(value) if value.is_integer() else value
