"""Curator A: labels are planned, paid for, drawn and kept, in this order."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from ziggurat.data import Unit
from ziggurat.errors import (
    BudgetExceededError,
    DataError,
    EngineError,
    LedgerUseError,
    MixedNeighboursError,
    ParameterError,
    PrivacyError,
    QuestionError,
)
from ziggurat.ledger import Ledger
from ziggurat.pate import (
    Aggregator,
    Ballot,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    Partition,
    Teachers,
    ThresholdTest,
    Votes,
    account,
    sanitize,
)
from ziggurat.privacy import Neighbours, Relation, compose
from ziggurat.randomness import secure, seeded
from ziggurat.release import MOST_QUERIES, Labelled, Labelling, Purse, certify
from ziggurat.release._cited import pack
from ziggurat.release.labels import features_digest
from ziggurat.release.labels._described import aggregator_from, describe_step

CANARY = "CANARY-7f3a"
QUERIES = np.random.default_rng(5).normal(size=(40, 4))
AGGREGATORS = [
    GumbelNoisyMax("1/3"),
    GumbelNoisyMax("0.1", test=ThresholdTest(20, 5)),
    LaplaceNoisyMax("0.1"),
    GaussianNoisyMax("10/3", test=ThresholdTest("1/7", "10/3")),
    ConfidentGaussianMax(20, 10, "7/3"),
]


class Stubborn(ClassifierMixin, BaseEstimator):
    """A foreign classifier that counts what it is asked, and fails, quoting a cell, when told to."""

    asked = 0
    failing = False

    def fit(self, X, y):  # noqa: N803
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict(self, X):  # noqa: N803
        Stubborn.asked += 1
        if Stubborn.failing:
            raise ValueError(f"could not read {CANARY} in row 17")
        return (X[:, 0] > 0).astype(int)


@pytest.fixture
def stubborn(monkeypatch):
    monkeypatch.setattr(Stubborn, "asked", 0)
    monkeypatch.setattr(Stubborn, "failing", False)
    rows = np.random.default_rng(1).normal(size=(80, 4))
    partition = Partition.by_record(80, 4, source=seeded(1))
    fitted = Teachers(Stubborn(), classes=2).fit(rows, (rows[:, 0] > 0).astype(int), partition, source=seeded(2))
    Stubborn.asked = 0  # each was asked once, to see whether it answers
    return fitted


def made(teachers, ledger, aggregator=GumbelNoisyMax("0.1"), **options):  # noqa: B008
    return Labelling(teachers, aggregator, ledger, "sam", budget="patients", **{"source": seeded("noise"), **options})


def reserved(ledger):
    return [entry for entry in ledger.history("patients") if entry.kind == "reserve"]


def test_labels_follow_the_teachers_and_are_paid_for_as_planned(labelling, teachers_ledger):
    labelled = labelling.label(QUERIES)
    assert np.mean(labelled.labels.labels == (QUERIES[:, 0] > 0)) > 0.8
    assert labelled.planned == GumbelNoisyMax("0.1").planned(Ballot(2), 40)
    assert [entry.data["event"] for entry in reserved(teachers_ledger)] == [labelled.planned.to_dict()]
    assert (labelled.replayed, labelled.rehearsal, labelled.facts.answers) == (False, True, 40)


def test_what_is_reserved_covers_the_most_answers_and_not_those_that_came(teachers, teachers_ledger):
    labelled = made(teachers, teachers_ledger, ConfidentGaussianMax(25, 10, 10)).label(QUERIES, most_answers=10)
    assert (labelled.facts.queries, labelled.facts.cap) == (40, 10)
    assert labelled.facts.answers == int(labelled.labels.answered.sum()) <= 10
    assert labelled.planned == ConfidentGaussianMax(25, 10, 10).planned(Ballot(2), 40, 10)


def test_the_same_question_is_replayed_and_costs_nothing(labelling, teachers_ledger):
    first, left = labelling.label(QUERIES), teachers_ledger.share_left("patients", "sam")
    again = labelling.label(QUERIES.tolist())
    assert again.replayed
    assert (again.labels.labels == first.labels.labels).all()
    assert again.facts == first.facts
    assert teachers_ledger.share_left("patients", "sam") == left


def test_no_teacher_is_asked_for_what_is_replayed(stubborn, teachers_ledger):
    labelling = made(stubborn, teachers_ledger)
    labelling.label(QUERIES)
    assert Stubborn.asked == 4
    labelling.label(QUERIES)
    assert Stubborn.asked == 4


def test_other_noise_features_teachers_or_caps_are_other_questions(teachers, teachers_ledger):
    tested = ConfidentGaussianMax(25, 30, 30)
    other = Teachers(DecisionTreeClassifier(max_depth=2), classes=2).fit(
        *((QUERIES, (QUERIES[:, 0] > 0).astype(int))), Partition.by_record(40, 4, source=seeded(3)), source=seeded(4)
    )
    calls = [
        made(teachers, teachers_ledger, tested).label(QUERIES),
        made(teachers, teachers_ledger, tested).label(QUERIES, most_answers=20),
        made(teachers, teachers_ledger, tested).label(QUERIES + 1e-9),
        made(teachers, teachers_ledger, ConfidentGaussianMax(26, 30, 30)).label(QUERIES),
        made(other, teachers_ledger, tested).label(QUERIES),
    ]
    assert not any(each.replayed for each in calls)
    assert len(reserved(teachers_ledger)) == 5


def test_a_rehearsal_never_stands_in_for_the_real_labels(stubborn, teachers_ledger):
    made(stubborn, teachers_ledger).label(QUERIES)
    assert not made(stubborn, teachers_ledger, GumbelNoisyMax("0.2"), source=secure()).label(QUERIES).replayed
    # The teachers were trained with a seed, so that labels with secure noise are a rehearsal as well.
    assert made(stubborn, teachers_ledger, source=secure()).rehearsal


def test_secure_teachers_and_secure_noise_make_labels_that_may_leave(tmp_path, teachers_ledger):
    rows = np.random.default_rng(2).normal(size=(60, 4))
    fitted = Teachers(Stubborn(), classes=2).fit(rows, (rows[:, 0] > 0).astype(int), Partition.by_record(60, 3))
    labelled = made(fitted, teachers_ledger, source=None).label(QUERIES)
    assert (labelled.rehearsal, labelled.labels.origin) == (False, "secure")
    labelled.save(tmp_path / "labels.json")
    assert not Labelled.load(tmp_path / "labels.json").rehearsal


def test_adaptive_queries_are_refused_before_anybody_votes_once_the_grant_is_used(stubborn, teachers_ledger):
    labelling, queries = made(stubborn, teachers_ledger), QUERIES
    while labelling.quote(40).fits:
        queries = queries + labelling.label(queries).labels.labels[:, None] + 1
    given = len(reserved(teachers_ledger))
    with pytest.raises(BudgetExceededError, match="nothing was read or spent"):
        labelling.label(queries)
    assert 1 < given < 10
    assert Stubborn.asked == 4 * given


@pytest.mark.parametrize(
    "bad", [np.full((3, 4), np.nan), np.ones((3, 5)), np.ones(4), [["a"] * 4], np.ones((0, 4)), np.full((1, 4), np.inf)]
)
def test_wrong_features_are_found_before_anything_is_reserved(labelling, teachers_ledger, bad):
    with pytest.raises((DataError, ParameterError)):
        labelling.label(bad)
    assert reserved(teachers_ledger) == []


def test_a_cap_without_a_test_or_above_the_queries_is_found_before_anything_is_reserved(labelling, teachers_ledger):
    for most in (3, 41, 0, 2.5):
        with pytest.raises(ParameterError):
            labelling.label(QUERIES, most_answers=most)
        with pytest.raises(ParameterError):
            labelling.quote(40, most_answers=most)
    with pytest.raises(QuestionError, match="in parts"):
        labelling.label(np.zeros((MOST_QUERIES + 1, 4)))
    assert reserved(teachers_ledger) == []


def test_the_most_labels_of_the_most_classes_fit_into_an_entry():
    labels = np.random.default_rng(0).integers(0, 10**5, MOST_QUERIES).tolist()
    assert len(json.dumps(pack({"labels": labels}))) < 1 << 20


class Broken(GumbelNoisyMax):
    """Fails, quoting a cell, when told to."""

    failing = True

    def draw(self, votes, source):
        if Broken.failing:
            raise ValueError(f"could not read {CANARY} in row 17")
        return super().draw(votes, source)


def test_what_fails_after_the_reservation_is_ours_quotes_nothing_and_stays_spent(
    teachers, teachers_ledger, monkeypatch
):
    labelling, before = made(teachers, teachers_ledger, Broken("0.1")), teachers_ledger.share_left("patients", "sam")
    with pytest.raises(EngineError, match=r"ValueError.*the cost stays spent") as caught:
        labelling.label(QUERIES)
    assert CANARY not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value.__context__!r}"
    assert teachers_ledger.share_left("patients", "sam") < before
    monkeypatch.setattr(Broken, "failing", False)
    assert not labelling.label(QUERIES).replayed


def test_a_teacher_that_fails_votes_a_constant_and_nobody_hears_of_it(stubborn, teachers_ledger):
    """Whether it fails may depend on one person's rows, so that an error would be an answer without noise."""
    Stubborn.failing = True
    labelled = made(stubborn, teachers_ledger, GumbelNoisyMax(2)).label(QUERIES[:2])
    assert labelled.labels.labels.tolist() == [0, 0]


@pytest.mark.parametrize("relation", list(Relation))
def test_a_budget_for_another_unit_is_refused_with_the_way_out(teachers, teachers_ledger, relation):
    teachers_ledger.create_budget("wrong", 1, "1e-6", Neighbours(Unit.person("patient"), relation))
    with pytest.raises(MixedNeighboursError, match="name a budget for the unit of their partition"):
        Labelling(teachers, GumbelNoisyMax("0.1"), teachers_ledger, "sam", budget="wrong")


def by_person(balanced):
    rows, people = np.random.default_rng(1).normal(size=(80, 4)), np.arange(80) // 4
    split = Partition.by_unit(people, 4, unit=Unit.person("p"), balanced=balanced, source=seeded(1))
    return Teachers(Stubborn(), classes=2).fit(rows, (rows[:, 0] > 0).astype(int), split, source=seeded(2))


@pytest.fixture
def two_budgets(tmp_path):
    """The same people twice: 'patients' by default, under add-or-remove-one, and 'replaced' under replace-one."""
    with Ledger.open(tmp_path / "people.db") as ledger:
        for name, relation in (("patients", Relation.ADD_OR_REMOVE_ONE), ("replaced", Relation.REPLACE_ONE)):
            ledger.create_budget(name, 9, "1e-4", Neighbours(Unit.person("p"), relation))
            ledger.grant(name, "sam", 9, "1e-4")
        yield ledger


def test_the_default_budget_pays_one_vote_for_teachers_by_a_keyed_hash(two_budgets):
    labelled = made(by_person(balanced=False), two_budgets).label(QUERIES)
    assert labelled.planned == GumbelNoisyMax("0.1").planned(Ballot(2, Unit.person("p")), 40)
    assert labelled.account("1e-5").record.neighbours == Neighbours(Unit.person("p"))


def test_a_replace_one_budget_pays_two_votes_for_them_and_a_certificate_knows_it(two_budgets):
    teachers = by_person(balanced=False)
    labelling = Labelling(teachers, GumbelNoisyMax("0.1"), two_budgets, "sam", budget="replaced", source=seeded(3))
    labelled = labelling.label(QUERIES)
    assert labelled.facts.ballot.moved == 2
    assert labelled.planned.neighbours.relation is Relation.REPLACE_ONE
    assert compose(labelled.planned).zcdp().rho == 4 * 40 * Fraction(1, 200)
    again = Labelled.from_dict(json.loads(json.dumps(labelled.to_dict())))
    assert again.account().record == labelled.account().record
    again.require_recorded(two_budgets)
    assert labelling.label(QUERIES).replayed
    seen = labelling.steward_view(QUERIES, labelled)
    assert seen.record.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
    assert seen.record.epsilon < labelled.account().record.epsilon


def test_one_vote_and_two_are_not_taken_for_the_same_run(two_budgets):
    """Both are about replacing a person, with the same noise; only one split is balanced."""
    given = [
        Labelling(by_person(even), GumbelNoisyMax("0.1"), two_budgets, "sam", budget="replaced", source=seeded(3))
        for even in (True, False)
    ]
    pair = [each.label(QUERIES[:20]) for each in given]
    expected = compose(*(each.planned for each in pair)).approximate("1e-4")
    for several in (pair, pair[::-1]):
        promise = certify(several, features="public").teachers.promise
        assert promise.epsilon == expected.epsilon > pair[0].account().record.epsilon
    votes = Votes.from_labels(by_person(False).votes(QUERIES[:20]), 2, unit=Unit.person("p"), relation="replace-one")
    shown = sanitize(GumbelNoisyMax("0.1"), votes, delta="1e-4", order=8, noise=8, source=seeded(1))
    with pytest.raises(PrivacyError, match="two may move"):
        certify(pair[1], features="public", sanitised=shown)


def test_a_balanced_split_is_refused_by_name_from_a_budget_about_adding_and_removing(two_budgets):
    teachers = by_person(balanced=True)
    with pytest.raises(MixedNeighboursError, match=r"balanced split.*with --relation replace-one"):
        made(teachers, two_budgets)
    labelled = Labelling(
        teachers, GumbelNoisyMax("0.1"), two_budgets, "sam", budget="replaced", source=seeded(3)
    ).label(QUERIES)
    assert compose(labelled.planned).zcdp().rho == 40 * Fraction(1, 200)


def test_an_epsilon_is_stated_at_the_delta_that_was_granted_unless_asked_otherwise(labelling):
    labelled, paid = labelling.label(QUERIES), Fraction(1, 10**5)
    stated = [labelling.account(40), labelled.account(), labelling.steward_view(QUERIES, labelled)]
    assert [each.record.delta for each in stated] == [paid] * 3
    assert labelling.account(40, delta="1e-7").record.delta == Fraction(1, 10**7)


def test_a_grant_without_a_delta_states_the_pure_promise(tmp_path):
    with Ledger.open(tmp_path / "pure.db") as ledger:
        ledger.create_budget("patients", 9, 0, Neighbours(Unit.person("p")))
        ledger.grant("patients", "sam", 9)
        labelling = made(by_person(balanced=False), ledger)
        stated = [labelling.account(40), (labelled := labelling.label(QUERIES)).account()]
        stated.append(labelling.steward_view(QUERIES, labelled))
    assert {(each.record.epsilon, each.record.delta, each.published) for each in stated} == {(8, 0, None)}


def test_an_edited_manifest_is_refused(stubborn, teachers_ledger):
    stubborn.manifest_ = {**stubborn.manifest_, "neighbours": Neighbours(Unit.person("patient")).to_dict()}
    with pytest.raises(DataError, match="edited"):
        made(stubborn, teachers_ledger)


def test_untrained_teachers_and_strangers_are_refused(teachers, teachers_ledger):
    with pytest.raises(ParameterError, match="fit"):
        made(Teachers(Stubborn(), classes=2), teachers_ledger)
    with pytest.raises(ParameterError, match="aggregator"):
        made(teachers, teachers_ledger, ThresholdTest(2, 2))
    with pytest.raises(LedgerUseError, match="grant"):
        Labelling(teachers, GumbelNoisyMax("0.1"), teachers_ledger, "eve", budget="patients").label(QUERIES)


def test_labels_that_were_paid_are_given_again_after_the_grant_is_closed(teachers, teachers_ledger):
    given = made(teachers, teachers_ledger).label(QUERIES)
    teachers_ledger.close_grant("patients", "sam")
    again = made(teachers, teachers_ledger).label(QUERIES)
    assert again.replayed
    assert again.labels.labels.tolist() == given.labels.labels.tolist()


def test_teachers_that_are_trained_again_on_another_kind_of_split_are_refused(tmp_path):
    rows = np.random.default_rng(1).normal(size=(80, 4))
    labels, people = (rows[:, 0] > 0).astype(int), np.arange(80) // 4
    people_first = Partition.by_unit(people, 4, unit=Unit.person("p"), source=seeded(1))
    fitted = Teachers(Stubborn(), classes=2).fit(rows, labels, people_first, source=seeded(2))
    with Ledger.open(tmp_path / "people.db") as ledger:
        ledger.create_budget("patients", 9, "1e-4", people_first.neighbours)
        ledger.grant("patients", "sam", 9, "1e-4")
        labelling = made(fitted, ledger)
        fitted.fit(rows, labels, Partition.by_record(80, 4, source=seeded(1)), source=seeded(2))
        with pytest.raises(DataError, match="trained again"):
            labelling.label(QUERIES)


def test_what_is_refused_does_not_depend_on_anybodys_label(tmp_path):
    rows = np.random.default_rng(1).normal(size=(80, 4))
    partition = Partition.by_record(80, 4, source=seeded(1))
    for labels in (np.zeros(80, dtype=int), np.eye(80, dtype=int)[17]):
        fitted = Teachers(Stubborn(), classes=2).fit(rows, labels, partition, source=seeded(2))
        with pytest.raises(DataError, match="shape"):
            fitted.check(np.zeros((2, 9)))


def test_a_seeded_split_makes_a_rehearsal(teachers_ledger):
    rows = np.random.default_rng(1).normal(size=(80, 4))
    partition = Partition.by_record(80, 4, source=seeded(1))
    fitted = Teachers(Stubborn(), classes=2).fit(rows, (rows[:, 0] > 0).astype(int), partition)
    assert fitted.origin_ == "seeded"
    secret = Teachers(Stubborn(), classes=2).fit(rows, (rows[:, 0] > 0).astype(int), Partition.by_record(80, 4))
    assert secret.origin_ == "secure"


class Lavish(GumbelNoisyMax):
    """Answers more than it may."""

    def release(self, votes, source=None, *, most_answers=None):
        return super().release(votes, source)


def test_an_aggregator_that_answers_more_than_was_paid_for_gives_nothing(teachers, teachers_ledger):
    lavish = Lavish("0.1", test=ThresholdTest(1, 20))
    with pytest.raises(ParameterError, match="more queries than it was allowed"):
        made(teachers, teachers_ledger, lavish).label(QUERIES, most_answers=2)


def test_a_quote_reads_nothing_and_says_both_promises(teachers, teachers_ledger):
    hospital = Unit.of("site", "hospital")
    labelling = made(teachers, teachers_ledger, GumbelNoisyMax("0.1"), organisation=hospital, teachers_owned=3)
    quoted, stated = labelling.quote(40), labelling.account(40, delta="1e-6")
    alone = account(GumbelNoisyMax("0.1"), Ballot(2), delta="1e-6", queries=40)
    assert (stated.record, stated.published, quoted.fits) == (alone.record, alone.published, True)
    assert stated.organisation.neighbours.unit == hospital
    assert stated.organisation.epsilon > 2 * stated.record.epsilon
    assert (stated.private_exact, stated.private_published, reserved(teachers_ledger)) == (None, None, [])
    assert quoted.event == labelling.quote(QUERIES).event == stated.event
    assert str(quoted).splitlines()[0] == "Labels of at most 40 of 40 queries by 30 teachers"
    assert not labelling.quote(10**5).fits
    with pytest.raises(ParameterError, match="Only the number of queries is known"):
        Purse(teachers_ledger, "patients", "sam").release(labelling.plan(40))
    assert reserved(teachers_ledger) == []


@pytest.mark.parametrize(("unit", "owned"), [(None, 2), (Unit.of("site", "hospital"), 31), (Unit.of("s", "h"), 0)])
def test_an_organisation_owns_some_of_the_teachers(teachers, teachers_ledger, unit, owned):
    with pytest.raises(ParameterError):
        made(teachers, teachers_ledger, organisation=unit, teachers_owned=owned)


def test_the_steward_sees_the_private_epsilon_and_nothing_is_spent(labelling, teachers_ledger):
    labelled, head = labelling.label(QUERIES), teachers_ledger.head()
    view = labelling.steward_view(QUERIES, labelled, "1e-6")
    assert 0 < view.private_exact.reveal_to_steward() <= view.record.epsilon
    assert teachers_ledger.head() == head
    with pytest.raises(PrivacyError):
        float(view.private_exact)
    with pytest.raises(DataError, match="other features"):
        labelling.steward_view(QUERIES + 1, labelled, "1e-6")


def test_the_stored_labels_hold_no_vote_and_no_feature(labelling, teachers_ledger, teachers):
    text = json.dumps(labelling.label(QUERIES).to_dict()) + str(teachers_ledger.history())
    counts = teachers.votes(QUERIES).sum(axis=0)
    assert "votes" not in text
    assert "counts" not in text
    assert json.dumps(counts.tolist()) not in text
    assert str(QUERIES[0, 0]) not in text
    assert all(entry["salt"] not in text for entry in teachers.manifest_["teachers"])


@pytest.mark.parametrize("aggregator", AGGREGATORS, ids=repr)
def test_an_aggregator_is_described_exactly_and_made_again(aggregator):
    facts = json.loads(json.dumps(describe_step(aggregator)))
    again = aggregator_from(facts)
    assert describe_step(again) == facts
    assert again.planned(Ballot(3), 9, 9) == aggregator.planned(Ballot(3), 9, 9)


def test_an_aggregator_of_somebody_else_is_recorded_by_its_parameters(teachers, teachers_ledger):
    class Theirs(GumbelNoisyMax):
        pass

    labelled = made(teachers, teachers_ledger, Theirs("0.1")).label(QUERIES)
    facts = labelled.facts.question["aggregator"]
    assert facts["kind"].endswith("Theirs")
    assert facts["gamma"] == "1/10"
    assert not made(teachers, teachers_ledger, Theirs("0.1")).label(QUERIES).replayed
    assert labelled.facts.aggregator is None
    assert Labelled.from_dict(labelled.to_dict()).planned == labelled.planned
    with pytest.raises(ParameterError, match="own"):
        labelled.account("1e-5")
    assert issubclass(Theirs, Aggregator)


def test_labels_survive_a_file(labelling, tmp_path):
    labelled = labelling.label(QUERIES)
    labelled.save(tmp_path / "labels.json")
    again = Labelled.load(tmp_path / "labels.json")
    assert again.to_dict() == labelled.to_dict()
    assert again.labels.event == labelled.labels.event
    assert again.account("1e-5").record == labelled.account("1e-5").record
    assert again.rehearsal


EDITS = {
    "fewer queries": lambda data: data["facts"]["question"].update(queries=4),
    "less noise claimed": lambda data: data["facts"]["question"]["aggregator"].update(gamma="1/1000"),
    "a smaller event": lambda data: data["facts"]["event"].update(count=2),
    "more answers": lambda data: data["facts"].update(answers=39),
    "another unit": lambda data: data["facts"]["question"]["neighbours"].update(unit="person", column="x"),
    "a class that is none": lambda data: data["labels"].__setitem__(0, 7),
    "a label less": lambda data: data["labels"].pop(),
    "text": lambda data: data["labels"].__setitem__(0, CANARY),
    "another format": lambda data: data.update(format="ziggurat/labels/9"),
    "something more": lambda data: data.update(epsilon="0.1"),
    "no entry": lambda data: data["facts"].update(entry=None),
    "no grant": lambda data: data["facts"]["grant"].clear(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_file_that_contradicts_itself_is_refused_in_one_sentence(labelling, tmp_path, edit):
    data = json.loads(json.dumps(labelling.label(QUERIES).to_dict()))
    EDITS[edit](data)
    (tmp_path / "edited.json").write_text(json.dumps(data))
    with pytest.raises(DataError, match="damaged") as refused:
        Labelled.load(tmp_path / "edited.json")
    assert CANARY not in str(refused.value)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_other_json_is_refused(data):
    with pytest.raises(DataError):
        Labelled.from_dict(data)


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("absent", "binary"):
        with pytest.raises(DataError, match="labels"):
            Labelled.load(tmp_path / name)


def test_the_digest_of_features_is_that_of_their_values_row_by_row():
    assert features_digest([[1, 2], [3, 4]]) == features_digest(np.array([[1.0, 2.0], [3.0, 4.0]], order="F"))
    assert features_digest(np.ones((2, 6))) != features_digest(np.ones((3, 4)))
    assert features_digest(np.ones((2, 6))) == features_digest(np.ones((2, 2, 3)))


def test_the_grant_that_paid_is_remembered_after_it_is_closed(labelling, teachers_ledger):
    first = labelling.label(QUERIES)
    teachers_ledger.close_grant("patients", "sam")
    teachers_ledger.grant("patients", "sam", "9", "1e-5")
    again = labelling.label(QUERIES)
    assert again.replayed
    assert again.facts.grant.epsilon == first.facts.grant.epsilon == Fraction(8)
