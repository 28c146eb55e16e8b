"""What the parts of an experiment hand to each other; all frozen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ziggurat.cards import Shown

Scalar = str | int | float | bool | None
FigureKind = Literal["line", "box", "bar", "heatmap", "scatter", "map"]
Statistic = Literal["median", "mean", "min", "max"]
Status = Literal["done", "failed", "skipped"]
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def is_plain(name: str) -> bool:
    """Whether a name of an experiment or a figure may be part of a file's name: it can lead to no other folder."""
    return _PLAIN.fullmatch(name) is not None


@dataclass(frozen=True)
class Reproduces:
    """Which published result an experiment repeats, and where it is printed."""

    document: str
    where: str
    remark: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture of the results; axes are named 'module.parameter' or 'module.metric'.

    `reference` is a metric whose median over all its runs stands in the picture as a dashed line. A map has degrees on
    its axes, a panel for each of its series, and may have `behind`: a small output, as `mobility-data` gives it.
    """

    id: str
    kind: FigureKind
    x: str
    y: str
    title: str = ""
    series: str | None = None
    value: str | None = None
    band: Literal["quartiles", "none"] = "quartiles"
    x_label: str = ""
    y_label: str = ""
    reference: str | None = None
    behind: str | None = None


@dataclass(frozen=True)
class Expected:
    """A printed value to be compared with ours: `statistic` of `metric` ('module.metric') over the runs that match.

    `where` maps 'module.parameter' to the value it must have; `tolerance` is absolute.
    """

    metric: str
    value: float
    tolerance: float
    where: Mapping[str, Scalar] = field(default_factory=dict)
    statistic: Statistic = "median"
    remark: str = ""


@dataclass(frozen=True)
class Module:
    """One step, its parameters and trials, and the modules that run once for each of its outputs.

    `trials` are the expanded parameter sets (at least one, possibly empty); each is laid over `parameters`.
    `gather` says that those outside see the list of its runs even when there is only one.
    """

    id: str
    step: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    trials: tuple[Mapping[str, Any], ...] = ({},)
    repeats: int = 1
    metrics: tuple[str, ...] = ()
    keep: tuple[str, ...] | None = None
    modules: tuple[Module, ...] = ()
    gather: bool = False


@dataclass(frozen=True)
class Experiment(Shown):
    """A whole experiment file."""

    name: str
    modules: tuple[Module, ...]
    seed: int = 0
    title: str = ""
    description: str = ""
    reproduces: Reproduces | None = None
    figures: tuple[Figure, ...] = ()
    expected: tuple[Expected, ...] = ()
    digest: str = ""


@dataclass(frozen=True)
class NodeOutput:
    """One output of one node."""

    node: str
    output: str


@dataclass(frozen=True)
class Gathered:
    """One output of every run of a module with trials or repeats, seen from outside of it.

    A step receives it as a list of {"parameters": {...}, "repeats": {...}, "value": output}, in plan order.
    """

    outputs: tuple[NodeOutput, ...]
    parameters: tuple[Mapping[str, Any], ...]
    repeats: tuple[Mapping[str, int], ...]


@dataclass(frozen=True)
class Node:
    """One run of one module: a trial, a repeat, inside one run of its parent.

    Attributes
    ----------
    id
        Its path, such as 'generator[epsilon=0.1]#0/classify#2'; unique in a plan and stable between plans.
    parameters
        What the step is called with: the module's parameters under this trial's.
    varied
        Trial parameters of this node and its ancestors, as 'module.parameter'.
    repeats
        The repeat numbers of this node and its ancestors, by module.
    seed
        Derived from the experiment's seed, the module path, the trials and the repeats, never from order.
    """

    id: str
    module: Module
    parameters: Mapping[str, Any]
    varied: Mapping[str, Any]
    repeats: Mapping[str, int]
    seed: int
    inputs: Mapping[str, NodeOutput | Gathered]
    parent: str | None = None


@dataclass(frozen=True)
class ExperimentPlan(Shown):
    """All nodes of an experiment, each after those it depends on."""

    experiment: Experiment
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class StoredOutput:
    """Where an output lies in the cache, and what it is: enough to load it and to notice damage."""

    kind: str
    digest: str
    size: int
    inline: Any = None


@dataclass(frozen=True)
class NodeRecord(Shown):
    """What became of one node."""

    node: str
    module: str
    varied: Mapping[str, Any]
    repeats: Mapping[str, int]
    parent: str | None
    status: Status
    cached: bool
    started: str
    seconds: float
    error: str | None
    metrics: Mapping[str, float]
    outputs: Mapping[str, StoredOutput]
    key: str
