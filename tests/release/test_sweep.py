"""Noisy values against epsilon: paid for, drawn, and the truth only for those who may see it."""

from xml.etree import ElementTree

import pytest

from ziggurat.errors import BudgetExceededError, DataError, ParameterError, QuestionError
from ziggurat.queries import Workload
from ziggurat.release import Session, sweep

QUESTION = "SELECT COUNT(*) AS n, AVG(age) AS mean_age FROM clinic"


def test_every_point_is_paid_for(session):
    made = sweep(session, QUESTION, ["1", "0.1", "0.01"], rows_per_unit=1)
    assert float(session.left()) == pytest.approx(2 - 1.11)
    assert [float(each) for each in made.epsilons] == [0.01, 0.1, 1]
    assert sweep(session, QUESTION, ["0.1"], rows_per_unit=1).answers[0].replayed


def test_a_larger_epsilon_gives_a_narrower_interval_around_the_truth(session):
    made = sweep(session, QUESTION, ["0.01", "0.1", "1"], rows_per_unit=1, truth=True, effects=0)
    for name, true in (("n", 400), ("mean_age", sum(20 + i % 60 for i in range(400)) / 400)):
        assert made.truth[name] == pytest.approx(true, abs=1e-3)
        widths = [high - low for _, low, high in made.series(name)]
        assert widths == sorted(widths, reverse=True)


def test_all_points_are_refused_if_they_do_not_fit_together(session, engine):
    with pytest.raises(BudgetExceededError):
        sweep(session, QUESTION, ["0.5", "1.6"], rows_per_unit=1)
    assert (session.left(), engine.asked) == (2, [])


def test_the_truth_is_written_down_as_a_release_without_a_guarantee(session, ledger):
    assert sweep(session, QUESTION, ["1"], rows_per_unit=1).truth is None
    assert not ledger.statement("clinic").unbounded
    sweep(session, QUESTION, ["1"], rows_per_unit=1, truth=True)
    assert len(ledger.statement("clinic").unbounded) == 1


def test_the_picture_is_repeatable_and_says_what_it_shows(ledger, table, tmp_path):
    made = sweep(Session(ledger, "ada", table), QUESTION, ["0.1", "1"], rows_per_unit=1)
    drawn = made.draw("svg")
    assert made.draw("svg") == drawn
    words = " ".join(ElementTree.fromstring(drawn).itertext())
    for piece in ("mean_age", "95% interval", "epsilon of the question", "0.1"):
        assert piece in words
    assert "without noise" not in words
    assert "Rehearsal" not in words
    made.save(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_a_rehearsed_picture_says_so(session):
    assert b"Rehearsal" in sweep(session, QUESTION, ["0.1", "1"], rows_per_unit=1, truth=True).draw()


def test_a_sweep_comes_as_a_table_and_in_words(session):
    made = sweep(session, QUESTION, ["0.1", "1"], rows_per_unit=1)
    assert made.to_arrow().num_rows == 4
    assert str(made).splitlines()[1].startswith("epsilon 1: n ")
    assert [each["epsilon"] for each in made.to_dict()["answers"]] == ["1/10", "1"]


@pytest.mark.parametrize(
    "question",
    ["SELECT ward, COUNT(*) AS n FROM clinic GROUP BY ward", "SELECT MODE(ward) AS m FROM clinic"],
)
def test_what_is_not_one_number_is_refused(session, question):
    with pytest.raises(QuestionError, match="Only numbers"):
        sweep(session, question, ["1"], rows_per_unit=1, groups_per_unit=1)
    assert session.left() == 2


def test_bad_input_is_refused(session, table, tmp_path):
    with pytest.raises(ParameterError, match="at least one epsilon"):
        sweep(session, QUESTION, [], rows_per_unit=1)
    with pytest.raises(QuestionError, match="workload"):
        sweep(session, Workload(table.schema).marginal("ward"), ["1"], rows_per_unit=1)
    made = sweep(session, QUESTION, ["1"], rows_per_unit=1)
    with pytest.raises(ParameterError, match="'svg' or 'png'"):
        made.draw("gif")
    with pytest.raises(DataError, match="could not be written"):
        made.save(tmp_path / "absent" / "a.svg")
