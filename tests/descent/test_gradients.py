"""Clipped sums are what a loop over single rows gives, however they are computed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from ziggurat.descent import Gradients, choose_gradients, cross_entropy, invent_rows  # noqa: E402
from ziggurat.descent._gradients import allowance, blocks, sum_clipped  # noqa: E402
from ziggurat.errors import ParameterError  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Small products are over before a second thread has begun."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def dense() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3, bias=False))


def convolved() -> nn.Module:
    first = (nn.Unflatten(1, (1, 6, 6)), nn.Conv2d(1, 4, 3, 2, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 2, dilation=2))
    return nn.Sequential(*first, nn.Flatten(), nn.LazyLinear(3))


class Tokens(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last = nn.Linear(2, 4), nn.Linear(4, 3)

    def forward(self, rows: Any) -> Any:
        return self.last(torch.relu(self.layer(rows.view(len(rows), 3, 2))).mean(1))


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.same, self.last = nn.Linear(6, 6), nn.Linear(6, 3)

    def forward(self, rows: Any) -> Any:
        return self.last(torch.tanh(self.same(torch.tanh(self.same(rows)))))


class Normed(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.Linear(6, 8), nn.GroupNorm(2, 8), nn.ReLU(inplace=True), nn.Linear(8, 3))


def loop(module: nn.Module, rows: Any, targets: Any, clip: float) -> Any:
    total = 0
    for row, target in zip(rows, targets, strict=True):
        module.zero_grad()
        cross_entropy(module(row[None]), target[None]).sum().backward()
        whole = torch.cat([value.grad.flatten() for value in module.parameters()]).double()
        total = total + whole * min(1.0, clip / float(whole.norm()))
    return total


def given(module: nn.Module, width: int, count: int = 37) -> tuple[nn.Module, Any, Any]:
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn((count, width), generator=generator)
    module(rows)
    return module, rows, torch.randint(0, 3, (count,), generator=generator)


@pytest.mark.parametrize("clip", [0.01, 0.7, 100.0])
@pytest.mark.parametrize("way", ["noted", "mapped"])
@pytest.mark.parametrize(("make", "width"), [(dense, 6), (convolved, 36), (Tokens, 6)])
def test_the_sum_is_that_of_a_loop_over_rows(make: Any, width: int, way: str, clip: float) -> None:
    module, rows, targets = given(make(), width)
    expected = loop(module, rows, targets, clip)
    found = sum_clipped(Gradients(module, cross_entropy, way), rows, targets, torch.arange(37), 16, clip)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6 * clip)


class Own(nn.Linear):
    pass


def shared() -> nn.Module:
    one, other = nn.Linear(6, 6), nn.Linear(6, 6)
    other.weight = one.weight
    return nn.Sequential(one, nn.Tanh(), other, nn.Tanh(), nn.Linear(6, 3))


def repeated() -> nn.Module:
    one = nn.Linear(6, 6)
    return nn.Sequential(one, nn.Tanh(), one, nn.Tanh(), nn.Linear(6, 3))


class Functional(nn.Module):
    """Uses a weight beside its layer, which cannot be seen as long as the last weights are zero."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.last = nn.Linear(6, 6), nn.Linear(6, 3)
        nn.init.zeros_(self.last.weight)

    def forward(self, rows: Any) -> Any:
        return self.last(torch.tanh(self.layer(rows)) @ self.layer.weight)


def hooked() -> nn.Module:
    module = dense()
    module[0].register_forward_hook(lambda _layer, _inputs, output: output * 2)
    return module


def overridden() -> nn.Module:
    module = dense()
    module[1].forward = torch.sigmoid
    return module


@pytest.mark.parametrize(
    ("make", "way"),
    [
        (dense, "noted"), (convolved, "noted"), (Tokens, "mapped"), (Twice, "mapped"), (Normed, "mapped"),
        (shared, "mapped"), (repeated, "mapped"), (Functional, "mapped"), (hooked, "mapped"), (overridden, "mapped"),
        (lambda: nn.Sequential(Own(6, 3)), "mapped"),
    ],
)  # fmt: skip
def test_notes_are_taken_only_where_they_are_right(make: Any, way: str) -> None:
    width = 36 if make is convolved else 6
    module, rows, targets = given(make(), width)
    found = choose_gradients(module, cross_entropy, invent_rows((width,), "cpu"), torch.zeros(4, dtype=torch.int64))
    assert found.way == way
    with torch.no_grad():
        found.parameters[-2].normal_(generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(
        sum_clipped(found, rows, targets, torch.arange(37), 8, 0.5),
        loop(module, rows, targets, 0.5),
        rtol=1e-4,
        atol=1e-6,
    )


@pytest.mark.parametrize("way", ["noted", "mapped"])
def test_no_row_moves_the_sum_by_more_than_the_clip(way: str) -> None:
    module, rows, targets = given(dense(), 6)
    gradients = Gradients(module, cross_entropy, way)
    everything = sum_clipped(gradients, rows * 50, targets, torch.arange(37), 16, 0.3)
    moved = []
    for left_out in range(37):
        places = torch.tensor([place for place in range(37) if place != left_out])
        moved.append(float((everything - sum_clipped(gradients, rows * 50, targets, places, 16, 0.3)).norm()))
    reach = 0.3 * (1 + float(allowance(37, 16, Fraction(1))))
    assert reach / 2 < max(moved) <= reach  # half the sensitivity would be caught


def deep() -> nn.Module:
    """Kernels treat the last of 1000 rows of so wide a network otherwise, on some processors."""
    first = (nn.Linear(123, 257), nn.SiLU(), nn.Linear(257, 65), nn.GELU())
    return nn.Sequential(*first, nn.Linear(65, 3))


@pytest.mark.parametrize(("make", "width", "block"), [(dense, 6, 32), (convolved, 36, 33), (deep, 123, 1000)])
def test_the_place_in_a_block_changes_a_rows_gradient_by_less_than_is_allowed_for(
    make: Any, width: int, block: int
) -> None:
    module, rows, targets = given(make(), width, block)
    gradients = Gradients(module, cross_entropy, "noted")
    kept = torch.eye(block, dtype=torch.bool)
    for at in (0, 1, block // 2, block - 2, block - 1):
        found = []
        for shift in (0, 1):
            totals = gradients.zeros()
            gradients.add_clipped(totals, rows.roll(shift, 0), targets.roll(shift), kept[(at + shift) % block], 0.3)
            found.append(torch.cat([part.flatten() for part in totals]))
        assert float((found[0] - found[1]).norm()) <= 0.3 * 2.0**-22


@pytest.mark.parametrize("way", ["noted", "mapped"])
def test_a_row_without_a_finite_gradient_counts_as_nothing(way: str) -> None:
    module, rows, targets = given(dense(), 6)
    gradients = Gradients(module, cross_entropy, way)
    spoilt = torch.cat([rows, torch.full((1, 6), torch.inf)])
    found = sum_clipped(gradients, spoilt, torch.cat([targets, targets[:1]]), torch.arange(38), 16, 0.5)
    torch.testing.assert_close(found, sum_clipped(gradients, rows, targets, torch.arange(37), 16, 0.5))


def test_an_empty_sample_sums_to_zero() -> None:
    module, rows, targets = given(dense(), 6)
    found = sum_clipped(Gradients(module, cross_entropy, "noted"), rows, targets, torch.arange(0), 16, 0.5)
    assert not found.any()


def test_blocks_have_one_size_and_cover_every_place_once() -> None:
    found = list(blocks(torch.arange(10), 4))
    assert [len(own) for own, _ in found] == [4, 4, 4]
    assert torch.cat([own[kept] for own, kept in found]).tolist() == list(range(10))


class Mean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, rows: Any) -> Any:
        return self.layer(rows - rows.mean(0))


class Centred(nn.Module):
    """Mixes rows in training alone."""

    def forward(self, rows: Any) -> Any:
        return (rows - rows.mean(0)) * 5 if self.training else rows


@pytest.mark.parametrize(
    "module",
    [
        nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3)), Mean(), nn.Sequential(Centred(), nn.Linear(6, 3)),
        nn.Sequential(nn.Dropout(0.5), Centred(), nn.Linear(6, 3)),
    ],
)  # fmt: skip
def test_modules_that_mix_rows_are_refused(module: nn.Module) -> None:
    with pytest.raises(ParameterError, match="mixes rows"):
        choose_gradients(module, cross_entropy, invent_rows((6,), "cpu"), torch.zeros(4, dtype=torch.int64))


class Gate(nn.Module):
    """Mixes rows only beside one that the trial has not seen."""

    def forward(self, rows: Any) -> Any:
        return torch.where(rows.abs().amax() > 50, (rows - rows.mean(0)) * 5, rows)


def hidden_mixing() -> nn.Module:
    """Mixes rows only once the last weights are no longer zero."""
    module = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3, bias=False), nn.Softmax(0))
    nn.init.zeros_(module[2].weight)
    return module


@pytest.mark.parametrize("make", [lambda: nn.Sequential(nn.Linear(6, 8), Gate(), nn.Linear(8, 3)), hidden_mixing])
def test_mixing_that_no_trial_shows_moves_the_sum_by_no_more_than_two_clips(make: Any) -> None:
    module, rows, targets = given(make(), 6, 256)
    found = choose_gradients(module, cross_entropy, invent_rows((6,), "cpu"), torch.zeros(4, dtype=torch.int64))
    with torch.no_grad():
        module[2 if len(module) > 3 else 0].weight.normal_(std=5, generator=torch.Generator().manual_seed(4))
    before = sum_clipped(found, rows, targets, torch.arange(256), 256, 0.1)
    rows[0] = 1e4
    after = sum_clipped(found, rows, targets, torch.arange(256), 256, 0.1)
    assert float((before - after).norm()) <= 0.2 * (1 + float(allowance(256, 256, Fraction(1))))


class Extremes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(6))

    def forward(self, rows: Any) -> Any:
        if self.training:
            self.seen = torch.maximum(self.seen, rows.detach().abs().amax(0))
        return rows


class RunningMean(Extremes):
    def forward(self, rows: Any) -> Any:
        if self.training:
            self.seen.mul_(0.9).add_(0.1 * rows.detach().mean(0))
        return rows


class Remembered(nn.Linear):
    def get_extra_state(self) -> Any:
        return self.weight

    def set_extra_state(self, state: Any) -> None:
        pass


@pytest.mark.parametrize("layer", [Extremes(), RunningMean(), Remembered(6, 6)])
def test_modules_that_keep_something_of_the_rows_are_refused(layer: nn.Module) -> None:
    module = nn.Sequential(layer, nn.Linear(6, 3))
    with pytest.raises(ParameterError, match="keeps something of the rows"):
        choose_gradients(module, cross_entropy, invent_rows((6,), "cpu"), torch.zeros(4, dtype=torch.int64))


def test_dropout_leaves_out_the_same_for_all_rows_of_a_step_whatever_their_places() -> None:
    module, rows, targets = given(nn.Sequential(nn.Linear(6, 9), nn.Dropout(0.5), nn.Linear(9, 3)), 6)
    found = choose_gradients(module, cross_entropy, invent_rows((6,), "cpu"), torch.zeros(4, dtype=torch.int64))
    sums = []
    for places in (torch.arange(37), torch.arange(1, 37), torch.arange(37)):
        torch.manual_seed(5)
        sums.append(sum_clipped(found, rows, targets, places, 16, 0.3))
    other = sum_clipped(found, rows, targets, torch.arange(37), 16, 0.3)
    assert float((sums[0] - sums[1]).norm()) <= 0.3 * (1 + float(allowance(37, 16, Fraction(1))))
    assert torch.equal(sums[0], sums[2])
    assert not torch.allclose(sums[0], other)  # the next step leaves out others


def test_a_module_of_another_shape_is_refused_in_a_sentence() -> None:
    with pytest.raises(ParameterError, match="rows of this shape"):
        choose_gradients(dense(), cross_entropy, invent_rows((7,), "cpu"), torch.zeros(4, dtype=torch.int64))


def test_dropout_and_frozen_layers_are_trained_around() -> None:
    module = nn.Sequential(nn.Linear(6, 5), nn.Dropout(0.5), nn.Linear(5, 3))
    module[0].requires_grad_(False)
    _, rows, targets = given(module, 6)
    found = choose_gradients(module.train(), cross_entropy, invent_rows((6,), "cpu"), torch.zeros(4, dtype=torch.int64))
    assert found.names == ["2.weight", "2.bias"]
    assert len(sum_clipped(found, rows, targets, torch.arange(37), 16, 0.5)) == 18
