"""What a session promises: paid before it is read, replayed for nothing, refused before anything happens."""

import json
from dataclasses import replace
from fractions import Fraction

import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Column, Schema, Unit, read, suggest_schema
from ziggurat.errors import (
    BudgetExceededError,
    LedgerUseError,
    MixedNeighboursError,
    ParameterError,
    QuestionError,
    ZigguratError,
)
from ziggurat.privacy import Neighbours
from ziggurat.queries import Answer, Query, Workload
from ziggurat.randomness import seeded
from ziggurat.release import MOST_NUMBERS, Session

PEOPLE = "SELECT COUNT(DISTINCT patient) AS people FROM clinic"
WARDS = "SELECT ward, COUNT(*) AS n FROM clinic GROUP BY ward"


def test_a_repeated_question_costs_nothing_and_reads_nothing(session, engine):
    first = session.ask(PEOPLE, "0.5")
    left, asked = session.left(), len(engine.asked)
    again = session.ask("select count(distinct PATIENT) people  from Clinic as c", "0.5")
    assert (again.estimates, again.replayed, first.replayed) == (first.estimates, True, False)
    assert (session.left(), len(engine.asked)) == (left, asked)


def test_the_cost_is_on_disk_before_the_engine_is_asked(ledger, table, engine):
    session, seen = Session(ledger, "ada", table), []
    session.ask(PEOPLE, "0.5", progress=lambda _step: seen.append((session.left(), len(engine.asked))))
    assert seen == [(Fraction(3, 2), 0)]


def test_a_question_beyond_the_grant_is_refused_and_nothing_is_read(session, engine):
    with pytest.raises(BudgetExceededError, match="nothing was read or spent"):
        session.ask(PEOPLE, "2.01")
    assert (session.left(), engine.asked) == (2, [])


def test_analysts_have_separate_grants_and_separate_answers(ledger, table, engine):
    ada, bob = (Session(ledger, name, table, source=seeded(name)) for name in ("ada", "bob"))
    ada.ask(PEOPLE, "0.5")
    assert bob.left() == 1
    assert not bob.ask(PEOPLE, "0.5").replayed
    assert (ada.left(), bob.left(), len(engine.asked)) == (Fraction(3, 2), Fraction(1, 2), 2)


TERMS = [
    (PEOPLE, {"epsilon": "0.3"}),
    (WARDS, {"epsilon": "0.3", "rows_per_unit": 2, "groups_per_unit": 2}),
    (WARDS, {"epsilon": "0.3", "delta": "1e-6", "noise": "gaussian", "rows_per_unit": 1, "groups_per_unit": 1}),
    ("SELECT town, COUNT(DISTINCT patient) AS n FROM clinic GROUP BY town",
     {"epsilon": "0.9", "delta": "1e-6", "groups_per_unit": 1}),
    ("SELECT AVG(cost) AS c, AVG(age) AS a FROM clinic",
     {"epsilon": "0.3", "rows_per_unit": 1, "learn": ["cost"], "shares": {"c": "0.8", "a": "0.2"}}),
    ("SELECT MEDIAN(cost) AS c FROM clinic", {"epsilon": "0.3", "rows_per_unit": 1, "bounds": {"cost": (0, 60)}}),
]  # fmt: skip


@pytest.mark.parametrize(("question", "terms"), TERMS)
def test_a_quote_reads_nothing_and_equals_what_is_then_spent(ledger, table, engine, question, terms):
    bob = Session(ledger, "bob", table, source=seeded(2))
    quoted = bob.quote(question, **terms)
    assert (engine.asked, bob.left(), quoted.fits, quoted.replayed) == ([], 1, True, False)
    answer = bob.ask(question, **terms)
    assert quoted.left_after == bob.left()
    assert quoted.guarantee.epsilon <= answer.guarantee(quoted.guarantee.delta if terms.get("delta") else None).epsilon
    assert ledger.statement("clinic").grants[1].share == quoted.share_after
    assert bob.quote(question, **terms).replayed


def test_a_quote_foretells_the_width_of_the_interval(session):
    quoted = session.quote(PEOPLE, "0.5")
    low, high = session.ask(PEOPLE, "0.5").interval
    (part,) = quoted.questions[0].parts
    assert part.half_width == (high - low) / 2
    assert str(quoted).splitlines()[-1] == quoted.sentence
    assert json.loads(json.dumps(quoted.to_dict()))["epsilon"] == "1/2"


def test_a_quote_tells_how_far_off_a_mean_will_be_for_groups_of_a_stated_size(session, engine):
    mean = "SELECT AVG(age) AS a FROM clinic"
    of = {
        size: session.quote(mean, "0.5", rows_per_unit=1, group_size=size).questions[0].parts[0]
        for size in (500, 1_000)
    }
    assert session.quote(mean, "0.5", rows_per_unit=1).questions[0].parts[0] == of[1_000]
    assert of[500].half_width > 1.9 * of[1_000].half_width > 0
    assert of[1_000].note.endswith(" in a group of 1,000 people")
    assert (engine.asked, session.left()) == ([], 2)
    session.ask(mean, "0.5", rows_per_unit=1)
    again = session.quote(mean, "0.5", rows_per_unit=1, group_size=500)
    assert (again.replayed, of[500].note in str(again)) == (True, True)
    (told, *_) = again.questions[0].to_dict()["parts"]
    assert (told["half_width"], told["group_size"], told["note"]) == (of[500].half_width, 500, of[500].note)
    with pytest.raises(ParameterError, match="group_size must be a whole number of at least 1"):
        session.quote(mean, "0.5", rows_per_unit=1, group_size=0)


def test_a_batch_is_asked_whole_or_not_at_all(session, engine):
    questions = [PEOPLE, f"{PEOPLE} WHERE age > 40", PEOPLE]
    with pytest.raises(BudgetExceededError, match="2 new questions together"):
        session.ask_all(questions, "1.5")
    assert (session.left(), engine.asked) == (2, [])
    quoted = session.quote(questions, "1")
    assert (quoted.fits, quoted.guarantee.epsilon, [each.replayed for each in quoted.questions]) == (
        True, 2, [False, False, True],
    )  # fmt: skip
    answers = session.ask_all(questions, ["1", "1", "1"])
    assert (answers[2].replayed, session.left(), quoted.left_after) == (True, 0, 0)


def test_a_batch_that_fits_as_one_event_but_not_in_sequence_is_refused_before_it_begins(ledger, table, engine):
    # As one event a loss distribution may admit it; question by question only running totals may.
    ledger.grant("clinic", "cleo", "1", "1e-5", "gaussian")
    cleo = Session(ledger, "cleo", table)
    questions = [f"{PEOPLE} WHERE age > {age}" for age in range(20, 48)]
    quoted = cleo.quote(questions, "0.05")
    assert (quoted.fits, ledger.quote("clinic", "cleo", quoted.event).fits) == (False, True)
    with pytest.raises(BudgetExceededError):
        cleo.ask_all(questions, "0.05")
    assert (cleo.left(), engine.asked) == (1, [])
    with pytest.raises(BudgetExceededError):
        [cleo.ask(question, "0.05") for question in questions]


def test_the_answer_survives_json_and_the_ledger(session):
    answer = session.ask(WARDS, "0.5", rows_per_unit=1, groups_per_unit=1)
    assert Answer.from_dict(json.loads(json.dumps(answer.to_dict()))) == answer
    (past,) = session.history()
    assert (past.answer, past.event, past.rehearsal, past.question) == (answer, answer.event, True, answer.question)


def test_a_rehearsal_is_marked_everywhere_and_never_stands_in_for_a_release(ledger, table, session):
    rehearsed = session.ask(PEOPLE, "0.5")
    released = Session(ledger, "ada", table).ask(PEOPLE, "0.5")
    assert (rehearsed.rehearsal, released.rehearsal, released.replayed) == (True, False, False)
    assert ledger.statement("clinic").grants[0].rehearsals == 1
    assert "Rehearsal" in repr(session)


def test_a_changed_schema_is_a_new_question(ledger, table, session):
    session.ask(PEOPLE, "0.5")
    wider = table.declared.with_column(replace(table.declared["age"], bounds=Bounds(0, 120)))
    changed = Session(ledger, "ada", read(table.raw.rows(), wider), source=seeded(1))
    assert not changed.ask(PEOPLE, "0.5").replayed


def test_other_bounds_are_another_question(session):
    asked = "SELECT AVG(cost) AS c FROM clinic"
    session.ask(asked, "0.2", rows_per_unit=1, bounds={"cost": (0, 50)})
    assert not session.ask(asked, "0.2", rows_per_unit=1, bounds={"cost": (0, 60)}).replayed
    assert session.ask(asked, "0.2", rows_per_unit=1, bounds={"cost": (0, 50)}).replayed


@pytest.mark.parametrize("relation", ["add-or-remove-one", "replace-one"])
def test_a_budget_about_another_unit_is_refused_in_a_sentence(ledger, table, relation):
    ledger.create_budget("other", "1", 0, Neighbours(Unit.row(), relation))
    ledger.grant("other", "ada", "1")
    with pytest.raises(MixedNeighboursError, match="declare the same unit in the schema, or name another budget"):
        Session(ledger, "ada", table, budget="other")


def test_a_replace_one_budget_pays_twice_for_a_question(ledger, table):
    """Replacing somebody is removing one and adding one: 2 epsilon, in the quote and in the ledger."""
    ledger.create_budget("replaced", "1", 0, Neighbours(table.unit, "replace-one"))
    ledger.grant("replaced", "ada", "1")
    session = Session(ledger, "ada", table, budget="replaced")
    asked, terms = "SELECT COUNT(DISTINCT patient) AS n FROM clinic", {"epsilon": "0.4"}
    quoted = session.quote(asked, **terms)
    assert quoted.questions[0].epsilon == Fraction(4, 5)
    assert quoted.left_after == Fraction(1, 5)
    assert session.ask(asked, **terms).guarantee().epsilon == Fraction(2, 5)
    assert session.left() == Fraction(1, 5)
    assert session.ask(asked, **terms).replayed
    with pytest.raises(BudgetExceededError):
        session.ask(asked, epsilon="0.2")


def test_a_registered_table_is_paid_for_by_its_population_and_by_no_other(ledger, table):
    ledger.register("stays", "clinic")
    ledger.create_budget("other", "1", 0, Neighbours(table.unit))
    ledger.grant("other", "ada", "1")
    before = ledger.left("clinic", "ada")
    session = Session(ledger, "ada", {"stays": table})
    assert session.budget == "clinic"
    session.ask("SELECT COUNT(DISTINCT patient) AS n FROM stays", epsilon="0.1")
    assert ledger.left("clinic", "ada") == before - Fraction(1, 10)
    with pytest.raises(LedgerUseError, match="registered under the population 'clinic'"):
        Session(ledger, "ada", {"stays": table}, budget="other")


def test_a_budget_for_one_schema_pays_for_no_other(ledger, table):
    ledger.create_budget("pinned", "1", 0, Neighbours(table.unit), table.declared.fingerprint())
    ledger.grant("pinned", "ada", "1")
    assert Session(ledger, "ada", table, budget="pinned").left() == 1
    other = read(table.raw.rows(), replace(table.declared, description="another"))
    with pytest.raises(LedgerUseError, match="another schema"):
        Session(ledger, "ada", other, budget="pinned")


def test_a_session_needs_a_grant_a_name_and_one_budget(ledger, table):
    with pytest.raises(LedgerUseError, match="no open grant"):
        Session(ledger, "eve", table)
    with pytest.raises(LedgerUseError, match="no budget"):
        Session(ledger, "ada", {"elsewhere": table})
    with pytest.raises(ParameterError, match="which budget pays"):
        Session(ledger, "ada", {"a": table, "b": table})
    with pytest.raises(ParameterError, match="no name"):
        Session(ledger, "ada", read(table.raw.rows(), replace(table.declared, name="")))


def test_two_tables_of_one_population_share_one_budget(ledger, table):
    session = Session(ledger, "ada", {"a": table, "b": table}, budget="clinic", source=seeded(3))
    for name in "ab":
        session.ask(f"SELECT COUNT(DISTINCT patient) AS n FROM {name}", "0.5")
    assert session.left() == 1
    joined = session.ask("SELECT COUNT(DISTINCT patient) AS n FROM a JOIN b USING (patient)", "0.5")
    assert abs(joined.value - 400) < 40


def test_sql_and_the_builder_are_one_question(session):
    session.ask(PEOPLE, "0.5")
    assert session.ask(Query("clinic").count_units(name="people"), "0.5").replayed


def test_a_workload_is_paid_for_and_replayed_like_a_question(session, table, engine):
    workload = Workload(table.schema).marginal("ward").prefixes("age")
    quoted = session.quote(workload, "0.5", rows_per_unit=1)
    answer = session.ask(workload, "0.5", rows_per_unit=1)
    (part,) = quoted.questions[0].parts
    assert part.half_width == pytest.approx(max(float((each.high - each.low).max()) / 2 for each in answer.groups))
    assert (part.note, "root mean square" in part.mechanism) == (f"± {part.half_width:,.3g} at most", True)
    assert (session.left(), quoted.left_after) == (Fraction(3, 2), Fraction(3, 2))
    asked = len(engine.asked)
    again = session.ask(workload, "0.5", rows_per_unit=1)
    assert again.to_dict() == answer.to_dict()
    assert (len(engine.asked), session.left()) == (asked, Fraction(3, 2))
    assert not session.quote(workload.total(), "0.5", rows_per_unit=1).replayed
    with pytest.raises(ParameterError, match="no learn="):
        session.ask(workload, "0.5", rows_per_unit=1, learn=["cost"])


def test_an_answer_too_long_for_the_ledger_is_refused_before_it_is_paid_for(session, table, engine):
    numbers = ", ".join(f"COUNT(*) FILTER (WHERE age > {age}) AS n{age}" for age in range(70))
    question = f"SELECT age, ward, {numbers} FROM clinic GROUP BY age, ward"
    with pytest.raises(QuestionError, match=f"at most {MOST_NUMBERS:,}"):
        session.ask(question, "1", rows_per_unit=1, groups_per_unit=1)
    assert (session.left(), engine.asked) == (2, [])


def test_a_workload_may_have_more_numbers_than_a_question_and_is_replayed_as_it_was(ledger):
    columns = Column("patient", "integer"), Column("x", "integer", bounds=Bounds(0, 630))
    schema = Schema(columns, unit=Unit.person("patient"))
    table = read(pa.table({"patient": range(50), "x": range(50)}), schema)
    session = Session(ledger, "ada", {"clinic": table}, source=seeded(1))
    workload = Workload(schema).all_ranges("x")
    # Nearly the longest that is let in: none may be paid for and then be too long to be kept.
    assert 9 * MOST_NUMBERS < len(workload) < 10 * MOST_NUMBERS
    answer = session.ask(workload, "0.5", rows_per_unit=1)
    assert session.ask(workload, "0.5", rows_per_unit=1).to_dict() == answer.to_dict()
    assert session.left() == Fraction(3, 2)


def test_a_long_answer_is_stored_and_replayed_as_it_was(session):
    numbers = ", ".join(f"AVG(age) FILTER (WHERE age > {age}) AS n{age}" for age in range(60))
    question = f"SELECT age, ward, {numbers} FROM clinic GROUP BY age, ward"
    first = session.ask(question, "1", rows_per_unit=1, groups_per_unit=1)
    assert session.ask(question, "1", rows_per_unit=1, groups_per_unit=1) == first.again()


def test_an_unknown_term_is_refused_with_the_nearest(session):
    with pytest.raises(ParameterError, match="did you mean 'rows_per_unit'"):
        session.ask(PEOPLE, "1", row_per_unit=1)
    with pytest.raises(ParameterError, match="one epsilon for all"):
        session.quote([PEOPLE, PEOPLE], ["1"])
    with pytest.raises(ParameterError, match="one epsilon for all"):
        session.ask_all([], "1")


def test_what_an_analyst_may_know_holds_nothing_learned_from_the_data(ledger, table):
    rows = table.raw.rows(["patient", "cost"])
    proposed = suggest_schema(read(rows)).schema.with_unit(Unit.person("patient"))
    session = Session(ledger, "ada", {"clinic": read(rows, proposed)})
    shown = session.schema().to_pylist()
    assert [(row["table"], row["name"]) for row in shown] == [("clinic", "patient"), ("clinic", "cost")]
    assert (proposed["cost"].bounds.upper, shown[1]["values"]) == (49, "")
    with pytest.raises(QuestionError, match="no public bounds"):
        session.ask("SELECT AVG(cost) AS c FROM clinic", "0.1", rows_per_unit=1)


def test_results_come_as_arrow_pandas_and_polars(session):
    answer = session.ask(WARDS, "0.5", rows_per_unit=1, groups_per_unit=1)
    rows = answer.to_arrow().to_pylist()
    assert list(rows[0]) == ["ward", "n", "n_low", "n_high"]
    assert answer.to_pandas().to_dict("records") == answer.to_polars().to_dicts() == rows


def test_a_public_table_from_another_engine_travels_with_the_question_and_fits_the_ledger(session, ledger, table):
    towns = [f"{name} {i}" if i else name for i in range(400) for name in ("Aville", "Beton", "Cove")]
    public = pa.table({"town": towns, "side": [("left", "right")[i % 2] for i in range(len(towns))]})
    joined = Session(ledger, "ada", table, public={"towns": read(public)}, source=seeded(1))
    question = "SELECT side, COUNT(*) AS n FROM clinic JOIN towns USING (town) GROUP BY side"
    answer = joined.ask(question, "0.5", rows_per_unit=1, groups_per_unit=1)
    assert answer["side"] == ["left", "right"]
    assert joined.ask(question, "0.5", rows_per_unit=1, groups_per_unit=1) == answer.again()


@pytest.mark.parametrize(
    "question", ["", "x", ";", "SELECT", "SELECT 1", "'", "\0", "SELECT COUNT(*) FROM nowhere", 7, None]
)
def test_what_is_no_question_is_refused_and_costs_nothing(session, question):
    with pytest.raises(ZigguratError):
        session.ask(question, "0.5")
    assert session.left() == 2


@pytest.mark.parametrize("epsilon", ["", "x", "0", "-1", "nan", "1/0", 0.0, -0.5, float("inf"), True, None, "1e999"])
def test_what_is_no_amount_is_refused_and_costs_nothing(session, epsilon):
    with pytest.raises(ZigguratError):
        session.ask(PEOPLE, epsilon)
    assert session.left() == 2


def test_what_is_left_is_said_in_words(session):
    session.ask(PEOPLE, "0.5")
    assert session.remainder() == "epsilon 1.5"


def test_gaussian_noise_under_the_sum_rule_costs_what_it_says(ledger, table):
    ledger.grant("clinic", "eve", "5", "1e-4", "sum")
    session = Session(ledger, "eve", table, source=seeded(1))
    terms = {"noise": "gaussian", "rows_per_unit": 1, "groups_per_unit": 1, "effects": 0}
    session.ask(WARDS, "1", "1e-6", **terms)
    assert Fraction(4) <= session.left() < Fraction(401, 100)
    assert session.ask(WARDS, "1", "1e-6", **terms).replayed


def test_a_frame_that_is_no_table_is_refused(ledger):
    with pytest.raises(ParameterError, match="open it with read"):
        Session(ledger, "ada", {"clinic": pa.table({"a": [1]})})


def test_a_replayed_workload_says_so(session, table):
    workload = Workload(table.schema).marginal("ward")
    first, again = (session.ask(workload, "0.2", rows_per_unit=1) for _ in range(2))
    assert (first.replayed, again.replayed) == (False, True)
    assert "3 counts" in repr(first)
    assert first.guarantee().epsilon <= Fraction(1, 5)
