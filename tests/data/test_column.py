"""A column knows its kind, its role and what is public about its values."""

import datetime
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data import Bounds, Categories, Column, Hierarchy, Kind, Role, Symbols
from ziggurat.errors import NotPublicError, SchemaError, ZigguratError

_ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.dates(),
    st.lists(st.integers(), max_size=2),
)


def test_kind_and_role_may_be_written_as_text() -> None:
    column = Column("age", "integer", "quasi-identifier")
    assert (column.kind, column.role) == (Kind.INTEGER, Role.QUASI_IDENTIFIER)


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: Column("age", "intger"), "Column 'age': 'intger' is not a kind; did you mean 'integer'?"),
        (lambda: Column("age", "integer", "sensitiv"), "did you mean 'sensitive'?"),
        (lambda: Column("sex", "category", bounds=Bounds(0, 1)), "Column 'sex' is category; only integer, real"),
        (lambda: Column("age", "integer", bounds=Bounds(0.5, 1.5)), "must be 64-bit whole numbers"),
        (lambda: Column("seq", "category", sequence=Symbols(("a",), 1)), "only a text column holds sequences"),
        (lambda: Symbols((1, 2), 3), "must be text, at least one; put quotes around numbers"),
        (lambda: Symbols(("a", ""), 3), "must be text, at least one"),
        (lambda: Symbols(("a", "a"), 3), "listed twice"),
        (lambda: Symbols(("a b",), 3), "holds the separator"),
        (lambda: Symbols(("a",), 0), "must be a whole number of at least 1"),
        (lambda: Symbols(("a",), True), "must be a whole number of at least 1"),
        (lambda: Symbols(("a",), 3, ""), "separator between the symbols"),
        (lambda: Column("age", "integer", bounds=Bounds(0, 2**63)), "must be 64-bit whole numbers"),
        (lambda: Column("day", "date", bounds=Bounds(0, 1)), "must be dates"),
        (lambda: Column("x", "real", bounds=Bounds(datetime.date.min, datetime.date.max)), "must be numbers"),
        (lambda: Column("x", "real", categories=Categories(("a",))), "only a category column has categories"),
        (lambda: Column("x", "real", missing=(math.nan,)), "missing codes of column 'x'"),
        (lambda: Column("", "real"), "needs a name"),
        (lambda: Column("a\nb", "real"), "printable"),
        (lambda: Bounds(2, 1), "The lower bound is above the upper bound"),
        (lambda: Bounds(math.nan, 1), "finite"),
        (lambda: Bounds(0, math.inf), "finite"),
        (lambda: Bounds(False, True), "finite"),
        (lambda: Bounds(0, 10**400), "finite"),
        (lambda: Bounds(0, datetime.date.max), "not one of each"),
        (lambda: Bounds(0, 1, "guessed"), "'guessed' is not a provenance"),
        (lambda: Categories(("a", "a")), "listed twice"),
        (lambda: Categories(("a", 1)), "all text or all whole numbers"),
        (lambda: Categories((True, False)), "all text or all whole numbers"),
        (lambda: Categories(()), "at least one"),
        (lambda: Categories(("\ud800",)), "all text"),
        (lambda: Hierarchy({"a": ("x", "*"), "b": ("*",)}), "same number of labels"),
        (lambda: Hierarchy({}), "must map"),
        (lambda: Hierarchy({"a": (1,)}), "must be text"),
    ],
)
def test_a_contradiction_is_one_sentence(build: Any, sentence: str) -> None:
    with pytest.raises(SchemaError) as caught:
        build()
    assert sentence in str(caught.value)


def test_a_hierarchy_covers_every_category() -> None:
    with pytest.raises(SchemaError, match="The hierarchy of column 'job' misses the category 'b'"):
        Column("job", "category", categories=Categories(("a", "b")), hierarchy=Hierarchy({"a": ("*",)}))


def test_a_hierarchy_labels_each_level() -> None:
    hierarchy = Hierarchy({12345: ("123**", "*****"), 12399: ("123**", "*****")})
    assert [hierarchy.label(12345, level) for level in range(3)] == ["12345", "123**", "*****"]
    with pytest.raises(SchemaError, match="levels 0 to 2, not 3"):
        hierarchy.label(12345, 3)


def test_learned_knowledge_is_not_handed_out() -> None:
    learned = Column("age", "integer", bounds=Bounds(0, 99, "learned"))
    with pytest.raises(NotPublicError) as caught:
        learned.public_bounds()
    assert str(caught.value) == (
        "The bounds of column 'age' were learned from the data; declare them as public in the schema or pay for them."
    )
    with pytest.raises(NotPublicError, match="categories of column 'sex' were learned"):
        Column("sex", "category", categories=Categories(("F",), "learned")).public_categories()


def test_absent_knowledge_is_not_handed_out() -> None:
    with pytest.raises(NotPublicError, match="Column 'age' has no bounds"):
        Column("age", "integer").public_bounds()
    with pytest.raises(NotPublicError, match="Column 'sex' has no categories"):
        Column("sex", "category").public_categories()


def test_public_knowledge_is_handed_out() -> None:
    assert Column("age", "integer", bounds=Bounds(0, 99)).public_bounds() == Bounds(0, 99)
    assert Column("sex", "category", categories=Categories(("F", "M"))).public_categories().values == ("F", "M")
    assert Column("ill", "boolean").public_categories().values == (0, 1)


def test_a_category_is_stored_as_its_codes_are() -> None:
    assert Column("a", "category", categories=Categories((1, 2))).storage is Kind.INTEGER
    assert Column("a", "category", categories=Categories(("1", "2"))).storage is Kind.TEXT
    assert Column("a", "category").storage is Kind.TEXT


@given(_ANYTHING, _ANYTHING, _ANYTHING)
def test_bounds_are_made_or_refused_never_broken(lower: Any, upper: Any, provenance: Any) -> None:
    try:
        bounds = Bounds(lower, upper, provenance)
    except ZigguratError:
        return
    assert bounds.lower <= bounds.upper


@given(_ANYTHING, _ANYTHING, _ANYTHING, st.lists(_ANYTHING, max_size=3), _ANYTHING)
def test_columns_are_made_or_refused_never_broken(
    name: Any, kind: Any, role: Any, missing: list[Any], description: Any
) -> None:
    try:
        column = Column(name, kind, role, missing=tuple(missing), description=description)
    except ZigguratError:
        return
    assert isinstance(column.kind, Kind)
