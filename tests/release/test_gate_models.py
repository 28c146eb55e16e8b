"""What attacks on models say to the gate: only a random split has a verdict, and harmless models go."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ziggurat.attacks import Share
from ziggurat.attacks._guesses import judge as judge_guesses
from ziggurat.attacks.models import MembershipAttack, MembershipReport, judge_scores
from ziggurat.attacks.models.extraction import CopiedModel, CopyPoint
from ziggurat.attacks.models.inspection import HeldPart, HeldRows
from ziggurat.attacks.models.inversion import InferredAttribute, ReconstructedRows
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.release import Evidence, Gate, PromisedRegion, Verdict, find_excesses
from ziggurat.release._gate import DEFAULTS

PEOPLE = 400


def scored(seed: int = 1, shift: float = 0.0, people: int = PEOPLE, **given: Any) -> MembershipAttack:
    """An attack whose scores of members are larger by so much."""
    draw = np.random.default_rng(seed)
    half = people // 2
    terms = {"random_split": True, **given}
    return judge_scores("a test", draw.normal(shift, 1, half), draw.normal(0, 1, half), **terms)


def reported(*made: MembershipAttack) -> MembershipReport:
    named = {f"test {place}": each for place, each in enumerate(made)}
    return MembershipReport("a model", named, None, {}, PEOPLE // 2, PEOPLE // 2, made[0].random_split)


def inferred(hits: int, control: int, paired: float = 1e-9, *, split: bool = True, trials: int = 200) -> Finding:
    guesses = judge_guesses(Share(hits, trials), Share(control, trials), Share(control, trials))
    return InferredAttribute(
        "a model", "smoker", guesses, Share(control, trials), 0, 0, paired, (), split, 100, "most common", shadow=False
    )


def held(parts: int, *, complete: bool = True) -> HeldRows:
    return HeldRows("a model", tuple(HeldPart(f"p{i}", "rows", 3) for i in range(parts)), 9, complete, 100)


def copied() -> CopiedModel:
    whole = Share(1000, 1000)
    return CopiedModel(
        "a model", (CopyPoint(10, "solved", whole, 0.0),), Share(500, 1000), 3, adaptive=False, within=None
    )


def rebuilt(hits: int) -> ReconstructedRows:
    return ReconstructedRows("a model", 100, 0.0, 1.0, 1.0, Share(hits, 50), Share(hits, 50), Share(hits, 50), 1e-9)


def judge(finding: Finding, name: str = "found", guaranteed: bool = False, **settings: Any) -> Verdict:
    return Gate(**settings).judge(Evidence({name: finding}), guaranteed=guaranteed)


def test_a_model_that_tells_its_members_is_stopped_by_both_rules_and_another_is_not() -> None:
    caught = judge(scored(shift=3.0, people=2_000))
    assert {each.attack for each in caught.stopped} == {"found", "found, surest"}
    assert {each.threshold for each in caught.stopped} == {DEFAULTS["membership"], DEFAULTS["membership, surest"]}
    assert not judge(scored()).stopped
    assert len(judge(scored()).passed) == 2


def test_a_few_whom_a_model_remembers_stop_it_although_the_even_guess_does_not() -> None:
    draw = np.random.default_rng(3)
    inside, outside = draw.normal(size=2_000), draw.normal(size=2_000)
    inside[:40] += 50  # one in fifty members is known for certain
    found = judge_scores("a test", inside, outside, random_split=True)
    assert [each.attack for each in judge(found).stopped] == ["found, surest"]


def test_groups_that_were_not_drawn_have_no_verdict_whatever_was_found() -> None:
    for finding in (scored(shift=9.0, random_split=False), reported(scored(shift=9.0, random_split=False))):
        verdict = judge(finding, thresholds={"membership": 0, "membership, surest": 0})
        assert not verdict.stopped
        assert not verdict.passed
        assert all("not drawn at random" in why for why in verdict.no_verdict.values())
        assert Evidence({"found": finding}).alarms == []
    assert judge(inferred(190, 20, split=False)).no_verdict.keys() == {"found"}


def test_too_few_people_are_no_verdict_and_no_pass() -> None:
    verdict = judge(scored(shift=9.0, people=40))
    assert not verdict.stopped
    assert not verdict.passed
    assert all("too few" in why for why in verdict.no_verdict.values())


def test_a_promise_that_is_broken_is_refuted_whatever_the_thresholds_are() -> None:
    loose: Any = {"thresholds": {"membership": None, "membership, surest": None, "epsilon": None}}
    broken = judge(scored(shift=5.0, epsilon="0.1"), guaranteed=True, **loose)
    assert broken.refuted
    assert broken.stopped[0].attack == "found, epsilon"
    assert not judge(scored(shift=0.0, epsilon="0.1"), guaranteed=True, **loose).stopped
    # Of a report one test is made for all its attacks, which is corrected for their number already.
    several = judge(reported(scored(2, 5.0, epsilon="0.1"), scored(3, 0.0, epsilon="0.1")), guaranteed=True, **loose)
    assert [each.attack for each in several.stopped] == ["found, epsilon"]
    assert "epsilon is promised" in judge(scored(shift=5.0, epsilon="0.1")).no_verdict["found, epsilon"]


def test_both_inequalities_are_told_and_never_judged() -> None:
    broken = scored(shift=5.0, people=2_000, epsilon="0.1")
    verdict = judge(broken, guaranteed=True, thresholds={"promised curve": 0})
    told = {name: why for name, why in verdict.no_verdict.items() if "promised" in name}
    assert set(told) == {"found, promised curve", "found, promised accuracy"}
    assert all("more than sampling error explains" in why for why in told.values())
    calm = judge(scored(shift=0.0, epsilon="1"), guaranteed=True).no_verdict
    assert "allows 73.1%: no more than" in calm["found, promised accuracy"]


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", 0), ("1", 0), ("1", "0.01"), ("3.48", "1e-5")])
def test_the_promised_region_is_that_of_all_tests_of_two_laws(epsilon: str, delta: Any) -> None:
    """Randomised response with a failure is the worst (epsilon, delta) pair: its best tests lie on the edge."""
    region = PromisedRegion(Fraction(epsilon), Fraction(delta))
    e, d = math.exp(float(region.epsilon)), float(region.delta)
    inside = np.array([d, (1 - d) * e / (1 + e), (1 - d) / (1 + e), 0.0])
    outside = inside[::-1]
    for named in ((), (0,), (0, 1), (0, 1, 2), (0, 1, 2, 3)):
        tpr, fpr = inside[list(named)].sum(), outside[list(named)].sum()
        assert tpr == pytest.approx(region.most_named(fpr), abs=1e-9) or not named
        assert (1 + tpr - fpr) / 2 <= region.accuracy + 1e-12
    best = (1 + inside[:2].sum() - outside[:2].sum()) / 2
    assert best == pytest.approx(region.accuracy)
    # A bound that is a twentieth too small would be broken by this very pair.
    assert best > PromisedRegion(Fraction(epsilon) * Fraction(19, 20), Fraction(delta)).accuracy


def test_the_figures_of_the_inequalities_are_those_that_are_known() -> None:
    assert PromisedRegion(Fraction(1)).accuracy == pytest.approx(0.7310586, abs=1e-7)
    assert PromisedRegion(Fraction("3.48")).accuracy >= 0.97 > PromisedRegion(Fraction("3.47")).accuracy
    assert PromisedRegion(Fraction(1000)).most_named(0.1) == 1


def test_a_model_that_holds_rows_is_stopped_until_somebody_decides() -> None:
    verdict = judge(held(2), "inspection")
    assert [(each.attack, each.figure, each.threshold) for each in verdict.stopped] == [("inspection", 2.0, 0)]
    assert verdict.went_on("They agreed.")["stopped"] == ["inspection"]
    with pytest.raises(ParameterError):
        verdict.went_on(" ")
    assert not judge(held(0)).stopped
    unseen = judge(held(0, complete=False))  # what nobody looked at may hold rows
    assert [(each.attack, each.figure) for each in unseen.stopped] == [("found", 1.0)]


def test_an_attribute_stops_by_both_tests_and_a_copy_never() -> None:
    assert judge(inferred(150, 60)).stopped
    assert not judge(inferred(150, 60, paired=0.4)).stopped  # the population tells as much
    assert not judge(inferred(62, 60)).stopped
    assert find_excesses(inferred(150, 60)).keys() == {"inferring smoker"}
    verdict = judge(copied(), thresholds={"copied model": 0})
    assert not verdict.stopped
    assert "never judged" in verdict.no_verdict["found"]


def test_rows_rebuilt_from_a_linear_model_stop_only_whoever_asks_for_that() -> None:
    assert not judge(rebuilt(50)).stopped
    assert "no threshold" in judge(rebuilt(50)).no_verdict["found"]
    assert judge(rebuilt(50), thresholds={"rebuilt rows": "0.1"}).stopped


@pytest.mark.statistical
def test_harmless_models_are_stopped_no_more_often_than_the_level_says() -> None:
    """Models that never saw any of these people, 300 splits and 3 attacks each, of which two are nearly the same.

    Thresholds are 0, so that chance alone decides. More stops than the limit have a chance below one in a million if
    the level holds; the negative control, each attack at the whole level, has far more.
    """
    runs, level = 300, Fraction(1, 20)
    gate = Gate(level=level, thresholds={"membership": 0, "membership, surest": 0})
    most = int(stats.binom.isf(1e-6, runs, float(level)))
    draw = np.random.default_rng(5)
    rows, weights = draw.normal(size=(300, 4)), draw.normal(size=(4, 3))
    scores = rows @ weights
    scores[:, 1] = scores[:, 0] + 0.1 * scores[:, 1]
    stops = single = 0
    for _ in range(runs):
        member = draw.permutation(300) < 150
        made = [judge_scores("a test", each[member], each[~member], random_split=True) for each in scores.T]
        stops += bool(gate.judge(Evidence({"m": reported(*made)}), guaranteed=False).stopped)
        single += any(each.even.chance <= 0.05 or each.surest.chance <= 0.05 for each in made)
    assert stops <= most
    assert single > stops
