"""The networks: a recurrent classifier, and an encoder and decoder with a short vector between them."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

BALLS = ("l1", "l2")
"""The balls of radius 1 that a latent vector is brought into, before any noise."""


def shrink(vectors: Tensor, ball: str) -> Tensor:
    """Scale down what lies outside the ball of radius 1."""
    norm = vectors.abs().sum(-1, keepdim=True) if ball == "l1" else vectors.square().sum(-1, keepdim=True).sqrt()
    return vectors / norm.clamp(min=1.0)


class ClassifierModule(nn.Module):
    """Symbols, and the end behind them, to a logit for each class."""

    def __init__(self, symbols: int, classes: int, size: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols + 1, size)
        self.recurrent = nn.GRU(size, hidden, batch_first=True)
        self.out = nn.Linear(hidden, classes)

    def forward(self, codes: Tensor, ends: Tensor) -> Tensor:
        """Read up to the end, and judge."""
        read, _ = self.recurrent(self.embedding(codes))
        said: Tensor = self.out(read[torch.arange(len(codes)), ends])
        return said


class AutoencoderModule(nn.Module):
    """A sequence to a latent vector, and a latent vector to the chances of each next symbol.

    Symbol `symbols` is the end, `symbols + 1` the start. With `classes` above 0 a classifier reads what is written, and
    another one, a hint to the encoder, the latent vector.
    """

    def __init__(self, symbols: int, latent: int, hidden: int, size: int, ball: str, classes: int) -> None:
        super().__init__()
        self.ball, self.start = ball, symbols + 1
        self.embedding = nn.Embedding(symbols + 2, size)
        self.encoder = nn.GRU(size, hidden, batch_first=True)
        self.code = nn.Linear(hidden, latent)
        self.opening = nn.Linear(latent, hidden)
        self.decoder = nn.GRU(size + latent, hidden, batch_first=True)
        self.out = nn.Linear(hidden, symbols + 1)
        if classes:
            self.hint = nn.Linear(latent, classes)
            self.reader = nn.GRU(size, hidden, batch_first=True)
            self.judge = nn.Linear(hidden, classes)

    def encode(self, codes: Tensor, ends: Tensor) -> Tensor:
        """Latent vectors, of any length."""
        read, _ = self.encoder(self.embedding(codes))
        latents: Tensor = self.code(read[torch.arange(len(codes)), ends])
        return latents

    def begin(self, latents: Tensor) -> tuple[Tensor, Tensor]:
        """The state before the first symbol, and the first input."""
        starts = torch.full((len(latents),), self.start, dtype=torch.int64)
        return torch.tanh(self.opening(latents))[None], self.embedding(starts)

    def follow(self, before: Tensor, latents: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the next symbol after one that is given by its embedding, and the state after it."""
        given = torch.cat([before, latents], dim=-1)[:, None]
        read, state = self.decoder(given, state)
        return self.out(read[:, 0]), state

    def reconstruct(self, latents: Tensor, codes: Tensor) -> Tensor:
        """Logits of every symbol, given those before it."""
        state, first = self.begin(latents)
        before = torch.cat([first[:, None], self.embedding(codes[:, :-1])], dim=1)
        repeated = latents[:, None].expand(-1, codes.shape[1], -1)
        read, _ = self.decoder(torch.cat([before, repeated], dim=-1), state)
        logits: Tensor = self.out(read)
        return logits

    def judge_written(self, latents: Tensor, steps: int) -> Tensor:
        """Write symbols at random, and let the classifier judge them: a gradient passes as if chances were written.

        What would stand behind the end is never read.
        """
        state, before = self.begin(latents)
        vectors, going_on, written = self.embedding.weight[:-1], torch.ones(len(latents), 1), []
        for _ in range(steps):
            logits, state = self.follow(before, latents, state)
            chosen = functional.gumbel_softmax(logits, hard=True)
            before = chosen @ vectors
            written.append(going_on * before + (1 - going_on) * vectors[-1])
            going_on = going_on * (1 - chosen[:, -1:])
        _, read = self.reader(torch.stack(written, dim=1))
        said: Tensor = self.judge(read[0])
        return said
