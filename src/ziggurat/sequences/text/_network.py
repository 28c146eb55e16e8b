"""The five networks of Dandekar et al. 2017: three words in, the next three out, with a topic and with tags or without.

At step t the embeddings of word, topic and tag, as far as the architecture has them, are joined and go into one
recurrent layer (Elman, LSTM or GRU), as equations B.2 and B.3 of the thesis have it; a linear layer makes the logits of
the next word, and another those of the next tag. (The words beside its figure B.2 say that words and tags are read
before the topic is joined to them; the equations, which are followed here, join all three before.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ziggurat.errors import ParameterError

ARCHITECTURES = ("baseline", "clstm", "cgru", "sclstm", "scgru")
"""Recurrent without a topic; with the topic (contextual); with topic and tags (syntacto-contextual)."""

_LAYERS: dict[str, type[nn.RNNBase]] = {"baseline": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
# Products with matrices whose sides are multiples of this are quicker; places that no word has are never written.
_ALIGNED = 16
_SMALL = 0.05  # embeddings begin within this of zero, as in Keras, with which the thesis computed


def require_architecture(architecture: str) -> str:
    """Refuse an unknown architecture."""
    if architecture not in ARCHITECTURES:
        raise ParameterError(f"The architecture must be one of {', '.join(ARCHITECTURES)}.")
    return architecture


@dataclass(frozen=True)
class NetworkShape:
    """How large a network is: how many words, tags and topics it knows, and how wide it is."""

    architecture: str
    words: int
    tags: int
    topics: int
    embedding: int = 200
    hidden: int = 512
    dropout: float = 0.5

    @property
    def contextual(self) -> bool:
        """Whether it is told the topic."""
        return self.architecture != "baseline"

    @property
    def syntactic(self) -> bool:
        """Whether it is told tags, and tells them."""
        return self.architecture.startswith("sc")

    @property
    def places(self) -> int:
        """How many logits a word has: the unknown one's, one for every word, and some that fill up."""
        return -(-(self.words + 1) // _ALIGNED) * _ALIGNED


class WriterNetwork(nn.Module):
    """From the codes of three words in a row to logits of the next word after each.

    Word 0 is the unknown one, whose vector is zero and stays so.
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        require_architecture(shape.architecture)
        self.shape = shape
        kinds = 1 + shape.contextual + shape.syntactic
        self.word_in = nn.Embedding(shape.words + 1, shape.embedding, padding_idx=0)
        self.topic_in = nn.Embedding(shape.topics, shape.embedding) if shape.contextual else None
        self.tag_in = nn.Embedding(shape.tags, shape.embedding) if shape.syntactic else None
        layer: Any = _LAYERS[shape.architecture.lstrip("sc") if shape.contextual else "baseline"]
        self.layer = layer(kinds * shape.embedding, shape.hidden, batch_first=True)
        self.word_out = nn.Linear(shape.hidden, shape.places)
        self.tag_out = nn.Linear(shape.hidden, shape.tags) if shape.syntactic else None
        for part in (self.word_in, self.topic_in, self.tag_in):
            if part is not None:
                nn.init.uniform_(part.weight, -_SMALL, _SMALL)
        with torch.no_grad():
            self.word_in.weight[0] = 0

    def read(self, words: Tensor, tags: Tensor, topics: Tensor) -> Tensor:
        """Give the state after each word: (rows, words, hidden), with dropout while training."""
        parts = [self.word_in(words)]
        if self.topic_in is not None:
            parts.append(self.topic_in(topics).unsqueeze(1).expand(-1, words.shape[1], -1))
        if self.tag_in is not None:
            parts.append(self.tag_in(tags))
        states: Tensor = self.layer(torch.cat(parts, 2))[0]
        return functional.dropout(states, self.shape.dropout, self.training)

    def forward(self, words: Tensor, tags: Tensor, topics: Tensor) -> tuple[Tensor, Tensor | None]:
        """Give the logits of the next word after each, and of its tag."""
        states = self.read(words, tags, topics)
        return self.word_out(states), None if self.tag_out is None else self.tag_out(states)

    def losses(self, words: Tensor, tags: Tensor, topics: Tensor) -> tuple[Tensor, Tensor]:
        """Give the losses of four words in a row, in nats: of words, of tags; a mean over what is known.

        The words are scored by `WordLoss`; targets that the list does not know do not count.
        """
        states = self.read(words[:, :3], tags[:, :3], topics).flatten(0, 1)
        goals = words[:, 1:].flatten()
        weights = (goals > 0).to(states.dtype)
        weights = weights / weights.sum().clamp(min=1)
        out: Any = self.word_out
        of_words: Tensor = WordLoss.apply(states, out.weight, out.bias, goals, weights)  # type: ignore[no-untyped-call]
        if self.tag_out is None:
            return of_words, torch.zeros_like(of_words)
        return of_words, functional.cross_entropy(self.tag_out(states), tags[:, 1:].flatten())


class WordLoss(torch.autograd.Function):
    """The weighted sum of exact cross entropies behind a linear layer, in half the memory traffic of the usual way.

    With probabilities p the slope of a row's logits is p less one at the target. So p is kept, and nothing else of its
    size is ever written: weights go to the small sides of the products.
    """

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, goals: Tensor, weights: Tensor) -> Tensor:
        """Add up the weighted losses."""
        chances = torch.softmax(torch.addmm(bias, states, weight.T), 1)
        hit = chances.gather(1, goals.unsqueeze(1))
        ctx.save_for_backward(states, weight, goals, weights, chances)
        return -(hit.squeeze(1).clamp(min=torch.finfo(hit.dtype).tiny).log() * weights).sum()

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> tuple[Tensor | None, ...]:
        """Give the slopes of states, weight and bias; the probabilities kept become the slopes of the logits."""
        states, weight, goals, weights, chances = ctx.saved_tensors
        scale = (weights * slopes[0]).unsqueeze(1)
        chances.scatter_add_(1, goals.unsqueeze(1), torch.full_like(scale, -1.0))
        return (chances @ weight) * scale, chances.T @ (states * scale), (scale.T @ chances).squeeze(0), None, None


def build_network(shape: NetworkShape, weights: dict[str, Any] | None = None) -> WriterNetwork:
    """Make a network, with the given weights or with drawn ones."""
    made = WriterNetwork(shape)
    if weights is not None:
        try:
            made.load_state_dict({name: torch.as_tensor(value) for name, value in weights.items()})
        except (RuntimeError, TypeError):
            raise ParameterError("The weights are those of another network.") from None
    return made


def choose_device(device: str) -> torch.device:
    """The device meant: "auto" is a GPU where there is one."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device not in ("cpu", "cuda") or (device == "cuda" and not torch.cuda.is_available()):
        raise ParameterError("The device must be 'cpu', 'auto', or 'cuda' where there is a GPU.")
    return torch.device(device)
