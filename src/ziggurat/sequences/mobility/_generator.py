"""What every private generator of trajectories shares."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ziggurat.archives import Array
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._generator import SequenceGenerator
from ziggurat.sequences.mobility._trajectories import Trajectories, TrajectoryDomain


class DrawnVisits(NamedTuple):
    """Visits drawn from a model: codes of places one after the other, how many each trajectory has, and times."""

    codes: Array
    lengths: Array
    minutes: Array | None


class TrajectoryGenerator(SequenceGenerator):
    """A differentially private model of trajectories, from which new ones are drawn.

    As `SequenceGenerator`; a subclass draws in `_draw_visits`, minutes only if the domain is timed, and within the
    first day or week of the public calendar: dates do not leave.
    """

    _domain_class: ClassVar[type[SequenceDomain]] = TrajectoryDomain

    domain_: TrajectoryDomain

    @abstractmethod
    def _draw_visits(self, labels: Array, draw: np.random.Generator) -> DrawnVisits:
        """Draw a trajectory for every class code."""

    def _draw(self, labels: Array, draw: np.random.Generator) -> tuple[Array, Array]:
        drawn = self._draw_visits(labels, draw)
        return drawn.codes, drawn.lengths

    def _make(self, labels: Array, draw: np.random.Generator) -> Trajectories:
        drawn = self._draw_visits(labels, draw)
        offsets = np.concatenate([[0], np.cumsum(drawn.lengths)])
        owners = None if self.domain_.unit.is_row else np.arange(len(labels))
        classes = labels if self.domain_.classes else None
        return Trajectories(self.domain_, drawn.codes, offsets, classes, owners, drawn.minutes)

    def sample(
        self, count: int | None = None, *, sizes: Mapping[Any, int] | None = None, random_state: int | None = None
    ) -> Trajectories:
        """Draw trajectories, as `SequenceGenerator.sample` draws sequences: post-processing, which costs nothing."""
        made: Any = super().sample(count, sizes=sizes, random_state=random_state)
        return made  # type: ignore[no-any-return]  # what `_make` above made
