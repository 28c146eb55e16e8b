"""Read the figures and expected values of an experiment file, and check the names they use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from ziggurat.experiments._types import Expected, Figure, FigureKind, Scalar, Statistic, is_plain
from ziggurat.experiments.file._references import ModulePlace
from ziggurat.experiments.file._spot import Spot
from ziggurat.wording import nearest

FIGURE_KEYS = tuple(each.name for each in fields(Figure))
EXPECTED_KEYS = tuple(each.name for each in fields(Expected))
BANDS = ("quartiles", "none")


def read_figures(spot: Spot, known: Mapping[str, ModulePlace]) -> tuple[Figure, ...]:
    """Return the figures; their ids differ, and their axes are measured or given."""
    found: dict[str, Figure] = {}
    for each in spot.items():
        keys = each.fields(FIGURE_KEYS, required=("id", "kind", "x", "y"))
        figure = _figure(keys, each, known)
        if figure.id in found:
            keys["id"].refuse(f"Each figure needs an id of its own; change {figure.id!r}.")
        if not is_plain(figure.id):
            keys["id"].refuse("The id of a figure names its file; use letters, digits, '-', '_' and '.', at most 100.")
        found[figure.id] = figure
    return tuple(found.values())


def _figure(keys: Mapping[str, Spot], spot: Spot, known: Mapping[str, ModulePlace]) -> Figure:
    is_map = keys["kind"].one_of(get_args(FigureKind)) == "heatmap"
    if is_map != ("value" in keys):
        spot.refuse("A heat map needs 'value', the metric that it shows; other figures have none.")
    measured = _require_metric(keys["value" if is_map else "y"], known)
    for key in ("x", "y", "series"):
        if key in keys and (key != "y" or is_map):
            _check_axis(keys[key], measured, known)
    if "behind" in keys:
        _check_behind(keys["behind"], keys["kind"].text(), known)
    if "reference" in keys:
        _check_reference(keys["reference"], is_map, known)
    words: dict[str, Any] = {key: each.text() for key, each in keys.items()}
    if "band" in keys:
        keys["band"].one_of(BANDS)
    return Figure(**words)


def _check_behind(spot: Spot, kind: str, known: Mapping[str, ModulePlace]) -> None:
    if kind != "map":
        spot.refuse("Only a map has something 'behind' it; leave it out.")
    _require_name(spot, spot.text(), known)


def _check_reference(spot: Spot, is_map: bool, known: Mapping[str, ModulePlace]) -> None:
    if is_map:
        spot.refuse("A heat map has no place for the line of a 'reference'; leave it out.")
    _require_metric(spot, known)


def read_expected(spot: Spot, known: Mapping[str, ModulePlace]) -> tuple[Expected, ...]:
    """Return the expected values; their metrics are measured, and their conditions can be told."""
    return tuple(_read_expected(each, known) for each in spot.items())


def _read_expected(spot: Spot, known: Mapping[str, ModulePlace]) -> Expected:
    keys = spot.fields(EXPECTED_KEYS, required=("metric", "value", "tolerance"))
    measured = _require_metric(keys["metric"], known)
    optional: dict[str, Any] = {}
    if "where" in keys:
        optional["where"] = _conditions(keys["where"], measured, known)
    if "statistic" in keys:
        optional["statistic"] = keys["statistic"].one_of(get_args(Statistic))
    if "remark" in keys:
        optional["remark"] = keys["remark"].text()
    return Expected(keys["metric"].text(), keys["value"].number(), keys["tolerance"].number(least=0), **optional)


def _conditions(spot: Spot, measured: ModulePlace, known: Mapping[str, ModulePlace]) -> dict[str, Scalar]:
    found = spot.entries()
    for name, each in found.items():
        _check_parameter(each, name, measured, known)
    return {name: each.scalar() for name, each in found.items()}


def _require_name(spot: Spot, name: str, known: Mapping[str, ModulePlace]) -> tuple[ModulePlace, str]:
    module, dot, inside = name.partition(".")
    if not dot or not inside:
        spot.refuse(f"{name!r} names nothing; write 'module.metric' or 'module.parameter'.")
    if module not in known:
        spot.refuse(f"There is no module {module!r}; {nearest(module, known)}")
    return known[module], inside


def _require_metric(spot: Spot, known: Mapping[str, ModulePlace]) -> ModulePlace:
    place, metric = _require_name(spot, spot.text(), known)
    if metric not in place.module.metrics:
        spot.refuse(
            f"Module {place.module.id!r} has no metric {metric!r} in its 'metrics'; "
            f"{nearest(metric, place.module.metrics)}"
        )
    return place


def _check_axis(spot: Spot, measured: ModulePlace, known: Mapping[str, ModulePlace]) -> None:
    place, name = _require_name(spot, spot.text(), known)
    if name not in place.module.metrics:
        _check_parameter(spot, spot.text(), measured, known, place.module.metrics)


def _check_parameter(
    spot: Spot, text: str, measured: ModulePlace, known: Mapping[str, ModulePlace], metrics: tuple[str, ...] = ()
) -> None:
    place, name = _require_name(spot, text, known)
    module = place.module
    varied = {"repeat": None} | {key: None for trial in module.trials for key in trial}
    if name not in varied and name not in module.parameters:
        spot.refuse(
            f"Module {module.id!r} has no {name!r} in its parameters, trials or metrics; "
            f"{nearest(name, [*metrics, *varied, *module.parameters])}"
        )
    if name in varied and module.id not in (*measured.parents, measured.module.id):
        spot.refuse(
            f"{text!r} says nothing about {measured.module.id!r}, which does not run inside {module.id!r}; "
            "use a parameter of a module around it."
        )
