"""What leaves with a student: two promises, what they rest on, and nothing that was not paid for."""

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data import Unit
from ziggurat.errors import DataError, LedgerCorruptError, MixedNeighboursError, ParameterError, PrivacyError
from ziggurat.pate import (
    Ballot,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    PrivateEpsilon,
    Votes,
    account,
    sanitize,
)
from ziggurat.privacy import Neighbours, UnboundedEvent, compose, event_from_dict
from ziggurat.randomness import seeded
from ziggurat.release import Labelled, Labelling, QueryCurator, StudentCertificate, certify
from ziggurat.release.labels import features_digest

DAY = date(2026, 11, 15)
HOSPITAL = Unit.of("site", "hospital")
ROWS = np.random.default_rng(7).normal(size=(60, 4))


@pytest.fixture
def labelled(labelling):
    return labelling.label(ROWS)


@pytest.fixture
def curator(students_ledger):
    return QueryCurator("0.5", 4, students_ledger, "curie", budget="own", source=seeded("queries"))


def certified(labelled, **options):
    return certify(labelled, **{"delta": "1e-6", "features": "public", "made": DAY, **options})


def by(teachers, ledger, aggregator):
    return Labelling(teachers, aggregator, ledger, "sam", budget="patients", source=seeded("more"))


def through_json(certificate):
    return json.loads(json.dumps(certificate.to_dict()))


def test_the_promise_is_that_of_the_plan_and_of_all_labels_together(labelling):
    training, threshold = labelling.label(ROWS), labelling.label(ROWS[:20])
    both = certified([training, threshold])
    expected = account(GumbelNoisyMax("0.1"), Ballot(2), delta="1e-6", queries=80)
    assert both.teachers.promise == expected.record
    assert both.teachers.published == expected.published
    assert both.teachers.promise.epsilon > certified(training).teachers.promise.epsilon


def test_a_certificate_states_the_delta_that_was_paid_unless_asked_otherwise(labelled, teachers, teachers_ledger):
    paid = certify(labelled, features="public", made=DAY)
    assert paid.teachers.promise == labelled.account("1e-5").record
    assert "at delta 0.00001 (one row" in " ".join(paid.text().split())
    assert certified(labelled).teachers.promise.delta == Fraction(1, 10**6)
    teachers_ledger.grant("patients", "kim", "8", "2e-5")
    more = Labelling(teachers, GumbelNoisyMax("0.1"), teachers_ledger, "kim", budget="patients", source=seeded("kim"))
    both = certify([labelled, more.label(ROWS)], features="public", made=DAY)
    assert both.teachers.promise.delta == Fraction(3, 10**5)


def test_labels_that_are_replayed_or_given_twice_count_once(labelling, labelled):
    assert certified([labelled, labelling.label(ROWS), labelled]) == certified(labelled)


def test_the_promise_holds_for_the_cap_however_few_were_answered(teachers, teachers_ledger):
    aggregator = ConfidentGaussianMax(40, 20, 20)
    labelled = by(teachers, teachers_ledger, aggregator).label(ROWS, most_answers=30)
    assert labelled.facts.answers < 30
    made = certified(labelled)
    assert made.teachers.promise == account(aggregator, Ballot(2), delta="1e-6", queries=60, answered=30).record
    assert f"at most 30 could be answered; {labelled.facts.answers} were" in " ".join(made.text().split())


def test_the_same_queries_under_another_cap_are_paid_and_counted_again(teachers, teachers_ledger):
    labelling = by(teachers, teachers_ledger, ConfidentGaussianMax(20, 40, 40))
    runs = [labelling.label(ROWS, most_answers=most) for most in (30, 31, 32)]
    one, all_three = certified(runs[0], ledger=teachers_ledger), certified(runs, ledger=teachers_ledger)
    assert all_three.teachers.promise.epsilon > 1.5 * one.teachers.promise.epsilon
    assert (one.teachers.checked.others, all_three.teachers.checked.others) == (2, 0)
    assert "2 further spends on the same budgets or teachers" in " ".join(one.text().split())


def test_labels_of_different_noise_are_composed_and_no_paper_has_a_formula(teachers, teachers_ledger):
    pair = [by(teachers, teachers_ledger, each).label(ROWS) for each in (GumbelNoisyMax("0.05"), GaussianNoisyMax(40))]
    made = certified(pair, organisation=HOSPITAL, teachers_owned=2)
    assert made.teachers.promise == compose(*(each.planned for each in pair)).approximate("1e-6")
    assert made.teachers.organisation.epsilon > made.teachers.promise.epsilon
    assert made.teachers.published is None
    assert StudentCertificate.from_dict(through_json(made)) == made


def test_an_organisation_stands_beside_the_unit_of_the_budget(labelled):
    made = certified(labelled, organisation=HOSPITAL, teachers_owned=3)
    expected = labelled.account("1e-6", organisation=HOSPITAL, teachers_owned=3)
    assert (made.teachers.promise, made.teachers.organisation) == (expected.record, expected.organisation)
    assert "To one hospital that owns 3 teachers" in made.text()


def test_labels_about_different_people_are_not_mixed(labelled, teachers, tmp_path):
    question = {**labelled.facts.question, "neighbours": Neighbours(relation="replace-one").to_dict()}
    event = GumbelNoisyMax("0.1").planned(Ballot(2, relation="replace-one"), 60)
    entry = replace(labelled.facts.entry, seq=99)
    with pytest.raises(MixedNeighboursError):
        certified([labelled.facts, replace(labelled.facts, question=question, event=event, entry=entry)])


def test_no_private_epsilon_can_enter(labelled):
    private = PrivateEpsilon(0.5)
    for name in ("labelled", "delta", "features", "queries", "sanitised", "organisation", "teachers_owned", "made"):
        given = {"labelled": labelled, name: private}
        with pytest.raises(PrivacyError, match="private"):
            certified(given.pop("labelled"), **given)
    with pytest.raises(ParameterError):
        certified(labelled.account("1e-6"))
    with pytest.raises(PrivacyError):
        replace(certified(labelled).teachers, published=private)


def test_a_sanitised_epsilon_is_shown_and_its_own_cost_is_added(labelled, teachers):
    votes = Votes.from_labels(teachers.votes(ROWS), 2)
    shown = sanitize(GumbelNoisyMax("0.1"), votes, delta="1e-6", order=8, noise=8, source=seeded(1))
    made = certified(labelled, sanitised=shown)
    assert made.teachers.promise.epsilon > certified(labelled).teachers.promise.epsilon
    assert made.teachers.event.to_dict()["events"][-1] == shown.event.to_dict()
    assert "with confidence 0.95" in made.text()
    assert StudentCertificate.from_dict(through_json(made)) == made
    with pytest.raises(PrivacyError, match="organisation"):
        certified(labelled, sanitised=shown, organisation=HOSPITAL)
    with pytest.raises(ParameterError):
        certified(labelled, sanitised=Fraction(1, 2))


def test_public_features_promise_nothing_to_anybody_else(labelled):
    made = certified(labelled)
    assert (made.student.for_queries, made.student.for_student, made.student.released) == (None, None, None)
    assert made.both == made.teachers.promise
    assert "nobody's data are in them" in " ".join(made.text().split())


def test_privatised_features_protect_the_queries_the_student_and_whoever_is_in_both(labelling, curator):
    labelled = labelling.label(curator.privatize(ROWS).value)
    made = certified(labelled, features="privatised", queries=curator)
    assert made.student.for_queries.epsilon == made.student.for_student.epsilon == 1
    assert (made.both.epsilon, made.both.delta) == (made.teachers.promise.epsilon + 1, Fraction(1, 10**6))
    assert made.student.matched


def test_two_calls_add_up_and_a_divided_report_is_as_stated(labelling, curator):
    reports = curator.privatize(ROWS).value
    curator.privatize(ROWS[:10])
    made = certified(labelling.label(reports[:40]), features="privatised", queries=[curator.sent])
    assert (made.student.for_student.epsilon, made.student.matched) == (2, False)
    text = " ".join(made.text().split())
    assert "There were 2 calls (60, 10 rows)" in text
    assert "as stated by the student" in text


def test_original_features_are_not_protected_and_the_ledger_is_told(labelling, curator, students_ledger):
    labelled = labelling.label(curator.privatize(ROWS).value)
    made = certified(labelled, features="original", queries=curator)
    assert (made.student.for_queries.epsilon, made.student.for_student, made.both) == (1, None, None)
    assert isinstance(event_from_dict(through_json(made)["student"]["event"]), UnboundedEvent)
    assert "NOT PROTECTED" in made.text()
    assert "is not recorded in a ledger" in " ".join(made.text().split())
    noted = made.record(students_ledger, "own")
    assert len(students_ledger.statement("own").unbounded) == 1
    assert noted.student.recorded.hash == students_ledger.head().hash
    assert noted.record(students_ledger, "own") == noted
    assert StudentCertificate.from_dict(through_json(noted)) == noted


def test_a_protected_student_leaves_nothing_to_record(labelled, students_ledger):
    made, head = certified(labelled), students_ledger.head()
    assert made.record(students_ledger, "own") is made
    assert students_ledger.head() == head


def test_raw_queries_are_called_so(labelled):
    text = " ".join(certified(labelled, features="original").text().split())
    assert "The queries were not privatised either" in text


def test_queries_without_a_ledger_say_so(labelling):
    curator = QueryCurator("0.5", 4, source=seeded(1))
    labelled = labelling.label(curator.privatize(ROWS).value)
    made = certified(labelled, features="privatised", queries=curator)
    assert "not recorded in a ledger" in " ".join(made.text().split())


def test_features_and_queries_must_fit_each_other(labelled, curator):
    bad = [{"features": "private"}, {"features": "privatised"}, {"features": "privatised", "queries": curator}]
    for options in bad:
        with pytest.raises(ParameterError):
            certified(labelled, **options)
    curator.privatize(ROWS)
    people = QueryCurator(1, 4, unit=Unit.person("patient"), source=seeded(1))
    people.privatize(ROWS, np.arange(60))
    with pytest.raises(ParameterError, match="Public"):
        certified(labelled, queries=curator)
    with pytest.raises(MixedNeighboursError):
        certified(labelled, features="privatised", queries=[curator, people])
    for nothing in ([], None, 3, "labels", [3]):
        with pytest.raises(ParameterError):
            certified(nothing)


FORGERIES = {
    "fewer queries": lambda facts: {"queries": 6},
    "more noise": lambda facts: {"aggregator": {**facts["aggregator"], "gamma": "1/1000"}},
    "other features": lambda facts: {"features": features_digest([[1.0]])},
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_file_that_consistently_claims_less_than_the_ledger_is_refused(labelled, teachers_ledger, forgery):
    question = {**labelled.facts.question, **FORGERIES[forgery](labelled.facts.question)}
    aggregator = GumbelNoisyMax(question["aggregator"]["gamma"])
    event = aggregator.planned(Ballot(2), question["queries"])
    forged = replace(labelled.facts, question=question, event=event, answers=question["queries"])
    assert "as stated by their files" in " ".join(certified(forged).text().split())
    with pytest.raises(DataError, match="something else than entry"):
        certified(forged, ledger=teachers_ledger)
    with pytest.raises(DataError, match="something else than entry"):
        certified(forged).verify(teachers_ledger)


def test_labels_that_were_flipped_after_they_were_given_are_found_in_the_ledger(labelled, teachers_ledger):
    flipped = replace(labelled, labels=replace(labelled.labels, labels=1 - labelled.labels.labels))
    certify(labelled, delta="1e-6", features="public", ledger=teachers_ledger)
    with pytest.raises(DataError, match="not the labels of entry"):
        certify(flipped, delta="1e-6", features="public", ledger=teachers_ledger)


def test_a_rehearsal_that_is_passed_off_as_real_is_found_in_the_ledger(labelled, teachers_ledger):
    forged = replace(labelled.facts, rehearsal=False)
    assert not certified(forged).rehearsal
    with pytest.raises(DataError, match="something else"):
        certified(forged, ledger=teachers_ledger)


def test_a_citation_of_another_entry_or_ledger_is_refused(labelled, teachers_ledger, students_ledger):
    entry = labelled.facts.entry
    hold = teachers_ledger.history()[entry.seq - 2]
    for wrong in (replace(entry, seq=99), replace(entry, hash="0" * 64), replace(entry, seq=hold.seq, hash=hold.hash)):
        with pytest.raises(DataError, match="not the one that is cited"):
            certified(replace(labelled.facts, entry=wrong), ledger=teachers_ledger)
    with pytest.raises(DataError, match="another ledger"):
        certified(labelled, ledger=students_ledger)


def test_an_answer_that_holds_no_labels_is_none(labelled, teachers_ledger):
    event = GumbelNoisyMax("0.01").planned(Ballot(2), 1)
    with teachers_ledger.spend("patients", "sam", event, {"kind": "question"}) as spend:
        spend.commit({"value": 3})
    entry = teachers_ledger.history()[-1]
    wrong = replace(labelled.facts.entry, seq=entry.seq, hash=entry.hash)
    with pytest.raises(DataError, match="holds no labels"):
        certified(replace(labelled.facts, entry=wrong), ledger=teachers_ledger)


def test_a_ledger_that_was_tampered_with_certifies_nothing(labelled, tmp_path, teachers_ledger):
    with closing(sqlite3.connect(tmp_path / "teachers.db")) as raw, raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute("UPDATE entries SET body = replace(body, '60', '06') WHERE kind = 'reserve'")
    with pytest.raises(LedgerCorruptError):
        certified(labelled, ledger=teachers_ledger)


def test_a_ledger_is_named_with_its_head(labelled, teachers_ledger, curator, students_ledger, labelling):
    labels = labelling.label(curator.privatize(ROWS).value)
    options = {"features": "privatised", "queries": curator}
    made = certified(labels, ledger=teachers_ledger, students_ledger=students_ledger, **options)
    assert made.teachers.checked.head == teachers_ledger.head()
    assert made.student.checked.head == students_ledger.head()
    assert (made.teachers.checked.others, made.student.checked.others) == (1, 0)
    assert StudentCertificate.from_dict(through_json(made)) == made
    with pytest.raises(DataError, match="no ledger"):
        certified(labels, students_ledger=students_ledger, features="privatised", queries=_unrecorded())


def _unrecorded():
    curator = QueryCurator(1, 4, source=seeded(1))
    curator.privatize(ROWS)
    return curator


CLAIMS = {
    "a smaller epsilon": lambda data: data["teachers"]["promise"].update(epsilon="1/10"),
    "a smaller delta": lambda data: data["teachers"]["promise"].update(delta="1/10000000000"),
    "a smaller sum": lambda data: data["both"].update(epsilon="1"),
    "another unit": lambda data: data["teachers"]["promise"]["neighbours"].update(unit="person", column="x"),
    "protection": lambda data: data["student"].update(student_epsilon="1/10"),
    "a private number": lambda data: data["teachers"].update(sanitised={"private": True}),
    "less noise, consistently": lambda data: data["teachers"]["labellings"][0]["question"].update(queries=1),
    "no rehearsal": lambda data: data.update(rehearsal=False),
    "something more": lambda data: data.update(quality="good"),
    "another format": lambda data: data.update(format="ziggurat/certificate/9"),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_certificate_that_claims_what_its_facts_do_not_prove_is_refused(labelled, claim):
    data = through_json(certified(labelled))
    CLAIMS[claim](data)
    with pytest.raises(DataError, match="damaged"):
        StudentCertificate.from_dict(data)


def test_an_older_account_that_promised_more_loss_is_still_read(labelled):
    data = through_json(certified(labelled))
    data["teachers"]["promise"]["epsilon"] = data["both"]["epsilon"] = "9"
    assert StudentCertificate.from_dict(data).teachers.promise.epsilon == 9


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_other_json_is_no_certificate(data):
    with pytest.raises(DataError):
        StudentCertificate.from_dict(data)


def test_a_certificate_survives_a_file_and_names_the_students_files(labelled, tmp_path):
    folder = tmp_path / "student"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "weights.bin").write_bytes(b"abc")
    made = certified(labelled, files=folder)
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert made.files == {"deep/weights.bin": digest}
    assert certified(labelled, files=folder / "deep" / "weights.bin").files == {"weights.bin": digest}
    made.save(tmp_path / "certificate.json")
    assert StudentCertificate.load(tmp_path / "certificate.json") == made
    for absent in (tmp_path / "nothing", tmp_path / "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(DataError):
            certified(labelled, files=absent)
    with pytest.raises(DataError):
        StudentCertificate.load(tmp_path / "nothing")


def test_a_ledger_that_was_copied_does_not_hide_a_labelling(labelled):
    entry = replace(labelled.facts.entry, hash="0" * 64)
    other = replace(labelled, facts=replace(labelled.facts, entry=entry))
    with pytest.raises(DataError, match="copied"):
        certify([labelled, other], delta="1e-6", features="public")


def test_files_that_were_changed_after_they_were_certified_are_found(labelled, tmp_path):
    (tmp_path / "student.json").write_text("{}")
    made = certify(labelled, delta="1e-6", features="public", files=tmp_path)
    made.require_files(tmp_path)
    (tmp_path / "student.json").write_text("[]")
    with pytest.raises(DataError, match="not the one that was certified"):
        made.require_files(tmp_path)


@pytest.mark.parametrize("path", [("teachers", "published"), ("student", "matched")])
def test_what_follows_from_the_facts_cannot_be_stated_otherwise(labelled, path):
    data = certify(labelled, delta="1e-6", features="public").to_dict()
    data[path[0]][path[1]] = {"published": "1/100", "matched": True}[path[1]]
    with pytest.raises(DataError, match="damaged"):
        StudentCertificate.from_dict(data)


def test_a_noted_release_is_looked_up_in_the_ledger(labelling, curator, students_ledger):
    labelled = labelling.label(curator.privatize(ROWS).value)
    made = certified(labelled, features="original", queries=curator, students_ledger=students_ledger)
    noted = made.record(students_ledger, "own")
    noted.verify(students_ledger=students_ledger)
    claimed = replace(made, student=replace(made.student, recorded=replace(noted.student.recorded, hash="0" * 64)))
    with pytest.raises(DataError, match="not the one that is cited"):
        claimed.verify(students_ledger=students_ledger)


def test_today_is_the_day_unless_told(labelled):
    assert abs((datetime.now(UTC).date() - certified(labelled, made=None).made).days) <= 1


def test_a_plain_noise_of_two_classes_gets_the_exact_account(teachers, teachers_ledger):
    labelled = by(teachers, teachers_ledger, LaplaceNoisyMax("0.1")).label(ROWS)
    made = certified(labelled)
    assert made.teachers.promise == labelled.account("1e-6").record
    assert StudentCertificate.from_dict(through_json(made)) == made


def test_labels_travel_to_the_certificate_by_file(labelled, tmp_path, teachers_ledger):
    labelled.save(tmp_path / "labels.json")
    sent = Labelled.load(tmp_path / "labels.json")
    assert certified(sent, ledger=teachers_ledger) == certified(labelled, ledger=teachers_ledger)


GOLDEN = """\
REHEARSAL: not to be published

CERTIFICATE OF A STUDENT MODEL
Made on 15 November 2026. The student learned from labels that 30 teachers together gave under
noise.

1. To the people whose data trained the teachers
   Differential privacy with epsilon ≈3.92006 at delta 0.000001 (one row, add-or-remove-one). No set
   of outputs becomes more than 50.41 times as likely, plus 0.000001, by adding or removing one row.
   Somebody with several rows is protected less.
   This covers everything that the labels show of the teachers, and so this student. It depends on
   no vote: it is the cost of 60 queries, of which at most 60 could be answered; 60 were.
   Whatever 'sam' was answered under this grant of the budget 'patients', and however it was chosen,
   stays together within epsilon 8 at delta 0.00001, which were granted before; answers are added up
   by the zcdp rule.
   To one hospital that owns 3 teachers: differential privacy with epsilon ≈14.0149 at delta
   0.000001 (one hospital (column site), add-or-remove-one).
   For comparison, the formula that the papers publish gives epsilon ≈4.37169 for the same labels;
   it is no further promise.

2. To the people in the student's own table
   Differential privacy with epsilon 1 (one row, replace-one). No output becomes more than 2.72
   times as likely by replacing one row. Somebody with several rows is protected less.
   This is promised by the holder of the student's table, out of a budget of its own, and to nobody
   else's people. Everybody in that table sent their rows, so that how many there are is public.
   This covers the queries, and the released student as well, provided that it has seen nothing of
   these people but the privatised rows: neither in training nor for its threshold.
   Each row was shrunk into the l1 ball of radius 1 and got Laplace noise of scale 2 on each of its
   4 entries before it left: epsilon 2 rho = 1 a row. All 60 rows left together.

3. To somebody who may be in both tables
   The two promises add up: epsilon ≈4.92006 at delta 0.000001, for adding or removing one row in
   the teachers' table and replacing one row in the student's.

4. Where to check
   Labels 1: GumbelNoisyMax (gamma 0.1), 2 classes, 60 queries; entry 5 of ledger
   LLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLL (budget 'patients'), hash
   HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH.
   Manifest of the teachers' partition:
   HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH.
   The labels were compared with the teachers' ledger when this was made; it was in order and ended
   with entry 5, hash HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH. Nothing else
   had been spent then on the same budgets or teachers. Whoever has the ledger can compare again:
   ziggurat pate certificate --check.
   Privatised rows 1: SHA-256 HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH;
   entry 5 of ledger LLLLLLLLLLLLLLLLLLLLLLLLLLLLLLLL (budget 'own'), hash
   HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH.
   The labelled queries are, by their digests, exactly the privatised rows.
   The privatised rows were compared with the student's ledger when this was made; it was in order
   and ended with entry 5, hash HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH.
   Nothing else had been spent then on the same budgets or teachers. Whoever has the ledger can
   compare again: ziggurat pate certificate --check.
   Student's file student.json: SHA-256
   HHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHHH.
"""


def masked(text):
    """The ledger's names and hashes, and digests of random reports, are different each time."""
    return re.sub(r"[0-9a-f]{64}", "H" * 64, re.sub(r"\b[0-9a-f]{32}\b", "L" * 32, text))


def test_the_whole_text(labelling, curator, teachers_ledger, students_ledger):
    labelled = labelling.label(curator.privatize(ROWS).value)
    made = certified(
        labelled, features="privatised", queries=curator, ledger=teachers_ledger, students_ledger=students_ledger,
        organisation=HOSPITAL, teachers_owned=3, files={"student.json": "0" * 64},
    )  # fmt: skip
    assert masked(made.text()) == GOLDEN
    assert max(map(len, made.text().splitlines())) <= 100
