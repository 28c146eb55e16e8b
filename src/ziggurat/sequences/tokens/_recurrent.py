"""Sequences drawn from a network that private gradient descent trained."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.archives import Array
from ziggurat.descent import Rounds, event_of_rounds, noise_multiplier, warn_of_noise
from ziggurat.errors import MissingExtraError, ParameterError
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import (
    Amount,
    Event,
    Neighbours,
    Relation,
    compose_events,
    exact_delta,
    exact_epsilon,
    exact_positive,
    whole_number,
)
from ziggurat.privacy.accounting import Size
from ziggurat.randomness import Source
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._generator import Progress, SequenceGenerator
from ziggurat.sequences._sequences import Sequences

if TYPE_CHECKING:
    from ziggurat.descent import Checkpoints, PrivateTraining
    from ziggurat.sequences.tokens._token_network import TokenNetwork, TokenShape

Rows = npt.NDArray[np.int64]

NETWORKS = ("gru", "lstm", "transformer")
_LEAST_BATCH, _MOST_BATCH = 256, 2048
_AT_ONCE = 1 << 13
# Parameters that say where something is done, not what.
_PLACES = ("checkpoint", "checkpoint_every", "device")
# How gradients were found to be taken, by shapes and device: public facts, and trying again takes longer than a step.
_WAYS: dict[tuple[Any, ...], str] = {}


class RecurrentSequences(SequenceGenerator):
    """An autoregressive network over the domain's tokens and the end, given the class, by private gradient descent.

    Formal guarantee: (epsilon, delta)-DP for adding or removing one unit of the domain: a sequence, or somebody with at
    most `sequences_per_unit` sequences that count. Proof. A unit is one row of training: all that counts of its
    sequences, with their classes, laid side by side, and nothing of anybody else's (`rows_of_units`). The loss of a row
    is the sum of the cross-entropies of all its tokens and ends, so a row's gradient is that of all its sequences
    together, and it is clipped to length `clip` once. Neighbours therefore differ in one row, and every step, which
    takes each row with probability `batch` / `expected_rows`, is the sampled Gaussian mechanism of `PrivateTraining`.
    Beside it the sequences of each class are counted with discrete Laplace noise: one unit moves the counts by at most
    `sequences_per_unit` in l1, so with `sizes_share` of epsilon they are pure DP, and the rest is left for training.
    `event_` is the composition of both. The number of units is private: all that is planned goes by the declared
    `expected_rows`, it is proven for up to twice as many, and more are refused. Tokens, classes, the longest length,
    the network and the number of steps are public; no validation decides when to stop. What is drawn from the network
    is post-processing.

    Parameters
    ----------
    epsilon, delta
        What fitting may cost, in all.
    network
        "gru", "lstm", or "transformer".
    hidden, layers
        How wide the network is and how deep.
    expected_rows
        About how many units there are: a public number that must be declared, and never counted for this.
    steps, batch
        How many steps are taken, and how many of the expected units take part in one, in expectation; by default a
        tenth, at least 256 and at most 2048.
    clip
        The longest gradient of a unit; by default half the longest length. Where most gradients are longer, long and
        rare sequences weigh too little and what is drawn is too short, at any epsilon; where few are, noise is larger
        than it need be.
    learning_rate
        Of Adam; by default 0.4 / sqrt(steps).
    sizes_share
        The share of epsilon with which the sequences of each class are counted.
    sequences_per_unit
        How many sequences of a unit count; needed if the unit is not a sequence.
    microbatch
        Rows that are computed at once, which affects memory and time alone.
    device
        Where to train and to draw: "cpu" or "cuda".
    checkpoint, checkpoint_every
        A file from which a killed training goes on, and after how many steps it is written. Steps that may have been
        taken since count as taken. Keep it private.
    random_state
        None draws from the secure source. A whole number makes the same model again: a rehearsal, never to be
        published.

    Attributes
    ----------
    weights_
        What was learned, by name.
    """

    weights_: dict[str, Array]

    def __init__(
        self,
        epsilon: Amount = 1,
        delta: Amount = "1e-5",
        *,
        network: str = "gru",
        hidden: int = 32,
        layers: int = 1,
        expected_rows: int | None = None,
        steps: int = 200,
        batch: int | None = None,
        clip: Amount | None = None,
        learning_rate: float | None = None,
        sizes_share: Amount = "0.05",
        sequences_per_unit: int | None = None,
        microbatch: int | None = None,
        device: str = "cpu",
        checkpoint: str | Path | None = None,
        checkpoint_every: int = 50,
        random_state: int | None = None,
    ) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.network, self.hidden, self.layers = network, hidden, layers
        self.expected_rows, self.steps, self.batch, self.clip = expected_rows, steps, batch, clip
        self.learning_rate, self.sizes_share = learning_rate, sizes_share
        self.sequences_per_unit, self.microbatch, self.device = sequences_per_unit, microbatch, device
        self.checkpoint, self.checkpoint_every = checkpoint, checkpoint_every
        self.random_state = random_state

    def _plan_event(self, domain: SequenceDomain, neighbours: Neighbours, most: int) -> Event:
        self._check()
        rounds = self._rounds()
        training = event_of_rounds(rounds, self._multiplier(rounds))
        return compose_events(
            [self._counting(domain, neighbours, most).event, replace(training, neighbours=neighbours)]
        )

    def _check(self) -> None:
        if self.network not in NETWORKS:
            raise ParameterError(f"The network must be one of {', '.join(NETWORKS)}.")
        if whole_number(self.hidden, "hidden") % 4:
            raise ParameterError("hidden must be a multiple of 4.")
        whole_number(self.layers, "layers")
        if not 0 < self._share < 1:
            raise ParameterError(
                "sizes_share must lie between 0 and 1: it is the share of epsilon that counts classes."
            )

    @property
    def _share(self) -> Fraction:
        return exact_positive(self.sizes_share, "sizes_share")

    @property
    def _expected(self) -> int:
        if self.expected_rows is None:
            raise ParameterError("Declare expected_rows=..., about how many units there are, a public number.")
        return whole_number(self.expected_rows, "expected_rows")

    def _rounds(self) -> Rounds:
        usual = max(_LEAST_BATCH, min(self._expected // 10, _MOST_BATCH))
        batch = usual if self.batch is None else whole_number(self.batch, "batch")
        return Rounds(min(Fraction(batch, self._expected), Fraction(1)), whole_number(self.steps, "steps"))

    def _multiplier(self, rounds: Rounds) -> Fraction:
        return noise_multiplier(exact_epsilon(self.epsilon) * (1 - self._share), exact_delta(self.delta), rounds)

    def _counting(self, domain: SequenceDomain, neighbours: Neighbours, most: int) -> Laplace:
        epsilon = exact_epsilon(self.epsilon) * self._share
        return Laplace.calibrated(epsilon, most, values="integers", coordinates=domain.groups, neighbours=neighbours)

    def _learn(self, sequences: Sequences, most: int, source: Source, progress: Progress) -> tuple[int, ...]:
        _require_torch()
        rows, targets = rows_of_units(sequences, most)
        Size.of(Relation.ADD_OR_REMOVE_ONE, len(rows), self._expected).require(len(rows))
        sizes = self._count(sequences, most, source.child("sizes"))
        self._train(rows, targets, source, progress)
        return sizes

    def _count(self, sequences: Sequences, most: int, source: Source) -> tuple[int, ...]:
        domain = sequences.domain
        labels = np.zeros(len(sequences), dtype=np.int64) if sequences.labels is None else sequences.labels
        counts = np.bincount(labels, minlength=domain.groups)
        neighbours = Neighbours(domain.unit, Relation.ADD_OR_REMOVE_ONE)
        noisy = self._counting(domain, neighbours, most).release(counts, source).value
        return tuple(max(0, int(each)) for each in noisy)

    def _train(self, rows: Rows, targets: Rows, source: Source, progress: Progress) -> None:
        import torch

        from ziggurat.descent import starting_from, weights_of

        with starting_from(int(source.child("start").words(1)[0] >> np.uint64(1))):
            training = self._prepare(rows.shape[1:], source.child("steps"))
            kept = None if self.checkpoint is None else self._checkpoints(rows, targets)
            given, wanted = (torch.from_numpy(each).to(self.device) for each in (rows, targets))
            every = whole_number(self.checkpoint_every, "checkpoint_every")
            training.run(given, wanted, kept, every, lambda done, of: progress("steps", done, of))
        self.weights_ = weights_of(training.gradients.module, training.gradients.buffers)

    def _prepare(self, shape: tuple[int, ...], source: Source) -> PrivateTraining:
        """Make the network and everything that trains it; one of its shape is tried on invented rows."""
        from ziggurat.descent import (
            Descent,
            DescentPlan,
            Gradients,
            PrivateTraining,
            choose_gradients,
            count_parameters,
            invent_rows,
            require_device,
        )
        from ziggurat.sequences.tokens._token_network import TokenNetwork

        require_device(self.device)
        module, domain = TokenNetwork(self._shape()).to(self.device), self.domain_
        tried = (module.shape, shape, self.device)
        if tried not in _WAYS:
            limits = np.full(shape, domain.size + 1)
            limits[..., 0] = domain.groups
            trial = invent_rows(shape, self.device, below=limits)
            _WAYS[tried] = choose_gradients(module.train(), unit_losses, trial, trial[..., 1:]).way
        gradients = Gradients(module.train(), unit_losses, _WAYS[tried])
        rounds = self._rounds()
        multiplier = self._multiplier(rounds)
        warn_of_noise(rounds, multiplier, self._expected, count_parameters(module))
        usual = gradients.fitting_block(float(rounds.sampling * self._expected))
        block = usual if self.microbatch is None else whole_number(self.microbatch, "microbatch")
        clip = Fraction(domain.longest, 2) if self.clip is None else exact_positive(self.clip, "clip")
        plan = DescentPlan(rounds, multiplier, clip, block, self._expected)
        given = 0.4 / math.sqrt(rounds.steps) if self.learning_rate is None else self.learning_rate
        rate = float(exact_positive(given, "learning_rate"))
        return PrivateTraining(gradients, plan, Descent(rate, "adam", 0.9, average=True), source)

    def _shape(self) -> TokenShape:
        from ziggurat.sequences.tokens._token_network import TokenShape

        domain = self.domain_
        return TokenShape(self.network, domain.size, domain.groups, domain.longest, self.hidden, self.layers)

    def _checkpoints(self, rows: Rows, targets: Rows) -> Checkpoints:
        from ziggurat.descent import Checkpoints

        assert self.checkpoint is not None
        facts = {name: value for name, value in self.get_params(deep=False).items() if name not in _PLACES}
        mark = {"event": self.planned(self.domain_).to_dict(), "settings": repr(sorted(facts.items()))}
        return Checkpoints(self.checkpoint, json.dumps(mark, sort_keys=True), (rows, targets))

    def _draw(self, labels: Array, draw: np.random.Generator) -> tuple[Array, Array]:
        import torch

        module = self._module().to(self.device)

        def uniform(count: int) -> torch.Tensor:
            return torch.from_numpy(draw.random(count)).to(self.device)

        codes, lengths = [], []
        for part in np.split(labels.astype(np.int64), range(_AT_ONCE, len(labels), _AT_ONCE)):
            written, held = (
                each.cpu().numpy() for each in module.write(torch.from_numpy(part).to(self.device), uniform)
            )
            codes.append(written[np.arange(written.shape[1]) < held[:, None]])
            lengths.append(held)
        return np.concatenate(codes).astype(np.int32), np.concatenate(lengths)

    def _module(self) -> TokenNetwork:
        from ziggurat.descent import with_weights
        from ziggurat.sequences.tokens._token_network import TokenNetwork

        _require_torch()
        made = TokenNetwork(self._shape()).eval()
        with_weights(made, self.weights_)
        return made

    def _state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        return {}, dict(self.weights_)

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:  # noqa: ARG002 - as every one
        self.weights_ = dict(arrays)
        self._module()


def rows_of_units(sequences: Sequences, most: int) -> tuple[Rows, Rows]:
    """Lay the at most `most` sequences of every unit side by side: rows (units, most, 2 + longest), and what is next.

    A sequence is its class, the code that begins every one, and its tokens; the targets are its tokens and the end, and
    -1 where nothing counts. What stands in a row follows from the sequences of its unit alone.
    """
    domain, ends = sequences.domain, sequences.domain.size
    tokens = sequences.padded(0).astype(np.int64)
    labels = np.zeros(len(tokens), dtype=np.int64) if sequences.labels is None else sequences.labels.astype(np.int64)
    given = np.concatenate([labels[:, None], np.full((len(tokens), 1), ends), tokens], 1)
    times = np.arange(domain.longest + 1)
    wanted = np.concatenate([tokens, np.zeros((len(tokens), 1), dtype=np.int64)], 1)
    lengths = sequences.lengths[:, None]
    wanted = np.where(times < lengths, wanted, np.where(times == lengths, ends, -1))
    unit, place = _places(sequences)
    units = int(unit.max(initial=-1)) + 1
    rows = np.zeros((units, most, domain.longest + 2), dtype=np.int64)
    targets = np.full((units, most, domain.longest + 1), -1, dtype=np.int64)
    rows[unit, place], targets[unit, place] = given, wanted
    return rows, targets


def _places(sequences: Sequences) -> tuple[Rows, Rows]:
    """Whose each sequence is, from 0 without gaps, and which of theirs."""
    if sequences.owners is None:
        return np.arange(len(sequences)), np.zeros(len(sequences), dtype=np.int64)
    unit = np.unique(sequences.owners, return_inverse=True)[1]
    order = np.argsort(unit, kind="stable")
    starts = np.flatnonzero(np.diff(unit[order], prepend=-1))
    place = np.empty(len(unit), dtype=np.int64)
    place[order] = np.arange(len(unit)) - np.repeat(starts, np.diff(starts, append=len(unit)))
    return unit, place


def unit_losses(outputs: Any, targets: Any) -> Any:
    """The loss of every row: of all tokens and ends of a unit together."""
    from ziggurat.descent import token_losses

    return token_losses(outputs, targets) * (targets >= 0).flatten(1).sum(1)


def _require_torch() -> None:
    try:
        import torch  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise MissingExtraError("Networks need PyTorch; add it with: pip install 'ziggurat[torch]'.") from None
