"""Attention of every time to those before it, and blocks of it, built of layers whose per-row gradients are quick."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from ziggurat.descent._recurrent import State
from ziggurat.descent._rowwise import Dropout, RowwiseModule
from ziggurat.errors import ParameterError
from ziggurat.privacy import whole_number


class SelfAttention(RowwiseModule):
    """Attention with several heads (Vaswani et al. 2017), from (rows, ..., time, width) to the same shape.

    With `causal`, every time sees those before it and itself. `there`, of shape (rows, ..., time), says which times are
    filled; the others are seen by nobody. Every row must have its first time filled.
    """

    def __init__(self, width: int, heads: int, causal: bool = True) -> None:
        super().__init__()
        if whole_number(width, "width") % whole_number(heads, "heads"):
            raise ParameterError("The width must be a multiple of the number of heads.")
        self.heads, self.causal = heads, causal
        self.asked, self.given = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, features: Tensor, there: Tensor | None = None) -> Tensor:
        """Let every time gather what it asks for."""
        question, answer, content = self._ask(features)
        return self._gather(question, answer, content, self._seen(features, there))

    def advance(self, features: Tensor, state: State) -> tuple[Tensor, State]:
        """Take one step in time, from (rows, width) and what earlier times have to say, nothing at first."""
        question, *new = self._ask(features.unsqueeze(-2))
        answer, content = (torch.cat(pair, -2) for pair in zip(state, new, strict=True)) if state else new
        return self._gather(question, answer, content, None).squeeze(-2), (answer, content)

    def _ask(self, features: Tensor) -> tuple[Tensor, ...]:
        asked: Tensor = self.asked(features).unflatten(-1, (3, self.heads, -1)).movedim(-3, 0).transpose(-3, -2)
        return asked.unbind(0)

    def _gather(self, question: Tensor, answer: Tensor, content: Tensor, seen: Tensor | None) -> Tensor:
        scores = question @ answer.mT / math.sqrt(answer.shape[-1])
        heard = (scores if seen is None else scores.masked_fill(~seen, -torch.inf)).softmax(-1) @ content
        given: Tensor = self.given(heard.transpose(-3, -2).flatten(-2))
        return given

    def _seen(self, features: Tensor, there: Tensor | None) -> Tensor | None:
        filled = None if there is None else there.unsqueeze(-2).unsqueeze(-2)
        if not self.causal:
            return filled
        time = features.shape[-2]
        before = torch.ones(time, time, dtype=torch.bool, device=features.device).tril()
        return before if filled is None else before & filled


class TransformerBlock(RowwiseModule):
    """Attention and a small network, each after a normalisation and added to what came in (Xiong et al. 2020)."""

    def __init__(self, width: int, heads: int, dropout: float = 0, causal: bool = True) -> None:
        super().__init__()
        self.attention = SelfAttention(width, heads, causal)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = Dropout(dropout)

    def forward(self, features: Tensor, there: Tensor | None = None) -> Tensor:
        """Attend, then think."""
        return self._think(features + self.dropout(self.attention(self.first(features), there)))

    def advance(self, features: Tensor, state: State) -> tuple[Tensor, State]:
        """Take one step in time, from (rows, width) and what earlier times have to say, nothing at first."""
        heard, state = self.attention.advance(self.first(features), state)
        return self._think(features + self.dropout(heard)), state

    def _think(self, features: Tensor) -> Tensor:
        thought: Tensor = self.dropout(self.network(self.second(features)))
        return features + thought
