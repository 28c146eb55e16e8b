"""`ziggurat decide`, as a steward meets it."""

import json
import math
import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.cli.decide._noise import read_release as asked
from ziggurat.errors import ZigguratError
from ziggurat.privacy import (
    CostModel,
    Decision,
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    Money,
    Stakeholders,
    Wanted,
)
from ziggurat.privacy.cost import edge_of, round_to_digits
from ziggurat.randomness import seeded

Command = Callable[..., Any]

CENTRE = ("--query", "count", "--people", "100", "--compensation", "5500 USD")
NOISES = [LaplaceNoise(Fraction(2)), GeometricNoise(Fraction(2)), GaussianNoise(Fraction(2), Fraction(1, 10**6))]


def advised(command: Command, *arguments: str) -> dict[str, Any]:
    made = command("decide", *arguments, "--json")
    assert made.code == 0, made.err
    return dict(json.loads(made.out))


def test_every_command_in_the_guide_prints_what_the_guide_says(command: Command) -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/decide.md").read_text()
    shown = re.findall(r"```console\n\$ ziggurat (decide .*)\n([^`]+)```", guide)
    assert len(shown) == 3
    for line, said in shown:
        made = command(*shlex.split(line))
        assert " ".join(said.split()) in " ".join((made.out + made.err).split())
    promise = re.search(r"```console\n(At epsilon [^`]+)```", guide)
    assert promise is not None
    assert " ".join(promise[1].split()) in " ".join(command(*shlex.split(shown[0][0])).out.split())


def test_help_teaches_with_three_examples_first_the_health_centre(command: Command) -> None:
    shown = " ".join(command("decide", "--help").out.split())
    assert shown.count("ziggurat decide --") == 3
    assert shown.index("34 of 99") < shown.index("ziggurat decide --query count --epsilon 0.5 --people 100")


def test_the_health_centre_gets_the_exact_numbers(command: Command) -> None:
    shown = command("decide", *CENTRE, "--epsilon", "0.5")
    assert shown.code == 0
    for piece in ("74,434.41", "67,978.96 USD", "0.2858", "1.65", "15.5%", "no 0.2858-differential privacy"):
        assert piece in shown.out
    assert "37,805.86" not in shown.out + shown.err


def test_the_published_number_comes_only_when_asked_for_and_with_a_warning(command: Command) -> None:
    shown = command("decide", *CENTRE, "--epsilon", "0.5", "--as-published")
    assert "37,805.86 USD at 0.2741" in shown.out
    assert "not a guarantee" in shown.err
    made = advised(command, *CENTRE, "--epsilon", "0.5", "--as-published")
    assert "not a guarantee" in made["as_published"]["warnings"][0]


def test_the_table_marks_what_meets_the_constraints_and_recommends_the_most_private(command: Command) -> None:
    made = advised(command, *CENTRE, "--epsilon", "0.2,0.5,0.55,1", "--error", "6", "--budget", "100000 USD")
    assert [each["meets"] for each in made["candidates"]] == [False, True, True, False]
    assert [each["unmet"] for each in made["candidates"]] == [["error"], [], [], ["budget"]]
    assert made["recommended"] == "0.5"
    assert made["candidates"][1]["compensation"] == {"amount": "74434.41", "currency": "USD"}
    shown = command("decide", *CENTRE, "--epsilon", "0.2,0.5,0.55,1", "--error", "6", "--budget", "100000 USD").out
    assert [line.strip()[:1] == "✓" for line in shown.splitlines()[2:6]] == [False, True, True, False]


def test_without_a_wanted_error_the_most_precise_that_is_affordable_is_recommended(command: Command) -> None:
    assert advised(command, *CENTRE, "--epsilon", "0.2,0.5,1", "--budget", "100000 USD")["recommended"] == "0.5"


def test_without_constraints_nothing_is_recommended_among_several(command: Command) -> None:
    shown = command("decide", "--epsilon", "0.2,0.5")
    assert "Say what you need" in shown.out
    assert "✓" not in shown.out


def test_the_default_candidates_hold_the_least_epsilon_that_meets_the_error(command: Command) -> None:
    made = advised(command, "--query", "mean", "--rows", "2000", "--bounds", "0:100", "--error", "0.5")
    assert made["recommended"] == "0.3"
    assert 0.05 * math.log(20) / 0.3 <= 0.5 < 0.05 * math.log(20) / 0.299


def test_groups_are_compensated_together_and_least_is_owed_in_any_case(command: Command) -> None:
    groups = ("--group", "staff:100:5500 EUR:100 EUR", "--group", "patients:2000:90 EUR:0 EUR:2")
    (found,) = advised(command, *groups, "--epsilon", "0.5")["candidates"]
    owed = 100 * (100 + 5400 * math.exp(-2)) + 2000 * 90 * math.exp(-4)
    assert 0 <= float(found["compensation"]["amount"]) - owed < 0.01


def test_gaussian_noise_owes_everything_with_probability_delta(command: Command) -> None:
    money = ("--people", "100", "--compensation", "5500 EUR", "--epsilon", "1")
    (found,) = advised(command, "--mechanism", "gaussian", "--delta", "0.1", *money)["candidates"]
    owed = 550_000 * (0.9 * math.exp(-1) + 0.1)
    assert 0 <= float(found["compensation"]["amount"]) - owed < 0.01


def test_noise_on_whole_numbers_has_no_smaller_loss_where_one_person_moves_a_count_by_one(command: Command) -> None:
    shown = command("decide", "--mechanism", "geometric", *CENTRE[2:], "--epsilon", "0.5")
    assert "saves nothing" in shown.out
    made = advised(command, "--mechanism", "geometric", "--epsilon", "0.5,1", "--within", "0.4")
    assert [each["confidence"] for each in made["candidates"]] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--epsilon", "0"), "epsilon must be greater than 0"),
        (("--epsilon", "nan"), "finite"),
        (("--confidence", "1"), "strictly between 0 and 1"),
        (("--within", "1", "--at-risk", "0"), "strictly between 0 and 1"),
        (("--at-risk", "0.9"), "without that epsilon"),
        (("--people", "9", "--compensation", "5 EUR", "--budget", "5 USD"), "USD cannot be combined with EUR"),
        (("--group", "a:9:5 EUR", "--group", "b:9:5 USD"), "USD cannot be combined with EUR"),
        (("--people", "9", "--compensation", "5 euros"), "three capital letters"),
        (("--people", "9", "--compensation", "5"), "an amount and a currency"),
        (("--people", "9"), "Give --people and --compensation together"),
        (("--group", "a:many:5 EUR"), "Write a group as"),
        (("--budget", "5 EUR"), "who is compensated"),
        (("--query", "mean", "--bounds", "0:1"), "needs --rows"),
        (("--query", "sum", "--bounds", "1:0"), "less than the second"),
        (("--query", "count", "--sensitivity", "2"), "knows its sensitivity"),
        (("--rows", "5"), "describe a query"),
        (("--mechanism", "normal"), "laplace, geometric, gaussian"),
        (("--mechanism", "gaussian", "--as-published"), "Theorem 3 is about Laplace noise"),
        (("--delta", "0.1"), "Only Gaussian noise"),
        (("--picture", "a.pdf"), "must end in"),
    ],
)
def test_bad_input_gets_one_sentence(command: Command, arguments: tuple[str, ...], sentence: str) -> None:
    made = command("decide", *arguments)
    assert made.code in (2, 6)
    assert not made.out
    assert sentence in made.err
    assert made.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--error", "2", "--budget", "100000 USD"), "1.50, which costs 282,379.42 USD, 182,379.42 USD too much"),
        (("--least", "600 USD", "--budget", "50000 USD"), "60,000.00 USD are owed however private"),
        (("--error", "0.001"), "even at an epsilon of 600 it is 0.00500, more than 0.001"),
        (("--error", "3", "--within", "0.3", "--at-risk", "0.5"), "with probability 0.0913 only"),
        (("--error", "3", "--epsilon", "0.1"), "every epsilon from 0.999 on does"),
        (("--budget", "100000 USD", "--epsilon", "5"), "every epsilon up to 0.586 does"),
    ],
)
def test_where_nothing_will_do_it_says_what_binds_and_by_how_much(
    command: Command, arguments: tuple[str, ...], sentence: str
) -> None:
    made = command("decide", *CENTRE, *arguments)
    assert made.code in (2, 6)
    assert sentence in made.err
    assert "epsilon" in made.out
    assert json.loads(command("decide", *CENTRE, *arguments, "--json").out)["recommended"] is None


@pytest.mark.parametrize("noise", [(), ("--mechanism", "gaussian"), ("--mechanism", "geometric")])
@pytest.mark.parametrize("money", [(), CENTRE[2:]])
def test_a_picture_is_drawn(command: Command, tmp_path: Path, noise: tuple[str, ...], money: tuple[str, ...]) -> None:
    made = command("decide", *noise, *money, "--error", "6", "--picture", "decide.svg")
    assert made.code == 0, made.err
    drawn = (tmp_path / "decide.svg").read_text()
    assert ("as published: not a guarantee" in drawn) == (not noise)
    assert ("Expected compensation" in drawn) == bool(money)


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: type(noise).__name__)
def test_the_stated_errors_are_those_of_simulated_noise(noise: Any) -> None:
    # 400,000 seeded draws: standard errors are below a fifth of the tolerance; noise that is 5% off is refused.
    draw, eps, sure = seeded(5).child("errors").simulation(), Fraction(1, 2), Fraction(19, 20)
    drawn = {
        LaplaceNoise: lambda: draw.laplace(0, 4, 400_000),
        GeometricNoise: lambda: (
            draw.geometric(-math.expm1(-1 / 4), 400_000) - draw.geometric(-math.expm1(-1 / 4), 400_000)
        ),
        GaussianNoise: lambda: draw.normal(0, 2 / float(noise.at_risk(eps).mu), 400_000),
    }[type(noise)]()
    mean = float(np.abs(drawn).mean())
    assert noise.error(eps) == pytest.approx(mean, rel=0.01)
    assert noise.error(eps) != pytest.approx(1.05 * mean, rel=0.01)
    covered = float((np.abs(drawn) <= noise.within(eps, sure)).mean())
    assert 0.949 <= covered <= (0.96 if isinstance(noise, GeometricNoise) else 0.951)


@given(st.fractions("0.01", 20), st.fractions("0.01", 20), st.integers(0, 500))
def test_every_recommendation_meets_every_constraint(error: Fraction, epsilon: Fraction, budget: int) -> None:
    cost = CostModel(Stakeholders(10, Money(50, "EUR")))
    decision = Decision(LaplaceNoise(Fraction(1)), Wanted(error=error, budget=Money(budget, "EUR")), cost)
    candidates = decision.candidates([epsilon, *decision.least_for_error()])
    chosen = decision.recommended(candidates)
    if chosen is not None:
        assert math.log(20) / float(chosen.epsilon) <= float(error) * (1 + 1e-8)
        assert 500 * math.exp(-1 / float(chosen.epsilon)) <= budget
        assert not any(each.epsilon < chosen.epsilon and not each.unmet for each in candidates)


@given(st.floats(1e-5, 500))
def test_an_edge_lies_where_the_constraint_is_still_met(bound: float) -> None:
    error = Decision(LaplaceNoise(Fraction(1)), Wanted(error=Fraction(bound))).limits()[0]
    place = edge_of(error)
    if place is not None:
        assert error.holds(Fraction(round_to_digits(place, 6)))


@given(st.text(max_size=12), st.text(max_size=12), st.integers(-2, 5))
def test_any_text_for_a_query_is_read_or_refused_in_our_words(query: str, bounds: str, rows: int) -> None:
    with suppress(ZigguratError):
        assert asked(query, "", rows or None, bounds, 1).sensitivity > 0


def test_a_sum_moves_by_its_larger_bound_and_a_mean_by_its_share_of_the_range() -> None:
    assert asked("sum", "", None, "-7:3", 1).sensitivity == 7
    assert asked("mean", "", 40, "-7:3", 1).sensitivity == Fraction(1, 4)
    assert asked("count", "", None, "", 1).sensitivity == 1


def test_numbers_are_rounded_in_the_stated_direction() -> None:
    assert round_to_digits(0.29957) == Decimal("0.300")
    assert round_to_digits(0.29957, up=False) == Decimal("0.299")
    assert round_to_digits(0.3) == round_to_digits(0.3, up=False) == Decimal("0.300")
