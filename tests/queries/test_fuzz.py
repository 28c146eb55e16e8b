"""Thousands of generated questions: each runs or is refused in our own words, and none shows a cell."""

import json
import traceback
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp

from ziggurat.data import Column, Kind, Schema, Table, Unit
from ziggurat.errors import QuestionError, ZigguratError
from ziggurat.queries import Answer, Catalogue, Question, QuestionPlan, Terms, parse
from ziggurat.randomness import seeded


@pytest.fixture(scope="module")
def catalogue(nasty: Table) -> Catalogue:
    def held(columns: dict[str, Any], schema: Schema) -> Table:
        return Table(nasty.engine, nasty.engine.attach(pa.table(columns)), schema)

    who = Column("who", Kind.TEXT, "identifier")
    others = held({"who": ["p1", "p2"], "n": [1, 2]}, Schema((who, Column("n", Kind.INTEGER)), Unit.person("who")))
    places = held(
        {"k": [1, 2, 2], "label": ["one", "two", "zwei"]},
        Schema((Column("k", Kind.INTEGER), Column("label", Kind.TEXT))),
    )
    return Catalogue({"people": nasty, "others": others}, {"places": places})


def run(question: Question) -> pa.Table:
    """Everything a question computes of one row."""
    relation = question.relation
    chosen = [key.value.sql.as_(f"key{place}") for place, key in enumerate(question.keys)]
    for place, aggregate in enumerate(question.aggregates):
        if aggregate.value is not None:
            chosen.append(aggregate.value.sql.as_(f"value{place}"))
        if aggregate.where is not None:
            chosen.append(aggregate.where.as_(f"where{place}"))
    query = exp.select(*chosen, exp.Literal.number(1).as_("one")).from_(relation.query.subquery("rows"))
    return relation.engine.query(query if question.where is None else query.where(question.where))


def leaks(text: str, secrets: tuple[str, ...]) -> bool:
    return any(secret in text for secret in secrets)


def asked(sql: str, catalogue: Catalogue, secrets: tuple[str, str]) -> Question | None:
    """The question, if it is understood; what is refused must be so in our own words."""
    try:
        return parse(sql, catalogue)
    except ZigguratError as error:
        refusal = error
    assert not leaks("".join(traceback.format_exception(refusal)), secrets), sql
    assert isinstance(refusal, QuestionError), sql
    assert str(refusal).endswith((".", "?")), str(refusal)
    return None


def test_well_formed_questions_are_answered_or_refused(
    grammar: Any, catalogue: Catalogue, secrets: tuple[str, str]
) -> None:
    written = grammar(20261115)
    understood = 0
    for _ in range(1000):
        sql = written.question()
        question = asked(sql, catalogue, secrets)
        if question is not None:
            understood += 1
            run(question)
    assert understood > 200


def test_garbage_is_refused_in_our_own_words(grammar: Any, catalogue: Catalogue, secrets: tuple[str, str]) -> None:
    written = grammar(4711)
    refused = 0
    for _ in range(1000):
        question = asked(written.garbage(written.question()), catalogue, secrets)
        refused += question is None
        if question is not None:
            run(question)
    assert refused > 500


def test_the_search_for_leaks_finds_one(secrets: tuple[str, str]) -> None:
    with pytest.raises(QuestionError) as caught:
        raise QuestionError(f"The cell {secrets[0]!r} is no number.")
    assert leaks("".join(traceback.format_exception(caught.value)), secrets)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM people WHERE " + "(" * 500 + "n > 1" + ")" * 500,
        "SELECT COUNT(*) FROM people WHERE n > " + "-" * 3000 + "1",
        "SELECT COUNT(*) FROM people WHERE n > " + "1 + " * 3000 + "1",
        "SELECT SUM(" + "ABS(" * 300 + "n" + ")" * 300 + ") FROM people",
        "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 100 + "people" + ") AS a" * 100,
        "SELECT SUM(" + " * ".join(["y"] * 40) + ") FROM people",
        "SELECT SUM(" + "CLAMP(" * 30 + "x" + ", 0, 1)" * 30 + ") FROM people",
        "SELECT COUNT(*) FROM people WHERE " + " OR ".join(["n = 3"] * 1500),
        "SELECT COUNT(*) FROM people WHERE n IN (" + ", ".join(["1"] * 2000) + ")",
        "SELECT " + "9" * 5000 + " FROM people",
        "SELECT COUNT(*) FROM people" + " " * 30000,
        "WITH a0 AS (SELECT * FROM people)"
        + "".join(f", a{place + 1} AS (SELECT * FROM a{place})" for place in range(200))
        + " SELECT COUNT(*) FROM a200",
        "WITH a0 AS (SELECT n FROM people)"
        + "".join(f", a{i + 1} AS (SELECT b.n FROM a{i} JOIN a{i} AS b ON a{i}.who = b.who)" for i in range(60))
        + " SELECT COUNT(*) FROM a60",
        "SELECT " + ", ".join(f"COUNT(*) AS a{place}" for place in range(500)) + " FROM people",
    ],
    ids=lambda sql: sql[:40],
)
def test_monstrous_questions_are_refused_quickly(sql: str, catalogue: Catalogue) -> None:
    with pytest.raises(QuestionError):
        parse(sql, catalogue)


def test_long_chains_of_conditions_are_understood(catalogue: Catalogue) -> None:
    chain = " OR ".join(f"n = {place}" for place in range(150))
    run(parse(f"SELECT COUNT(*) FROM people WHERE {chain}", catalogue))


def answered(question: Question, seed: int, secrets: tuple[str, str]) -> Answer | None:
    """The answer; what is refused after all must be so in our own words."""
    terms = Terms(1, "1e-6", rows_per_unit=2, groups_per_unit=2)
    try:
        return QuestionPlan(question, terms).run(seeded(seed))
    except ZigguratError as error:
        refusal = error
    assert isinstance(refusal, QuestionError), question.text
    assert not leaks("".join(traceback.format_exception(refusal)), secrets)
    return None


def test_generated_questions_are_answered_to_the_end_or_refused_and_show_no_cell(catalogue, grammar, secrets):
    written, answers = grammar(23), 0
    for place in range(250):
        question = asked(written.question(), catalogue, secrets)
        answer = None if question is None else answered(question, place, secrets)
        answers += answer is not None
        assert answer is None or not leaks(json.dumps(answer.to_dict()), secrets)
    assert answers > 25
