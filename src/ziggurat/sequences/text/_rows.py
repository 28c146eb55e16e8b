"""The networks once more, for private training: a row is all of one unit, and its gradient that of all its trigrams.

A row holds the headlines of one unit, at most `headlines` of them and of each at most `longest` words; whatever is
missing counts for nothing. All trigrams of a row go through the recurrent layer at once, each from an empty state, as
in `WriterNetwork`, whose weights these are under other names; the loss of a row is the mean over all its targets.
There is no dropout: noise does what it is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from ziggurat.descent import GRU, LSTM, RowwiseModule
from ziggurat.errors import ParameterError
from ziggurat.sequences.text._codes import CodedHeadlines
from ziggurat.sequences.text._network import NetworkShape, WriterNetwork


@dataclass(frozen=True)
class RowShape:
    """How much of one unit counts: public numbers."""

    longest: int
    headlines: int = 1

    @property
    def width(self) -> int:
        """How many numbers a row has: for every headline its topic, words and tags."""
        return self.headlines * (1 + 2 * self.longest)

    def fill(self, coded: CodedHeadlines, units: npt.NDArray[np.int64], rows: int) -> npt.NDArray[np.int64]:
        """Make rows of headlines; `units` says whose each is. Of more than `headlines` of a unit the first ones count.

        A row is a function of the headlines of its unit alone. Where nothing is, words and tags are -1.
        """
        words, tags = coded.padded(self.longest)
        each = np.concatenate([coded.topics[:, None], words, tags], 1).astype(np.int64)
        empty = np.concatenate([[0], np.full(2 * self.longest, -1)])
        filled = np.tile(empty, (rows, self.headlines, 1))
        order = np.argsort(units, kind="stable")
        sizes = np.bincount(units, minlength=rows)
        places = np.arange(len(units)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = places < self.headlines
        filled[units[order][kept], places[kept]] = each[order[kept]]
        return filled.reshape(rows, self.width)


class RowNetwork(RowwiseModule):
    """From rows to the loss of each, (rows, 1)."""

    def __init__(self, shape: NetworkShape, row: RowShape) -> None:
        super().__init__()
        if not shape.contextual:
            raise ParameterError("The baseline has no private variant; choose an architecture with LSTM or GRU.")
        self.shape, self.row = shape, row
        kinds = 2 + shape.syntactic
        layer = LSTM if shape.architecture.endswith("lstm") else GRU
        self.word_in = nn.Embedding(shape.words + 1, shape.embedding, padding_idx=0)
        self.topic_in = nn.Embedding(shape.topics, shape.embedding)
        self.tag_in = nn.Embedding(shape.tags, shape.embedding) if shape.syntactic else None
        self.layer = layer(kinds * shape.embedding, shape.hidden)
        self.word_out = nn.Linear(shape.hidden, shape.places)
        self.tag_out = nn.Linear(shape.hidden, shape.tags) if shape.syntactic else None

    def forward(self, rows: Tensor) -> Tensor:
        """Give the loss of every row: the mean over its words that count, and that over its tags."""
        held = rows.view(len(rows), self.row.headlines, 1 + 2 * self.row.longest)
        topics, words, tags = held[..., 0], held[..., 1 : 1 + self.row.longest], held[..., 1 + self.row.longest :]
        about = self.topic_in(topics).unsqueeze(2).expand(-1, -1, self.row.longest, -1)
        parts = [self.word_in(words.clamp(min=0)), about]
        if self.tag_in is not None:
            parts.append(self.tag_in(tags.clamp(min=0)))
        states = self.layer(torch.cat(parts, -1).unfold(2, 3, 1)[:, :, :-1].mT)
        whole = (words.unfold(2, 4, 1) >= 0).all(-1, keepdim=True)
        goals = words.unfold(2, 3, 1)[:, :, 1:]
        losses = _mean_loss(self.word_out(states), goals, whole & (goals > 0))
        if self.tag_out is not None:
            losses = losses + _mean_loss(
                self.tag_out(states), tags.unfold(2, 3, 1)[:, :, 1:], whole.expand(goals.shape)
            )
        return losses.unsqueeze(1)

    def take_up(self, network: WriterNetwork) -> RowNetwork:
        """Begin with the weights of a public network."""
        given: dict[str, Any] = dict(network.state_dict())
        own = self.state_dict()
        own |= {name: value for name, value in given.items() if name in own}
        told, recalled, biases, more = (given[f"layer.{name}_l0"] for name in _USUAL)
        own["layer.layers.0.weight"], own["layer.layers.1.weight"] = told, recalled
        own["layer.layers.0.bias"] = biases + more
        if isinstance(self.layer, GRU):
            own["layer.layers.1.bias"] = more[2 * self.shape.hidden :]
            own["layer.layers.0.bias"][2 * self.shape.hidden :] = biases[2 * self.shape.hidden :]
        self.load_state_dict(own)
        return self

    def usual_weights(self) -> dict[str, Tensor]:
        """Give the weights by the names that a `WriterNetwork` has for them."""
        own = {name: value.detach().clone() for name, value in self.state_dict().items()}
        usual = {name: value for name, value in own.items() if not name.startswith("layer.")}
        biases = own["layer.layers.0.bias"]
        more = torch.zeros_like(biases)
        if isinstance(self.layer, GRU):
            more[2 * self.shape.hidden :] = own["layer.layers.1.bias"]
        held = (own["layer.layers.0.weight"], own["layer.layers.1.weight"], biases, more)
        return usual | {f"layer.{name}_l0": value for name, value in zip(_USUAL, held, strict=True)}


_USUAL = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _mean_loss(logits: Tensor, goals: Tensor, counted: Tensor) -> Tensor:
    """The mean cross entropy of what counts of every row; a row of which nothing counts has none."""
    flat = logits.flatten(1, -2).movedim(-1, 1)
    each = functional.cross_entropy(flat, goals.clamp(min=0).flatten(1), reduction="none")
    weights = counted.flatten(1)
    return (each * weights).sum(1) / weights.sum(1).clamp(min=1)


def row_losses(outputs: Tensor, _targets: Tensor) -> Tensor:
    """The loss of every row, which is what the network gives."""
    return outputs.squeeze(1)
