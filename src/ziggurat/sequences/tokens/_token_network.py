"""Networks that say what comes next in a sequence of a class: recurrent, or with attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from ziggurat.descent import GRU, LSTM, RowwiseModule, TransformerBlock

_HEADS = 4

States = list[tuple[Tensor, ...]]
Draw = Callable[[int], Tensor]
"""Gives so many numbers, uniform between 0 and 1."""


@dataclass(frozen=True)
class TokenShape:
    """The public facts that a network is made by."""

    network: str
    tokens: int
    groups: int
    longest: int
    hidden: int
    layers: int

    @property
    def width(self) -> int:
        """How many numbers stand for a token."""
        return self.hidden if self.network == "transformer" else self.hidden // 2


class _Attentive(RowwiseModule):
    """Blocks of attention that know how far into the sequence they are."""

    def __init__(self, width: int, layers: int, times: int) -> None:
        super().__init__()
        self.places = nn.Embedding(times, width)
        self.blocks = nn.ModuleList([TransformerBlock(width, _HEADS) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, features: Tensor) -> Tensor:
        times = torch.arange(features.shape[-2], device=features.device)
        features = features + self.places(times.expand(features.shape[:-1]))
        for block in self.blocks:
            features = block(features)
        found: Tensor = self.norm(features)
        return found

    def start(self, rows: int) -> States:
        return [(torch.zeros(rows, dtype=torch.int64, device=self.places.weight.device),), *[()] * len(self.blocks)]

    def advance(self, features: Tensor, states: States) -> tuple[Tensor, States]:
        (times,), *heard = states
        after: States = [(times + 1,)]
        features = features + self.places(times)
        blocks: list[Any] = list(self.blocks)
        for block, state in zip(blocks, heard, strict=True):
            features, said = block.advance(features, state)
            after.append(said)
        return self.norm(features), after


class TokenNetwork(RowwiseModule):
    """From the class of a sequence and its tokens so far to logits of the next one, or of the end.

    A row is (..., 1 + times): the code of the class, the code that begins every sequence, then tokens. The class is
    heard at every time. At first all tokens are equally likely.
    """

    def __init__(self, shape: TokenShape) -> None:
        super().__init__()
        self.shape, self.ends = shape, shape.tokens
        self.lines, self.kinds = nn.Embedding(shape.tokens + 1, shape.width), nn.Embedding(shape.groups, shape.width)
        self.core: Any = _core(shape)
        self.last = nn.Linear(shape.hidden, shape.tokens + 1)
        for value in self.last.parameters():
            nn.init.zeros_(value)

    def forward(self, rows: Tensor) -> Tensor:
        """Say at every time what may come next."""
        groups, tokens = rows[..., :1], rows[..., 1:]
        found: Tensor = self.last(self.core(self._hear(groups.expand(tokens.shape), tokens)))
        return found

    def _hear(self, groups: Tensor, tokens: Tensor) -> Tensor:
        heard: Tensor = self.lines(tokens) + self.kinds(groups)
        return heard

    @torch.no_grad()
    def write(self, groups: Tensor, draw: Draw) -> tuple[Tensor, Tensor]:
        """Draw a sequence for every class code: a matrix of tokens, and how many of each line count."""
        lengths = torch.full((len(groups),), self.shape.longest, device=groups.device)
        written = torch.zeros((len(groups), self.shape.longest), dtype=torch.int64, device=groups.device)
        going, states = torch.arange(len(groups), device=groups.device), self.core.start(len(groups))
        tokens = torch.full_like(groups, self.ends)
        for time in range(self.shape.longest):
            hidden, states = self.core.advance(self._hear(groups, tokens), states)
            tokens = _choose(self.last(hidden), draw)
            on = tokens != self.ends
            lengths[going[~on]] = time
            going, groups, tokens = going[on], groups[on], tokens[on]
            states = [tuple(part[on] for part in state) for state in states]
            written[going, time] = tokens
        return written, lengths


def _core(shape: TokenShape) -> nn.Module:
    if shape.network == "transformer":
        return _Attentive(shape.width, shape.layers, shape.longest + 1)
    kind = GRU if shape.network == "gru" else LSTM
    return kind(shape.width, shape.hidden, shape.layers)


def _choose(logits: Tensor, draw: Draw) -> Tensor:
    """Draw a code for every row by its logits."""
    shares = logits.double().softmax(1).cumsum(1)
    found = torch.searchsorted(shares, draw(len(logits)).unsqueeze(1) * shares[:, -1:], right=True)
    return found.squeeze(1).clamp(max=logits.shape[1] - 1)
