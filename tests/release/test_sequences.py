"""Sequences leave like anything else: paid first, laid out like the table, attacked, certified, verified."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ziggurat.data import Categories, Column, Kind, Schema, Unit, read
from ziggurat.data.generators import log_sequences, log_sequences_schema
from ziggurat.errors import (
    BudgetExceededError,
    DataError,
    GateError,
    MixedNeighboursError,
    NotPublicError,
    ParameterError,
    PrivacyError,
)
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.release import check_synthetic, release_sequences
from ziggurat.release.bundle import verify_bundle
from ziggurat.sequences import SequenceLayout, Sequences, read_sequences
from ziggurat.sequences.tokens import MarkovSequences, RecurrentSequences

LOGS = log_sequences_schema()
PAYS = {"budget": "logs", "analyst": "ada"}
VISITS = Schema(
    (
        Column("visit", Kind.INTEGER, role="identifier"),
        Column("who", Kind.TEXT),
        Column("page", Kind.CATEGORY, categories=Categories(("home", "shop"))),
        Column("at", Kind.DATE),
    ),
    Unit.person("who"),
)


@pytest.fixture
def book(tmp_path):
    with Ledger.open(tmp_path / "book.db") as made:
        made.create_budget("logs", "10", 0, Neighbours(LOGS.unit))
        made.grant("logs", "ada", "5", 0)
        yield made


def model(**given):
    return MarkovSequences("1", sequences_per_unit=1, **given)


class Copying(MarkovSequences):
    """A planted bug: what it was given is drawn again, whatever noise it paid for."""

    def _learn(self, sequences, most, source, progress):
        self.copied_ = sequences
        return super()._learn(sequences, most, source, progress)

    def _draw(self, labels, draw):
        again = self.copied_.take(draw.integers(0, len(self.copied_), len(labels)))
        return again.codes, again.lengths


class Dearer(MarkovSequences):
    """A planted bug: it does something else than it said."""

    def fit(self, sequences, *, progress=None):
        super().fit(sequences, progress=progress)
        self.event_ = MarkovSequences("2", sequences_per_unit=1).planned(sequences.domain)
        return self


def logs(count=300):
    return read(log_sequences(count, abnormal=0.4, seed=5), LOGS)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_sequences_leave_like_the_table_they_come_from(tmp_path, book, ending):
    out, layout = tmp_path / f"logs.{ending}", SequenceLayout("seq", label="label")
    made = release_sequences(logs(), out, model(random_state=2), ledger=book, layout=layout, count=120, **PAYS)
    back = read(out, Schema((LOGS["seq"], LOGS["label"])))
    assert back.declared.names == ("seq", "label")
    assert back.raw.count_rows() == made.files[0].rows == 120
    found = read_sequences(back, layout)
    assert set(found.classes) == {0, 1}
    assert found.to_texts() == list(made.model.sample(120, random_state=2).to_texts())
    assert "120 sequences by MarkovSequences" in made.sentence
    assert set(made.attacked.findings) == {"closest sequences"}
    assert check_synthetic(made.certificate, book)["kind"] == "sequences"
    assert verify_bundle(made.release.bundle(tmp_path / "bundle.zip")).rehearsal


def test_a_long_table_comes_out_long_with_empty_sequences_kept(tmp_path):
    rows = 400
    given = {
        "visit": [place // 2 for place in range(rows)],
        "who": [f"u{place // 4}" for place in range(rows)],
        "page": [("home", "shop")[place % 2] if place % 6 > 1 else None for place in range(rows)],
        "at": pa.array(np.datetime64("2024-01-01T09:00:00") + np.arange(rows).astype("timedelta64[s]")),
    }
    layout = SequenceLayout("visit", "page", "at", longest=3)
    with Ledger.open(tmp_path / "book.db") as book:
        book.create_budget("visits", "10", 0, Neighbours(VISITS.unit))
        book.grant("visits", "ada", "9", 0)
        paid = {"ledger": book, "budget": "visits", "analyst": "ada", "holdout": 0.2}
        many = MarkovSequences("4", sequences_per_unit=2, random_state=1)
        made = release_sequences(read(pa.table(given), VISITS), tmp_path / "v.csv", many, layout=layout, **paid)
    drawn = made.model.sample(random_state=1)
    assert () in set(drawn)
    columns = (Column("visit", Kind.INTEGER), VISITS["page"], Column("at", Kind.INTEGER))
    back = read(tmp_path / "v.csv", Schema(columns, Unit.of("visit", "visit")))
    assert list(read_sequences(back, layout)) == list(drawn)
    assert "u1" not in (tmp_path / "v.csv").read_text()
    assert (tmp_path / "v.csv").read_text().startswith('"visit","at","page"\n')


def test_what_a_network_draws_leaves_the_same_way(tmp_path):
    pytest.importorskip("torch")
    given = {"expected_rows": 300, "steps": 4, "hidden": 8, "sequences_per_unit": 1, "random_state": 1}
    network = RecurrentSequences("2", "1e-5", **given)
    with Ledger.open(tmp_path / "book.db") as book:
        book.create_budget("logs", "10", "1e-4", Neighbours(LOGS.unit))
        book.grant("logs", "ada", "5", "1e-4")
        out, layout = tmp_path / "logs.parquet", SequenceLayout("seq", label="label")
        made = release_sequences(logs(), out, network, ledger=book, layout=layout, count=60, **PAYS)
    assert pq.read_table(out).num_rows == 60
    assert made.guarantee.epsilon <= 2
    assert "60 sequences by RecurrentSequences" in made.sentence


def test_sizes_of_classes_are_drawn_as_asked(tmp_path, book):
    layout = SequenceLayout("seq", label="label")
    out = tmp_path / "out.parquet"
    release_sequences(logs(), out, model(random_state=2), ledger=book, layout=layout, sizes={0: 30, 1: 12}, **PAYS)
    assert sorted(pq.read_table(out)["label"].to_pylist()) == [0] * 30 + [1] * 12


def test_a_model_that_copies_is_stopped_and_nothing_leaves(tmp_path, book):
    distinct = [" ".join(each) for each in np.random.default_rng(3).choice([str(k) for k in range(1, 19)], (600, 30))]
    held = read(
        pa.table({"seq": distinct, "block_id": [f"b{i}" for i in range(600)]}), LOGS.select(("seq", "block_id"))
    )
    out = tmp_path / "out.parquet"
    cheating = Copying("1", sequences_per_unit=1, random_state=4)
    with pytest.raises(GateError, match="closest sequences"):
        release_sequences(held, out, cheating, ledger=book, holdout=0.3, **PAYS)
    assert not out.exists()
    honest = release_sequences(held, out, model(random_state=4), ledger=book, holdout=0.3, **PAYS)
    assert not honest.attacked.alarms


def test_canaries_are_found_in_what_copies_and_not_in_what_keeps_its_promise(tmp_path, book):
    asked = {"ledger": book, "canaries": 6, "count": 400, **PAYS}
    honest = release_sequences(logs(), tmp_path / "a.parquet", model(random_state=4), **asked)
    assert not honest.attacked.findings["canaries"].verdict
    copying = Copying("1", sequences_per_unit=1, random_state=4)
    with pytest.raises(GateError, match="canaries"):
        release_sequences(logs(), tmp_path / "b.parquet", copying, **(asked | {"count": 3000}))


def test_a_model_that_does_something_else_releases_nothing_and_stays_paid(tmp_path, book):
    with pytest.raises(PrivacyError, match="something else than was paid for"):
        release_sequences(logs(), tmp_path / "out.csv", Dearer("1", sequences_per_unit=1), ledger=book, **PAYS)
    assert list(tmp_path.glob("out*")) == []
    assert [each.kind for each in book.history()][3:] == ["reserve", "abandon"]
    assert book.share_left("logs", "ada") < 1


@pytest.mark.parametrize(
    ("error", "says", "given"),
    [
        (ParameterError, "Give a generator of sequences", {"model": object()}),
        (ParameterError, "sequences_per_unit", {"model": MarkovSequences("1")}),
        (ParameterError, "either how many sequences", {"count": 3, "sizes": {0: 1}}),
        (ParameterError, "either how many sequences", {"sizes": {0: 1}}),
        (DataError, "no class of the domain", {"sizes": {7: 1}, "layout": SequenceLayout("seq", label="label")}),
        (ParameterError, "hold-out", {"holdout": 1.5}),
        (ParameterError, "planted in a rehearsal only", {"canaries": 4}),
        (NotPublicError, "has no tokens", {"layout": SequenceLayout("anomaly")}),
        (BudgetExceededError, "epsilon", {"model": MarkovSequences("7", sequences_per_unit=1)}),
        (MixedNeighboursError, "create a budget with --relation", {"table": read(log_sequences(5), LOGS, unit="row")}),
    ],
)
def test_what_is_refused_costs_nothing(tmp_path, book, error, says, given):
    asked = {"table": logs(5), "path": tmp_path / "out.csv", "model": model(), **given}
    with pytest.raises(error, match=says):
        release_sequences(**asked, ledger=book, **PAYS)
    assert [each.kind for each in book.history()][3:] == []


def test_who_is_kept_back_is_decided_owner_by_owner():
    from ziggurat.release._drawn import _Drafting

    domain = read_sequences(logs(4)).domain
    whole = Sequences.of(domain, [["1"]] * 2000, owners=[place // 2 for place in range(2000)])

    class Held:
        maker, holdout, told = model(random_state=1), 0.25, staticmethod(lambda *_: None)
        table, file = None, type("File", (), {"kind": "sequences", "learn_from": staticmethod(lambda _: whole)})

    learned, control = _Drafting._split(Held)
    assert not set(learned.owners.tolist()) & set(control.owners.tolist())
    assert len(learned) + len(control) == 2000
    assert 180 <= len(set(control.owners.tolist())) <= 330  # 250 expected, spread 14: seeded, so no luck
