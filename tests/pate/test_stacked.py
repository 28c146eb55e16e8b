import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from ziggurat.pate import CNN, MLP, Network, Training
from ziggurat.pate.training import best_cut
from ziggurat.pate.training._chunk import Chunk, programs, train
from ziggurat.pate.training._shuffling import drop_out, mix, orders
from ziggurat.pate.training._stacked import Stack

SEEDS = (11, 22, 33)


def _chunk(network, training=None, sizes=(40, 37, 33), seeds=SEEDS, held=8, draw=0):
    """Teachers with rows of their own; each teacher's rows depend on its seed alone."""
    rows, labels = [], []
    for seed, size in zip(seeds, sizes, strict=True):
        generator = np.random.default_rng([seed, draw])
        rows.append(generator.normal(size=(size, *network.shape)).astype(np.float32))
        labels.append(generator.integers(0, network.classes, size))
    starts = np.cumsum([0, *sizes])
    learned = tuple(np.arange(start, start + size - held) for start, size in zip(starts, sizes, strict=False))
    kept = tuple(np.arange(start + size - held, start + size) for start, size in zip(starts, sizes, strict=False))
    training = training or Training(epochs=4, batch=16, learning_rate=0.01)
    return Chunk(network, training, np.concatenate(rows), np.concatenate(labels), learned, kept, seeds)


def _equal(first, second, at=slice(None), other=slice(None)):
    return all(torch.equal(value[at], second.parameters[name][other]) for name, value in first.parameters.items())


@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_products_by_hand_agree_with_vmap(outputs, dropout):
    network = MLP(6, (9, 5), outputs, dropout)
    rows, keys = torch.randn(3, 7, 6), torch.tensor([1, 2, 3])
    by_hand, mapped = (Stack.start(network, SEEDS, by_hand=way) for way in (True, False))
    for key in (None, keys):
        torch.testing.assert_close(by_hand.logits(rows, key), mapped.logits(rows, key))


def test_a_stacked_teacher_is_its_own_module():
    network = CNN((1, 8, 8), (4,), 6, 3)
    stack = Stack.start(network, SEEDS)
    rows = torch.randn(3, 5, 1, 8, 8)
    module = network.build().eval()
    module.load_state_dict({name: value[1] for name, value in stack.parameters.items()})
    torch.testing.assert_close(stack.logits(rows)[1], module(rows[1]))
    torch.testing.assert_close(stack.one(1, "cpu").logits(rows[1:2])[0], module(rows[1]))


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_each_teacher_learns_what_a_plain_loop_over_its_rows_would(optimiser, outputs):
    training = Training(epochs=3, batch=16, learning_rate=0.01, weight_decay=0.01, optimiser=optimiser, held_out=0)
    chunk = _chunk(MLP(6, (9, 5), outputs), training, held=0)
    trained = train(chunk)
    for at, seed in enumerate(SEEDS):
        for name, value in _plain_loop(chunk, at, seed).items():
            torch.testing.assert_close(trained.parameters[name][at], value, rtol=1e-4, atol=1e-5)


def _plain_loop(chunk, at, seed):
    training, own = chunk.training, chunk.train[at]
    torch.manual_seed(seed)
    module = chunk.network.build()
    rates = {"lr": training.learning_rate, "weight_decay": training.weight_decay}
    sgd = training.optimiser == "sgd"
    optimiser = (
        torch.optim.SGD(module.parameters(), momentum=0.9, **rates)
        if sgd
        else torch.optim.Adam(module.parameters(), **rates)
    )
    for epoch in range(training.epochs):
        order = orders(torch.tensor([seed]), epoch, torch.tensor([own.size]), own.size)[0]
        for part in order.split(training.batch):
            rows, labels = (torch.from_numpy(array[own])[part] for array in (chunk.features, chunk.labels))
            logits = module(rows)
            binary = chunk.network.outputs == 1
            goal = labels[:, None].float() if binary else labels
            loss = (functional.binary_cross_entropy_with_logits if binary else functional.cross_entropy)(logits, goal)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return module.state_dict()


@pytest.mark.parametrize("network", [MLP(6, (9, 5)), MLP(6, (9,), 3, 0.3), CNN((1, 6, 6), (4,), 8, 3, 0.2)])
def test_changing_a_row_of_one_teacher_changes_no_other_teacher_by_a_bit(network):
    chunk, changed = _chunk(network), _chunk(network)
    changed.features[chunk.train[1][0]] += 3
    changed.labels[chunk.held[1][:4]] = 0
    first, second = train(chunk), train(changed)
    assert _equal(first, second, [0, 2], [0, 2])
    assert torch.equal(first.cuts[[0, 2]], second.cuts[[0, 2]])
    assert not _equal(first, second, 1, 1)


def test_adding_rows_to_one_teacher_changes_no_other_teacher_by_a_bit():
    training = Training(epochs=3, batch=16, learning_rate=0.01, patience=1)
    before = _chunk(MLP(30, (40, 20), dropout=0.2), training, sizes=(44, 44, 44))
    after = _chunk(MLP(30, (40, 20), dropout=0.2), training, sizes=(44, 48, 44))
    assert _equal(train(before), train(after), [0, 2], [0, 2])


@pytest.mark.parametrize("network", [MLP(41, (63, 31), dropout=0.1), CNN((1, 6, 6), (3,), 7, 3)])
def test_who_is_beside_a_teacher_changes_it_by_no_bit(network):
    training = Training(epochs=2, batch=62)
    first, second = (
        train(_chunk(network, training, (100,) * 5, seeds)) for seeds in ((1, 2, 3, 4, 5), (6, 2, 7, 8, 5))
    )
    assert _equal(first, second, [1, 4], [1, 4])


def test_the_same_seed_trains_the_same_teacher_and_another_does_not():
    first, again, other = (train(_chunk(MLP(6), seeds=seeds)) for seeds in (SEEDS, SEEDS, (11, 22, 34)))
    assert _equal(first, again)
    assert not _equal(first, other, 2, 2)


def test_training_leaves_pytorchs_generator_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    train(_chunk(MLP(6, (4,))))
    assert torch.equal(torch.rand(3), expected)


def test_an_order_holds_every_row_once_and_the_padding_last():
    order = orders(torch.tensor([1, 2]), 3, torch.tensor([50, 37]), 64)
    assert sorted(order[0, :50].tolist()) == list(range(50))
    assert sorted(order[1, :37].tolist()) == list(range(37))
    assert order[1, 37:].tolist() == list(range(37, 64))
    assert not torch.equal(order, orders(torch.tensor([1, 2]), 4, torch.tensor([50, 37]), 64))


def test_the_hash_is_splitmix64():
    """The first outputs of SplitMix64 from state 0, from Vigna's reference program's published test vector."""
    golden = 0x9E3779B97F4A7C15 - 2**64
    hashed = [word % 2**64 for word in mix(torch.arange(1, 4) * golden).tolist()]
    assert hashed == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_dropout_keeps_the_stated_share_and_ten_times_five_percent_off_is_rejected():
    """Fixed keys: the draw is one number. Under fresh keys a deviation of 6 sigma has probability below 2e-9."""
    values = drop_out(torch.ones(4, 500, 500), torch.tensor([1, 2, 3, 4]), 0.3)
    kept = (values > 0).double().mean().item()
    sigma = (0.3 * 0.7 / 1e6) ** 0.5
    assert abs(kept - 0.7) < 6 * sigma < abs(kept - 0.7 * 0.95)
    assert values.max().item() == pytest.approx(1 / 0.7)


def test_dropout_of_a_users_module_comes_from_each_teachers_own_seed():
    network = Network.of(
        lambda: nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 1)), shape=(6,), outputs=1
    )
    assert _equal(train(_chunk(network)), train(_chunk(network, sizes=(40, 37, 39))), [0, 1], [0, 1])


def test_teachers_with_other_numbers_of_steps_never_share_a_program():
    assert programs([64, 65, 10, 128, 129, 64], 64, 2) == [(0, 5), (2, 0), (1, 1), (1, 3), (4, 4)]
    assert programs([10] * 7, 4, 3) == [(0, 1, 2), (3, 4, 5), (6, 0, 0)]


def test_the_cut_maximises_true_less_false_positives():
    generator = np.random.default_rng(3)
    for _ in range(50):
        scores, labels = generator.normal(size=30).round(1), generator.integers(0, 2, 30)
        cut = best_cut(scores, labels)
        gains = [_gain(scores, labels, each) for each in [*scores - 0.01, scores.max() + 1]]
        assert _gain(scores, labels, cut) == pytest.approx(max(gains)) or (cut == 0 and max(gains) <= 0)


def _gain(scores, labels, cut):
    named = scores > cut
    return named[labels == 1].mean() - named[labels == 0].mean()


@pytest.mark.parametrize(("scores", "labels"), [([1.0, 2.0], [0, 0]), ([1.0, 1.0], [0, 1]), ([np.nan, 1.0], [0, 1])])
def test_the_cut_is_one_half_where_it_cannot_be_learned(scores, labels):
    assert best_cut(np.array(scores), np.array(labels)) == 0.0
