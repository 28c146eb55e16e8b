import subprocess
import sys

import pytest
import torch
from torch import nn

from ziggurat.errors import MissingExtraError, ParameterError
from ziggurat.pate import CNN, MLP, Network
from ziggurat.pate.training import require_stackable, require_torch
from ziggurat.pate.training._networks import from_dict, to_dict


def _parameters(network: Network) -> int:
    return sum(value.numel() for value in network.build().parameters())


def test_the_network_for_web_requests_has_the_stated_size():
    assert _parameters(MLP(500)) == 500 * 512 + 512 + 512 * 128 + 128 + 128 + 1 == 322_305


def test_one_logit_tells_two_classes_apart_and_ten_logits_ten():
    assert MLP(3).classes == 2
    assert CNN().classes == 10
    assert CNN().build()(torch.zeros(2, 1, 28, 28)).shape == (2, 10)


@pytest.mark.parametrize("network", [MLP(7, (5,), 3, 0.5), MLP(7, ()), CNN((3, 9, 8), (4,), 6, 2, 0.1)])
def test_a_network_comes_back_from_its_json_form(network):
    assert from_dict(to_dict(network), None) == network
    require_stackable(network)


def test_a_network_of_ones_own_has_to_be_given_again():
    own = Network.of(lambda: nn.Linear(4, 2), shape=(4,), outputs=2)
    with pytest.raises(ParameterError, match="give it as `network`"):
        from_dict(to_dict(own), None)
    with pytest.raises(ParameterError, match="another shape"):
        from_dict(to_dict(own), MLP(5))
    assert from_dict(to_dict(own), own) is own


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        (nn.Linear(5, 2), "fails on rows of shape"),
        (nn.Linear(4, 3), "must give 2 logits"),
        (nn.Sequential(nn.BatchNorm1d(4), nn.Linear(4, 2)), "GroupNorm"),
        (nn.Sequential(nn.Linear(4, 2), nn.RReLU()), "fails on rows of shape"),
        (nn.Flatten(), "no parameters"),
        ("a module", "must build a PyTorch module"),
    ],
)
def test_modules_that_cannot_be_stacked_are_refused_in_a_sentence(module, sentence):
    outputs = 4 if isinstance(module, nn.Flatten) else 2
    with pytest.raises(ParameterError, match=sentence):
        require_stackable(Network.of(lambda: module, shape=(4,), outputs=outputs))


@pytest.mark.parametrize(
    "make",
    [
        lambda: MLP(0),
        lambda: MLP(3, (0,)),
        lambda: MLP(3, outputs=0),
        lambda: MLP(3, dropout=1.0),
        lambda: MLP(2.5),
        lambda: CNN((1, 3, 3), (4, 8)),
        lambda: Network.of("module", shape=(1,), outputs=1),
    ],
)
def test_wrong_sizes_are_refused(make):
    with pytest.raises(ParameterError):
        make()


def test_importing_the_package_does_not_import_torch():
    code = "import sys, ziggurat.pate.teachers._teachers; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_absent_pytorch_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"ziggurat\[torch\]"):
        require_torch()
