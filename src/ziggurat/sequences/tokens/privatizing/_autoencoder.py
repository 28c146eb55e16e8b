"""A Seq2Seq network: what it read becomes a short vector, and a vector becomes what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError
from ziggurat.mechanisms import require_one_of
from ziggurat.privacy import Guarantee, event_from_dict, whole_number
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.tokens.privatizing._learning import (
    Training,
    asking,
    deal_batches,
    event_of_training,
    from_seed,
    give_weights,
    take_weights,
    torch_module,
    with_end,
)

Floats = npt.NDArray[np.float64]

_AT_ONCE = 512


class SequenceAutoencoder:
    """An encoder and a decoder of sequences, with a latent vector in a ball of radius 1 between them.

    Promise: none of its own. Trained on public sequences it costs nobody anything; on what a private generator drew,
    what that generator promised; on private ones without protection its weights are a function of them, and whatever
    it writes is recorded as unbounded for those. `event` says which, None for nothing.

    Parameters
    ----------
    domain
        What is publicly known of the sequences.
    training
        What it learns from: 'public' sequences, those that a 'private' generator drew, or private ones 'unprotected'.
    promised
        With 'private', the `guarantee_` of that generator.
    latent
        How many numbers stand for a sequence.
    ball
        Into which ball of radius 1 latent vectors are scaled: 'l1' for Laplace, 'l2' for Gaussian noise.
    guided
        Whether a classifier reads what the decoder writes while both learn, and latent vectors have Laplace noise
        then, as if for an epsilon drawn from 4 to 100 (document 000, idea 5).
    hidden, size
        How many numbers stand for what was read, and for a symbol.
    epochs, batch, learning_rate
        How Adam trains it.
    random_state
        A seed; None for new weights each time.
    """

    def __init__(
        self,
        domain: SequenceDomain,
        *,
        training: Training,
        promised: Guarantee | None = None,
        latent: int = 8,
        ball: str = "l1",
        guided: bool = False,
        hidden: int = 64,
        size: int = 16,
        epochs: int = 12,
        batch: int = 32,
        learning_rate: float = 0.005,
        random_state: int | None = None,
    ) -> None:
        self.event = event_of_training(training, promised, "a Seq2Seq network")
        require_one_of(ball, ("l1", "l2"), "ball")
        if guided and not domain.classes:
            raise ParameterError("A classifier needs classes to tell apart; state them in the domain.")
        self.domain, self.training, self.ball, self.guided = domain, training, ball, guided
        self.latent, self.hidden, self.size = (
            whole_number(each, name) for each, name in ((latent, "latent"), (hidden, "hidden"), (size, "size"))
        )
        self.epochs, self.batch, self.learning_rate = epochs, batch, learning_rate
        self.random_state = random_state

    def fit(self, sequences: Sequences) -> Self:
        """Learn to write what was read."""
        torch = torch_module()
        if len(sequences) == 0 or sequences.domain != self.domain:
            raise DataError("Train on sequences of the network's own domain, at least one.")
        with from_seed(self.random_state):
            self.module_ = self._module()
            adam = torch.optim.Adam(self.module_.parameters(), lr=self.learning_rate)
            rounds = self.epochs * -(-len(sequences) // self.batch)
            rate = torch.optim.lr_scheduler.OneCycleLR(adam, self.learning_rate, total_steps=rounds)
            # A classifier needs both classes in a batch, and short sequences are often of one.
            spread = 2.0 * self.domain.longest if self.guided else 4.0
            for _ in range(self.epochs):
                for rows, codes, ends in deal_batches(sequences, self.batch, spread):
                    adam.zero_grad()
                    labels = None if sequences.labels is None else sequences.labels[rows].astype(np.int64)
                    self._loss(codes, ends, labels).backward()
                    torch.nn.utils.clip_grad_norm_(self.module_.parameters(), 1.0)
                    adam.step()
                    rate.step()
        self.module_.eval()
        return self

    def _module(self) -> Any:
        from ziggurat.sequences.tokens.privatizing._modules import AutoencoderModule

        classes = self.domain.groups if self.guided else 0
        return AutoencoderModule(self.domain.size, self.latent, self.hidden, self.size, self.ball, classes)

    def _loss(self, codes: Any, ends: Any, labels: Any) -> Any:
        torch = torch_module()
        from ziggurat.sequences.tokens.privatizing._modules import shrink

        module = self.module_
        latents = shrink(module.encode(codes, ends), self.ball)
        if self.guided:
            latents = latents + _training_noise(latents)
        logits = module.reconstruct(latents, codes)
        # The end counts once, not as often as it fills up.
        wanted = codes.masked_fill(torch.arange(codes.shape[1]) > ends[:, None], -100)
        lost = torch.nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=-100)
        if not self.guided:
            return lost
        said = (module.judge_written(latents, min(codes.shape[1], _JUDGED)), module.hint(latents))
        return 0.1 * lost + sum(torch.nn.functional.cross_entropy(each, torch.from_numpy(labels)) for each in said)

    def encode(self, sequences: Sequences) -> Floats:
        """Latent vectors before they are brought into the ball, of any length.

        All batches have one shape, filled up with empty sequences, so that a vector depends on its own sequence alone
        and not even in its last digits on those that are read beside it.
        """
        torch = torch_module()
        if sequences.domain.tokens != self.domain.tokens or sequences.domain.longest != self.domain.longest:
            raise DataError("The network was trained for sequences of another domain.")
        codes, ends = with_end(sequences, self.domain.longest)
        spare = -len(codes) % _AT_ONCE
        codes = torch.cat([codes, torch.full((spare, codes.shape[1]), self.domain.size)])
        ends = torch.cat([ends, torch.zeros(spare, dtype=ends.dtype)])
        with asking():
            parts = zip(codes.split(_AT_ONCE), ends.split(_AT_ONCE), strict=True)
            made = [self.module_.encode(*part).double().numpy() for part in parts]
        return np.concatenate([np.zeros((0, self.latent)), *made])[: len(sequences)]

    def write(self, latents: Floats) -> Pen:
        """Begin to write sequences, one for each latent vector."""
        return Pen(self.module_, latents)

    def to_dict(self) -> dict[str, Any]:
        """Give the fitted network as plain facts and arrays."""
        facts = {name: getattr(self, name) for name in ("latent", "ball", "guided", "hidden", "size")}
        trained = {"training": self.training, "event": None if self.event is None else self.event.to_dict()}
        return {"facts": facts, **trained, "weights": give_weights(self.module_)}

    @classmethod
    def from_dict(cls, domain: SequenceDomain, data: Mapping[str, Any]) -> SequenceAutoencoder:
        """Read what `to_dict` gave."""
        made = cls(domain, training="public", **data["facts"])
        made.training = data["training"]
        made.event = None if data["event"] is None else event_from_dict(data["event"])
        made.module_ = take_weights(made._module(), dict(data["weights"]))
        return made


_JUDGED = 12  # symbols that the classifier reads while it guides: enough to write classes apart, and quick


def _training_noise(latents: Any) -> Any:
    """Laplace noise while learning, of a scale that differs between rows; it protects nobody."""
    torch = torch_module()
    low, high = np.log(4.0), np.log(100.0)
    epsilon = torch.exp(low + (high - low) * torch.rand(len(latents), 1))
    return torch.distributions.Laplace(0.0, 1.0).sample(latents.shape) * 2 / epsilon


class Pen:
    """Sequences that are being written, symbol by symbol, each from its own latent vector."""

    def __init__(self, module: Any, latents: Floats) -> None:
        torch = torch_module()
        self._module = module
        self._latents = torch.from_numpy(np.asarray(latents, dtype=np.float32))
        with asking():
            self._state, self._before = module.begin(self._latents)

    def chances(self, has_end: bool) -> Floats:
        """The chance of every symbol, and of the end if there is one, to come next."""
        torch = torch_module()
        with asking():
            logits, self._state = self._module.follow(self._before, self._latents, self._state)
            return np.asarray(torch.softmax(logits[:, : None if has_end else -1].double(), dim=-1).numpy())

    def put(self, symbols: npt.NDArray[np.int64], going_on: npt.NDArray[np.bool_]) -> None:
        """Write a symbol in each, and go on with some of them."""
        torch = torch_module()
        on = torch.from_numpy(np.flatnonzero(going_on))
        self._latents, self._state = self._latents[on], self._state[:, on]
        with asking():
            self._before = self._module.embedding(torch.from_numpy(symbols)[on])
