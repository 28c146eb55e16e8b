"""Faults of models and of PATE other than too little noise, each caught by the draws of the catalogue."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ziggurat.attacks.audits import audit_case
from ziggurat.attacks.audits.catalogue import _pate, find_case, list_cases
from ziggurat.attacks.audits.catalogue._fits import RepeatedFit, fit_case, with_one_more

pytestmark = pytest.mark.statistical

FITTED = [case for case in list_cases() if isinstance(case.make, RepeatedFit)]
EVERY = (1, 2, 3)


def _attributes(made: Any) -> dict[str, str]:
    """All that can be read from a fitted model, as text."""
    public = (name for name in vars(made) if name.endswith("_") and not name.startswith("_"))
    return {name: repr(getattr(made, name)) for name in public if name != "best_estimator_"}


def _fixed(fits: list[dict[str, str]]) -> dict[str, str]:
    """What no noise has changed."""
    return {name: text for name, text in fits[0].items() if all(other.get(name) == text for other in fits)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", FITTED, ids=lambda case: case.name)
def test_what_leaves_without_noise_is_the_same_for_neighbours(case: Any) -> None:
    """No count of rows, of steps or of classes seen, and no event, tells one table from the other."""
    repeated, made = case.make, case.make.make(Fraction(1))
    told = [[_attributes(repeated.fit(made, world, seed)) for seed in EVERY] for world in (0, 1)]
    here, there = (_fixed(fits) for fits in told)
    assert "event_" in here
    assert {name: here[name] for name in here if name in there} == {name: there[name] for name in there if name in here}
    for name in set(here) ^ set(there):  # one that noise clamps in all three fits of one table by chance
        assert len({fit[name] for fit in told[0] + told[1]}) > 1


class ExactPrior(RepeatedFit):
    """The share of classes by exact counts, as scikit-learn has it."""

    def fit(self, made: Any, world: Any, seed: int) -> Any:
        fitted = super().fit(made, world, seed)
        fitted.class_prior_ = np.bincount(self.tables[world][1].astype(int)) / len(self.tables[world][1])
        return fitted


class OwnBounds(RepeatedFit):
    """Bounds that the rows tell, as a scaler learns them."""

    def fit(self, made: Any, world: Any, seed: int) -> Any:
        features = self.tables[world][0]
        return super().fit(made.fresh().set_params(bounds=(features.min(), features.max())), world, seed)


def _with(kind: type[RepeatedFit], made: Any) -> Any:
    return kind(made.model, made.settings, made.tables, made.read, made.inner)


def test_a_share_of_classes_by_exact_counts_is_caught() -> None:
    case = find_case("learn.CategoricalNB")
    assert audit_case(replace(case, make=_with(ExactPrior, case.make)), random_state=1).refuted


def test_bounds_that_the_rows_tell_are_caught() -> None:
    given = find_case("learn.GaussianNB (bounds)").make
    tables = with_one_more(1000, 1, (1, 1, 20), (0, 0, 20))
    case = fit_case(OwnBounds(given.model, {"classes": 2, "delta": 0}, tables, given.read), "a row far away or none")
    assert audit_case(case, random_state=1).refuted


def test_targets_far_outside_the_bounds_are_hidden_and_without_clipping_caught(monkeypatch: Any) -> None:
    from ziggurat.learn._clipping import Scale

    given = find_case("learn.LinearRegression").make
    far = RepeatedFit(given.model, given.settings, with_one_more(1, -1000, (1, 1, 2000)), given.read)
    case = fit_case(far, "a row far away or none", delta="0.01")
    assert not audit_case(case, random_state=1).refuted
    monkeypatch.setattr(Scale, "scale", lambda self, table: (table - self.centre) / self.half)
    monkeypatch.setattr("ziggurat.learn.linear._methods.in_steps", lambda rows: np.trunc(rows * 2**16).astype(np.int64))
    assert audit_case(case, random_state=1).refuted


def test_gradients_clipped_too_late_are_caught(monkeypatch: Any) -> None:
    pytest.importorskip("torch")
    from ziggurat.descent import Gradients

    class Unclipped(Gradients):
        def add_clipped(self, totals: Any, rows: Any, targets: Any, kept: Any, clip: float) -> None:
            super().add_clipped(totals, rows, targets, kept, 6 * clip)

    monkeypatch.setattr("ziggurat.descent.Gradients", Unclipped)
    assert audit_case(find_case("descent.PrivateTraining"), runs=1000, random_state=1).refuted


@pytest.mark.parametrize("name", ["pate.GumbelNoisyMax", "pate.LaplaceNoisyMax"])
def test_votes_counted_twice_are_caught(name: str, monkeypatch: Any) -> None:
    single = _pate._vote
    monkeypatch.setattr(_pate, "_vote", lambda counts, runs: single(tuple(2 * count for count in counts), runs))
    assert audit_case(find_case(name), random_state=1).refuted


def test_a_threshold_without_noise_is_caught(monkeypatch: Any) -> None:
    from ziggurat.pate import ThresholdTest

    monkeypatch.setattr(_pate, "_BELOW", ((3, 1), (4, 0)))
    assert not audit_case(find_case("pate.ThresholdTest"), random_state=1).refuted
    monkeypatch.setattr(ThresholdTest, "draw", lambda self, votes, source: votes.counts.max(1) >= self.threshold)
    assert audit_case(find_case("pate.ThresholdTest"), runs=1000, random_state=1).refuted
