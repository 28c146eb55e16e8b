"""`synthesis-risk` and `match-rates`: whom an intruder finds in partially synthetic copies of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.synthesis._people import Places
from ziggurat.experiments.steps.synthesis._utility import Synthesis

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.attacks import MatchRisk, Scenario
    from ziggurat.data import Table
    from ziggurat.data.engines import Engine

Counts = dict[str, float]

IN, MAYBE, CAREFUL = "in the sample", "maybe", "maybe, and careful"
CASES = (IN, MAYBE, CAREFUL)
_COUNTED = ("targets", "claims", "right", "expected")


@step("synthesis-risk", outputs=("counts",))
def synthesis_risk(
    population: pa.Table,
    chosen: Places,
    scenario: Mapping[str, Any],
    *,
    method: str = "cart",
    columns: Sequence[str] = ("income", "age"),
    partial: Mapping[str, str] | None = None,
    hidden: str = "income",
    copies: int = 5,
    seed: int = 0,
) -> dict[str, dict[str, Counts]]:
    """Make partially synthetic copies of each sample, and look for targets in them.

    Parameters
    ----------
    population, chosen, method, columns, partial, copies
        As for `synthesis-utility`.
    scenario
        What is `known` of the `targets`, as `ziggurat.attacks.Scenario` has it.
    hidden
        A column that is known, left empty in the records of people outside of the sample so that nobody matches them.

    Returns
    -------
    dict
        `counts`: of all samples together for each case how many `targets`, `claims` (targets with one likeliest
        record), claims that are `right`, and how many would be found by picking one of the likeliest (`expected`).
        The cases are 'in the sample' (targets are those in the sample); 'maybe' (targets are all of the population,
        and the intruder goes on as if they were in the sample); 'maybe, and careful' (the intruder counts who else
        in the population matches, and claims nobody who is more likely not there).
    """
    from ziggurat.attacks import Scenario
    from ziggurat.data import read
    from ziggurat.data.engines import DuckDBEngine
    from ziggurat.threads import one_thread

    rule = Scenario.from_dict({"known": scenario["known"], "targets": scenario["targets"]})
    condition = rule.condition(population.column_names)
    if condition is None or hidden not in rule.known:
        raise ExperimentError("The scenario must say who the targets are, and 'hidden' must be a column it knows.")
    wanted = condition.holds(population)
    counts = {case: dict.fromkeys(_COUNTED, 0.0) for case in CASES}
    synthesis = Synthesis(method, "partially", columns, partial or {}, copies)
    with one_thread(), closing(DuckDBEngine()) as engine:
        everybody = read(population.select(list(rule.known)), engine=engine)
        for place, rows in enumerate(chosen):
            sample = read(population.take(rows), engine=engine)
            made = synthesis.of(sample, population.column_names, None, f"{seed}/{place}")
            found = _find(_IntruderSearch(population, rows, made.tables, rule, hidden, engine), wanted, everybody)
            counts = {case: {name: counts[case][name] + found[case][name] for name in _COUNTED} for case in CASES}
    return {"counts": counts}


@dataclass(frozen=True)
class _IntruderSearch:
    """One sample, its copies and an intruder."""

    population: pa.Table
    rows: Places
    copies: Sequence[pa.Table]
    rule: Scenario
    hidden: str
    engine: Engine

    def tables(self, outside: Places) -> tuple[Table, list[Table]]:
        """The sample and its copies; people outside have records that match nobody, so no claim on them is right."""
        import pyarrow as pa

        known = self.population.select(list(self.rule.known))
        people = known.take(outside)
        place = known.column_names.index(self.hidden)
        blank = people.set_column(place, self.hidden, pa.nulls(len(people), people.schema.field(place).type))
        copies = [pa.concat_tables([each.select(known.column_names), blank]) for each in self.copies]
        return self._open(pa.concat_tables([known.take(self.rows), people])), [self._open(each) for each in copies]

    def _open(self, table: pa.Table) -> Table:
        from ziggurat.data import read

        return read(table, engine=self.engine)


def _find(search: _IntruderSearch, wanted: npt.NDArray[np.bool_], everybody: Table) -> dict[str, Counts]:
    """Return what is found in each case; `wanted` says who in the population is a target."""
    from ziggurat.attacks import match_risk

    elsewhere = wanted.copy()
    elsewhere[search.rows] = False
    outside = np.flatnonzero(elsewhere)
    all_of_them, nobody = search.tables(outside), dict.fromkeys(_COUNTED, 0.0)
    inside = search.tables(outside[:0])
    maybe = replace(search.rule, in_sample="maybe")
    return {
        IN: _count(match_risk(*inside, search.rule)) if wanted[search.rows].any() else nobody,
        MAYBE: _count(match_risk(*all_of_them, search.rule)),
        CAREFUL: _count(match_risk(*all_of_them, maybe, population=everybody)),
    }


def _count(risk: MatchRisk) -> Counts:
    found = (risk.targets, risk.unique.hits, risk.right.hits, risk.expected)
    return dict(zip(_COUNTED, map(float, found), strict=True))


@step("match-rates", outputs=("true_match_rate", "false_match_rate", "expected_rate", "claims", "targets"))
def match_rates(counts: Sequence[Mapping[str, Any]], method: str, case: str) -> dict[str, float]:
    """The rates of equation 4.3, of all targets of all samples together; 0 of nothing is 0.

    Parameters
    ----------
    counts
        As all runs of `synthesis-risk` give them, seen from outside.
    method
        Which of its trials is meant.
    case
        'in the sample', 'maybe' or 'maybe, and careful'.

    Returns
    -------
    dict
        `true_match_rate`, right claims among the targets; `false_match_rate`, false claims among the claims;
        `expected_rate`, whom picking one of the likeliest records finds, among the targets; and how many `claims` and
        `targets` there are, those of every sample counted anew.
    """
    if case not in CASES:
        raise ExperimentError(f"'case' must be one of {', '.join(CASES)}.")
    mine = [each["value"][case] for each in counts if method in _methods(each["parameters"])]
    if not mine:
        raise ExperimentError("'method' must be one of those of the runs that are counted.")
    found = {name: sum(each[name] for each in mine) for name in _COUNTED}
    targets, claims = max(found["targets"], 1), max(found["claims"], 1)
    return {
        "true_match_rate": found["right"] / targets,
        "false_match_rate": (found["claims"] - found["right"]) / claims,
        "expected_rate": found["expected"] / targets,
        "claims": found["claims"],
        "targets": found["targets"],
    }


def _methods(parameters: Mapping[str, Any]) -> list[Any]:
    return [value for name, value in parameters.items() if name.endswith(".method")]
