"""The loop of private gradient descent: sample, clip, add up, add noise, step; nothing else sees the rows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor, nn

from ziggurat.descent._calibration import Rounds
from ziggurat.descent._checkpoints import Checkpoint, Checkpoints
from ziggurat.descent._gradients import Gradients, allowance, sum_clipped
from ziggurat.descent._noise import Draws, LatticeNoise
from ziggurat.privacy import Relation
from ziggurat.privacy.accounting import Size
from ziggurat.randomness import Source
from ziggurat.threads import one_torch_thread

Progress = Callable[[int, int], None]
"""Called with the steps done and the steps in all."""

# Products of a block below this many are over before a second thread has begun; noise is drawn beside them anyway.
_SMALL = 1 << 24


@dataclass(frozen=True)
class Descent:
    """How parameters move, given protected gradients: public settings, which promise nothing."""

    learning_rate: float
    optimiser: str
    momentum: float
    average: bool

    def start(self, parameters: list[Tensor]) -> torch.optim.Optimizer:
        """Make the optimiser."""
        if self.optimiser == "sgd":
            return torch.optim.SGD(parameters, lr=self.learning_rate, momentum=self.momentum)
        return torch.optim.Adam(parameters, lr=self.learning_rate, betas=(self.momentum, 0.999))


@dataclass(frozen=True)
class DescentPlan:
    """Whatever the guarantee depends on: the rounds, the noise, the clipping, the size of a block of rows.

    `rows` is the declared number of rows: how many there are is private, and proofs allow for twice as many.
    """

    rounds: Rounds
    multiplier: Fraction
    clip: Fraction
    block: int
    rows: int

    def sensitivity(self, gradients: Gradients) -> Fraction:
        """How far one row moves the computed sum of a step."""
        most = Size.of(Relation.ADD_OR_REMOVE_ONE, 0, self.rows).most
        return self.clip * (1 + allowance(most, self.block, self.rounds.sampling, gradients.place))


class PrivateTraining:
    """Trains a module on private rows.

    Promise: the parameters after every step, together, are what `event_of(plan.rounds, plan.multiplier)` says. Each
    step releases the sum of clipped gradients of a Poisson sample, plus noise; whatever follows, momentum, averages,
    checkpoints, sees that alone. The sum is divided by the expected size of a sample by the declared number of rows,
    never by the realised one, and a step whose sample is empty is taken like any other.
    """

    def __init__(self, gradients: Gradients, plan: DescentPlan, descent: Descent, source: Source) -> None:
        self.gradients, self.plan, self._descent = gradients, plan, descent
        self._sizes = [value.numel() for value in gradients.parameters]
        self._lattice = LatticeNoise(plan.sensitivity(gradients), plan.multiplier, sum(self._sizes))
        self._source = source
        self._optimiser = descent.start(gradients.parameters)
        self._means = [value.detach().double().clone() for value in gradients.parameters]
        self.taken = 0

    def run(self, rows: Tensor, targets: Tensor, kept: Checkpoints | None, every: int, progress: Progress) -> None:
        """Take all steps that are not counted yet, and end with the averaged parameters."""
        small = sum(self._sizes) * self.plan.block < _SMALL
        with (
            kept.hold() if kept is not None else contextlib.nullcontext(),
            one_torch_thread(small and not rows.is_cuda),
        ):
            first = self._resume(kept)
            last = self.plan.rounds.steps
            for start in range(first, last, every):
                stop = min(start + every, last)
                if kept is not None:
                    kept.write(self._state(), stop)
                for _ in self.steps(rows, targets, start, stop):
                    pass
                self._tell(progress, stop, kept)
            if kept is not None and first < last:
                kept.write(self._state(), last)
        self._finish()

    def _tell(self, progress: Progress, done: int, kept: Checkpoints | None) -> None:
        """Tell how far training came; if whoever is told stops it here, between blocks, no step is lost."""
        try:
            progress(done, self.plan.rounds.steps)
        except BaseException:
            if kept is not None:
                kept.write(self._state(), done)
            raise

    def _resume(self, kept: Checkpoints | None) -> int:
        found = None if kept is None else kept.read()
        if found is None:
            return 0
        self._restore(found)
        return found.counted

    def steps(self, rows: Tensor, targets: Tensor, first: int, last: int) -> Iterator[None]:
        """Take steps first, ..., last - 1, and say so after each."""
        expected = float(self.plan.rounds.sampling * self.plan.rows)
        draws = Draws(self._source, len(rows), self.plan.rounds.sampling, self._lattice)
        for draw in draws.steps(first, last):
            places = torch.from_numpy(draw.places).to(rows.device)
            total = sum_clipped(self.gradients, rows, targets, places, self.plan.block, float(self.plan.clip))
            noisy = self._lattice.protect(total, torch.from_numpy(draw.noise).to(rows.device))
            self._move(noisy.div_(expected))
            yield

    def _move(self, gradient: Tensor) -> None:
        """Take a step of the optimiser along a protected gradient: post-processing."""
        parts = torch.split(gradient, self._sizes)
        for parameter, part in zip(self.gradients.parameters, parts, strict=True):
            parameter.grad = part.view(parameter.shape).to(parameter.dtype)
        self._optimiser.step()
        self.taken += 1
        if not self._descent.average:
            return
        # A mean that forgets the first steps: weights grow with the square of the step (Shamir & Zhang 2013).
        share = 3 / (self.taken + 2)
        for mean, parameter in zip(self._means, self.gradients.parameters, strict=True):
            mean.lerp_(parameter.detach().double(), min(share, 1.0))

    def _finish(self) -> None:
        with torch.no_grad():
            for parameter, mean in zip(self.gradients.parameters, self._means, strict=True):
                if self._descent.average:
                    parameter.copy_(mean)
                parameter.grad = None

    def _state(self) -> dict[str, Tensor]:
        names = self.gradients.names
        state = {f"parameter/{name}": value for name, value in zip(names, self.gradients.parameters, strict=True)}
        state |= {f"mean/{name}": value for name, value in zip(names, self._means, strict=True)}
        for at, values in self._optimiser.state_dict()["state"].items():
            state |= {f"optimiser/{at}/{key}": value for key, value in values.items() if isinstance(value, Tensor)}
        return state | {"taken": torch.tensor(self.taken)}

    def _restore(self, found: Checkpoint) -> None:
        with torch.no_grad():
            for name, value, mean in zip(self.gradients.names, self.gradients.parameters, self._means, strict=True):
                value.copy_(found.tensors[f"parameter/{name}"])
                mean.copy_(found.tensors[f"mean/{name}"])
        self.taken = int(found.tensors["taken"])
        states: dict[int, dict[str, Tensor]] = {}
        for name, value in found.tensors.items():
            if name.startswith("optimiser/"):
                _, at, key = name.split("/")
                states.setdefault(int(at), {})[key] = value
        state = self._optimiser.state_dict()
        self._optimiser.load_state_dict({"state": states, "param_groups": state["param_groups"]})


def count_parameters(module: nn.Module) -> int:
    """How many numbers are trained."""
    return sum(value.numel() for value in module.parameters() if value.requires_grad)
