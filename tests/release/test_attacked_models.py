"""Models are attacked before they leave: with people kept back, and without a guarantee only as unbounded."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from ziggurat import learn
from ziggurat.errors import ArtefactError, DataError, GateError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.pate.training import read_classifier
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import seeded
from ziggurat.release import (
    NOT_PROMISED_OF_FOREIGN,
    NOT_PROTECTED_BY_GATE,
    ModelExam,
    ModelPlan,
    Purse,
    SensitiveColumn,
    fit_model,
    plan_model,
    release_model,
)
from ziggurat.release.bundle import HeldBundle
from ziggurat.release.models._attacking import keep_back

pytestmark = pytest.mark.filterwarnings("ignore:With epsilon")
ADD, REPLACE = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_ONE


def people(count: int = 600, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    rows = draw.uniform(-1, 1, (count, 4))
    rows[:, 3] = draw.integers(0, 2, count)
    return rows, (rows[:, 0] + draw.normal(0, 0.5, count) > 0).astype(int)


ROWS, LABELS = people()


@pytest.fixture
def book(tmp_path: Path) -> Any:
    with Ledger.open(tmp_path / "ledger.db") as opened:
        for name, relation in (("adding", ADD), ("replacing", REPLACE)):
            opened.create_budget(name, 9, "1e-5", Neighbours(relation=relation))
            opened.grant(name, "ada", 9, "1e-5")
        yield opened


def bayes(relation: str = "add-or-remove-one", **given: Any) -> learn.GaussianNB:
    return learn.GaussianNB(epsilon="1", bounds=(-1, 1), classes=2, random_state=3, relation=relation, **given)


class Holding(learn.GaussianNB):  # type: ignore[misc]
    """One that says nothing more than it promises, and keeps every row in a drawer."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
        super().fit(X, y)
        self.drawer_ = np.asarray(X)
        return self


def stop_one(book: Ledger, aside: Path) -> GateError:
    model = Holding(epsilon="1", bounds=(-1, 1), classes=2, random_state=3)
    with pytest.raises(GateError) as raised:
        fit_model(model, ROWS, LABELS, ledger=book, analyst="ada", budget="adding", holdout=0.3, aside=aside)
    assert "inspection" in [each.attack for each in raised.value.held.verdict.stopped]
    assert not raised.value.held.verdict.refuted
    return raised.value


class Remembering(learn.GaussianNB):  # type: ignore[misc]
    """One that keeps every row it saw and is sure of it, whatever it promises."""

    def fit(self, X: Any, y: Any) -> Any:  # noqa: N803
        super().fit(X, y)
        self.seen_ = {tuple(row): int(label) for row, label in zip(np.asarray(X), np.asarray(y), strict=True)}
        return self

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        sure = np.array([[0.01, 0.99], [0.99, 0.01], [0.5, 0.5]])
        codes = [{1: 0, 0: 1}.get(self.seen_.get(tuple(row), -1), 2) for row in np.asarray(X)]
        return sure[codes]


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("place", [0, 7, 19])
def test_parts_of_neighbouring_tables_are_neighbours(relation: Relation, place: int) -> None:
    """With the coins of all others as they are; by the draw of places nobody else moves, either."""
    for seed in range(20):
        rows = np.arange(20.0)[:, None]
        other = rows.copy()
        other[place] = 99.0
        first = keep_back(rows, rows[:, 0], 0.4, relation, seeded(f"{seed}"))[0][:, 0]
        second = keep_back(other, other[:, 0], 0.4, relation, seeded(f"{seed}"))[0][:, 0]
        assert len(first) == len(second)
        assert (first != second).sum() <= 1
        if relation is REPLACE:
            assert len(first) == 12


def test_a_coin_is_tossed_for_everybody_and_its_share_is_the_one_asked_for() -> None:
    rows = np.zeros((4_000, 1))
    kept = [len(keep_back(rows, rows[:, 0], 0.25, ADD, seeded(str(seed)))[2] or ()) for seed in range(5)]
    assert len(set(kept)) > 1  # a number that is private is not a fixed share of another
    assert all(abs(each - 1_000) < 140 for each in kept)  # five deviations


def test_a_model_with_a_guarantee_is_attacked_and_stays_below_its_bound(book: Ledger) -> None:
    made = fit_model(bayes(), ROWS, LABELS, ledger=book, analyst="ada", budget="adding", holdout=0.3)
    release = made.release
    assert release is not None
    assert {"membership", "inspection"} <= set(release.evidence.findings)
    assert not release.verdict.stopped
    judged = {each.attack: each for each in release.verdict.passed}
    assert judged["membership, epsilon"].figure <= 1
    assert judged["inspection"].figure == 0
    assert NOT_PROTECTED_BY_GATE in release.certificate.not_protected
    assert "kept_back" not in json.dumps(release.certificate.to_dict())
    assert 100 < release.evidence.to_dict()["facts"]["kept_back"] < 260
    assert not made.refuted


def test_what_leaves_says_nothing_of_attacks_that_were_not_made(book: Ledger) -> None:
    made = fit_model(bayes(), ROWS, LABELS, ledger=book, analyst="ada", budget="adding")
    assert made.release is not None
    assert NOT_PROTECTED_BY_GATE not in made.release.certificate.not_protected
    assert made.release.evidence.findings == {}


def test_the_price_is_that_of_the_rows_that_are_fitted(book: Ledger) -> None:
    given = {"bounds": (-1, 1), "y_bounds": (-1, 1), "random_state": 3, "relation": "replace-one"}
    model = learn.Ridge(epsilon="1", delta="1e-6", **given)
    purse = Purse(book, "replacing", "ada")
    priced = ModelPlan.by_shape(model, 600, 4, purse=purse, holdout=0.25)
    planned = plan_model(model.fresh(), ROWS, LABELS.astype(float), purse=purse, holdout=0.25)
    assert priced.event == planned.event == model.planned(450, 4)
    assert len(planned.features) == 450
    made = purse.release(planned)
    assert not any(
        "epsilon" in name for name in made.verdict.no_verdict | {each.attack: "" for each in made.verdict.passed}
    )


def test_a_model_that_breaks_its_promise_is_refuted_and_leaves_only_without_it(book: Ledger) -> None:
    lying = Remembering(epsilon="1", bounds=(-1, 1), classes=2, random_state=3)
    whose: Any = {"ledger": book, "analyst": "ada", "budget": "adding", "holdout": 0.5}
    with pytest.raises(GateError, match="promise is refuted") as raised:
        fit_model(lying, ROWS, LABELS, **whose)
    assert "membership, epsilon" in {each.attack for each in raised.value.held.verdict.stopped}
    made = fit_model(lying.fresh(), ROWS, LABELS, **whose, go_on="It never leaves this machine.")
    assert made.refuted
    assert made.release is not None
    assert made.release.certificate.guarantee is None
    assert any(entry.kind == "unbounded" for entry in book.history("adding"))


def test_a_model_that_is_stopped_is_kept_and_let_go_later_for_a_reason_without_paying_again(
    book: Ledger, tmp_path: Path
) -> None:
    stopped = stop_one(book, tmp_path / "m.held")
    assert "model let-go" in str(stopped)
    assert stopped.place == str(tmp_path / "m.held")
    place = Path(stopped.place)
    assert place.stat().st_mode & 0o077 == 0
    assert all(each.stat().st_mode & 0o077 == 0 for each in place.iterdir())
    left, waiting, purse = book.left("adding", "ada"), HeldBundle.open(place), Purse(book, "adding", "ada")
    with pytest.raises(ParameterError, match="reason"):
        waiting.let_go(purse, " ", tmp_path / "m.bundle")
    assert not (tmp_path / "m.bundle").exists()
    bundle = waiting.let_go(purse, "Everybody agreed in writing.", tmp_path / "m.bundle")
    assert book.left("adding", "ada") == left
    assert [each.kind for each in book.history("adding")][-1] == "decision"
    said = json.loads((bundle / "public" / "certificate.json").read_text())
    assert said["decision"] == {"stopped": ["inspection"], "refuted": False, "reason": "Everybody agreed in writing."}
    assert said["promise"]["epsilon"] == "1"
    evidence = json.loads((bundle / "steward" / "evidence.json").read_text())
    assert evidence["verdict"]["stopped"] == stopped.held.verdict.to_dict()["stopped"]
    again = Holding.load(bundle / "public" / "model.npz")
    assert (again.predict(ROWS) == stopped.held.output.predict(ROWS)).all()


def test_a_stopped_model_that_was_edited_is_not_let_go_and_nothing_is_put_over_it(book: Ledger, tmp_path: Path) -> None:
    stop_one(book, tmp_path / "m.held")
    with pytest.raises(DataError, match="waits in"):
        fit_model(bayes(), ROWS, LABELS, ledger=book, analyst="ada", budget="adding", aside=tmp_path / "m.held")
    assert [each.kind for each in book.history("adding")].count("reserve") == 1
    with (tmp_path / "m.held" / "model.npz").open("ab") as file:
        file.write(b"more")
    with pytest.raises(DataError, match="not the one that was certified"):
        HeldBundle.open(tmp_path / "m.held").let_go(Purse(book, "adding"), "Why not.", tmp_path / "m.bundle")
    assert not any(each.kind == "decision" for each in book.history("adding"))


def test_a_place_that_cannot_be_written_leaves_the_model_with_whoever_catches_it(
    book: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: Any, **options: Any) -> None:
        raise DataError("The disk is full.")

    monkeypatch.setattr(HeldBundle, "keep", fail)
    stopped = stop_one(book, tmp_path / "m.held")
    assert "could not be kept: The disk is full" in str(stopped)
    assert stopped.place == ""
    made = Purse(book, "adding", "ada").go_on(stopped.held, "It stays here.")
    assert made.decision is not None
    assert made.event is not None


def test_nobody_is_kept_back_for_a_model_that_is_not_attacked(book: Ledger) -> None:
    with pytest.raises(ParameterError, match="leave the hold-out out"):
        fit_model(learn.KernelDensity(bounds=(-1, 1)), ROWS, ledger=book, analyst="ada", budget="adding", holdout=0.2)
    with pytest.raises(ParameterError, match="below 1"):
        fit_model(bayes(), ROWS, LABELS, ledger=book, analyst="ada", budget="adding", holdout=1.5)
    assert not any(entry.kind == "reserve" for entry in book.history("adding"))


HALVES = (ROWS[:300], LABELS[:300]), (ROWS[300:], LABELS[300:])
EXAM = ModelExam(random_split=True, shadows=4, attacks=("loss", "rmia"), random_state=1)


def let_go(model: Any, where: Path, book: Ledger | None = None, **given: Any) -> Any:
    name = "adding" if book is not None else ""
    terms = {"exam": EXAM, **given}
    return release_model(model, where, members=HALVES[0], others=HALVES[1], ledger=book, budget=name, **terms)


@pytest.mark.parametrize("model", [RandomForestClassifier(10, random_state=1), KNeighborsClassifier(1)])
def test_an_overfitted_forest_and_neighbours_are_caught_and_nothing_leaves(
    book: Ledger, tmp_path: Path, model: Any
) -> None:
    with pytest.raises(GateError) as raised:
        let_go(model.fit(*HALVES[0]), tmp_path / "m.skops", book)
    stopped = {each.attack for each in raised.value.held.verdict.stopped}
    assert {"inspection", "membership by rmia"} <= stopped
    assert not list(tmp_path.glob("m.skops*"))
    assert not any(entry.kind == "unbounded" for entry in book.history("adding"))


def test_rows_that_a_model_holds_leave_only_with_a_written_waiver(book: Ledger, tmp_path: Path) -> None:
    model = KNeighborsClassifier(25).fit(*HALVES[0])
    made = let_go(model, tmp_path / "m.skops", book, go_on="Everybody agreed in writing.")
    assert made.event is None
    assert made.decision.reason == "Everybody agreed in writing."
    assert made.certificate.not_protected[0] == NOT_PROMISED_OF_FOREIGN
    (entry,) = [each for each in book.history("adding") if each.kind == "unbounded"]
    assert "Everybody agreed in writing." in str(entry)
    again = read_classifier(tmp_path / "m.skops")
    assert (again.predict(ROWS) == model.predict(ROWS)).all()
    said = json.loads((tmp_path / "m.skops.certificate.json").read_text())
    assert said["promise"] is None
    assert "inspection" in said["verdict"]["stopped"][0]["attack"] or len(said["verdict"]["stopped"]) > 1


@pytest.mark.parametrize("model", [LogisticRegression(), Ridge()])
def test_a_smooth_model_goes_as_unbounded(book: Ledger, tmp_path: Path, model: Any) -> None:
    hidden = SensitiveColumn("smoker", (3,), ((0.0,), (1.0,)))
    exam = ModelExam(random_split=True, shadows=4, attacks=("loss",), sensitive=(hidden,), questions=60, random_state=1)
    made = let_go(model.fit(*HALVES[0]), tmp_path / "m.skops", book, exam=exam)
    found = {"membership", "inspection", "rebuilding rows", "inferring smoker", "extraction"}
    assert set(made.evidence.findings) == found
    assert not made.verdict.stopped
    assert {"extraction", "rebuilding rows"} <= set(made.verdict.no_verdict)  # told, and never judged unless asked
    assert [entry.kind for entry in book.history("adding")].count("unbounded") == 1


def test_without_a_random_split_there_is_no_verdict_on_members_but_rows_are_found(tmp_path: Path) -> None:
    exam = ModelExam(random_split=False, shadows=0, random_state=1)
    assert not let_go(LogisticRegression().fit(*HALVES[0]), tmp_path / "a.skops", exam=exam).verdict.stopped
    with pytest.raises(GateError) as raised:
        let_go(KNeighborsClassifier().fit(*HALVES[0]), tmp_path / "b.skops", exam=exam)
    assert [each.attack for each in raised.value.held.verdict.stopped] == ["inspection"]


class Foreign(LogisticRegression):  # type: ignore[misc]
    """A class that only this file knows."""


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (LogisticRegression(), ParameterError, "not fitted"),
        (LogisticRegression, ParameterError, "fitted classifier"),
        ("a model", ParameterError, "fitted classifier"),
        (LogisticRegression().fit(ROWS[:, :2], LABELS), DataError, "2 columns"),
        (LogisticRegression().fit(ROWS, LABELS + 1), DataError, "never names"),
        (Foreign().fit(ROWS, LABELS), ArtefactError, "only scikit-learn"),
    ],
)
def test_what_cannot_be_released_is_refused_and_leaves_no_trace(
    book: Ledger, tmp_path: Path, model: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        let_go(model, tmp_path / "m.skops", book)
    assert not list(tmp_path.glob("m.skops*"))
    assert not any(entry.kind == "unbounded" for entry in book.history("adding"))


def test_a_model_with_a_guarantee_of_its_own_is_not_released_without(book: Ledger, tmp_path: Path) -> None:
    made = fit_model(bayes(), ROWS, LABELS, ledger=book, analyst="ada", budget="adding")
    with pytest.raises(ParameterError, match="guarantee of its own"):
        let_go(made.model, tmp_path / "m.skops", book)
    with pytest.raises(DataError, match="skops"):
        let_go(LogisticRegression().fit(*HALVES[0]), tmp_path / "m.pkl", book)
