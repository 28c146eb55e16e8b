"""What trained networks answer: the class each of them names, and their probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ziggurat.pate.training._chunk import TrainedChunk
from ziggurat.pate.training._networks import Network
from ziggurat.pate.training._stacked import Stack
from ziggurat.threads import one_torch_thread

_QUERIES = 256  # rows asked at a time

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TeacherGroup:
    """Teachers of one architecture and what they learned; `members` are their numbers in the ensemble."""

    network: Network
    members: Integers
    trained: TrainedChunk


@dataclass(frozen=True)
class Networks:
    """All teachers, in groups of one architecture each; `seen` says which classes a teacher may name.

    A teacher without rows is in no group, and names class 0.
    """

    groups: list[TeacherGroup]
    seen: npt.NDArray[np.bool_]
    device: str = "cpu"

    def labels(self, features: npt.NDArray[np.float32]) -> Integers:
        """Return the class each teacher names for each row: by its cut if there are two, else by its largest logit."""
        answers = np.zeros((len(self.seen), len(features)), dtype=np.int64)
        for teacher, rows, logits, cut in self._ask(features):
            answers[teacher, rows] = self._scores(teacher, logits, cut).argmax(-1).numpy()
        return answers

    def probabilities(self, features: npt.NDArray[np.float32]) -> Floats:
        """Return the probability of each class; 0 for a class that is not in a teacher's rows."""
        answers = np.zeros((len(self.seen), len(features), self.seen.shape[1]))
        answers[:, :, 0] = 1
        for teacher, rows, logits, _ in self._ask(features):
            answers[teacher, rows] = self._scores(teacher, logits, 0.0).softmax(-1).numpy()
        return answers

    def _scores(self, teacher: int, logits: Tensor, cut: float) -> Tensor:
        """Give a score per class: one logit stands for class 1 against 0. A class never seen is out of the question."""
        if logits.shape[-1] == 1:
            above = logits.double() - cut
            logits = torch.cat([torch.zeros_like(above), above], dim=-1)
        return logits.double().masked_fill(torch.from_numpy(~self.seen[teacher]), -torch.inf)

    def _ask(self, features: npt.NDArray[np.float32]) -> Iterator[tuple[int, slice, Tensor, float]]:
        """Ask one teacher at a time: in a batch its digits would depend on who chose the same architecture."""
        with one_torch_thread():
            for group in self.groups:
                stack = Stack(group.network, group.trained.parameters, group.trained.buffers)
                for place, teacher in enumerate(group.members.tolist()):
                    one, cut = stack.one(place, self.device), float(group.trained.cuts[place])
                    for at in range(0, len(features), _QUERIES):
                        rows = torch.from_numpy(features[at : at + _QUERIES]).to(self.device)
                        yield teacher, slice(at, at + len(rows)), _logits(one, rows), cut


@torch.no_grad()
def _logits(one: Stack, rows: Tensor) -> Tensor:
    return one.logits(rows.unsqueeze(0)).squeeze(0).cpu()
