"""Modules that promise to keep rows apart, and dropout that leaves out the same for all of them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ziggurat.errors import ParameterError


class RowwiseModule(nn.Module):
    """A module whose class promises that its `forward` treats every row alone, so that it is trained the quick way.

    Name it among the bases of your own class, and let the class keep to this:

    - rows come first in whatever `forward` is given, makes and returns, and what it returns for one row depends on that
      row alone, whatever the others hold and whatever the weights have become. No mean over rows, no batch
      normalisation, no sorting of rows, no draw that goes by a row's place (`descent.Dropout` draws rightly);
    - `forward` keeps nothing from one call to the next;
    - every trained parameter lies in a layer that has a rule (linear, convolution, embedding, layer normalisation, or
      one of this package), is used by calling that layer, once, with rows first; positions are looked up for every
      row, as in `positions(torch.arange(time).expand(rows, time))`.

    **The privacy of a training rests on the first two**, as it does for the layers of PyTorch that are known to keep
    rows apart. They are tried on invented rows, and a class found to break them is refused, but no trial can show that
    rows never mix. If the third is broken, gradients are not those of the loss, though no row weighs more for it; the
    trial compares them with those of single rows, for the first weights and for others, and falls back to the slow way.

    The promise is a class's own: a class that inherits from one that made it promises nothing unless it says so itself.
    """


def promises(layer: nn.Module) -> bool:
    """Say whether the class of a layer promises, itself, that rows are kept apart."""
    return RowwiseModule in type(layer).__bases__


class Dropout(RowwiseModule):
    """Leaves out the same numbers of every row, others in every step, so that draws do not go by a row's place."""

    def __init__(self, share: float = 0.5) -> None:
        super().__init__()
        if not 0 <= share < 1:
            raise ParameterError("The share that dropout leaves out must be at least 0 and below 1.")
        self.share = share

    def forward(self, features: Tensor) -> Tensor:
        """Leave out and make up for it while training; change nothing afterwards."""
        if not self.training or not self.share:
            return features
        kept = torch.rand(features.shape[1:], device=features.device) >= self.share
        return features * (kept / (1 - self.share))
