"""Recurrent layers whose per-row gradients follow from one pass: what goes into the gates, and what comes back to them.

Let a_t = p_t + U h_{t-1} be what the gates at time t see, p_t = W x_t + b. For an LSTM the slope of the loss at a_t is
the slope at p_t, which one backward pass gives for all times. So a row's gradients are the sums over time of outer
products of it with x_t (for W), with h_{t-1} (for U) and with 1 (for b). For a GRU the same holds but for the candidate
n = tanh(p + r (U h + c)), where the slope at U h + c is r times that at p.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from ziggurat.descent._rowwise import RowwiseModule
from ziggurat.privacy import whole_number

State = tuple[Tensor, ...]
"""What a layer remembers of the past of every row, the hidden state first."""


class LongShortMemory(RowwiseModule):
    """The recurrent part of an LSTM, from what the gates are told, (rows, ..., time, 4 hidden), to hidden states."""

    memories = 2
    gates = 4

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.weight = _uniform(self.gates * hidden, hidden)

    def forward(self, told: Tensor) -> Tensor:
        """Go through time."""
        return _scan(self, told)

    def advance(self, told: Tensor, state: State) -> State:
        """Take one step, from (rows, 4 hidden)."""
        hidden, cell = state
        gates = torch.addmm(told, hidden, self.weight.T)
        opened = gates.sigmoid()
        into, forget, _, out = opened.chunk(4, 1)
        cell = forget * cell + into * gates[:, 2 * self.hidden : 3 * self.hidden].tanh()
        return out * cell.tanh(), cell


class GatedMemory(RowwiseModule):
    """The recurrent part of a GRU, from what the gates are told, (rows, ..., time, 3 hidden), to hidden states."""

    memories = 1
    gates = 3

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.weight = _uniform(self.gates * hidden, hidden)
        self.bias = _uniform(hidden)

    def forward(self, told: Tensor) -> Tensor:
        """Go through time."""
        return _scan(self, told)

    def advance(self, told: Tensor, state: State) -> State:
        """Take one step, from (rows, 3 hidden)."""
        (hidden,) = state
        width = self.hidden
        opened = torch.addmm(told[:, : 2 * width], hidden, self.weight[: 2 * width].T).sigmoid()
        reset, update = opened.chunk(2, 1)
        candidate = (told[:, 2 * width :] + reset * self.recall(hidden)).tanh()
        return (torch.lerp(candidate, hidden, update),)

    def recall(self, hidden: Tensor) -> Tensor:
        """What the candidate hears of the past, before it is reset."""
        return nn.functional.linear(hidden, self.weight[2 * self.hidden :], self.bias)

    def resets(self, told: Tensor, before: Tensor) -> Tensor:
        """How much of the past every candidate heard, for all times at once."""
        width = self.hidden
        return (told[..., :width] + before @ self.weight[:width].T).sigmoid()


Memory = LongShortMemory | GatedMemory


def _scan(layer: Memory, told: Tensor) -> Tensor:
    flat = told.flatten(0, -3)
    state: State = (flat.new_zeros(len(flat), layer.hidden),) * layer.memories
    passed = []
    for now in flat.unbind(1):
        state = layer.advance(now, state)
        passed.append(state[0])
    return torch.stack(passed, 1).view(*told.shape[:-1], layer.hidden)


def states_before(hidden: Tensor) -> Tensor:
    """The hidden state before every time, zero at first."""
    return torch.cat([torch.zeros_like(hidden[..., :1, :]), hidden[..., :-1, :]], -2)


class _Recurrent(RowwiseModule):
    """Layers of a memory, each told by a linear layer what there is at all times."""

    kind: type[Any]

    def __init__(self, inputs: int, hidden: int, layers: int = 1) -> None:
        super().__init__()
        whole_number(inputs, "inputs")
        widths = [inputs, *[whole_number(hidden, "hidden")] * (whole_number(layers, "layers") - 1)]
        parts = [part for width in widths for part in (nn.Linear(width, self.kind.gates * hidden), self.kind(hidden))]
        self.layers = nn.Sequential(*parts)

    def forward(self, features: Tensor) -> Tensor:
        """From features of every time to hidden states of the last layer, (rows, ..., time, hidden)."""
        found: Tensor = self.layers(features)
        return found

    def start(self, rows: int) -> list[State]:
        """What is remembered before anything was seen, of so many rows."""
        first = next(self.parameters())
        return [(first.new_zeros(rows, memory.hidden),) * memory.memories for _, memory in self._pairs()]

    def advance(self, features: Tensor, states: list[State]) -> tuple[Tensor, list[State]]:
        """Take one step in time, from features (rows, inputs) to hidden states (rows, hidden), and what to remember."""
        after = []
        for (told, memory), state in zip(self._pairs(), states, strict=True):
            after.append(memory.advance(told(features), state))
            features = after[-1][0]
        return features, after

    def _pairs(self) -> list[tuple[nn.Linear, Memory]]:
        parts: list[Any] = list(self.layers)
        return list(zip(parts[::2], parts[1::2], strict=True))


class LSTM(_Recurrent, RowwiseModule):
    """Long short-term memory, from (rows, ..., time, inputs) to (rows, ..., time, hidden), trained quickly.

    As `torch.nn.LSTM(inputs, hidden, layers, batch_first=True)` with one bias per gate where that has two; the bias of
    the forget gate begins at 1 (Jozefowicz et al. 2015).
    """

    kind = LongShortMemory

    def __init__(self, inputs: int, hidden: int, layers: int = 1) -> None:
        super().__init__(inputs, hidden, layers)
        with torch.no_grad():
            for told, _ in self._pairs():
                told.bias[hidden : 2 * hidden] = 1.0


class GRU(_Recurrent, RowwiseModule):
    """Gated recurrent units, from (rows, ..., time, inputs) to (rows, ..., time, hidden), trained quickly.

    As `torch.nn.GRU(inputs, hidden, layers, batch_first=True)` with one bias for the gates where that has two.
    """

    kind = GatedMemory


def _uniform(hidden: int, width: int | None = None) -> nn.Parameter:
    shape = (hidden,) if width is None else (hidden, width)
    reach = 1 / math.sqrt(shape[-1])
    return nn.Parameter(torch.empty(shape).uniform_(-reach, reach))
