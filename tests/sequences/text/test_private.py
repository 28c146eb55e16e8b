"""Private writers: a unit is one row, its gradient is clipped once, and nothing is learned for free."""

import numpy as np
import pytest

from ziggurat.errors import NotPublicError, ParameterError, ZigguratError
from ziggurat.sequences.text import (
    PENN_TAGS,
    CodedHeadlines,
    HeadlineWriter,
    NetworkShape,
    RowNetwork,
    RowShape,
    WordList,
    build_network,
    row_losses,
    score_windows,
)

torch = pytest.importorskip("torch")

KNOWN = WordList(tuple(f"w{place}" for place in range(20)))
PRIVATE = ("clstm", "cgru", "sclstm", "scgru")
SMALL = {"embedding": 4, "hidden": 6, "device": "cpu"}


def coded_headlines(count=12, seed=0):
    draw = np.random.default_rng(seed)
    headlines = [" ".join(draw.choice([*KNOWN.words, "other"], draw.integers(4, 9))) for _ in range(count)]
    tags = [[PENN_TAGS[draw.integers(len(PENN_TAGS))] for _ in each.split()] for each in headlines]
    return CodedHeadlines.of(headlines, draw.integers(0, 3, count).tolist(), tags, KNOWN)


def shape(architecture):
    return NetworkShape(architecture, len(KNOWN), len(PENN_TAGS), 3, 4, 6, 0.0)


@pytest.mark.parametrize("architecture", PRIVATE)
def test_a_row_has_the_loss_of_all_its_trigrams_and_the_same_weights(architecture):
    torch.manual_seed(1)
    network, coded, row = build_network(shape(architecture)), coded_headlines(), RowShape(9)
    module = RowNetwork(shape(architecture), row).take_up(network)
    losses = module(torch.from_numpy(row.fill(coded, np.arange(12), 12))).detach().flatten()
    windows = coded.windows()
    for place in range(12):
        own = [
            torch.from_numpy(each[windows.rows == place]).long()
            for each in (windows.words, windows.tags, windows.topics)
        ]
        assert sum(network.losses(*own)).item() == pytest.approx(losses[place].item(), rel=1e-5)
    again = build_network(shape(architecture), module.usual_weights())
    assert np.allclose(score_windows(network, windows), score_windows(again, windows), atol=1e-6)


@pytest.mark.parametrize("architecture", PRIVATE)
def test_the_quick_gradients_of_rows_are_those_of_single_rows(architecture):
    from ziggurat.descent import choose_gradients

    row = RowShape(6, 3)
    rows = torch.from_numpy(row.fill(coded_headlines(), np.arange(12) % 4, 4))
    module = RowNetwork(shape(architecture), row)
    assert choose_gradients(module, row_losses, rows, torch.zeros(4, dtype=torch.int64)).way == "noted"


def test_a_row_is_a_function_of_its_own_unit_and_of_what_counts_of_it():
    coded, row = coded_headlines(), RowShape(5, 2)
    units = np.array([0, 1, 2, 0, 1, 2, 0, 1, 3, 3, 3, 3])
    whole = row.fill(coded, units, 4)
    kept = np.flatnonzero(units != 1)
    renamed = np.unique(units[kept], return_inverse=True)[1]
    assert np.array_equal(row.fill(coded.take(kept), renamed, 3), whole[[0, 2, 3]])
    assert np.array_equal(whole[0], row.fill(coded.take(np.array([0, 3])), np.zeros(2, int), 1)[0])


def test_one_unit_moves_the_clipped_sum_by_at_most_the_clip_and_one_clipped_by_trigrams_moves_it_further():
    """The negative control clips every headline of a publisher by itself: the sum then moves by more than the clip."""
    from ziggurat.descent import Gradients

    coded, clip = coded_headlines(8, 3), 2.0**-6
    whole, single = RowShape(9, 8), RowShape(9, 1)
    moved = []
    for row, units in ((whole, np.zeros(8, int)), (single, np.arange(8))):
        torch.manual_seed(2)
        module = RowNetwork(shape("clstm"), row)
        rows = torch.from_numpy(row.fill(coded, units, int(units.max()) + 1))
        gradients = Gradients(module, row_losses, "noted")
        totals = gradients.zeros()
        gradients.add_clipped(totals, rows, rows[:, 0], torch.ones(len(rows), dtype=torch.bool), clip)
        moved.append(float(torch.cat([total.flatten() for total in totals]).norm()))
    assert moved[0] <= clip * (1 + 1e-6)
    assert moved[1] > 2 * clip


def private(**more):
    given = {"epsilon": 3, "expected_rows": 40, "vocabulary": KNOWN.words, "batch": 20, "epochs": 2, "random_state": 5}
    return HeadlineWriter("scgru", **{**SMALL, **given, **more})


def texts(count=40):
    draw = np.random.default_rng(2)
    headlines = [" ".join(draw.choice(KNOWN.words, 6)) for _ in range(count)]
    return headlines, ["b"] * count, [["NN"] * 6] * count


@pytest.mark.filterwarnings("ignore:The model will be mostly noise")
def test_a_private_writer_keeps_its_budget_and_says_for_whom():
    writer = private()
    planned = writer.planned()
    told = []
    writer.fit(*texts(), progress=lambda *each: told.append(each))
    assert writer.event_ == planned
    assert writer.guarantee_.epsilon <= 3
    assert told[-1] == ("steps", planned.steps, planned.steps)
    assert not writer.curve_.validation
    again = private().fit(*texts())
    assert all(np.array_equal(writer.weights_[name], again.weights_[name]) for name in writer.weights_)
    of_publishers = private(unit="publisher", headlines_per_publisher=3)
    of_publishers.fit(*texts(), publishers=[f"p{place % 9}" for place in range(40)])
    assert str(of_publishers.event_.neighbours.unit) == "one publisher (column publisher)"
    assert str(writer.event_.neighbours.unit) == "one row"


@pytest.mark.filterwarnings("ignore:The model will be mostly noise")
def test_a_private_writer_begins_with_a_public_one_and_is_read_back_with_its_promise(tmp_path):
    public = HeadlineWriter("scgru", validation=0, epochs=1, **SMALL).fit(*texts(8))
    writer = private(vocabulary=None, start=public).fit(*texts())
    assert writer.words_ == public.words_
    writer.save(tmp_path / "writer")
    read = HeadlineWriter.load(tmp_path / "writer")
    assert read.guarantee_ == writer.guarantee_
    assert HeadlineWriter("scgru", start=public, validation=0, epochs=1, **SMALL).fit(*texts()).guarantee_ is None


def test_what_is_private_is_not_learned_for_free():
    headlines = texts()
    with pytest.raises(NotPublicError, match="word list"):
        private(vocabulary=None).fit(*headlines)
    for wrong, words in (
        ({"expected_rows": None}, "expected_rows"),
        ({"unit": "publisher"}, "headlines_per_publisher"),
        ({"unit": "person"}, "unit must be"),
        ({"headlines_per_publisher": 2}, "leave headlines_per_publisher out"),
        ({"longest": 3}, "four words"),
        ({"expected_rows": 10}, "more rows"),
    ):
        with pytest.raises(ZigguratError, match=words):
            private(**wrong).fit(*headlines)
    with pytest.raises(ParameterError, match="baseline"):
        HeadlineWriter("baseline", epsilon=1, expected_rows=40, vocabulary=KNOWN.words, **SMALL).fit(*headlines)
    with pytest.raises(ZigguratError, match="publisher of every headline"):
        private(unit="publisher", headlines_per_publisher=2).fit(*headlines)


@pytest.mark.filterwarnings("ignore:The model will be mostly noise")
def test_without_a_single_headline_a_private_writer_is_fitted_all_the_same():
    """Adding the first headline must not show as an error that goes away."""
    assert private().fit([], [], []).guarantee_.epsilon <= 3
