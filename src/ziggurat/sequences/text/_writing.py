"""Drawing headlines from a network, a word after the other, for many headlines at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ziggurat.sequences.text._codes import Codes
from ziggurat.sequences.text._network import WriterNetwork
from ziggurat.sequences.text._training import mask_logits

NOTE = "synthetic: written by a network, not news"
"""What every written headline, and every file of a writer, says of itself."""


class WrittenHeadline(str):
    """A headline that a network wrote: a text that knows its topic, and says of itself that it is synthetic."""

    __slots__ = ("topic",)

    topic: str

    def __new__(cls, text: str, topic: str) -> WrittenHeadline:
        """Mark a text."""
        made = super().__new__(cls, text)
        made.topic = topic
        return made

    @property
    def note(self) -> str:
        """That it is no news."""
        return NOTE

    def __repr__(self) -> str:
        return f"<{self.topic}, {NOTE}: {str(self)!r}>"


def draw_words(
    network: WriterNetwork,
    words: Codes,
    tags: Codes,
    topics: Codes,
    count: int,
    temperature: float,
    draw: np.random.Generator,
    pairs: npt.NDArray[np.bool_] | None = None,
) -> Codes:
    """Go on from the last three words of each row by `count` words, each drawn and put behind the others.

    The networks that know tags draw the tag of every word, too, and read it back with the word: independently of the
    word given the three before; or, with `pairs` (which word was seen with which tag, a row for each), the tag first
    and then the word among those seen with it. Logits are divided by the temperature.
    """
    device = next(network.parameters()).device
    seen, marks, about = (torch.from_numpy(each).to(device).long() for each in (words[:, -3:], tags[:, -3:], topics))
    fitting = None if pairs is None else _words_by_tag(pairs, network.shape.places).to(device)
    network.eval()
    with torch.no_grad():
        for _ in range(count):
            of_words, of_tags = network(seen[:, -3:], marks[:, -3:], about)
            new = marks[:, -1:] if of_tags is None else _draw(of_tags[:, -1], temperature, draw)
            logits = mask_logits(of_words[:, -1], network.shape.words)
            if fitting is not None and of_tags is not None:
                logits = logits.masked_fill(~fitting[new.squeeze(1)], -torch.inf)
            seen = torch.cat([seen, _draw(logits, temperature, draw)], 1)
            marks = torch.cat([marks, new], 1)
    return seen[:, 3:].cpu().numpy().astype(np.int32)


def _words_by_tag(pairs: npt.NDArray[np.bool_], places: int) -> Tensor:
    """For each tag the words that were seen with it, by place of their logit; all if only unknown ones were."""
    fitting = np.zeros((pairs.shape[1], places), dtype=np.bool_)
    fitting[:, 1 : len(pairs)] = pairs[1:].T
    fitting[~fitting.any(1)] = True
    return torch.from_numpy(fitting)


def _draw(logits: Tensor, temperature: float, draw: np.random.Generator) -> Tensor:
    """Draw a code for every row by inverting the distribution function."""
    chances = torch.softmax(logits.double() / temperature, 1).cumsum(1)
    marks = torch.from_numpy(draw.random((len(logits), 1))).to(logits.device) * chances[:, -1:]
    return torch.searchsorted(chances, marks, right=True).clamp(max=logits.shape[1] - 1)


def join_words(words: Sequence[str], codes: Sequence[int], seed: Sequence[str]) -> str:
    """A headline of the words of a seed and of codes."""
    return " ".join([*seed, *(words[code - 1] for code in codes)])
