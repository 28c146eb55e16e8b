"""How experiments are shown to people: the catalogue, the tree of a plan, medians, and what changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.tree import Tree

from ziggurat.cli.terminal import Printed as Text
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.experiments import Experiment, ExperimentPlan, Module, Results
    from ziggurat.experiments.catalogue import CatalogueEntry
    from ziggurat.experiments.running import Preview

_LONGEST = 80


def catalogue_table(entries: Mapping[str, Sequence[CatalogueEntry]]) -> Table:
    """The shipped experiments by document and figure."""
    table = _table("document", "name", "printed in", "what it is")
    for document, group in entries.items():
        for place, entry in enumerate(group):
            table.add_row("" if place else document, Text(entry.name), Text(entry.where), Text(entry.title))
    return table


def plan_tree(plan: ExperimentPlan, seen: Preview | None) -> Tree:
    """The modules of a plan, nested, with what each of them would do."""
    experiment = plan.experiment
    tree = Tree(Text(experiment.title or experiment.name, style="bold"))
    totals: dict[str, int] = {}
    for node in plan.nodes:
        totals[node.module.id] = totals.get(node.module.id, 0) + 1
    _grow(tree, experiment.modules, totals, seen)
    return tree


def _grow(tree: Tree, modules: Sequence[Module], totals: Mapping[str, int], seen: Preview | None) -> None:
    for module in modules:
        count = totals.get(module.id, 0)
        line = Text.assemble((module.id, "bold"), f"  {module.step}  ", (_runs(count, module), "cyan"))
        if seen is not None and seen.modules and module.id in seen.modules:
            line.append(f"  {seen.modules[module.id].cached:,} cached", style="green")
        _grow(tree.add(line), module.modules, totals, seen)


def _runs(count: int, module: Module) -> str:
    parts = []
    if len(module.trials) > 1:
        parts.append(f"{len(module.trials):,} trials")
    if module.repeats > 1:
        parts.append(f"{module.repeats:,} repeats")
    detail = f" ({' × '.join(parts)})" if parts else ""
    return f"{count_noun(count, 'run')}{detail}"


def summary_table(results: Results) -> Table:
    """Medians and quartiles over the repeats, a line for each module, trial and metric."""
    table = _table("module", "trial", "metric", "n", "median", "quartiles")
    for row in results.summary().to_pylist():
        quartiles = f"{_number(row['q1'])} to {_number(row['q3'])}" if row["n"] > 1 else ""
        table.add_row(
            Text(row["module"]),
            Text(_trial(row)),
            Text(row["metric"]),
            str(row["n"]),
            _number(row["median"]),
            quartiles,
        )
    return table


def comparison_table(results: Results) -> Table:
    """Every printed value beside ours."""
    table = _table("metric", "where", "expected", "ours", "", "remark")
    for each in results.comparisons():
        verdict = Text("reproduced", style="green") if each.reproduced else Text("differs", style="yellow")
        expected = each.expected
        where = ", ".join(f"{name} = {value}" for name, value in expected.where.items())
        ours = each.reason if each.ours is None else _number(each.ours)
        table.add_row(
            Text(expected.metric), Text(where), _number(expected.value), Text(ours), verdict, Text(expected.remark)
        )
    return table


def changes(before: Experiment, after: Experiment) -> list[str]:
    """What two runs were asked differently, one sentence each."""
    old, new = _flat(before), _flat(after)
    told = []
    for name in [*old, *(each for each in new if each not in old)]:
        if name not in new:
            told.append(f"{name} was {_short(old[name])} and is gone.")
        elif name not in old:
            told.append(f"{name} is new: {_short(new[name])}.")
        elif old[name] != new[name]:
            told.append(f"{name} was {_short(old[name])} and is {_short(new[name])}.")
    return told


def _flat(experiment: Experiment) -> dict[str, Any]:
    """Everything that decides a run, by name: 'seed', 'module.step', 'module.parameter' and so on."""
    flat: dict[str, Any] = {"seed": experiment.seed}
    waiting = list(experiment.modules)
    while waiting:
        module = waiting.pop(0)
        flat[f"{module.id}.step"] = module.step
        flat |= {f"{module.id}.{name}": value for name, value in module.parameters.items()}
        flat |= {f"{module.id} input {name}": given for name, given in module.inputs.items()}
        flat[f"{module.id} trials"] = [dict(trial) for trial in module.trials]
        flat[f"{module.id} repeats"] = module.repeats
        waiting[:0] = module.modules
    return {name: _plain(value) for name, value in flat.items()}


def _plain(value: Any) -> Any:
    """As JSON writes it, so that a tuple and a list of the same are the same."""
    return json.loads(json.dumps(value, sort_keys=True, default=str))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def medians_table(before: Results, after: Results) -> Table:
    """The medians of every metric that either run measured, and how far they moved."""
    old, new = _medians(before), _medians(after)
    table = _table("module", "trial", "metric", "first", "second", "change")
    for key in [*old, *(each for each in new if each not in old)]:
        first, second = old.get(key), new.get(key)
        moved = "" if first is None or second is None else f"{second - first:+.4g}"
        cells = ["" if value is None else _number(value) for value in (first, second)]
        table.add_row(*(Text(part) for part in key), *cells, moved)
    return table


def _medians(results: Results) -> dict[tuple[str, str, str], float]:
    rows = results.summary().to_pylist()
    return {(row["module"], _trial(row), row["metric"]): row["median"] for row in rows}


def _trial(row: Mapping[str, Any]) -> str:
    """The varied parameters of a line of the summary; they are the columns with a dot."""
    return ", ".join(f"{name} = {value}" for name, value in row.items() if "." in name and value is not None)


def _number(value: float) -> str:
    return f"{value:.5g}"


def _table(*headings: str) -> Table:
    table = Table(header_style="dim", box=None, padding=(0, 1))
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading in ("name", "module", "metric"))
    return table
