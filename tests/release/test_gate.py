"""The gate: thresholds per attack, corrected for the number of attacks, stop a release and say why."""

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ziggurat.attacks import (
    AttributeInference,
    Closeness,
    ClosestRecords,
    EpsilonBound,
    Gain,
    Guesses,
    Homogeneity,
    Intersection,
    Linkability,
    Linkage,
    MatchRisk,
    Reidentification,
    RiskReport,
    Share,
    Skewness,
    SyntheticSinglingOut,
    Undone,
    closest_records,
    inference,
    linkability,
    synthetic_singling_out,
)
from ziggurat.attacks._guesses import judge as judge_guesses
from ziggurat.errors import GateError, ParameterError, PrivacyError
from ziggurat.findings import Finding
from ziggurat.ledger import Ledger
from ziggurat.release import NOT_PROTECTED_BY_GATE, Evidence, ExactCopies, Gate, Stop, Verdict
from ziggurat.release._gate import DEFAULTS, holm

NONE = Share(0, 100)


def guessed(hits: int, chance: float | None = None, trials: int = 100) -> Guesses:
    return judge_guesses(Share(hits, trials), Share(0, trials), Share(0, trials), chance)


def linked(hits: int = 50, chance: float | None = None, trials: int = 100) -> Linkability:
    return Linkability((("age",), ("town",)), 1, guessed(hits, chance, trials))


def inferred(hits: int, chance: float | None = None) -> AttributeInference:
    return AttributeInference(("age",), "illness", 0.0, guessed(hits, chance))


def singled(one: int, several: int) -> SyntheticSinglingOut:
    return SyntheticSinglingOut(100, guessed(one), guessed(several), NONE, NONE)


def close(hits: int, luck: float, chance: float = 0.1) -> ClosestRecords:
    far = Closeness(0.1, 0.2, None, None)
    return ClosestRecords(100, 100, Share(hits, 100), chance, luck, far, far, NONE, NONE, NONE, NONE)


def risky(sizes: dict[int, int]) -> RiskReport:
    rows, classes = sum(size * many for size, many in sizes.items()), sum(sizes.values())
    found = Reidentification(classes / rows, 1 / min(sizes), 0.0, "table")
    return RiskReport(("age",), rows, classes, sizes.get(1, 0), sizes, 0.2, found, found, 0.1, None, 0)


def homogeneous(hits: int) -> Homogeneity:
    return Homogeneity("illness", 1.0, Share(hits, 100), NONE, 10, 1, NONE, NONE, 0.5)


def skewed(hits: int) -> Skewness:
    return Skewness("illness", 0.2, 0.1, Share(hits, 100), 0.3, (Gain(5, 0.1, 0.5, 0.4),))


def matched(expected: float) -> MatchRisk:
    return MatchRisk(100, 300, 1, "surely", expected, 0.1, NONE, NONE, Share(0, 0), NONE)


def joined(right: Share | None) -> Linkage:
    return Linkage(("age",), 100, 0, NONE, Share(40, 100), right, None, None, None, None, ())


def met(hits: int) -> Intersection:
    return Intersection("illness", 100, NONE, NONE, Share(hits, 100), None, 0, (), (), ())


def undoing(*columns: str) -> Undone:
    return Undone(100, {}, columns, 0, (), (), (), 0)


def copied(hits: int, partial: bool = False) -> ExactCopies:
    return ExactCopies(Share(hits, 100), partial)


def shown(chance: float, lower: float) -> EpsilonBound:
    return EpsilonBound("linking", Share(99, 100), 200, 0.5, Fraction(1), Fraction(0), chance, lower, 0.05)


def judge(finding: Finding, name: str = "attack", guaranteed: bool = False, **settings: Any) -> Verdict:
    return Gate(**settings).judge(Evidence({name: finding}), guaranteed=guaranteed)


@pytest.mark.parametrize(
    ("finding", "calm", "kind", "threshold"),
    [
        (close(90, 1e-9), close(55, 0.4), "closest records", None),
        (singled(50, 0), singled(0, 0), "singling out, one column", None),
        (singled(0, 50), singled(1, 1), "singling out, several columns", None),
        (linked(50), linked(0), "linking", None),
        (inferred(50), inferred(1), "inferring", None),
        (undoing("code"), undoing(), "undone", None),
        (matched(21.0), matched(20.0), "matching", None),
        (risky({4: 5, 9: 1}), risky({5: 5}), "highest risk", "0.2"),
        (risky({2: 1, 3: 1}), risky({3: 1}), "average risk", "1/3"),
        (homogeneous(11), homogeneous(10), "homogeneity", "0.1"),
        (skewed(11), skewed(10), "skewness", "0.1"),
        (joined(Share(11, 100)), joined(Share(10, 100)), "joining", "0.1"),
        (joined(None), joined(Share(39, 100)), "joining", "0.39"),
        (met(11), met(10), "intersection", "0.1"),
        (copied(11), copied(10), "exact copies", "0.1"),
        (copied(11, partial=True), copied(10, partial=True), "rows as they were", "0.1"),
    ],
)
def test_every_finding_is_stopped_above_its_threshold_and_not_at_it(
    finding: Finding, calm: Finding, kind: str, threshold: str | None
) -> None:
    settings: Any = {} if threshold is None else {"thresholds": {kind: threshold}}
    verdict = judge(finding, **settings)
    assert len(verdict.stopped) == 1, verdict
    assert verdict.stopped[0].threshold == Fraction(threshold or DEFAULTS[kind] or 0)
    assert not judge(calm, **settings).stopped
    # Without a threshold the figure is told, and stops nothing; never is it passed in silence.
    quiet = judge(finding, thresholds={kind: None})
    assert not quiet.stopped
    assert "no threshold" in " ".join(quiet.no_verdict.values())


def test_a_verified_table_is_not_stopped_by_a_threshold_that_nobody_asked_for() -> None:
    found = {"risk": risky({2: 50}), "homogeneity of illness": homogeneous(100), "undone": undoing()}
    verdict = Gate().judge(Evidence(found), guaranteed=False)
    assert not verdict.stopped
    assert set(verdict.no_verdict) == {"risk, highest", "risk, average", "homogeneity of illness"}
    assert [each.attack for each in verdict.passed] == ["undone"]


def test_a_threshold_is_found_by_the_attacks_own_name_before_its_kind() -> None:
    found = Evidence({"inferring illness": inferred(50), "inferring cost": inferred(50)})
    verdict = Gate(thresholds={"inferring illness": "0.9"}).judge(found, guaranteed=False)
    assert [each.attack for each in verdict.stopped] == ["inferring cost"]
    both = Gate(thresholds={"inferring": "0.9", "inferring cost": "0.1"}).judge(found, guaranteed=False)
    assert [each.attack for each in both.stopped] == ["inferring cost"]
    whole = Gate(thresholds={"singling": "0.9"}).judge(Evidence({"singling": singled(50, 50)}), guaranteed=False)
    assert not whole.stopped


def test_a_raised_threshold_is_compared_with_the_risk_and_not_with_the_end_of_its_interval() -> None:
    assert judge(linked(50), thresholds={"linking": "0.49"}).stopped
    assert guessed(50).risk.low < 0.49
    assert not judge(linked(50), thresholds={"linking": "0.5"}).stopped


def test_a_threshold_for_an_attack_that_was_not_made_is_told() -> None:
    gate = Gate(thresholds={"inferring ilness": "0.1", "highest risk": "0.2", "linking": None})
    verdict = gate.judge(Evidence({"a": inferred(0)}, {"matching": "Nobody knows anything."}), guaranteed=False)
    assert set(verdict.skipped) == {"inferring ilness", "highest risk", "matching"}
    assert "no such attack" in verdict.skipped["inferring ilness"]
    assert "inferring ilness" in verdict.sentence


def test_too_few_guesses_are_no_verdict_and_no_pass() -> None:
    verdict = judge(linked(20, trials=20), "linking")
    assert not verdict.stopped
    assert not verdict.passed
    assert "too few" in verdict.no_verdict["linking"]
    assert "without a verdict (linking)" in verdict.sentence
    lumped = judge(close(100, 1e-9, chance=0.4))
    assert "too few" in lumped.no_verdict["attack"]


def test_a_finding_whose_figure_nobody_knows_is_told() -> None:
    @dataclass(frozen=True)
    class Odd(Finding):
        sentence = "Something odd."
        table = pa.table({})

    assert "knows no figure" in judge(Odd()).no_verdict["attack"]


def test_without_evidence_the_gate_lets_go_and_says_that_nothing_was_judged() -> None:
    verdict = Gate().judge(Evidence(), guaranteed=True)
    verdict.require()
    assert verdict.sentence == "The gate lets it go: nothing was judged."


@pytest.mark.parametrize("others", [0, 4, 19])
def test_the_more_attacks_the_stricter_each(others: int) -> None:
    """One attack of p 0.009, and others that find nothing: it must have its share of the level."""
    found = {"linking": linked(20, chance=0.009)} | {f"inferring {k}": inferred(0, chance=0.9) for k in range(others)}
    verdict = Gate().judge(Evidence(found), guaranteed=False)
    (mine,) = [each for each in (*verdict.stopped, *verdict.passed) if each.attack == "linking"]
    assert mine.level == Fraction(1, 20) / (others + 1)
    assert bool(verdict.stopped) == (others < 5)
    assert Evidence(found).alarms == ["linking"]  # by itself it is more than chance


def test_a_small_risk_beyond_chance_stops_only_whoever_asks_for_that() -> None:
    small = Evidence({"linking": linked(8, chance=1e-9)})
    assert not Gate().judge(small, guaranteed=False).stopped
    assert Gate(thresholds={"linking": 0}).judge(small, guaranteed=False).stopped
    assert small.alarms == ["linking"]  # the steward is warned all the same


def test_holms_steps_give_what_is_left_to_the_next() -> None:
    level = Fraction(1, 20)
    assert holm([], level) == []
    assert [rejected for rejected, _ in holm([0.02, 0.001, 0.03], level)] == [True, True, True]
    assert [share for _, share in holm([0.02, 0.001, 0.03], level)] == [level / 2, level / 3, level]
    stopped_early = holm([0.03, 0.001, 0.03], level)
    assert [rejected for rejected, _ in stopped_early] == [False, True, False]
    assert stopped_early[0][1] == stopped_early[2][1] == level / 2
    assert holm([0.0499], level) == [(True, level)]


def family_alarms(runs: int, corrected: bool) -> int:
    """How often any of 8 dependent attacks that find nothing is rejected; two more do find something."""
    draw = np.random.default_rng(11)
    shared = draw.normal(size=(runs, 1))
    nulls = stats.norm.sf(np.sqrt(0.5) * shared + np.sqrt(0.5) * draw.normal(size=(runs, 8)))
    level = Fraction(1, 20)
    rows = np.hstack([nulls, np.full((runs, 2), 1e-9)])
    if not corrected:
        return int((rows[:, :8] <= level).any(axis=1).sum())
    return sum(any(rejected for rejected, _ in holm(row.tolist(), level)[:8]) for row in rows)


@pytest.mark.statistical
def test_attacks_that_find_nothing_stop_at_most_their_level_of_releases() -> None:
    """4,000 releases: more than 271 alarms have a chance below one in a million if the rate is 1/20.

    The negative control, every attack at the whole level, stops far more.
    """
    runs = 4_000
    most = int(stats.binom.isf(1e-6, runs, 0.05))
    assert family_alarms(runs, corrected=True) <= most
    assert family_alarms(runs, corrected=False) > 2 * most


def people(seed: int, rows: int = 300) -> pa.Table:
    draw = np.random.default_rng(seed)
    age = np.round(draw.normal(45, 15, rows), 1)
    return pa.table(
        {"age": age, "cost": np.round(age * 10 + draw.normal(0, 90, rows)), "town": draw.choice(list("abcd"), rows)}
    )


def attacked(original: pa.Table, synthetic: pa.Table, control: pa.Table) -> Evidence:
    tables = original, synthetic, control
    return Evidence(
        {
            "closest records": closest_records(*tables, random_state=1),
            "singling out": synthetic_singling_out(*tables, guesses=100, random_state=1),
            "linking": linkability(*tables, known=(["age"], ["cost", "town"]), random_state=1),
            "inferring town": inference(*tables, known=["age", "cost"], secret="town", random_state=1),
        }
    )


def test_a_synthesizer_that_repeats_people_is_stopped_and_an_honest_one_is_not() -> None:
    original, control = people(1), people(2)
    caught = Gate().judge(attacked(original, original, control), guaranteed=False)
    assert {"closest records", "linking", "inferring town"} <= {each.attack for each in caught.stopped}
    assert "closest records" in caught.sentence
    with pytest.raises(GateError, match="go on with a reason") as raised:
        caught.require()
    assert raised.value.exit_code == 5
    assert isinstance(raised.value, PrivacyError)
    for seed in range(10, 30):
        honest = Gate().judge(attacked(original, people(seed), control), guaranteed=False)
        assert not honest.stopped
        assert len(honest.passed) >= 4


def test_a_refuted_epsilon_can_go_on_only_without_a_guarantee() -> None:
    verdict = judge(shown(1e-6, 3.1), "epsilon by linking", guaranteed=True)
    assert verdict.refuted
    assert (verdict.stopped[0].threshold, verdict.stopped[0].claimed) == (1, True)
    assert "only as a release without a guarantee" in verdict.sentence
    assert verdict.although("For a test.").startswith("its epsilon was refuted, and the gate stopped it")
    assert not judge(shown(0.3, 0.2), guaranteed=True).refuted
    # Whoever promises nothing is not refuted; and no threshold can wave a refutation through.
    free = judge(shown(1e-6, 3.1), guaranteed=False)
    assert (free.refuted, list(free.no_verdict)) == (False, ["attack"])
    assert judge(shown(1e-6, 3.1), guaranteed=True, thresholds={"attack": None, "epsilon": None}).refuted


def test_a_refutation_too_is_corrected_for_the_number_of_attacks() -> None:
    found = {"epsilon by linking": shown(0.03, 1.2)}
    assert Gate().judge(Evidence(found), guaranteed=True).refuted
    several = found | {f"inferring {k}": inferred(0, chance=0.9) for k in range(3)}
    assert not Gate().judge(Evidence(several), guaranteed=True).refuted


def test_other_stops_refute_nothing() -> None:
    verdict = judge(linked(50), guaranteed=True)
    assert verdict.stopped
    assert not verdict.refuted
    assert "paid for anew" in verdict.sentence


@pytest.mark.parametrize("guaranteed", [True, False])
def test_a_verdict_is_the_same_after_json(guaranteed: bool) -> None:
    found = {
        "closest records": close(90, 1e-9),
        "linking": linked(0),
        "few": linked(5, trials=5),
        "risk": risky({3: 7, 5: 1}),
        "epsilon by linking": shown(1e-6, 3.1),
    }
    gate = Gate(level="0.07", thresholds={"highest risk": "1/7"})
    verdict = gate.judge(Evidence(found, {"matching": "Why not."}), guaranteed=guaranteed)
    text = json.dumps(verdict.to_dict(), allow_nan=False)
    again = Verdict.from_dict(json.loads(text))
    assert again == verdict
    assert all(isinstance(each, Stop) for each in again.stopped)
    assert json.dumps(again.to_dict()) == text
    assert "1/7" in text


def test_the_decision_names_attacks_and_no_figure(ledger: Ledger) -> None:
    verdict = judge(linked(50), "linking")
    assert verdict.went_on("For the bench.") == {"stopped": ["linking"], "refuted": False, "reason": "For the bench."}
    said = verdict.although("For the bench.")
    assert said == "the gate stopped it (linking); the reason: For the bench."
    ledger.record_decision("clinic", said)
    assert f"went on although {said}" in " ".join(ledger.statement("clinic").sentences())
    many = Gate().judge(Evidence({f"inferring {k:04}": inferred(90) for k in range(300)}), guaranteed=False)
    ledger.record_decision("clinic", many.although("x" * 1000))
    for wrong in ("", " ", "two\nlines", "x" * 1001):
        with pytest.raises(ParameterError):
            verdict.went_on(wrong)
    with pytest.raises(ParameterError, match="not stopped"):
        judge(linked(0)).went_on("Why not.")


@pytest.mark.parametrize("level", [0, 1, -1, "2", "x", None, True])
def test_a_level_lies_between_0_and_1(level: Any) -> None:
    with pytest.raises(ParameterError, match="level"):
        Gate(level=level)


def test_a_threshold_is_a_number_of_at_least_0() -> None:
    for wrong in (-1, "x", "nan"):
        with pytest.raises(ParameterError, match="'linking'"):
            Gate(thresholds={"linking": wrong})


def test_evidence_is_json_with_its_facts() -> None:
    evidence = Evidence({"linking": linked(50)}, {"matching": "Why not."}, {"loss": 0.25})
    facts = json.loads(json.dumps(evidence.to_dict()))
    assert list(facts) == ["made", "skipped", "alarms", "facts"]
    assert (facts["alarms"], facts["facts"]) == (["linking"], {"loss": 0.25})
    assert evidence.sentences[-1].startswith("Warning")
    assert Evidence().to_dict() == {"made": {}, "skipped": {}, "alarms": [], "facts": {}}
    assert json.dumps(replace(evidence, findings={"e": shown(0.1, 0.2)}).to_dict())


def test_that_a_gate_judged_is_said_to_be_unprotected() -> None:
    assert "no guarantee protects it" in NOT_PROTECTED_BY_GATE
