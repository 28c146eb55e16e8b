"""Clipped sums through embeddings, recurrent layers and attention are those of single rows in doubles."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from ziggurat import descent  # noqa: E402
from ziggurat.descent import Gradients, choose_gradients, cross_entropy, invent_rows, token_losses  # noqa: E402
from ziggurat.descent._gradients import allowance, sum_clipped  # noqa: E402
from ziggurat.descent._parts import LinesLookedUp, OuterSums  # noqa: E402
from ziggurat.descent._rules import RULES, LayerRule  # noqa: E402
from ziggurat.errors import ParameterError  # noqa: E402

TOKENS, TIME, WIDTH, ROWS = 7, 5, 8, 11


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Speaker(descent.RowwiseModule):
    """Tokens in, logits of the next ones out."""

    def __init__(self, *middle: nn.Module, padding: int | None = None) -> None:
        super().__init__()
        self.lines, self.middle = nn.Embedding(TOKENS, WIDTH, padding_idx=padding), nn.ModuleList(middle)
        self.last = nn.Linear(WIDTH, TOKENS)

    def forward(self, rows: Any) -> Any:
        seen = self.lines(rows)
        for layer in self.middle:
            seen = layer(seen)
        return self.last(seen)


class Placed(descent.RowwiseModule):
    """Attention to what is there, in both directions, with positions."""

    def __init__(self) -> None:
        super().__init__()
        self.lines, self.places = nn.Embedding(TOKENS, WIDTH), nn.Embedding(TIME, WIDTH)
        self.attention, self.last = descent.SelfAttention(WIDTH, 2, causal=False), nn.Linear(WIDTH, TOKENS)

    def forward(self, rows: Any) -> Any:
        seen = self.lines(rows) + self.places(torch.arange(TIME).expand(rows.shape))
        return self.last(self.attention(seen, rows > 0))


KINDS = {
    "embedding": lambda: nn.Sequential(nn.Embedding(TOKENS, WIDTH), nn.Linear(WIDTH, TOKENS)),
    "padded": lambda: Speaker(padding=3),
    "normalised": lambda: Speaker(nn.LayerNorm(WIDTH)),
    "over two": lambda: Speaker(nn.LayerNorm((TIME, WIDTH))),
    "lstm": lambda: Speaker(descent.LSTM(WIDTH, WIDTH)),
    "lstms": lambda: Speaker(descent.LSTM(WIDTH, 3, 2), nn.Tanh(), nn.Linear(3, WIDTH)),
    "gru": lambda: Speaker(descent.GRU(WIDTH, WIDTH)),
    "grus": lambda: Speaker(descent.GRU(WIDTH, 9, 2), nn.Linear(9, WIDTH)),
    "attention": lambda: Speaker(descent.SelfAttention(WIDTH, 2)),
    "both ways": Placed,
    "block": lambda: Speaker(descent.TransformerBlock(WIDTH, 2), descent.TransformerBlock(WIDTH, 4)),
}


def made(kind: str) -> nn.Module:
    torch.manual_seed(len(kind))
    return KINDS[kind]()


def given(shape: tuple[int, ...] = (TIME,)) -> tuple[Any, Any]:
    """Rows with repeated tokens, of which some end early: targets that do not count are -1."""
    generator = torch.Generator().manual_seed(1)
    rows = torch.randint(0, TOKENS, (ROWS, *shape), generator=generator)
    rows[0], rows[..., 0] = 2, 4
    targets = torch.randint(0, TOKENS, (ROWS, *shape), generator=generator)
    targets[1, ..., 2:], targets[2] = -1, -1
    return rows, targets


def loop(module: nn.Module, rows: Any, targets: Any, clip: float) -> Any:
    """One row after the other, in double precision, by nothing but PyTorch's own gradients."""
    doubled, total = copy.deepcopy(module).double(), 0
    for row, target in zip(rows, targets, strict=True):
        doubled.zero_grad()
        token_losses(doubled(row[None]), target[None]).sum().backward()
        parts = [value.grad if value.grad is not None else torch.zeros_like(value) for value in doubled.parameters()]
        whole = torch.cat([part.flatten() for part in parts])
        total = total + whole * (clip / max(clip, float(whole.norm())))
    return total


def far(found: Any, expected: Any) -> float:
    return float((found - expected).norm() / expected.norm())


@pytest.mark.parametrize("clip", [0.05, 100.0])
@pytest.mark.parametrize("kind", KINDS)
def test_the_sum_is_that_of_a_loop_over_rows_in_doubles(
    kind: str, clip: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, (rows, targets) = made(kind), given()
    expected = loop(module, rows, targets, clip)
    for way, few in (("noted", 0), ("noted", TIME), ("mapped", 0)):
        monkeypatch.setattr("ziggurat.descent._rules._FEW_TIMES", few)  # sums over time, written out or not
        found = sum_clipped(Gradients(module, token_losses, way), rows, targets, torch.arange(ROWS), 8, clip)
        assert far(found, expected) < 1e-5


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_trained_the_quick_way(kind: str) -> None:
    module = made(kind)
    before = [value.clone() for value in module.parameters()]
    rows = invent_rows((TIME,), "cpu", below=TOKENS)
    assert choose_gradients(module, token_losses, rows, rows).way == "noted"
    assert all(torch.equal(*each) for each in zip(before, module.parameters(), strict=True))


@pytest.mark.parametrize("kind", ["lstm", "grus", "block"])
def test_somebody_with_several_sequences_is_one_row(kind: str) -> None:
    module, (rows, targets) = made(kind), given((3, TIME))
    found = sum_clipped(Gradients(module, token_losses, "noted"), rows, targets, torch.arange(ROWS), 8, 0.05)
    assert far(found, loop(module, rows, targets, 0.05)) < 1e-5


@pytest.mark.parametrize(("ours", "theirs"), [(descent.LSTM, nn.LSTM), (descent.GRU, nn.GRU)])
def test_recurrent_layers_compute_what_pytorch_does(ours: Any, theirs: Any) -> None:
    torch.manual_seed(2)
    own, other = ours(4, 6, 2), theirs(4, 6, 2, batch_first=True)
    with torch.no_grad():
        for layer in range(2):
            told, memory = own.layers[2 * layer], own.layers[2 * layer + 1]
            weights = [getattr(other, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
            weights[0].copy_(told.weight), weights[1].copy_(memory.weight)
            weights[2].copy_(told.bias), weights[3].zero_()
            if ours is descent.GRU:
                weights[3][12:] = memory.bias
    features = torch.randn(3, 5, 4)
    torch.testing.assert_close(own(features), other(features)[0])
    states = own.start(3)
    for now, expected in zip(features.unbind(1), own(features).unbind(1), strict=True):
        found, states = own.advance(now, states)
        torch.testing.assert_close(found, expected)


def test_causal_attention_sees_no_later_time_and_nobody_sees_what_is_not_there() -> None:
    torch.manual_seed(3)
    features, there = torch.randn(2, 5, WIDTH), torch.tensor([[True, True, False, True, True]] * 2)
    for causal in (True, False):
        attention = descent.SelfAttention(WIDTH, 2, causal)
        moved = features.clone()
        moved[:, 2] += 1
        same = torch.isclose(attention(features, there), attention(moved, there), atol=1e-6).all(-1)
        assert same.tolist() == [[True, True, False, True, True]] * 2
        moved[:, 4] += 1
        assert torch.allclose(attention(features, there)[:, 0], attention(moved, there)[:, 0], atol=1e-6) is causal


def test_attention_one_step_at_a_time_is_attention() -> None:
    torch.manual_seed(7)
    block, features, state = descent.TransformerBlock(WIDTH, 2), torch.randn(3, TIME, WIDTH), ()
    for now, expected in zip(features.unbind(1), block(features).unbind(1), strict=True):
        found, state = block.advance(now, state)
        torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("kind", ["lstm", "gru", "block"])
def test_no_row_of_tokens_moves_the_sum_by_more_than_the_clip(kind: str) -> None:
    module, (rows, targets) = made(kind), given()
    gradients = Gradients(module, token_losses, "noted")
    everything = sum_clipped(gradients, rows, targets, torch.arange(ROWS), 8, 0.03)
    moved = []
    for left_out in range(ROWS):
        places = torch.tensor([place for place in range(ROWS) if place != left_out])
        moved.append(float((everything - sum_clipped(gradients, rows, targets, places, 8, 0.03)).norm()))
    reach = 0.03 * (1 + float(allowance(ROWS, 8, Fraction(1))))
    assert reach / 2 < max(moved) <= reach


@pytest.mark.parametrize("width", [8, 7])
@pytest.mark.parametrize("kind", [descent.LSTM, descent.GRU])
def test_the_place_in_a_block_changes_a_gradient_through_time_by_less_than_is_allowed_for(
    kind: Any, width: int
) -> None:
    torch.manual_seed(6)
    gradients = Gradients(nn.Sequential(nn.Embedding(TOKENS, width), kind(width, width)), of_all, "noted")
    rows, kept = torch.randint(0, TOKENS, (32, 40)), torch.eye(32, dtype=torch.bool)
    for at in (0, 13, 31):
        found = []
        for shift in (0, 1):
            totals = gradients.zeros()
            gradients.add_clipped(totals, rows.roll(shift, 0), rows, kept[(at + shift) % 32], 0.3)
            found.append(torch.cat([part.flatten() for part in totals]))
        assert float((found[0] - found[1]).norm()) <= 0.3 * float(gradients.place)


def of_all(outputs: Any, _targets: Any) -> Any:
    return outputs.flatten(1).square().sum(1)


def test_a_norm_that_forgets_the_embedding_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above finds a rule that adds more than it counts."""

    class Forgotten(LinesLookedUp):
        def squares(self) -> Any:
            return super().squares() * 0

    def find(layer: Any, note: Any) -> Iterator[Any]:
        yield layer.weight, Forgotten(note.inputs.flatten(1), note.slopes.flatten(1, -2), layer.num_embeddings)

    monkeypatch.setitem(RULES, nn.Embedding, LayerRule(find))
    with pytest.raises(AssertionError):
        test_no_row_of_tokens_moves_the_sum_by_more_than_the_clip("lstm")
    with pytest.raises(AssertionError):
        test_tokens_are_trained_the_quick_way("lstm")


@pytest.mark.parametrize(("one", "other"), [(1.0, 1.0), (2.0**-75, 2.0**55), (2.0**60, 2.0**-90)])
def test_lengths_of_sums_over_time_are_never_too_short(one: float, other: float) -> None:
    """Where nearly everything cancels or underflows, inner products of floats alone would find next to nothing."""
    generator = torch.Generator().manual_seed(4)
    left, right = (torch.randn((50, 1, size), generator=generator) for size in (30, 40))
    left, right = torch.cat([left, -left], 1) * one, torch.cat([right, right * (1 + 2.0**-23)], 1) * other
    exact = torch.bmm(left.double().mT, right.double()).flatten(1).norm(dim=1)
    assert bool((OuterSums(left, right).squares() >= exact.square()).all())
    naive = torch.bmm(left, left.mT).mul(torch.bmm(right, right.mT)).sum((1, 2)).clamp(min=0).sqrt()
    assert bool((naive < exact * 0.9).any())


def test_lengths_of_sums_over_time_are_hardly_too_long() -> None:
    generator = torch.Generator().manual_seed(5)
    left, right = (torch.randn((9, 20, size), generator=generator) for size in (30, 40))
    exact = torch.bmm(left.double().mT, right.double()).flatten(1).square().sum(1)
    assert bool((OuterSums(left, right).squares() <= exact * 1.001).all())


def test_rows_without_finite_gradients_count_as_nothing() -> None:
    module, (rows, targets) = made("lstm"), given()
    with torch.no_grad():
        module.lines.weight[6] = torch.inf
    spoilt = (rows == 6).any(1)
    assert spoilt.any()
    assert not spoilt.all()
    gradients = Gradients(module, token_losses, "noted")
    found = sum_clipped(gradients, rows, targets, torch.arange(ROWS), 8, 0.5)
    kept = torch.nonzero(~spoilt).flatten()
    torch.testing.assert_close(found, sum_clipped(gradients, rows, targets, kept, 8, 0.5))


class Mixing(descent.RowwiseModule):
    """Breaks its promise: every row hears the mean of all."""

    def __init__(self, share: float = 1) -> None:
        super().__init__()
        self.share, self.lines, self.last = share, nn.Embedding(TOKENS, WIDTH), nn.Linear(WIDTH, TOKENS)
        nn.init.zeros_(self.last.weight) if not share else None

    def forward(self, rows: Any) -> Any:
        seen = self.lines(rows)
        return self.last(seen + seen.mean(0))


@pytest.mark.parametrize("share", [1, 0])
def test_a_broken_promise_is_refused_also_where_the_first_weights_hide_it(share: float) -> None:
    rows = invent_rows((TIME,), "cpu", below=TOKENS)
    with pytest.raises(ParameterError, match="mixes rows"):
        choose_gradients(Mixing(share), token_losses, rows, rows)


class Tied(descent.RowwiseModule):
    """Uses the lines of its embedding a second time, beside the layer, which zeros hide at first."""

    def __init__(self) -> None:
        super().__init__()
        self.lines, self.middle = nn.Embedding(TOKENS, WIDTH), nn.Linear(WIDTH, WIDTH)
        nn.init.zeros_(self.middle.weight)

    def forward(self, rows: Any) -> Any:
        return (self.middle(self.lines(rows)) - self.middle.bias) @ self.lines.weight.T


class Heir(Speaker):
    """Promises nothing itself."""


class PlacesOnce(descent.RowwiseModule):
    """Looks positions up for nobody."""

    def __init__(self) -> None:
        super().__init__()
        self.lines, self.places = nn.Embedding(TOKENS, TOKENS), nn.Embedding(TIME, TOKENS)

    def forward(self, rows: Any) -> Any:
        return self.lines(rows) + self.places(torch.arange(TIME))


def twice() -> nn.Module:
    layer = descent.GRU(WIDTH, WIDTH)
    return Speaker(layer, layer)


def frequencies() -> nn.Module:
    return nn.Sequential(nn.Embedding(TOKENS, WIDTH, scale_grad_by_freq=True), nn.Linear(WIDTH, TOKENS))


@pytest.mark.parametrize("make", [Tied, Heir, PlacesOnce, twice, frequencies])
def test_what_notes_would_get_wrong_is_computed_row_by_row(make: Any) -> None:
    rows = invent_rows((TIME,), "cpu", below=TOKENS)
    assert choose_gradients(make(), token_losses, rows, rows).way == "mapped"


def test_dropout_leaves_out_the_same_for_every_row_and_other_things_in_the_next_step() -> None:
    module, (rows, targets) = Speaker(descent.TransformerBlock(WIDTH, 2, 0.5)), given()
    trial = invent_rows((TIME,), "cpu", below=TOKENS)
    found = choose_gradients(module.train(), token_losses, trial, trial)
    assert found.way == "noted"
    sums = []
    for places in (torch.arange(ROWS), torch.arange(1, ROWS), torch.arange(ROWS)):
        torch.manual_seed(5)
        sums.append(sum_clipped(found, rows, targets, places, 8, 0.3))
    other = sum_clipped(found, rows, targets, torch.arange(ROWS), 8, 0.3)
    assert float((sums[0] - sums[1]).norm()) <= 0.3 * (1 + float(allowance(ROWS, 8, Fraction(1))))
    assert torch.equal(sums[0], sums[2])
    assert not torch.allclose(sums[0], other)
    torch.manual_seed(5)
    mapped = sum_clipped(Gradients(module, token_losses, "mapped"), rows, targets, torch.arange(ROWS), 8, 0.3)
    assert far(sums[0], mapped) < 1e-5
    assert torch.equal(module.eval()(rows), module.eval()(rows))


def test_codes_are_invented_within_their_ranges() -> None:
    rows = invent_rows((3,), "cpu", below=(2, 5, 1))
    assert rows.shape == (4, 3)
    assert bool((rows >= 0).all())
    assert bool((rows < torch.tensor([2, 5, 1])).all())


def test_losses_of_tokens_leave_out_what_does_not_count() -> None:
    logits, targets = torch.randn(2, 3, 4), torch.tensor([[1, -1, 2], [-1, -1, -1]])
    expected = cross_entropy(logits[0, [0, 2]], torch.tensor([1, 2])).mean()
    torch.testing.assert_close(token_losses(logits, targets), torch.stack([expected, torch.zeros(())]))
