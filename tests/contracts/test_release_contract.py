"""What every kind of release keeps: paid before it is read, remembered, judged, marked, and certified in the same way.

Kinds are in `release_kinds`; from there on the tests know none by name. What a killed process leaves is in
`test_release_kills`, bundles are in `test_release_bundles`, and files that describe releases in `test_release_files`.
"""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from release_kinds import GRANT_DELTA, KINDS, SCHEMA, Bench, ReleaseKind, entries, one_changed, people, prepare

from ziggurat import __version__, learn
from ziggurat.attacks import EpsilonBound, Share, risk
from ziggurat.data import Unit
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import BudgetExceededError, GateError, LedgerUseError, MixedNeighboursError, ZigguratError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.local import VectorNoise, WholeRecord
from ziggurat.pate import Teachers
from ziggurat.privacy import Neighbours, compose, event_from_dict
from ziggurat.release import Evidence, Gate, Plan, Purse, Release
from ziggurat.release._certificate import NO_PROMISE, REHEARSAL
from ziggurat.release.bundle import verify_bundle

GUARANTEED = [each for each in KINDS if each.guaranteed]
UNBOUNDED = [each for each in KINDS if not each.guaranteed]
REASON = "The board has seen it."

each_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)
each_guaranteed = pytest.mark.parametrize("kind", GUARANTEED, ids=repr)
each_unbounded = pytest.mark.parametrize("kind", UNBOUNDED, ids=repr)


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


@pytest.fixture
def folder(kind: ReleaseKind, tmp_path: Path) -> Path:
    return prepare(kind, tmp_path / "place")


class Watch:
    """Every way to a row, watched: what was read, in which step, and what the ledger on the disk said then."""

    WAYS = (
        (DuckDBEngine, "_fetch"), (DuckDBEngine, "_stream"), (DuckDBEngine, "at_hand"), (DuckDBEngine, "attach"),
        (Teachers, "votes"), (learn.GaussianNB, "fit"), (learn.GaussianNB, "check"), (VectorNoise, "privatize"),
        (WholeRecord, "privatize"), (WholeRecord, "check"),
    )  # fmt: skip

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.patch, self.folder, self.step = monkeypatch, folder, "planned"
        self.reads: list[tuple[str, str, list[str]]] = []
        self.holding: set[int] = set()
        for owner, name in self.WAYS:
            self._wrap(owner, name, lambda given, what=name: self._seen(what, given))

    def of(self, plan: Plan[Any]) -> Plan[Any]:
        """Watch a plan get ready and run, too."""
        for step in ("ready", "run"):
            self._wrap(type(plan), step, lambda _, step=step: setattr(self, "step", step))
        return plan

    def _wrap(self, owner: Any, name: str, tell: Callable[[tuple[Any, ...]], None]) -> None:
        real = getattr(owner, name)

        def watched(*given: Any, **options: Any) -> Any:
            tell(given)
            return real(*given, **options)

        self.patch.setattr(owner, name, watched)

    def _seen(self, what: str, given: tuple[Any, ...]) -> None:
        """Tables of our own, and questions about columns alone, are no reads; nor are the queries, which are public."""
        if what == "attach" and isinstance(given[1], pa.Table):
            return
        if what == "attach" and "clinic" in str(given[1]):
            self.holding.add(id(given[0]))
        private = id(given[0]) in self.holding if isinstance(given[0], DuckDBEngine) else True
        if private and not (what == "_fetch" and given[1].endswith("LIMIT 0")):
            self.reads.append((self.step, what, entries(self.folder)))

    @property
    def unpaid(self) -> list[str]:
        """The reads of a run that no reservation precedes."""
        return [what for step, what, said in self.reads if step == "run" and "reserve" not in said]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Watch:
    return Watch(monkeypatch, folder)


class Careless(Purse):
    """Reads first and pays afterwards: what the contract has to find out."""

    def _spend(self, plan: Plan[Any], event: Any, progress: Any, mark: Any) -> Release[Any]:
        plan.run(self.source, progress)
        return super()._spend(plan, event, progress, mark)


@each_guaranteed
def test_the_cost_is_on_disk_before_a_row_is_read(kind: ReleaseKind, folder: Path, watch: Watch) -> None:
    with Bench(kind, folder) as bench:
        plan = watch.of(bench.plan())
        assert watch.reads == []  # plans are made of what is public
        bench.purse.release(plan)
    read = [step for step, *_ in watch.reads]
    assert "run" in read
    assert watch.unpaid == []
    assert entries(folder) == ["reserve", "commit"]


@pytest.mark.parametrize("kind", GUARANTEED[:1], ids=repr)
def test_reading_before_paying_would_be_found(kind: ReleaseKind, folder: Path, watch: Watch) -> None:
    with Bench(kind, folder) as bench:
        plan = watch.of(bench.plan())
        plan.ready()
        Careless(bench.ledger, "clinic", "ada").release(plan)
    assert watch.unpaid != []


@each_unbounded
def test_what_nothing_bounds_is_written_down_before_it_leaves(kind: ReleaseKind, folder: Path, monkeypatch) -> None:
    said: list[list[str]] = []
    with Bench(kind, folder) as bench:
        plan = bench.plan()
        real = type(plan).artefacts
        monkeypatch.setattr(type(plan), "artefacts", lambda *given: said.append(entries(folder)) or real(*given))
        bench.purse.measure(plan)
        assert entries(folder) == []  # measured for the steward: nothing has left, nothing is written down
        bench.purse.release(plan).bundle(folder / "out")
    assert said == [["unbounded"]]


REFUSALS: dict[str, tuple[type[ZigguratError], Callable[[ReleaseKind, Ledger], object]]] = {
    "too little is left": (
        BudgetExceededError,
        lambda kind, book: (
            book.create_budget("clinic", "20", "1e-3", kind.neighbours)
            and book.grant("clinic", "ada", "1/1000", GRANT_DELTA)
        ),
    ),
    "somebody else's grant": (
        LedgerUseError,
        lambda kind, book: (
            book.create_budget("clinic", "20", "1e-3", kind.neighbours)
            and book.grant("clinic", "bob", "6", GRANT_DELTA)
        ),
    ),
    "another unit": (
        MixedNeighboursError,
        lambda kind, book: (
            book.create_budget("clinic", "20", "1e-3", Neighbours(Unit.person("doctor"), kind.neighbours.relation))
            and book.grant("clinic", "ada", "6", GRANT_DELTA)
        ),
    ),
}


@each_guaranteed
@pytest.mark.parametrize("why", REFUSALS)
def test_nothing_is_read_of_what_is_refused(kind: ReleaseKind, folder: Path, watch: Watch, why: str) -> None:
    if (kind.name, why) == ("model", "another unit"):
        pytest.skip("Whoever fits rows in memory says themselves whose rows they are.")
    error, make = REFUSALS[why]
    (folder / "book.db").unlink()
    with Ledger.open(folder / "book.db") as book:
        make(kind, book)
    with Bench(kind, folder) as bench, pytest.raises(error):
        bench.purse.release(watch.of(bench.plan()))
    assert watch.reads == []
    assert entries(folder) == []


@each_guaranteed
def test_a_dry_run_reads_nothing_and_says_the_same_of_other_rows(
    kind: ReleaseKind, folder: Path, tmp_path: Path, watch: Watch
) -> None:
    others = people().slice(0, 0) if kind.name not in ("labels", "privatised queries") else one_changed(people())
    said = []
    for place in (folder, prepare(kind, tmp_path / "other", others)):
        with Bench(kind, place) as bench:
            plan = watch.of(bench.plan())
            quoted = bench.purse.quote(plan)
            assert quoted.fits
            said.append((quoted.to_dict(), str(quoted), plan.text, plan.not_protected))
    assert said[0] == said[1]
    assert watch.reads == []
    assert entries(folder) == []


@each_guaranteed
def test_what_was_paid_for_is_given_again_or_paid_for_again(kind: ReleaseKind, folder: Path, watch: Watch) -> None:
    with Bench(kind, folder) as bench:
        plan = bench.plan()
        first, left = bench.purse.release(plan), bench.ledger.share_left("clinic", "ada")
        files = _files(first, folder / "first")
    watch.reads.clear()
    with Bench(kind, folder) as bench:
        again = bench.purse.release(watch.of(bench.plan()))
        now = bench.ledger.share_left("clinic", "ada")
        assert again.replayed is kind.replayed
        assert (again.certificate.recorded == first.certificate.recorded) is kind.replayed
        assert entries(folder) == ["reserve", "commit"] * (1 if kind.replayed else 2)
        if kind.replayed:
            assert now == left
            assert watch.reads == []
            assert _facts(_files(again, folder / "again")) == _facts(files)
        else:
            assert now < left


def _files(release: Release[Any], place: Path) -> dict[str, bytes]:
    place.mkdir()
    return {file.name: file.read_bytes() for file in release.write(place)[0]}


def _facts(files: dict[str, bytes]) -> dict[str, Any]:
    """Files without the one word by which an answer says that it was given before."""
    return {
        name: {**json.loads(data), "replayed": None} if name.endswith(".json") else data for name, data in files.items()
    }


@each_kind
@pytest.mark.parametrize("seeds", [{"seed": 1}, {"own_seed": 1}], ids=["purse", "model"])
def test_a_rehearsal_is_marked_everywhere_and_never_signed(
    kind: ReleaseKind, folder: Path, command, seeds: dict[str, int]
) -> None:
    with Bench(kind, folder, **seeds) as bench:
        plan = bench.plan()
        if not (plan.rehearsal or "seed" in seeds):
            pytest.skip("Nothing of this kind draws for itself.")
        made = bench.purse.release(plan)
        bundle = made.bundle(folder / "out.zip")
        history = bench.ledger.history()[3:]
    facts = made.certificate.to_dict()
    assert (facts["rehearsal"], facts["randomness"], facts["sentence"]) == (True, "seeded", REHEARSAL)
    if kind.guaranteed:
        assert [each.data["rehearsal"] for each in history] == [True, True]
    else:
        assert [each.data["what"][:11] for each in history] == ["Rehearsal. "]
    checked = verify_bundle(bundle)
    assert checked.rehearsal
    assert not checked.signer
    outcome = command("verify", str(bundle))
    assert outcome.code == 1
    assert "NOT A RELEASE" in outcome.out


def judged_by(plan: Plan[Any], evidence: Evidence) -> Plan[Any]:
    """The same plan, of which attacks find this."""
    made = copy.copy(plan)
    kind = type(plan)
    object.__setattr__(made, "__class__", type(kind.__name__, (kind,), {"judge": lambda *_: evidence}))
    return made


def exposed() -> tuple[Evidence, Gate]:
    """People at a risk, and a gate that allows none."""
    return Evidence({"linkage": risk(people(), ["ward"])}), Gate(thresholds={"highest risk": "0"})


def refuting() -> Evidence:
    """An attack that shows an epsilon of 50, where far less was promised."""
    claimed, delta = Fraction(1, 2), Fraction(1, 10**6)
    return Evidence({"epsilon": EpsilonBound("linking", Share(90, 90), 90, 0.5, claimed, delta, 1e-20, 50.0, 0.05)})


@each_kind
def test_a_gate_stops_it_and_nothing_has_left(kind: ReleaseKind, folder: Path) -> None:
    with Bench(kind, folder) as bench:
        plan, gate = bench.plan(), Gate(thresholds=kind.strict)
        if not kind.judged:
            assert bench.purse.release(plan, gate=gate).evidence == Evidence()  # nothing is measured that could stop it
            evidence, gate = exposed()
            plan = judged_by(bench.plan(), evidence)
        before = bench.history()
        with pytest.raises(GateError, match="The gate stopped this release") as stopped:
            bench.purse.release(plan, gate=gate)
    assert stopped.value.exit_code == 5
    new = entries(folder)[len(before) :]
    assert new in (["reserve", "commit"], []) if kind.guaranteed else new == []  # replayed: paid for already
    assert not (folder / "out").exists()


@each_kind
def test_the_steward_goes_on_with_a_reason_that_is_kept_for_ever(kind: ReleaseKind, folder: Path) -> None:
    evidence, gate = exposed()
    with Bench(kind, folder) as bench:
        plan = bench.plan() if kind.judged else judged_by(bench.plan(), evidence)
        gate = Gate(thresholds=kind.strict) if kind.judged else gate
        made = bench.purse.release(plan, gate=gate, go_on=REASON)
        assert made.verdict.stopped
        history = bench.ledger.history()[3:]
        bundle = made.bundle(folder / "out")
    facts = verify_bundle(bundle)
    assert facts.sound
    decision = facts.certificate["decision"]
    assert (decision["reason"], decision["refuted"]) == (REASON, False)
    assert decision["stopped"] == [each.attack for each in made.verdict.stopped]
    kinds = ["reserve", "commit", "decision"] if kind.guaranteed else ["unbounded"]
    assert [each.kind for each in history] == kinds
    assert REASON in history[-1].data["what"]
    assert (facts.certificate["promise"] is not None) is kind.guaranteed


@each_guaranteed
def test_a_refuted_promise_goes_on_only_as_unbounded(kind: ReleaseKind, folder: Path) -> None:
    with Bench(kind, folder) as bench:
        plan = judged_by(bench.plan(), refuting())
        with pytest.raises(GateError, match="refuted"):
            bench.purse.release(plan)
        if not kind.replayed:
            plan = judged_by(bench.plan(), refuting())
        made = bench.purse.release(plan, go_on=REASON)
        last = bench.ledger.history()[-1]
        bundle = made.bundle(folder / "out")
    facts = verify_bundle(bundle)
    assert facts.sound
    assert facts.certificate["promise"] is None
    assert facts.certificate["sentence"] == NO_PROMISE
    assert facts.certificate["decision"]["refuted"] is True
    assert last.kind == "unbounded"
    assert "its epsilon was refuted" in last.data["what"]
    assert facts.certificate["recorded"]["seq"] == last.seq


@each_unbounded
def test_what_promises_nothing_cannot_be_refuted(kind: ReleaseKind, folder: Path) -> None:
    with Bench(kind, folder) as bench:
        made = bench.purse.release(judged_by(bench.plan(), refuting()))
    assert not made.verdict.stopped


@each_kind
def test_a_plan_says_what_will_be_read_and_how_it_will_be_attacked(kind: ReleaseKind, folder: Path) -> None:
    with Bench(kind, folder) as bench:
        plan = bench.plan()
        said = plan.judged_by
        assert plan.reads
        assert bool(said) is kind.judged
        found = bench.purse.release(plan).evidence
    assert set(said) <= set(found.findings)
    assert {each for each in found.findings if not each.startswith("epsilon")} <= set(said)


@each_kind
def test_a_certificate_says_all_that_a_reader_needs(kind: ReleaseKind, folder: Path) -> None:
    with Bench(kind, folder) as bench:
        made = bench.purse.release(bench.plan())
        facts = json.loads(json.dumps(made.certificate.to_dict()))
        cited = bench.ledger.entry(facts["recorded"]["seq"])
    assert cited.hash == facts["recorded"]["hash"]
    assert facts["recorded"]["ledger"]
    assert facts["population"] == "clinic"
    assert (facts["randomness"], facts["rehearsal"], facts["decision"]) == ("secure", False, None)
    assert facts["not_protected"]
    assert all(each.endswith(".") for each in facts["not_protected"])
    assert facts["versions"]["ziggurat"] == __version__
    assert set(facts["versions"]) >= {"python", "numpy", "duckdb", "pyarrow", "scikit-learn"}
    assert {"config", "details", "artefacts", "kind", "what", "made"} <= set(facts)
    if kind.guaranteed:
        assert cited.kind == "commit"
        _require_promise(kind, facts)
    else:
        assert facts["promise"] is None
        assert facts["sentence"] == NO_PROMISE
        assert cited.kind == "unbounded"
        assert made.plan.describe(made.output) in cited.data["what"]
    assert verify_ledger(folder / "book.db").problems == []


def _require_promise(kind: ReleaseKind, facts: dict[str, Any]) -> None:
    """The promise is that of the event, to the budget's people, at no more than the budget's delta."""
    promise = facts["promise"]
    event = event_from_dict(promise["event"])
    assert event.neighbours == kind.neighbours
    assert promise["relation"] == kind.neighbours.relation.value
    assert SCHEMA.unit.column in promise["unit"]
    epsilon, delta = Fraction(promise["epsilon"]), Fraction(promise["delta"])
    assert 0 < epsilon <= 6
    assert delta in (0, Fraction(1, 1000))
    account = compose(event)
    own = account.pure() if delta == 0 else account.approximate(delta)
    assert (own.epsilon, promise["account"]) == (epsilon, getattr(own, "route", "pure"))
    assert (facts["budget"], facts["analyst"]) == ("clinic", "ada")
    assert facts["sentence"] == promise["sentence"]
