"""Networks of sequences: what they cost, what one unit can move, and what they learn where noise hardly matters."""

from __future__ import annotations

import zipfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ziggurat.data import Unit  # noqa: E402
from ziggurat.descent import Gradients  # noqa: E402
from ziggurat.descent._gradients import allowance, sum_clipped  # noqa: E402
from ziggurat.errors import ParameterError, ZigguratError  # noqa: E402
from ziggurat.privacy import LaplaceEvent, SampledGaussianEvent, compose  # noqa: E402
from ziggurat.sequences import SequenceDomain, Sequences  # noqa: E402
from ziggurat.sequences.tokens import RecurrentSequences  # noqa: E402
from ziggurat.sequences.tokens._recurrent import rows_of_units, unit_losses  # noqa: E402
from ziggurat.sequences.tokens._token_network import TokenNetwork, TokenShape  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:The model will be mostly noise")
DOMAIN = SequenceDomain(("a", "b", "c"), longest=6, classes=("calm", "odd"))
OWNED = DOMAIN.with_unit(Unit("person", "person"))


def toy(count: int) -> Sequences:
    """Calm ones alternate and end after four; odd ones repeat what came two before, after two beginnings."""
    calm, odd = [list("abab"), list("baba")], [list("aaccaa"), list("ccaac")]
    both = [(calm + odd)[at % 4] for at in range(count)]
    return Sequences.of(DOMAIN, both, [("calm", "calm", "odd", "odd")[at % 4] for at in range(count)])


def owned(lists: list[list[str]], owners: list[int]) -> Sequences:
    return Sequences.of(OWNED, lists, ["calm"] * len(lists), owners)


def quick(**given: Any) -> RecurrentSequences:
    usual = {"epsilon": 2, "expected_rows": 40, "hidden": 8, "steps": 3, "random_state": 1}
    return RecurrentSequences(**{**usual, **given})


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_the_price_is_known_before_anything_is_read_and_is_what_was_allowed() -> None:
    model = quick(steps=20)
    planned = model.planned(DOMAIN)
    model.fit(toy(40))
    assert model.event_ == planned
    counting, training = planned.events
    assert isinstance(counting, LaplaceEvent)
    assert counting.sensitivity / counting.scale <= Fraction(2) / 20
    assert isinstance(training, SampledGaussianEvent)
    assert (training.sampling, training.steps) == (1, 20)
    assert 1.5 < model.guarantee_.epsilon <= 2
    assert compose(training).approximate(Fraction(1, 10**5)).epsilon <= Fraction(19, 10)


def test_counts_of_somebody_with_several_sequences_are_noised_for_all_of_them() -> None:
    planned = quick(sequences_per_unit=3).planned(OWNED)
    counting, training = planned.events
    assert counting.sensitivity == 3
    assert counting.scale >= 3 * 10
    assert training.neighbours.unit == counting.neighbours.unit == OWNED.unit


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"expected_rows": None}, "expected_rows"), ({"network": "rnn"}, "one of gru"), ({"hidden": 6}, "multiple"),
        ({"sizes_share": 1}, "sizes_share"), ({"delta": 0}, "delta"), ({"sequences_per_unit": 2}, "leave"),
        ({"steps": 0}, "steps"),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_refused_before_anything_is_read(given: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        quick(**given).planned(DOMAIN)


def test_more_units_than_proofs_allow_for_are_refused() -> None:
    with pytest.raises(ZigguratError, match="more rows"):
        quick(expected_rows=10).fit(toy(24))


def test_a_unit_is_one_row_that_its_own_sequences_fill() -> None:
    given = owned([["a"], ["b", "c"], [], ["a", "b", "c", "a", "b", "c"]], [7, 3, 7, 3])
    rows, targets = rows_of_units(given, 2)
    assert rows.shape == (2, 2, 8)
    assert targets.tolist() == [
        [[0, 3, -1, -1, -1, -1, -1], [3, -1, -1, -1, -1, -1, -1]],
        [[1, 2, 3, -1, -1, -1, -1], [0, 1, 2, 0, 1, 2, 3]],
    ]
    assert rows[1, 1].tolist() == [0, 3, 0, 1, 2, 0, 1, 2]
    alone, wanted = rows_of_units(given.take([1, 3]), 2)
    assert np.array_equal(alone[0], rows[1])
    assert np.array_equal(wanted[0], targets[1])


def network(kind: str = "gru", **given: int) -> TokenNetwork:
    torch.manual_seed(2)
    shape = {"tokens": 3, "groups": 2, "longest": 6, "hidden": 8, "layers": 1, **given}
    made = TokenNetwork(TokenShape(kind, **shape))
    with torch.no_grad():
        for value in made.last.parameters():
            value.normal_()
    return made


def moved_by(sequences: Sequences, left_out: int, most: int, clip: float) -> float:
    """How far the sum of clipped gradients moves if one owner is left out."""
    gradients = Gradients(network(), unit_losses, "noted")
    sums = []
    for kept in (sequences, sequences.take(sequences.owners != left_out)):
        rows, targets = (torch.from_numpy(each) for each in rows_of_units(kept, most))
        sums.append(sum_clipped(gradients, rows, targets, torch.arange(len(rows)), 8, clip))
    return float((sums[0] - sums[1]).norm())


def test_somebody_with_many_sequences_moves_the_sum_by_at_most_the_clip() -> None:
    lists, owners = [list("abcabc"), list("aabb"), list("ccc"), list("bca")] * 3, [0] * 6 + [1, 1, 1, 2, 2, 3]
    given = owned(lists, owners)
    reach = 0.4 * (1 + float(allowance(12, 8, Fraction(1))))
    assert 0.39 < moved_by(given, 0, 6, 0.4) <= reach
    by_sequence = owned(lists, list(range(12)))  # a planted bug: every sequence is clipped alone
    each = Sequences(OWNED, by_sequence.codes, by_sequence.offsets, by_sequence.labels, by_sequence.owners)
    everyone = sum_of_rows(each)
    others = sum_of_rows(each.take(np.array(owners) != 0))
    assert float((everyone - others).norm()) > reach


def sum_of_rows(sequences: Sequences) -> Any:
    rows, targets = (torch.from_numpy(part) for part in rows_of_units(sequences, 1))
    return sum_clipped(Gradients(network(), unit_losses, "noted"), rows, targets, torch.arange(len(rows)), 8, 0.4)


@pytest.mark.parametrize("kind", ["gru", "lstm", "transformer"])
def test_what_is_written_step_by_step_is_what_the_network_says_of_whole_sequences(kind: str) -> None:
    made = network(kind, layers=2).eval()
    groups, levels = torch.tensor([0, 1, 1, 0, 1]), iter(np.random.default_rng(3).random(200))
    drawn: list[Any] = []

    def draw(count: int) -> Any:
        drawn.append(torch.tensor([next(levels) for _ in range(count)], dtype=torch.float64))
        return drawn[-1]

    written, lengths = made.write(groups, draw)
    going = torch.arange(5)
    for time, level in enumerate(drawn):
        rows = torch.cat([groups[:, None], torch.full((5, 1), 3), written[:, :time]], 1)[going]
        with torch.no_grad():
            shares = made(rows)[:, -1].double().softmax(1).cumsum(1)
        chosen = (shares < level[:, None]).sum(1)
        assert torch.equal(chosen == 3, lengths[going] == time)
        going = going[chosen != 3]
        assert torch.equal(chosen[chosen != 3], written[going, time])


@pytest.mark.parametrize("kind", ["gru", "lstm", "transformer"])
def test_the_language_of_each_class_is_learned_where_noise_hardly_matters(kind: str) -> None:
    """Seeded. After 'a' a calm sequence goes on with 'b'; an odd one with 'a' or 'c', by what came before."""
    model = quick(network=kind, epsilon=300, expected_rows=256, steps=120, hidden=16).fit(toy(256))
    drawn = model.sample(sizes={"calm": 300, "odd": 100}, random_state=4)
    assert Counter(drawn.classes) == {"calm": 300, "odd": 100}
    found = {name: Counter("".join(each) for each, own in zip(drawn, drawn.classes, strict=True) if own == name)
             for name in DOMAIN.classes}  # fmt: skip
    assert found["calm"]["abab"] + found["calm"]["baba"] > 240
    assert found["odd"]["aaccaa"] + found["odd"]["ccaac"] > 75


def test_sizes_are_counted_with_noise_and_shared_out() -> None:
    model = quick(epsilon=40).fit(toy(40))
    assert all(10 <= size <= 30 for size in model.sizes_)
    assert len(model.sample(random_state=1)) == sum(model.sizes_)
    assert len(model.sample(11, random_state=1)) == 11
    assert model.rehearsal_
    model.sizes_ = (0, 0)
    assert len(model.sample()) == 0
    assert len(model.sample(7)) == 7


def test_what_is_saved_draws_the_same(tmp_path: Path) -> None:
    model = quick(sequences_per_unit=2).fit(owned([list("abc")] * 30, [at // 2 for at in range(30)]))
    model.save(tmp_path / "model")
    again = RecurrentSequences.load(tmp_path / "model")
    assert list(again.sample(50, random_state=2)) == list(model.sample(50, random_state=2))
    assert (again.event_, again.sizes_, again.domain_) == (model.event_, model.sizes_, model.domain_)
    assert model.sample(5).owners.tolist() == [0, 1, 2, 3, 4]


def test_a_killed_training_goes_on_from_its_checkpoint_and_counts_what_it_may_have_taken(tmp_path: Path) -> None:
    given = {"steps": 6, "checkpoint": str(tmp_path / "kept"), "checkpoint_every": 2}
    whole = quick(steps=6).fit(toy(40))

    def stop(_what: str, done: int, _of: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick(**given).fit(toy(40), progress=stop)
    told: list[int] = []
    resumed = quick(**given).fit(toy(40), progress=lambda _what, done, _of: told.append(done))
    assert told == [6]
    assert all(np.array_equal(value, whole.weights_[name]) for name, value in resumed.weights_.items())
    with pytest.raises(ZigguratError, match="other rows"):
        quick(**given).fit(toy(39))
    resumed.save(tmp_path / "model")
    assert str(tmp_path) not in zipfile.ZipFile(tmp_path / "model").read("facts.json").decode()
    assert RecurrentSequences.load(tmp_path / "model").checkpoint is None


def test_an_empty_table_is_learned_like_any_other() -> None:
    model = quick().fit(toy(0))
    assert len(model.sample(3)) == 3
