"""The page about SQL is right: its examples are understood, and what it calls refused is refused."""

import re
from pathlib import Path

import pyarrow as pa
import pytest

from ziggurat.data import Schema, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import QuestionError
from ziggurat.queries import Catalogue, parse
from ziggurat.queries.language.expressions._functions import FUNCTIONS

PAGE = (Path(__file__).parents[2] / "docs/reference/sql.md").read_text()
EXAMPLES = [
    each.strip() for block in re.findall(r"```sql\n(.*?)```", PAGE, re.S) for each in block.split(";") if each.strip()
]
REFUSALS = re.findall(r"^\| `(SELECT .*?)` \| [^|]* \| `(SELECT .*?)` \|$", PAGE, re.M)
VISITS = """
unit: {person: patient}
columns:
  patient: {kind: text, role: identifier}
  day: {kind: date}
  ward: {kind: integer, bounds: [1, 9]}
  cost: {kind: real, bounds: [0, 5000]}
  reason: {kind: category, categories: [flu, fall, other]}
  weight: {kind: real}
  note: {kind: text}
"""
PEOPLE = """
unit: {person: patient}
columns:
  patient: {kind: text, role: identifier}
  born: {kind: integer, bounds: [1900, 2020]}
  sex: {kind: category, categories: [F, M]}
"""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    engine = DuckDBEngine()
    names = {"visits": VISITS, "people": PEOPLE}
    private = {
        name: read(pa.table({column: pa.array([], pa.string()) for column in Schema.from_yaml(text).names}),
                   Schema.from_yaml(text), engine=engine)
        for name, text in names.items()
    }  # fmt: skip
    return Catalogue(private, {"wards": read(pa.table({"ward": [1, 2], "name": ["a", "b"], "floor": [0, 1]}))})


@pytest.mark.parametrize("sql", EXAMPLES)
def test_examples_are_understood(catalogue: Catalogue, sql: str) -> None:
    assert parse(sql, catalogue).text


@pytest.mark.parametrize(("refused", "instead"), REFUSALS)
def test_what_is_refused_has_a_substitute_that_is_not(catalogue: Catalogue, refused: str, instead: str) -> None:
    with pytest.raises(QuestionError):
        parse(refused, catalogue)
    assert parse(instead, catalogue).text


def test_there_are_examples_of_both() -> None:
    assert len(EXAMPLES) >= 7
    assert len(REFUSALS) >= 20


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_on_the_page(name: str) -> None:
    assert re.search(rf"`[^`]*\b{name}\b", PAGE)
