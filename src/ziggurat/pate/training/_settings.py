"""What is learned and how (which decides the result), kept apart from where it runs (which does not)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.jobs import EXECUTORS
from ziggurat.pate.training._networks import MLP, Network


@dataclass(frozen=True)
class Training:
    """How every teacher is trained, from public settings and its own rows alone.

    Parameters
    ----------
    epochs
        How often a teacher sees each of its rows, at most.
    batch
        How many of its rows it sees at a time. It takes as many steps per epoch as its own rows need.
    optimiser
        "adam" or "sgd".
    learning_rate, weight_decay, momentum
        Its rates; the decay is an l2 penalty, and only "sgd" has a momentum.
    held_out
        The share of a teacher's own rows, class by class, that it does not train on: they choose its best epoch,
        its threshold and its hyper-parameters. With 0 it keeps its last epoch and the threshold one half.
    patience
        After how many epochs without a lower loss on its held-out rows a teacher stops; None to train all epochs.
    class_weights
        "balanced" counts a class with few rows more, by the teacher's own training rows; None counts all rows alike;
        a tuple gives the public weight of every class.
    threshold
        "tpr-fpr" takes the threshold that maximises the true less the false positive rate on the teacher's held-out
        rows; "half" takes one half. Two classes only.
    """

    epochs: int = 20
    batch: int = 64
    optimiser: str = "adam"
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    momentum: float = 0.9
    held_out: float = 0.1
    patience: int | None = None
    class_weights: str | tuple[float, ...] | None = None
    threshold: str = "tpr-fpr"

    def __post_init__(self) -> None:
        require_count(self.epochs, "number of epochs")
        require_count(self.batch, "batch size")
        _require_range(self.learning_rate, "learning rate", above=0)
        _require_range(self.weight_decay, "weight decay")
        _require_range(self.momentum, "momentum", below=1)
        _require_range(self.held_out, "held-out share", below=1)
        if self.optimiser not in ("adam", "sgd"):
            raise ParameterError("The optimiser must be 'adam' or 'sgd'.")
        if self.threshold not in ("tpr-fpr", "half"):
            raise ParameterError("The threshold must be 'tpr-fpr' or 'half'.")
        if self.patience is not None:
            require_count(self.patience, "patience")
            if self.held_out == 0:
                raise ParameterError("Patience needs held-out rows; raise `held_out` or leave `patience` out.")
        _require_weights(self.class_weights)


@dataclass(frozen=True)
class RandomSearch:
    """A random search: every teacher tries the same public candidates and keeps its best, by its own held-out rows.

    Parameters
    ----------
    trials
        How many candidates there are; the network and training as given are the first.
    learning_rate, weight_decay
        The range of each, drawn evenly in its logarithm; None keeps what was given.
    hidden
        The widths to choose among, for an MLP; None keeps what was given.
    """

    trials: int = 8
    learning_rate: tuple[float, float] | None = (1e-4, 1e-2)
    weight_decay: tuple[float, float] | None = None
    hidden: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        require_count(self.trials, "number of trials")
        for name in ("learning_rate", "weight_decay"):
            _require_interval(getattr(self, name), name.replace("_", " "))

    def candidates(self, network: Network, training: Training, draw: np.random.Generator) -> list[Candidate]:
        """Return the candidates; no row of any teacher has a part in them."""
        if training.held_out == 0:
            raise ParameterError("A search needs held-out rows to choose by; raise `held_out`.")
        if self.hidden is not None and not isinstance(network, MLP):
            raise ParameterError("Only the widths of an MLP can be searched; leave `hidden` out.")
        return [(network, training), *(self._draw(network, training, draw) for _ in range(self.trials - 1))]

    def _draw(self, network: Network, training: Training, draw: np.random.Generator) -> Candidate:
        rates: dict[str, Any] = {
            name: math.exp(draw.uniform(math.log(limits[0]), math.log(limits[1])))
            for name in ("learning_rate", "weight_decay")
            if (limits := getattr(self, name)) is not None
        }
        if self.hidden is not None and isinstance(network, MLP):
            network = replace(network, hidden=self.hidden[int(draw.integers(len(self.hidden)))])
        return network, replace(training, **rates)


Candidate = tuple[Network, Training]


@dataclass(frozen=True)
class Placement:
    """Where teachers are trained; it decides the speed, and on a GPU the last digits.

    Parameters
    ----------
    devices
        Devices of PyTorch that share the ensemble, such as ("cuda:0", "cuda:1").
    chunk
        How many teachers make one program; by default what fits the cache of a core, or the memory of the GPU. If
        every teacher has another number of rows (hospitals, say), 1 spares the doubles that fill programs up.
    executor
        "inline", "threads", "processes" or "ray": what runs the chunks. Each chunk has one thread of its own. "auto"
        takes threads, unless a Ray that runs already is faster by what the first chunk took; on GPUs always threads.
    workers
        How many chunks run at a time; by default the number of processors, or of GPUs.
    cuda_graph
        Whether to replay the training step as a CUDA graph.
    precision
        "float32", or "tf32" for products of 10 bits on a GPU: faster, with other last digits.
    """

    devices: tuple[str, ...] = ("cpu",)
    chunk: int | None = None
    executor: str = "auto"
    workers: int | None = None
    cuda_graph: bool = True
    precision: str = "float32"

    def __post_init__(self) -> None:
        named: Any = self.devices
        if not isinstance(named, tuple) or not named or not all(isinstance(name, str) for name in named):
            raise ParameterError("Give the devices as a tuple of names, such as ('cpu',) or ('cuda:0', 'cuda:1').")
        if len({name.partition(":")[0] for name in named}) > 1:
            raise ParameterError("Devices that share an ensemble must be of one kind: they round alike.")
        if self.executor not in ("auto", *EXECUTORS):
            raise ParameterError("The executor must be 'auto', 'inline', 'threads', 'processes' or 'ray'.")
        if self.precision not in ("float32", "tf32"):
            raise ParameterError("The precision must be 'float32' or 'tf32'.")
        for value, noun in ((self.chunk, "chunk"), (self.workers, "number of workers")):
            if value is not None:
                require_count(value, noun)

    @property
    def on_cpu(self) -> bool:
        """Whether no accelerator takes part."""
        return not any(name.startswith("cuda") for name in self.devices)


def require_count(value: Any, noun: str) -> None:
    """Raise a sentence unless it is a positive whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"The {noun} must be a positive whole number.")


def _require_range(value: Any, noun: str, *, above: float | None = None, below: float = math.inf) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not value < below or not (value >= 0 if above is None else value > above):
        least = "at least 0" if above is None else f"above {above}"
        most = "" if below == math.inf else f" and below {below}"
        raise ParameterError(f"The {noun} must be a number {least}{most}.")


def _require_interval(limits: Any, noun: str) -> None:
    if limits is None:
        return
    if not isinstance(limits, tuple) or len(limits) != 2:
        raise ParameterError(f"The range of the {noun} needs a lower and an upper end.")
    for limit in limits:
        _require_range(limit, f"{noun} in a search", above=0)
    if limits[0] > limits[1]:
        raise ParameterError(f"The range of the {noun} needs its lower end first.")


def _require_weights(weights: Any) -> None:
    if weights is None or weights == "balanced":
        return
    if not isinstance(weights, tuple) or not weights:
        raise ParameterError("Class weights must be 'balanced', None or a tuple with a number for every class.")
    for weight in weights:
        _require_range(weight, "weight of a class")
