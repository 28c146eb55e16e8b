"""Networks of PyTorch that leave: weights without code, and an architecture that is declared in words."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.errors import ArtefactError, ParameterError
from ziggurat.pate.training import Network, require_torch
from ziggurat.pate.training.storage import describe_network, network_from

if TYPE_CHECKING:
    from torch import nn

    from ziggurat.attacks.models import AttackedModel
    from ziggurat.pate.training import Training

FORMAT = "ziggurat/module/1"
WEIGHTS = ".safetensors"
"""How the name of a file of weights ends."""
_AT_ONCE = 1024
_CLOSE = 1e-4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DeclaredModule(Shown):
    """A classifier in PyTorch, with the architecture by which whoever gets its weights builds it again.

    Parameters
    ----------
    module
        The trained module, which gives logits.
    network
        Its architecture: an `MLP` or a `CNN` of `ziggurat.pate`, which a file can describe, or `Network.of(factory,
        shape=…, outputs=…)` for one of your own, whose code is handed over by other ways.
    classes
        The classes in the order of its logits; codes from 0 unless given.
    training
        How attackers train networks like it, to compare with; without it they train none.
    """

    module: nn.Module = field(repr=False)
    network: Network
    classes: tuple[Any, ...] = ()
    training: Training | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse what is no module, or names other classes than its network."""
        require_torch()
        from torch import nn

        if not isinstance(self.module, nn.Module) or not isinstance(self.network, Network):
            raise ParameterError("Declare a module of PyTorch with its network: MLP(…), CNN(…) or Network.of(…).")
        named = tuple(self.classes) or tuple(range(self.network.classes))
        if len(set(named)) != self.network.classes or not all(isinstance(each, str | int) for each in named):
            raise ParameterError(f"Name the {self.network.classes} classes of the network by texts or whole numbers.")
        object.__setattr__(self, "classes", named)

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The classes in the order of its answers."""
        return np.array(self.classes)

    @property
    def n_features_in_(self) -> int:
        """How many numbers a row of features has."""
        return math.prod(self.network.shape)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803 - as in scikit-learn
        """The probability of every class for every row; a row is a vector, which becomes an image where one is due."""
        import torch

        rows = np.ascontiguousarray(X, np.float32).reshape(-1, *self.network.shape)
        kind = next((each.dtype for each in self.module.parameters() if each.is_floating_point()), torch.float32)
        trained = self.module.training
        self.module.eval()
        try:
            with torch.no_grad():
                parts = [
                    self.module(torch.from_numpy(rows[at : at + _AT_ONCE]).to(kind)).double().cpu().numpy()
                    for at in range(0, len(rows), _AT_ONCE)
                ]
        except (RuntimeError, TypeError, AttributeError, IndexError):
            raise ParameterError("The module cannot be asked about rows of the shape that is declared.") from None
        finally:
            self.module.train(trained)
        return self._weigh(np.concatenate(parts) if parts else np.empty((0, self.network.outputs)), len(rows))

    def _weigh(self, logits: Floats, rows: int) -> Floats:
        from scipy.special import softmax

        said = logits.reshape(rows, -1)
        if said.shape[1] != self.network.outputs:
            raise ParameterError(f"The module gives {said.shape[1]} numbers for a row and not those that are declared.")
        both = np.column_stack([np.zeros(rows), said[:, 0]]) if said.shape[1] == 1 else said
        return np.asarray(softmax(both, axis=1))

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The class named for every row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def meet(self) -> AttackedModel:
        """The module as attackers meet it, who train such networks if they know how."""
        from ziggurat.attacks.models import AttackedModel, NetworkRecipe

        recipe = None if self.training is None else NetworkRecipe(self.network, self.training)
        return AttackedModel(self.predict_proba, recipe=recipe, name=type(self.module).__name__)

    def describe(self, content: bytes) -> dict[str, Any]:
        """What stands beside the weights: how they become a network again; nothing that runs."""
        tensors = {
            name: {"type": str(each.dtype).removeprefix("torch."), "shape": list(each.shape)}
            for name, each in self.module.state_dict().items()
        }
        return {
            "format": FORMAT,
            "network": describe_network(self.network),
            "classes": list(self.classes),
            "class": f"{type(self.module).__module__}.{type(self.module).__qualname__}",
            "tensors": tensors,
            "sha256": hashlib.sha256(content).hexdigest(),
        }

    def require_alike(self, again: DeclaredModule, rows: Floats) -> None:
        """Refuse a module that is not all in its weights: what is read back would be another model."""
        if not np.allclose(self.predict_proba(rows), again.predict_proba(rows), atol=_CLOSE):
            raise ArtefactError(
                "What is read back from the weights answers otherwise than the module: it keeps something outside of "
                "its parameters and buffers; register it as a buffer, or declare another network."
            )


def write_module(model: DeclaredModule) -> bytes:
    """Give parameters and buffers as safetensors, which hold numbers and no code."""
    from safetensors.torch import save

    held = model.module.state_dict()
    try:
        return bytes(save({name: each.detach().cpu().contiguous().clone() for name, each in held.items()}))
    except Exception:  # noqa: BLE001 - whatever is no plain tensor
        raise ArtefactError(
            "Something in the state of this module is no plain tensor, so that it has no file."
        ) from None


def parse_module(content: bytes, declared: DeclaredModule) -> DeclaredModule:
    """Read weights back into a fresh module of the declared architecture."""
    return DeclaredModule(
        _load(content, declared.network), declared.network, declared.classes, declared.training
    )  # fmt: skip


def read_module(path: str | Path, network: Network | None = None) -> DeclaredModule:
    """Read a module that `release_model` wrote: its weights, and the description beside them; no code is run.

    Parameters
    ----------
    path
        The .safetensors file.
    network
        The architecture: of weights without a description, and of a network of your own.
    """
    file = Path(path)
    beside = beside_weights(file)
    try:
        content = file.read_bytes()
        told = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    except (OSError, ValueError):
        raise ArtefactError(
            f"There are no readable weights in {str(path)!r}, or what describes them is damaged."
        ) from None
    if not isinstance(told, dict) or told.get("format", FORMAT) != FORMAT:
        raise ArtefactError(f"{str(beside)!r} describes no module; move it, or restore the one that was written.")
    if told and told.get("sha256") != hashlib.sha256(content).hexdigest():
        raise ArtefactError(f"{str(beside)!r} describes other weights than those in {file.name!r}; restore both.")
    if not told and network is None:
        raise ArtefactError(f"Nothing beside {str(path)!r} says which network it is; name one, such as mlp:64,32.")
    chosen = network_from(told["network"], network) if told and network is None else network
    if chosen is None or (told and not isinstance(told.get("classes"), list)):
        raise ArtefactError(f"{str(beside)!r} is damaged; restore a copy.")
    return DeclaredModule(_load(content, chosen), chosen, tuple(told.get("classes", ())))


def beside_weights(file: Path) -> Path:
    """Where the description of weights stands."""
    return file.with_suffix(".json")


def read_shapes(path: str | Path) -> list[tuple[int, ...]]:
    """The shapes of the tensors of a file in its order, which tell how wide a network is."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            names = sorted(file.keys(), key=_by_layer)
            return [tuple(file.get_slice(name).get_shape()) for name in names]
    except (OSError, SafetensorError):
        raise ArtefactError(f"There are no readable weights in {str(path)!r}.") from None


def _by_layer(name: str) -> list[tuple[int, str]]:
    """Layers count as numbers: 10 comes after 2."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in name.split(".")]


def _load(content: bytes, network: Network) -> nn.Module:
    from safetensors.torch import load

    made = network.build()
    try:
        made.load_state_dict(load(content), strict=True)
    except Exception:  # noqa: BLE001 - damaged files and other shapes fail in many ways
        raise ArtefactError("The weights are damaged, or not those of the network that is declared.") from None
    return made.eval()
