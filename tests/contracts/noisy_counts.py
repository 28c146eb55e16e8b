"""The plainest honest generator of sequences: noisy counts of lengths and of symbols, for tests of what uses one."""

from typing import Any

import numpy as np

from ziggurat.mechanisms import Laplace
from ziggurat.sequences import SequenceGenerator


class NoisyCounts(SequenceGenerator):
    """Draws each symbol by itself; a sequence moves one count of lengths, and at most `longest` counts of symbols."""

    def __init__(self, epsilon: Any, delta: Any = 0, sequences_per_unit: Any = None, random_state: Any = None) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.sequences_per_unit, self.random_state = sequences_per_unit, random_state

    def _noise(self, domain: Any, neighbours: Any, most: int) -> Laplace:
        cells = domain.groups * (domain.longest + 1 + domain.size)
        moved = most * (1 + domain.longest)
        return Laplace.calibrated(self.epsilon, moved, values="integers", coordinates=cells, neighbours=neighbours)

    def _plan_event(self, domain: Any, neighbours: Any, most: int) -> Any:
        return self._noise(domain, neighbours, most).event

    def _learn(self, sequences: Any, most: int, source: Any, progress: Any) -> tuple[int, ...]:
        domain = sequences.domain
        parts = [sequences.of_class(group) for group in range(domain.groups)]
        exact = [
            np.concatenate(
                [
                    np.bincount(each.lengths, minlength=domain.longest + 1),
                    np.bincount(each.codes, minlength=domain.size),
                ]
            )
            for each in parts
        ]
        noise = self._noise(domain, self.planned(domain).neighbours, most)
        noisy = np.asarray(noise.release(np.concatenate(exact), source).value).reshape(domain.groups, -1)
        progress("counts", 1, 1)
        self.counts_ = np.maximum(noisy, 0)
        return tuple(int(each) for each in self.counts_[:, : domain.longest + 1].sum(axis=1))

    def _draw(self, labels: Any, draw: np.random.Generator) -> tuple[Any, Any]:
        sizes = self.domain_.longest + 1
        lengths = [_pick(draw, self.counts_[group, :sizes]) for group in labels]
        pairs = zip(labels, lengths, strict=True)
        codes = [_pick(draw, self.counts_[group, sizes:]) for group, length in pairs for _ in range(length)]
        return np.array(codes, np.int32), np.array(lengths, np.int64)

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return {}, {"counts": self.counts_}

    def _restore(self, facts: Any, arrays: Any) -> None:
        self.counts_ = arrays["counts"]


def _pick(draw: np.random.Generator, counts: Any) -> int:
    weights = counts + 1e-9
    return int(draw.choice(len(weights), p=weights / weights.sum()))
