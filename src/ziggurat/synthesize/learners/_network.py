"""Columns synthesised by small neural networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn, Reals
from ziggurat.errors import ParameterError
from ziggurat.synthesize._method import Arrays, Codes
from ziggurat.synthesize.learners._design import Design
from ziggurat.synthesize.learners._sampling import Donors, chunks, commonest, draw_labels, quantile_bins, shares_of
from ziggurat.synthesize.learners._training import Floats, Lesson, NetworkSchedule, scores_of, train_layers
from ziggurat.threads import one_thread

_MOST_CLASSES = 200
_ALL = -1  # members: none was chosen, their shares are averaged


@dataclass(frozen=True)
class SmallNetwork:
    """Draws from the softmax of a small network that takes all that is given.

    Every column is treated as categories: numbers are cut into at most 64 bins with about equally many rows, a bin is
    drawn, and then one of the real values in it. Beyond 200 categories, the rarest are one to the network, and drawn
    by how often they occur.

    Several networks are trained at once, each on weights of the rows that were drawn by the Bayesian bootstrap and from
    its own random start; a copy takes one of them at random. This is the weighted likelihood bootstrap (Newton and
    Raftery 1994), an approximation of the posterior; as copies choose among a few networks only, it falls short of
    that approximation's variance by a share of 1 / `members` on average.

    Parameters
    ----------
    hidden
        The widths of the hidden layers.
    members
        How many networks are trained, at least 2.
    epochs
        How often each row is seen, at most; training stops early once rows that were held out (a tenth) are no longer
        predicted better.
    rate
        The step size of Adam.
    decay
        How much weights are pulled to zero: times `rate`, the share they lose in each step.
    """

    hidden: tuple[int, ...] = (48, 24)
    members: int = 5
    epochs: int = 40
    rate: float = 0.01
    decay: float = 0.1

    proper: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not all(isinstance(width, int) and width > 0 for width in self.hidden):
            raise ParameterError("hidden must be a tuple of whole numbers above 0, one for each hidden layer.")
        if self.members < 2:
            raise ParameterError("members must be at least 2: copies differ by the network they take.")
        if self.epochs < 1:
            raise ParameterError("epochs must be at least 1.")
        if not (math.isfinite(self.rate) and self.rate > 0 and math.isfinite(self.decay) and self.decay >= 0):
            raise ParameterError("rate must be a positive number, and decay one that is not negative.")

    @one_thread()
    def fit(self, target: CodedColumn, given: Sequence[CodedColumn], draw: np.random.Generator) -> TrainedNetworks:
        """Learn the target given the other columns."""
        labels = quantile_bins(target, 64) if target.numeric else commonest(target, _MOST_CLASSES)
        donors, design = Donors.of(target, labels), Design.learn(given)
        lesson = Lesson(design.single(given, target.rows), labels, donors.shares)
        schedule = NetworkSchedule(self.hidden, self.members, self.epochs, self.rate, self.decay)
        return TrainedNetworks(design, donors, train_layers(lesson, schedule, draw))

    def restored(self, state: Arrays) -> TrainedNetworks:
        """Return what `Trained.state` described."""
        layers = [np.array(state[f"layer.{place}"], dtype=np.float32) for place in range(2 * len(self.hidden) + 2)]
        member = int(np.asarray(state["member"], dtype=np.int64)[0])
        return TrainedNetworks(Design.restored(state), Donors.restored(state), layers, member)


@dataclass(frozen=True)
class TrainedNetworks:
    """Networks that predict the group of a cell.

    Parameters
    ----------
    design
        How given columns become a matrix.
    donors
        The values of the column, in the groups that are predicted.
    layers
        The weights and then the biases of each layer; the first axis is the network.
    member
        The network that a copy takes; -1 where all are averaged.
    """

    design: Design
    donors: Donors
    layers: list[Floats]
    member: int = _ALL

    def posterior(self, draw: np.random.Generator) -> TrainedNetworks:
        """Choose one of the networks, and draw the shares of the values within groups by the Bayesian bootstrap."""
        return replace(self, member=int(draw.integers(len(self.layers[0]))), donors=self.donors.posterior(draw))

    @one_thread()
    def sample(self, given: Sequence[CodedColumn], rows: int, draw: np.random.Generator) -> Codes | Reals:
        """Return values of the groups that the chosen network predicts, or all of them on average."""
        matrix, uniform = self.design.single(given, rows), draw.random(rows)
        chosen = slice(None) if self.member == _ALL else slice(self.member, self.member + 1)
        layers = [layer[chosen] for layer in self.layers]
        labels = np.empty(rows, dtype=np.int64)
        for part in chunks(rows):
            shares = shares_of(scores_of(layers, matrix[part])).mean(axis=0)
            labels[part] = draw_labels(shares, uniform[part])
        return self.donors.sample(labels, draw)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return what was learned as arrays; they hold the values of the target."""
        layers = {f"layer.{place}": layer for place, layer in enumerate(self.layers)}
        return {**layers, "member": np.array([self.member]), **self.donors.state(), **self.design.state()}
