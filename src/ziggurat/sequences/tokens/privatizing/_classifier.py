"""A recurrent classifier of sequences, without any privacy: the control, and the judge of what is left."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.tokens.privatizing._learning import asking, deal_batches, from_seed, torch_module, with_end

_AT_ONCE = 2048


class RecurrentClassifier:
    """Tell the classes of sequences apart by an embedding and a gated recurrent layer; no promise of its own.

    Parameters
    ----------
    size, hidden
        How many numbers stand for a symbol, and for what was read.
    epochs, batch, learning_rate
        How Adam trains it.
    random_state
        A seed; None for new weights each time.
    """

    def __init__(
        self,
        *,
        size: int = 16,
        hidden: int = 32,
        epochs: int = 6,
        batch: int = 64,
        learning_rate: float = 0.005,
        random_state: int | None = None,
    ) -> None:
        self.size, self.hidden = size, hidden
        self.epochs, self.batch, self.learning_rate = epochs, batch, learning_rate
        self.random_state = random_state

    def fit(self, sequences: Sequences) -> Self:
        """Learn from labelled sequences."""
        torch = torch_module()
        from ziggurat.sequences.tokens.privatizing._modules import ClassifierModule

        if sequences.labels is None or len(sequences) == 0:
            raise DataError("A classifier learns from labelled sequences, at least one; state the domain's classes.")
        with from_seed(self.random_state):
            labels = torch.from_numpy(sequences.labels.astype(np.int64))
            self.module_ = ClassifierModule(sequences.domain.size, sequences.domain.groups, self.size, self.hidden)
            adam = torch.optim.Adam(self.module_.parameters(), lr=self.learning_rate)
            for _ in range(self.epochs):
                for rows, codes, ends in deal_batches(sequences, self.batch):
                    adam.zero_grad()
                    torch.nn.functional.cross_entropy(self.module_(codes, ends), labels[rows]).backward()
                    adam.step()
        return self

    def predict_proba(self, sequences: Sequences) -> npt.NDArray[np.float64]:
        """The chance of each class (column) for each sequence (row)."""
        torch = torch_module()
        made: list[Any] = [np.zeros((0, sequences.domain.groups))]
        with asking():
            for start in range(0, len(sequences), _AT_ONCE):
                part = sequences.take(np.arange(start, min(start + _AT_ONCE, len(sequences))))
                logits = self.module_(*with_end(part, int(part.lengths.max())))
                made.append(torch.softmax(logits.double(), dim=-1).numpy())
        return np.concatenate(made)
