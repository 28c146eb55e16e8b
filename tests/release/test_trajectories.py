"""Trajectories leave like anything else: paid first, without people and dates, attacked, certified, verified."""

from fractions import Fraction
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from ziggurat.data import Schema, Unit, read
from ziggurat.data.generators import city_places, city_visits, city_visits_schema
from ziggurat.errors import (
    BudgetExceededError,
    GateError,
    MixedNeighboursError,
    ParameterError,
    PrivacyError,
    SchemaError,
)
from ziggurat.ledger import Ledger
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Neighbours, PureEvent, exact_epsilon
from ziggurat.release import check_synthetic, release_trajectories
from ziggurat.release.bundle import verify_bundle
from ziggurat.release.trajectories._files import TrajectoryFile
from ziggurat.sequences.mobility import (
    DrawnVisits,
    Ground,
    Trajectories,
    TrajectoryDomain,
    TrajectoryGenerator,
    VisitLayout,
    read_ground,
    read_trajectories,
)
from ziggurat.sequences.tokens import MarkovSequences

SCHEMA = city_visits_schema(places=40)
LAYOUT = VisitLayout("person", "minute", "place", longest=6)
GROUND = read_ground(city_places(40), "place", "latitude", "longitude")
PAYS = {"budget": "city", "analyst": "ada"}


class NoisyPlaces(TrajectoryGenerator):
    """The smallest private generator: noisy counts of places, two visits each, at noon and at two."""

    def __init__(self, epsilon="1", delta=0, *, sequences_per_unit=None, random_state=None):
        self.epsilon, self.delta = epsilon, delta
        self.sequences_per_unit, self.random_state = sequences_per_unit, random_state

    def _plan_event(self, domain, neighbours, most):
        return PureEvent(neighbours, exact_epsilon(self.epsilon))

    def _learn(self, sequences, most, source, progress):
        progress("places", 0, 1)
        size = sequences.domain.size
        counts = np.bincount(sequences.codes, minlength=size)
        whom, bound = Neighbours(sequences.domain.unit), most * sequences.domain.longest
        noise = Laplace.calibrated(self.epsilon, bound, values="integers", coordinates=size, neighbours=whom)
        self.counts_ = np.maximum(np.asarray(noise.release(counts, source.child("places")).value, float), 0) + 1e-9
        return (max(int(self.counts_.sum()) // 2, 1),)

    def _draw_visits(self, labels, draw):
        codes = draw.choice(self.domain_.size, 2 * len(labels), p=self.counts_ / self.counts_.sum())
        return DrawnVisits(codes, np.full(len(labels), 2), np.tile([720, 840], len(labels)))

    def _state(self):
        return {}, {"counts": self.counts_}

    def _restore(self, facts, arrays):
        self.counts_ = arrays["counts"]


class Copying(NoisyPlaces):
    """A planted bug: what it was given is drawn again, whatever noise it paid for."""

    def _learn(self, sequences, most, source, progress):
        self.copied_ = sequences
        return super()._learn(sequences, most, source, progress)

    def _draw_visits(self, labels, draw):
        again = self.copied_.take(draw.integers(0, len(self.copied_), len(labels)))
        return DrawnVisits(again.codes, again.lengths, again.minutes % (7 * 1440))


class Dearer(NoisyPlaces):
    """A planted bug: it does something else than it said."""

    def fit(self, sequences, *, progress=None):
        super().fit(sequences, progress=progress)
        self.event_ = PureEvent(self.event_.neighbours, Fraction(2))
        return self


@pytest.fixture
def book(tmp_path):
    with Ledger.open(tmp_path / "book.db") as made:
        made.create_budget("city", "20", 0, Neighbours(SCHEMA.unit))
        made.grant("city", "ada", "9", 0)
        yield made


def model(epsilon="1", **given):
    return NoisyPlaces(epsilon, sequences_per_unit=5, **given)


def visits(people=150, schema=SCHEMA):
    return read(city_visits(people, places=40, seed=3), schema)


def let_go(book, out, generator, **given):
    asked = {"layout": LAYOUT, "ground": GROUND, **PAYS, **given}
    return release_trajectories(asked.pop("table", None) or visits(), out, generator, ledger=book, **asked)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_trajectories_leave_as_numbered_visits(tmp_path, book, ending):
    out = tmp_path / f"city.{ending}"
    made = let_go(book, out, model(random_state=2), count=70)
    back = read(out).raw.rows()
    assert back.column_names == ["trajectory", "visit", "place", "latitude", "longitude", "minute"]
    assert back.num_rows == made.files[0].rows == 140
    drawn = made.model.sample(70, random_state=2)
    assert back["place"].to_pylist() == [GROUND.names[code] for code in drawn.codes]
    assert set(back["minute"].to_pylist()) == {720, 840}
    latitude = dict(zip(*(city_places(40)[name].to_pylist() for name in ("place", "latitude")), strict=True))
    assert [latitude[each] for each in back["place"].to_pylist()] == pytest.approx(back["latitude"].to_pylist())
    assert "70 trajectories by NoisyPlaces" in made.sentence
    assert set(made.attacked.findings) == {"closest trajectories", "found by points"}
    assert check_synthetic(made.certificate, book)["kind"] == "trajectories"
    assert verify_bundle(made.release.bundle(tmp_path / "bundle.zip")).rehearsal


def test_the_certificate_says_what_is_public_and_whom_it_hides(tmp_path, book):
    made = let_go(book, tmp_path / "city.parquet", model(random_state=2), count=20)
    facts = made.release.certificate.to_dict()
    assert facts["promise"]["unit"] == "one person (column person)"
    said = " ".join(facts["not_protected"])
    assert "the box around them" in said
    assert "people, dates, places that are not on the public list" in said
    assert "not a person" not in said
    assert (facts["details"]["places"], facts["details"]["box"]) == (40, GROUND.to_plain()["box"])
    assert len(facts["details"]["places_sha256"]) == 64
    assert (facts["details"]["longest"], facts["details"]["cut"]) == (6, "day")


def test_a_unit_that_is_a_trajectory_hides_no_person_and_says_so(tmp_path):
    rows = city_visits(80, places=40, seed=3)
    trips = pa.array(rows["person"].to_numpy() * 7 + rows["minute"].to_numpy() // 1440)
    unit = Unit.of("trip", "trajectory")
    schema = Schema.from_dict(
        {
            "unit": {"trajectory": "trip"},
            "columns": {"trip": {"kind": "integer"}, "minute": {"kind": "integer"}, "place": {"kind": "integer"}},
        }
    )
    with Ledger.open(tmp_path / "book.db") as book:
        book.create_budget("city", "20", 0, Neighbours(unit))
        book.grant("city", "ada", "9", 0)
        table = read(rows.drop_columns("person").append_column("trip", trips), schema)
        layout = VisitLayout("trip", "minute", "place", cut=None, longest=6)
        generator = NoisyPlaces("1", sequences_per_unit=1, random_state=2)
        made = let_go(book, tmp_path / "c.csv", generator, table=table, layout=layout, count=20)
    assert "hides one trajectory, not a person" in " ".join(made.release.certificate.to_dict()["not_protected"])
    assert "one trajectory" in made.sentence


def test_no_person_and_no_date_leaves_and_maps_are_for_the_steward(tmp_path, book):
    schema = Schema.from_dict(
        {
            "unit": {"person": "card"},
            "columns": {"card": {"kind": "text"}, "at": {"kind": "text"}, "stop": {"kind": "integer"}},
        }
    )
    rows = city_visits(120, places=40, seed=3)
    written = [
        f"1987-06-{1 + minute // 1440:02d} {minute // 60 % 24:02d}:{minute % 60:02d}"
        for minute in rows["minute"].to_pylist()
    ]
    table = pa.table(
        {"card": [f"card-{who}" for who in rows["person"].to_pylist()], "at": written, "stop": rows["place"]}
    )
    with Ledger.open(tmp_path / "cards.db") as cards:
        cards.create_budget("city", "20", 0, Neighbours(Unit.person("card")))
        cards.grant("city", "ada", "9", 0)
        layout = VisitLayout("card", "at", "stop", longest=6)
        made = let_go(cards, tmp_path / "c.csv", model(random_state=1), table=read(table, schema), layout=layout)
        bundle = made.release.bundle(tmp_path / "bundle.zip")
    with ZipFile(bundle) as held:
        parts = {name: held.read(name).decode("utf-8", "replace") for name in held.namelist()}
    public = "".join(text for name, text in parts.items() if "/public/" in name or name.startswith("public/"))
    assert "card-" not in public
    assert "1987-06" not in public
    assert "image/svg" not in public
    steward = next(text for name, text in parts.items() if name.endswith("report.html"))
    assert "before and after" in steward
    assert "image/svg" in steward


def test_the_file_is_read_back_as_it_was_drawn_with_empty_trajectories_kept(tmp_path):
    domain = TrajectoryDomain.on(Ground(("home", "work")), longest=3, unit=Unit.person("who"))
    given = Trajectories.of_visits(domain, [[("work", 5), ("home", 5), ("work", 9)], [], [("home", 0)], []], range(4))
    file = TrajectoryFile(VisitLayout("who", "at", "place", longest=3), domain)
    assert file.columns == ("trajectory", "visit", "place", "minute")
    pq.write_table(pa.concat_tables(file.pieces(given)), tmp_path / "t.parquet")
    from ziggurat.data.engines import DuckDBEngine

    with DuckDBEngine() as engine:
        back = file.read_back(file.read(tmp_path / "t.parquet", engine))
    assert list(back) == list(given)
    assert back.minutes.tolist() == given.minutes.tolist()
    assert back.offsets.tolist() == given.offsets.tolist()


def test_a_model_that_copies_is_stopped_and_nothing_leaves(tmp_path, book):
    out = tmp_path / "out.parquet"
    many = {"table": visits(400), "holdout": 0.4, "count": 1500}
    with pytest.raises(GateError, match=r"trajectories|points"):
        let_go(book, out, Copying("1", sequences_per_unit=5, random_state=5), **many)
    assert not out.exists()
    honest = let_go(book, out, model(random_state=5), **many)
    assert not honest.attacked.alarms


def test_canaries_are_found_in_what_copies_and_not_in_what_keeps_its_promise(tmp_path, book):
    asked = {"canaries": 8, "count": 200, "holdout": 0}
    honest = let_go(book, tmp_path / "a.parquet", model(random_state=5), **asked)
    assert not honest.attacked.findings["canaries"].verdict
    few = {"table": visits(6), **asked, "count": 500}
    with pytest.raises(GateError, match="canaries"):
        let_go(book, tmp_path / "b.parquet", Copying("1", sequences_per_unit=5, random_state=5), **few)


def test_a_model_that_does_something_else_releases_nothing_and_stays_paid(tmp_path, book):
    with pytest.raises(PrivacyError, match="something else than was paid for"):
        let_go(book, tmp_path / "out.csv", Dearer("1", sequences_per_unit=5))
    assert list(tmp_path.glob("out*")) == []
    assert [each.kind for each in book.history()][3:] == ["reserve", "abandon"]


def test_without_anybody_kept_back_only_copies_are_counted(tmp_path, book):
    made = let_go(book, tmp_path / "out.csv", model(random_state=1), holdout=0, count=30)
    assert set(made.attacked.findings) == {"exact copies"}
    assert set(made.attacked.skipped) == {"closest trajectories", "found by points"}


def test_other_people_can_be_the_control(tmp_path, book):
    whole = city_visits(300, places=40, seed=3)
    first = pc.less(whole["person"], 150)
    table, others = (read(whole.filter(each), SCHEMA) for each in (first, pc.invert(first)))
    made = let_go(book, tmp_path / "out.csv", model(random_state=1), table=table, holdout=others, count=30)
    assert made.attacked.facts["kept_back"] is None
    assert "closest trajectories" in made.attacked.findings


@pytest.mark.parametrize(
    ("error", "says", "given"),
    [
        (ParameterError, "Give a generator of trajectories", {"generator": MarkovSequences("1", sequences_per_unit=1)}),
        (ParameterError, "sequences_per_unit", {"generator": NoisyPlaces("1")}),
        (ParameterError, "hold-out", {"holdout": 1.5}),
        (ParameterError, "count", {"count": 0}),
        (ParameterError, "planted in a rehearsal only", {"canaries": 4}),
        (ParameterError, "no visit could be laid", {"ground": Ground(("home", "work"))}),
        (SchemaError, "hide no person", {"layout": VisitLayout("place", "minute", "place")}),
        (BudgetExceededError, "epsilon", {"generator": model("10")}),
        (MixedNeighboursError, "create a budget with --unit rider", {"table": "rider"}),
    ],
)
def test_what_is_refused_costs_nothing(tmp_path, book, error, says, given):
    if given.get("table") == "rider":
        schema = Schema.from_dict({**SCHEMA.to_dict(), "unit": {"rider": "person"}})
        given = {"table": visits(5, schema)}
    generator = given.pop("generator", model()) if "generator" in given else model()
    with pytest.raises(error, match=says):
        let_go(book, tmp_path / "out.csv", generator, **given)
    assert [each.kind for each in book.history()][3:] == []


def test_what_left_is_read_again_by_its_own_schema(tmp_path, book):
    made = let_go(book, tmp_path / "out.parquet", model(random_state=1), count=25)
    file = made.release.plan.task.file
    layout = VisitLayout("trajectory", "minute", "place", cut=None, longest=6)
    back = read_trajectories(read(tmp_path / "out.parquet", file.schema()), layout, GROUND)
    assert len(back) == 25
    assert sorted(back.codes.tolist()) == sorted(made.model.sample(25, random_state=1).codes.tolist())
