"""A citation names one entry, and reading it there reads no other."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ziggurat.errors import DataError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, PureEvent
from ziggurat.release import Cited, look_up
from ziggurat.release._cited import cite, require_unbounded

TENTH = PureEvent(Neighbours(), "1/10")


class Unsearched(Ledger):
    """A ledger that nobody may search."""

    def history(self, table: str | None = None, analyst: str | None = None) -> list:
        raise AssertionError("the history was searched")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Unsearched.open(tmp_path / "ledger.db") as opened:
        opened.create_budget("clinic", 2)
        opened.grant("clinic", "ana", 1)
        yield opened


def answered(ledger: Ledger, question: object, rehearsal: bool = False) -> Cited:
    with ledger.spend("clinic", "ana", TENTH, question, rehearsal=rehearsal) as spend:
        if not spend.replayed:
            spend.commit({"value": 3})
    return cite(ledger, spend.entry)


def test_an_answer_is_cited_where_it_stands_and_its_replay_cites_the_same(ledger: Ledger) -> None:
    first, other, again = (answered(ledger, question) for question in ("q", "r", "q"))
    assert (first.ledger, first.budget, first.analyst, first.seq) == (ledger.name, "clinic", "ana", 5)
    assert again == first != other


def test_a_cited_answer_tells_its_question_and_the_grant_that_paid(ledger: Ledger) -> None:
    cited = answered(ledger, "q", rehearsal=True)
    ledger.close_grant("clinic", "ana")
    ledger.grant("clinic", "ana", "1/2")
    found = look_up(ledger, cited)
    assert (found.question, found.event, found.rehearsal) == ("q", TENTH, True)
    assert (found.answer, found.grant.epsilon) == ({"value": 3}, 1)


def test_the_same_text_noted_twice_is_two_entries(ledger: Ledger) -> None:
    first, second = (cite(ledger, ledger.record_unbounded("clinic", "a map")) for _ in range(2))
    assert (first.seq, second.seq, first.budget, first.analyst) == (4, 5, "clinic", "")
    require_unbounded(ledger, first)
    require_unbounded(ledger, second)


@pytest.mark.parametrize("change", [{"seq": 0}, {"seq": -3}, {"seq": 99}, {"seq": 4}, {"hash": "0" * 64}])
def test_a_citation_that_does_not_fit_is_refused(ledger: Ledger, change: dict[str, object]) -> None:
    cited, noted = answered(ledger, "q"), cite(ledger, ledger.record_unbounded("clinic", "a map"))
    with pytest.raises(DataError, match="is not the one that is cited"):
        look_up(ledger, replace(cited, **change))
    with pytest.raises(DataError, match="is not the one that is cited"):
        require_unbounded(ledger, replace(noted, **change))


def test_an_entry_of_another_kind_ledger_or_analyst_is_refused(ledger: Ledger) -> None:
    cited, noted = answered(ledger, "q"), cite(ledger, ledger.record_unbounded("clinic", "a map"))
    with pytest.raises(DataError, match="is not the one that is cited"):
        look_up(ledger, noted)
    with pytest.raises(DataError, match="is not the one that is cited"):
        require_unbounded(ledger, cited)
    with pytest.raises(DataError, match="another ledger"):
        look_up(ledger, replace(cited, ledger="another"))
    with pytest.raises(DataError, match="is not the one that is cited"):
        look_up(ledger, replace(cited, analyst="bob"))
