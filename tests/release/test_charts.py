"""Pictures of what was measured: the same figures give the same picture, and nothing measured gives none."""

from fractions import Fraction
from xml.etree import ElementTree

from ziggurat.release import Evidence, Stop, Verdict, Weighed
from ziggurat.release._charts import charts

BEFORE = {"highest": 1.0, "average": 0.4, "share_above_threshold": 0.7, "threshold": 0.2}
AFTER = {"highest": 0.2, "average": 0.05, "share_above_threshold": 0.0, "threshold": 0.2}
RISK = Evidence(facts={"risk": {"before": BEFORE, "after": AFTER}})
STOPPED = Stop("linking <b>", 0.3, "is learned", Fraction(0), 0.001, Fraction(1, 20))
PASSED = Weighed("singling out", -0.01, "is learned", Fraction(1, 10), 0.5, Fraction(1, 20))
PLAIN = Weighed("untouched columns", 0, "undo it", Fraction(0))


def words(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(svg).iter() if each.tag.endswith("}text")]


def test_nothing_measured_gives_no_picture() -> None:
    assert charts(Evidence(), Verdict()) == {}
    assert charts(Evidence(), Verdict(passed=(PLAIN,))) == {}  # an exact figure about a file is no test


def test_risk_is_drawn_before_and_after() -> None:
    drawn = charts(RISK, Verdict())
    assert list(drawn) == ["Risk before and after"]
    said = words(drawn["Risk before and after"])
    assert {"before", "after", "highest", "average", "share of people above 0.2"} <= set(said)
    assert drawn == charts(RISK, Verdict())


def test_attacks_are_drawn_beside_their_thresholds() -> None:
    (svg,) = charts(Evidence(), Verdict(stopped=(STOPPED,), passed=(PASSED, PLAIN))).values()
    said = words(svg)
    assert "linking <b> (stopped)" in said
    assert "singling out" in said
    assert "untouched columns" not in said
    (calm,) = charts(Evidence(), Verdict(passed=(PASSED,))).values()
    assert not any("stopped" in each for each in words(calm))
