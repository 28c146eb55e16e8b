"""A session with a server gives what one of this machine gives on the same seed: the same objects, looks and refusals.

Every test runs on both sides, the one that waits and the one that is awaited.
"""

from __future__ import annotations

import inspect
from datetime import date

import matplotlib as mpl
import pytest
from matplotlib import pyplot

import ziggurat
from ziggurat.client import AsyncRemoteSession, AsyncServer, RemoteSession, Server
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.errors import (
    BudgetExceededError,
    LedgerUseError,
    ParameterError,
    QuestionError,
    UnknownNameError,
)
from ziggurat.privacy import Neighbours
from ziggurat.randomness import seeded

mpl.use("Agg")

BY_SEX = "SELECT sex, COUNT(*) AS n FROM clinic GROUP BY sex"
TERMS = {"rows_per_unit": 1, "groups_per_unit": 1}
QUESTIONS = {
    "groups": (BY_SEX, "0.1", TERMS),
    "mean": ("SELECT AVG(age) AS x FROM clinic", "0.2", {"rows_per_unit": 1}),
    "bounds": ("SELECT SUM(cost) AS x FROM clinic", "1/5", {"rows_per_unit": 1, "bounds": {"cost": (0, 9_000)}}),
    "days": (
        "SELECT MEDIAN(admission_date) AS d FROM clinic",
        "0.2",
        {"rows_per_unit": 1, "bounds": {"admission_date": (date(2024, 2, 1), date(2024, 9, 30))}},
    ),
    "built": (ziggurat.Query("clinic").where("age > 60").count("n"), "0.1", {"rows_per_unit": 1, "effects": 0}),
}


@pytest.fixture
def local(tmp_path):
    """Opens the session of this machine that a server opens for a question: over the same table, with the same seed."""
    table = ziggurat.read(clinic_patients(400), clinic_patients_schema())
    with ziggurat.Ledger.open(tmp_path / "local.db") as ledger:
        ledger.create_budget("clinic", 5, "1e-5", Neighbours(table.unit))
        ledger.grant("clinic", "ana", 1, "1e-6", "sum")
        yield lambda: ziggurat.Session(ledger, "ana", {"clinic": table}, source=seeded("tests"))


@pytest.fixture
def remote(clinic, side):
    return clinic.connect("ana", side).session("clinic")


@pytest.mark.parametrize(("side", "name"), [*(("waiting", each) for each in QUESTIONS), ("awaited", "groups")])
def test_the_answer_is_the_same_in_every_way_that_it_is_shown(remote, local, name):
    asked, epsilon, terms = QUESTIONS[name]
    here, there = local().ask(asked, epsilon, **terms), remote.ask(asked, epsilon, **terms)
    without = {"statements": ()}  # which name the copy of the table that an engine made
    assert there.to_dict() | without == here.to_dict() | without
    assert (repr(there), str(there), there._repr_html_()) == (repr(here), str(here), here._repr_html_())
    assert there.to_arrow() == here.to_arrow()
    assert there.guarantee() == here.guarantee()
    assert type(there.plot()) is type(here.plot())
    pyplot.close("all")


def test_another_question_is_told_apart(remote, local):
    assert repr(remote.ask(BY_SEX, "0.1", **TERMS)) != repr(local().ask(BY_SEX, "0.2", **TERMS))


def test_a_workload_is_answered_alike(remote, local):
    def asked(schema):
        return ziggurat.Workload(schema, bins={"age": 4}).marginal("sex").marginal("age").total()

    here = local().ask(asked(clinic_patients_schema()), "0.5", rows_per_unit=1)
    there = remote.ask(asked(remote.declared()), "0.5", rows_per_unit=1)
    assert there.to_dict() | {"sql": ()} == here.to_dict() | {"sql": ()}
    assert repr(there) == repr(here)
    assert there.plot() is not None


def test_what_a_server_does_not_take_of_a_workload_is_refused_by_name(remote):
    plain = ziggurat.Workload(remote.declared(), bins={"age": 4})
    for asked in (plain.prefixes("age"), plain.marginal("sex", weight=2), plain.total()):
        with pytest.raises(QuestionError, match="marginal"):
            remote.ask(asked, "0.1", rows_per_unit=1)
    with pytest.raises(ParameterError, match="effects"):
        remote.ask(plain.marginal("sex"), "0.1", effects=0)


def test_prices_are_the_same_alone_and_together(remote, local):
    several = [BY_SEX, "SELECT AVG(age) AS x FROM clinic", BY_SEX]
    for asked, epsilon in ((BY_SEX, "0.1"), (several, ["0.1", "0.2", "0.1"]), (several, 1)):
        here = local().quote(asked, epsilon, group_size=50, **TERMS)
        there = remote.quote(asked, epsilon, group_size=50, **TERMS)
        assert there == here
        assert (str(there), repr(there), there._repr_html_()) == (str(here), repr(here), here._repr_html_())


def test_a_price_with_a_delta_is_the_same(remote, local):
    terms = {"rows_per_unit": 1, "noise": "gaussian"}
    here = local().quote("SELECT COUNT(*) AS n FROM clinic", "0.1", "1e-7", **terms)
    assert remote.quote("SELECT COUNT(*) AS n FROM clinic", "0.1", "1e-7", **terms) == here
    assert here.guarantee.route


def test_asking_again_is_free_and_says_so(remote, local):
    session = local()
    for each in (session, remote):
        assert not each.ask(BY_SEX, "0.1", **TERMS).replayed
        assert each.ask(BY_SEX, "0.1", **TERMS).replayed
    assert (remote.left(), remote.remainder()) == (session.left(), session.remainder())
    for each, other in zip(remote.history(), session.history(), strict=True):
        assert (each.question, each.event, each.rehearsal) == (other.question, other.event, other.rehearsal)
        assert str(each.answer) == str(other.answer)


def test_several_are_asked_or_none(remote):
    with pytest.raises(BudgetExceededError):
        remote.ask_all([BY_SEX, "SELECT COUNT(*) AS n FROM clinic"], "0.6", **TERMS)
    assert remote.left() == 1
    assert len(remote.ask_all([BY_SEX, "SELECT COUNT(*) AS n FROM clinic"], "0.2", **TERMS)) == 2


def test_tables_are_shown_alike(remote, local):
    session = local()
    assert remote.tables == session.tables
    assert repr(remote["clinic"]) == repr(session["clinic"])
    assert remote["clinic"]._repr_html_() == session["clinic"]._repr_html_()
    shown = ["table", "name", "kind", "role", "values", "provenance", "description"]
    assert remote.schema().select(shown) == session.schema().select(shown)
    with pytest.raises(ParameterError, match="no table 'clinik'"):
        remote["clinik"]


def test_the_session_is_a_line_and_a_card(remote):
    assert repr(remote).startswith(
        "<Rehearsal of 'ana' about clinic at http://127.0.0.1:1, paid by the budget 'clinic'"
    )
    assert "rehearsal: not to be published" in remote._repr_html_()


REFUSED = {
    "unknown column": (("SELECT AVG(nothing) AS x FROM clinic", "0.1"), {"rows_per_unit": 1}),
    "no bound": (("SELECT COUNT(*) AS n FROM clinic", "0.1"), {}),
    "too dear": (("SELECT COUNT(*) AS n FROM clinic", "2"), {"rows_per_unit": 1}),
    "no amount": (("SELECT COUNT(*) AS n FROM clinic", "-1"), {"rows_per_unit": 1}),
    "unknown term": (("SELECT COUNT(*) AS n FROM clinic", "0.1"), {"rows_per_unt": 1}),
}


@pytest.mark.parametrize(("side", "name"), [*(("waiting", each) for each in REFUSED), ("awaited", "too dear")])
def test_refusals_are_of_the_same_class_and_code(remote, local, name):
    arguments, terms = REFUSED[name]
    with pytest.raises(ziggurat.ZigguratError) as here:
        local().ask(*arguments, **terms)
    with pytest.raises(ziggurat.ZigguratError) as there:
        remote.ask(*arguments, **terms)
    assert type(there.value) is type(here.value)
    assert there.value.exit_code == here.value.exit_code
    assert str(there.value)


def test_a_session_is_refused_when_it_is_opened(clinic, side):
    with pytest.raises(UnknownNameError):
        clinic.connect("ben", side).session("clinic")
    clinic.connect("chief").give_right("clinic", "ben")
    with pytest.raises(LedgerUseError, match="no open grant"):
        clinic.connect("ben", side).session("clinic")


def test_both_sides_have_the_same_methods_with_the_same_arguments():
    for one, other in ((Server, AsyncServer), (RemoteSession, AsyncRemoteSession)):
        names = {name for name in dir(one) if not name.startswith("_")}
        assert names == {name for name in dir(other) if not name.startswith("_")}
        for name in names:
            mine, theirs = getattr(one, name), getattr(other, name)
            if callable(mine) or hasattr(mine, "steps"):
                assert list(inspect.signature(mine).parameters) == list(inspect.signature(theirs).parameters), name


def test_a_remote_session_takes_the_arguments_of_a_local_one():
    for name in ("ask", "quote", "ask_all", "left", "remainder", "history", "schema"):
        here = [each for each in inspect.signature(getattr(ziggurat.Session, name)).parameters if each != "progress"]
        assert list(inspect.signature(getattr(RemoteSession, name)).parameters) == here, name
