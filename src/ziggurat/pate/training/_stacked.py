"""All teachers of one architecture as one module: their parameters stacked along a first axis."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state

from ziggurat.errors import ParameterError
from ziggurat.pate.training._networks import MLP, Network
from ziggurat.pate.training._shuffling import drop_out, mix_key

# Starting weights are drawn from PyTorch's one generator, which chunks in other threads share.
_GENERATOR = threading.Lock()


class KeyedDropout(nn.Module):
    """Dropout whose mask is a hash of a key: under `vmap` each teacher has its own key."""

    key: Tensor

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.register_buffer("key", torch.zeros((), dtype=torch.int64))

    def forward(self, values: Tensor) -> Tensor:
        """Drop units while training."""
        return drop_out(values, self.key, self.share) if self.training else values


class Stack:
    """The stacked parameters of several teachers and their common forward pass.

    `MLP` networks run as batched matrix products; any other module runs under `vmap`. Both give the same numbers up
    to rounding. No teacher's output depends on another's rows or parameters.

    Parameters
    ----------
    network
        The architecture.
    parameters
        Stacked parameters by name, as `torch.func.stack_module_state` names them.
    buffers
        Stacked constants by name.
    by_hand
        Whether to use the batched products; by default for every MLP.
    """

    def __init__(
        self,
        network: Network,
        parameters: Mapping[str, Tensor],
        buffers: Mapping[str, Tensor],
        *,
        by_hand: bool | None = None,
    ) -> None:
        self.network = network
        self.by_hand = isinstance(network, MLP) if by_hand is None else by_hand
        self._module = _seed_module(network, 0).to("meta")
        self.parameters = {name: _lay_out(value) for name, value in _in_order(self._module, parameters).items()}
        self.buffers = dict(buffers)
        parts = self._module.named_modules()
        self._dropouts = [f"{name}.key" for name, part in parts if isinstance(part, KeyedDropout)]

    @classmethod
    def start(cls, network: Network, seeds: Sequence[int], device: str = "cpu", **options: Any) -> Stack:
        """Return teachers with starting weights, each drawn from its own seed on the CPU."""
        modules = [_seed_module(network, seed) for seed in seeds]
        parameters, buffers = stack_module_state(modules)
        moved = [{name: value.detach().to(device) for name, value in state.items()} for state in (parameters, buffers)]
        return cls(network, *moved, **options)

    @property
    def draws(self) -> bool:
        """Whether training needs a key per step, because units are dropped."""
        return bool(self._dropouts)

    def one(self, place: int, device: str) -> Stack:
        """Return one of the teachers alone, in memory of its own on a device."""
        one = copy.copy(self)
        one.parameters = {name: _alone(value, place, device) for name, value in self.parameters.items()}
        one.buffers = {name: _alone(value, place, device) for name, value in self.buffers.items()}
        return one

    def logits(self, rows: Tensor, keys: Tensor | None = None) -> Tensor:
        """Return the logits of every teacher for its own rows: (teachers, rows, ...) to (teachers, rows, outputs).

        With one key per teacher units are dropped, as in training.
        """
        if self.by_hand:
            return self._products(rows, keys)
        buffers = self.buffers | {name: mix_key(keys, at) for at, name in enumerate(self._dropouts) if keys is not None}
        self._module.train(keys is not None)
        if len(rows) == 1:
            return self._one(_first(self.parameters), _first(buffers), rows[0]).unsqueeze(0)
        answer: Tensor = torch.vmap(self._one)(self.parameters, buffers, rows)
        return answer

    def _one(self, parameters: dict[str, Tensor], buffers: dict[str, Tensor], rows: Tensor) -> Tensor:
        answer: Tensor = functional_call(self._module, (parameters, buffers), (rows,))
        return answer

    def _products(self, rows: Tensor, keys: Tensor | None) -> Tensor:
        """One batched product per layer. The parameters come in pairs: a weight, then its bias."""
        pairs = list(self.parameters.values())
        layers = list(zip(pairs[::2], pairs[1::2], strict=True))
        share = getattr(self.network, "dropout", 0.0)
        for at, (weight, bias) in enumerate(layers):
            rows = torch.baddbmm(bias.unsqueeze(1), rows, weight.mT)
            if at < len(layers) - 1:
                rows = rows.relu_()
                rows = drop_out(rows, mix_key(keys, at), share) if keys is not None and share else rows
        return rows


def require_stackable(network: Network) -> None:
    """Raise a sentence unless the module takes rows of the stated shape and can be stacked; zeros stand for rows."""
    if not isinstance(network, Network):
        raise ParameterError("A network must be an MLP, a CNN or a Network of your own.")
    try:
        stack = Stack.start(network, (0, 1))
        rows = torch.zeros((2, 3, *network.shape))
        shape = tuple(stack.logits(rows, torch.zeros(2, dtype=torch.int64)).shape)
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        reason = str(error).splitlines()[0]
        raise ParameterError(f"The network fails on rows of shape {network.shape}: {reason}") from None
    if shape != (2, 3, network.outputs):
        raise ParameterError(f"The network must give {network.outputs} logits a row, not rows of shape {shape[2:]}.")
    if not stack.parameters:
        raise ParameterError("The network has no parameters to train.")


def _module(network: Network) -> nn.Module:
    """Build a module in which the masks of dropout come from keys."""
    module = network.build()
    if not isinstance(module, nn.Module):
        raise ParameterError("A network must build a PyTorch module.")
    for name, part in list(module.named_modules()):
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            raise ParameterError("Batch normalisation cannot be stacked; use GroupNorm or LayerNorm instead.")
        if name and isinstance(part, nn.Dropout):
            module.set_submodule(name, KeyedDropout(part.p))
    return module


def _seed_module(network: Network, seed: int) -> nn.Module:
    with _GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _module(network)


def _in_order(module: nn.Module, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Give the parameters in the order of the module; refuse those of another architecture."""
    shapes = {name: tuple(value.shape) for name, value in module.named_parameters()}
    if shapes != {name: tuple(value.shape[1:]) for name, value in parameters.items()}:
        raise ParameterError("The parameters are of another network than the one given.")
    return {name: parameters[name] for name in shapes}


def _first(values: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value[0] for name, value in values.items()}


def _alone(value: Tensor, place: int, device: str) -> Tensor:
    return value[place : place + 1].to(device, copy=True)


def _lay_out(value: Tensor) -> Tensor:
    """Keep a stack of matrices transposed in memory: its gradient then comes out in that order and needs no copy."""
    return value.mT.contiguous().mT if value.dim() == 3 else value.contiguous()
