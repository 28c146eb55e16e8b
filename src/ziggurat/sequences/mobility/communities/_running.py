"""Several chains side by side, until they stand still or were asked to stop, with a file to go on from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ziggurat.archives import Array, read_archive, write_archive
from ziggurat.errors import DataError
from ziggurat.jobs import run_jobs
from ziggurat.sequences.mobility.communities._bags import Bags
from ziggurat.sequences.mobility.communities._chain import CommunityChain

EVERY = 25
"""After so many sweeps priors are learned, chains are judged, and a checkpoint is written."""
SAMPLES = 25
"""Over so many sweeps at the end the places and hours of communities are averaged."""

_PATIENCE = 4
_FORMAT = "ziggurat/communities/checkpoint/1"


class ChainRun:
    """Chains that sample the same visits.

    Parameters
    ----------
    chains
        Where they start.
    held
        The people who were held out, by whom they are judged.
    workers
        How many run at a time; what they find does not depend on it.
    progress
        Is told how many sweeps of how many are done.
    """

    def __init__(
        self,
        chains: list[CommunityChain],
        held: Bags,
        workers: int | None,
        progress: Callable[[str, int, int], None],
    ) -> None:
        self.chains, self._held, self._workers, self._progress = chains, held, workers, progress
        self.done = 0

    def run(self, iterations: int, tolerance: float | None, checkpoint: ChainCheckpoint | None) -> CommunityChain:
        """Sample until every chain stands still, average, and return the one with the best likelihood."""
        if checkpoint is not None:
            self.done = checkpoint.restore(self.chains)
        while self.done < iterations and (active := self._active(tolerance)):
            sweeps = min(EVERY, iterations - self.done)
            self._each(active, partial(self._step, sweeps=sweeps))
            self.done += sweeps
            self._progress("sweeps", self.done, iterations)
            if checkpoint is not None:
                checkpoint.write(self.chains, self.done)
        self._each(self.chains, self._finish)
        return max(self.chains, key=lambda chain: (chain.completions or chain.likelihoods)[-1])

    def _active(self, tolerance: float | None) -> list[CommunityChain]:
        return [chain for chain in self.chains if not chain.is_still(tolerance, _PATIENCE)]

    def _step(self, chain: CommunityChain, sweeps: int) -> None:
        chain.sample(sweeps)
        chain.learn_priors()
        chain.judge(self._held)

    def _finish(self, chain: CommunityChain) -> None:
        chain.average(SAMPLES)
        chain.judge(self._held)

    def _each(self, chains: list[CommunityChain], act: Callable[[CommunityChain], None]) -> None:
        for _ in run_jobs(act, [(chain,) for chain in chains], executor="threads", workers=self._workers):
            pass


class ChainCheckpoint:
    """A file to go on from: as raw as the visits, and readable by its owner only.

    Parameters
    ----------
    path
        Where it is or will be.
    settings
        What the file must have been made with, as JSON.
    bags
        The visits that it must have been made from.
    seed
        What all randomness is to follow from; if there is a file, `seed` becomes the one that it was made with.
    """

    def __init__(self, path: str | Path, settings: dict[str, Any], bags: Bags, seed: int) -> None:
        seal = hashlib.sha256()
        for each in (bags.offsets, bags.first, bags.second):
            seal.update(each.tobytes() + b"|")
        self._path, self._mark = Path(path), json.dumps([settings, seal.hexdigest()], sort_keys=True)
        self._facts, self._arrays = self._open()
        self.seed = int(self._facts.get("seed", seed))

    def _open(self) -> tuple[dict[str, Any], dict[str, Array]]:
        if not self._path.exists():
            return {}, {}
        facts, arrays = read_archive(self._path, _FORMAT, "checkpoint of communities")
        if facts.get("mark") != self._mark:
            raise DataError(f"{str(self._path)!r} is of other visits or settings; choose another path for these.")
        return facts, arrays

    def write(self, chains: list[CommunityChain], done: int) -> None:
        """Replace the file."""
        arrays = {f"{name}-{at}": each for at, chain in enumerate(chains) for name, each in chain.to_arrays().items()}
        write_archive(self._path, _FORMAT, {"mark": self._mark, "seed": self.seed, "done": done}, arrays)

    def restore(self, chains: list[CommunityChain]) -> int:
        """Bring the chains to where the file was written, and say after how many sweeps that was; 0 without a file."""
        for at, chain in enumerate(chains if self._arrays else []):
            chain.restore({name: self._arrays[f"{name}-{at}"] for name in ("topics", "state", "priors", "curves")})
        return int(self._facts.get("done", 0))
