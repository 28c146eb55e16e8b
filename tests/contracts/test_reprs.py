"""What people meet at a prompt is a line or two, and in a notebook a card without script in which all is text."""

import re
from dataclasses import dataclass

import pytest
from shown_things import fill_shelf

from ziggurat.cards import Card, Shown

NESTED = re.compile(r"\w\([^()]*\w\([^()]*[=,]")
# An answer is what one wants to see: its groups, up to a number of them.
LONGER = {"answer"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    made = fill_shelf(tmp_path_factory.mktemp("shelf"))
    yield made.things
    made.ledger.close()


def test_a_repr_is_a_line_or_two_and_nests_nothing(shelf):
    for name, thing in shelf.items():
        said = repr(thing)
        assert name in LONGER or (len(said) <= 200 and said.count("\n") <= 1), f"{name}: {said}"
        assert not NESTED.search(said), f"{name}: {said}"
        assert said.startswith("<"), f"{name}: {said}"


def test_a_dump_is_found():
    @dataclass
    class Inner:
        a: int = 1
        b: int = 2

    @dataclass
    class Outer:
        inner: Inner

    assert NESTED.search(repr(Outer(Inner())))


def test_everything_has_a_card_that_makes_no_request(shelf):
    for name, thing in shelf.items():
        html = thing._repr_html_()
        assert html.startswith(("<div", "<table")), name
        assert "<script" not in html, name
        assert "http" not in html, name


def test_a_long_answer_is_cut_at_a_prompt_and_printed_whole(shelf):
    from dataclasses import replace

    answer = shelf["answer"]
    many = {"n": answer.estimates["n"][:1] * 50}
    long = replace(answer, groups=tuple((f"g{i}",) for i in range(50)), estimates=many)
    assert "... and 30 more groups" in repr(long)
    assert repr(long).count("\n") < 30
    assert "g49" in str(long)


def test_what_is_told_stays_text():
    card = Card("<b>x</b>", "<script>1</script>", [("a", "<i>")], heads=("<u>",), rows=[("<img>",)])
    html = card.write_html()
    for tag in ("<b>x", "<script", "<i>", "<u>", "<img"):
        assert tag not in html


def test_a_dataclass_keeps_the_brief_repr_and_its_subclass_too():
    @dataclass
    class First(Shown):
        rows: tuple[int, ...] = tuple(range(100))

    @dataclass
    class Second(First):
        more: str = "x"

    assert repr(First()) == "<First: rows 100>"
    assert repr(Second()) == "<Second: rows 100, more x>"


def test_what_was_learned_is_not_in_the_repr_of_a_schema():
    from ziggurat.data import Bounds, Categories, Column, Kind, Provenance, Schema

    learned = Schema(
        (
            Column("age", Kind.INTEGER, bounds=Bounds(17, 4711, Provenance.LEARNED)),
            Column("town", Kind.CATEGORY, categories=Categories(("Xanadu",), Provenance.LEARNED)),
        )
    )
    for thing in (learned, *learned.columns, learned["age"].bounds, learned["town"].categories):
        for told in (repr(thing), str(thing), thing._repr_html_()):
            assert "4711" not in told
            assert "Xanadu" not in told
    assert "4711" in learned.to_yaml()
