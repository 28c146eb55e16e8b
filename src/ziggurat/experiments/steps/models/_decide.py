"""Steps about privacy at risk and its price: the exact numbers beside those of document 002, chapter 8.

'as-published' forms are no guarantee, and are here for comparison only; the warnings that they give elsewhere are what
the experiments are about, so nobody is warned here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from ziggurat.errors import ExperimentError, PrivacyError
from ziggurat.experiments._steps import step

EXACT, ONE_SIDED, PUBLISHED = "exact", "exact-one-sided", "as-published"


@contextmanager
def _hush() -> Iterator[None]:
    from ziggurat.privacy import NotAGuaranteeWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotAGuaranteeWarning)
        yield


def _require_known(formula: str, *names: str) -> None:
    if formula not in names:
        raise ExperimentError(f"'formula' must be one of {', '.join(names)}.")


@step("curve", outputs=("setting",))
def curve(name: str, **setting: Any) -> dict[str, Any]:
    """A line of a figure: its name, and what the modules inside are asked with.

    Parameters
    ----------
    name
        What the legend calls it.
    setting
        What goes to the steps inside, as their input `setting`.
    """
    return {"setting": {"name": name, **setting}}


@step("at-risk-epsilon", outputs=("epsilon", "held"))
def at_risk_epsilon(setting: Mapping[str, Any], confidence: float) -> dict[str, float]:
    """The epsilon that Laplace noise is said to keep within with a confidence, and how often it really does.

    Parameters
    ----------
    setting
        `formula` ('exact', 'exact-one-sided' or 'as-published'), `level` of the noise, `dimensions`.
    """
    from ziggurat.privacy import LaplaceAtRisk, published_epsilon

    formula, level, dimensions = _laplace(setting)
    noise, side = LaplaceAtRisk(level, dimensions), _side(formula)
    if formula == PUBLISHED:
        with _hush():
            epsilon = published_epsilon(level, confidence, dimensions)
    else:
        epsilon = noise.epsilon(confidence, side)
    return {"epsilon": epsilon, "held": noise.confidence(epsilon, side)}


def _laplace(setting: Mapping[str, Any]) -> tuple[str, float, int]:
    formula = setting.get("formula", EXACT)
    _require_known(formula, EXACT, ONE_SIDED, PUBLISHED)
    return formula, setting.get("level", 1.0), setting.get("dimensions", 1)


def _side(formula: str) -> Literal["one", "two"]:
    return "one" if formula == ONE_SIDED else "two"


@step("at-risk-level", outputs=("level", "gain"))
def at_risk_level(setting: Mapping[str, Any], confidence: float, *, epsilon: float = 0.4) -> dict[str, float]:
    """The level of Laplace noise that is said to be enough for an epsilon with a confidence.

    Returns
    -------
    dict
        The `level`, and its `gain` over noise of level epsilon. Where a formula would allow more, or any, 10 epsilon.
    """
    from ziggurat.privacy import LaplaceAtRisk, published_level

    formula, _, dimensions = _laplace(setting)
    if formula == PUBLISHED:
        with _hush():
            level = _or_any(lambda: published_level(epsilon, confidence, dimensions), 10 * epsilon)
    else:
        level = float(LaplaceAtRisk.noise_for(epsilon, confidence, _side(formula), dimensions).level)
    return {"level": level, "gain": level / epsilon}


def _or_any(solve: Callable[[], float], any_level: float) -> float:
    try:
        return min(solve(), any_level)
    except PrivacyError:
        return any_level


@step("samples-needed", outputs=("samples",))
def samples_needed(setting: Mapping[str, Any], confidence: float) -> dict[str, int]:
    """How many sampled sensitivities a confidence needs.

    Parameters
    ----------
    setting
        `formula`: 'as-published' (equation 8.18), 'exact-one-sided' (the same with the one-sided inequality, which is
        all that is needed), both at an `accuracy`; or 'exact', for which the largest of n samples has confidence
        n/(n+1) that a fresh one is not larger, whatever the accuracy.
    """
    import math
    from fractions import Fraction

    from ziggurat.privacy import exact_confidence, samples_for

    formula, wanted = setting.get("formula", EXACT), exact_confidence(confidence)
    _require_known(formula, EXACT, ONE_SIDED, PUBLISHED)
    if formula == EXACT:
        return {"samples": math.ceil(wanted / (1 - wanted))}
    if formula == PUBLISHED:
        return {"samples": samples_for(wanted, setting["accuracy"])}
    rho = Fraction(str(setting["accuracy"]))
    return {"samples": math.ceil(math.log(1 / (1 - wanted)) / float(2 * rho * rho))}


@step("sampling-confidence", outputs=("confidence",))
def sampling_confidence(
    formula: str, *, quantile: float = 0.85, samples: int = 15_000, accuracy: float = 0.01
) -> dict[str, float]:
    """What the quantile of sampled sensitivities is worth.

    Parameters
    ----------
    formula
        'tolerance' (equation 8.18), 'as-published' (8.9), 'corrected' (the same with what its proof forgets),
        'best' (corrected, at the best accuracy) or 'order-statistic' (m/(n+1), the tightest).
    """
    from ziggurat.privacy import dkw_confidence, probabilistic_tolerance, published_sampled_confidence

    _require_known(formula, "tolerance", PUBLISHED, "corrected", "best", "order-statistic")
    if formula == "tolerance":
        return {"confidence": probabilistic_tolerance(accuracy, samples)}
    if formula == PUBLISHED:
        with _hush():
            return {"confidence": published_sampled_confidence(quantile, accuracy, samples)}
    if formula == "order-statistic":
        import math
        from fractions import Fraction

        return {"confidence": math.ceil(Fraction(str(quantile)) * samples) / (samples + 1)}
    return {"confidence": dkw_confidence(quantile, samples, accuracy if formula == "corrected" else None)}


@step("combined-risk", outputs=("epsilon", "confidence"))
def combined_risk(
    setting: Mapping[str, Any],
    epsilon: float,
    *,
    level: float = 1.0,
    quantile: float = 0.9,
    seed: int = 0,
) -> dict[str, float]:
    """The confidence of an epsilon over noise and data together, where sensitivities are uniform up to 1.

    Parameters
    ----------
    setting
        `formula`: 'as-published' (equations 8.13 and 8.17, by `samples` and `accuracy`), 'exact' (the mean over
        `samples` sampled sensitivities) or 'exact-bound' (what that certainly is, but for one in a thousand); and the
        `least` sensitivity, 0 unless told.
    quantile
        The confidence at which the sampled sensitivity, which the noise is made for, is read off.
    """
    from ziggurat.privacy import SampledSensitivity, probabilistic_tolerance, published_combined_confidence
    from ziggurat.randomness import seeded

    formula, samples, least = setting["formula"], setting["samples"], setting.get("least", 0.0)
    _require_known(formula, EXACT, "exact-bound", PUBLISHED)
    if formula == PUBLISHED:
        with _hush():
            ratio = 1 / (least + quantile * (1 - least))
            share = published_combined_confidence(level, epsilon, quantile, ratio)
        found = max(share * probabilistic_tolerance(setting["accuracy"], samples), 0.0)
    else:
        draw = seeded(seed).child("sensitivities").simulation()
        drawn = SampledSensitivity(least + (1 - least) * draw.random(samples))
        both = drawn.combined(level, epsilon, drawn.at(quantile))
        found = both.estimate if formula == EXACT else both.lower
    return {"epsilon": epsilon, "confidence": found}


@step("compensation-budget", outputs=("budget",))
def compensation_budget(
    setting: Mapping[str, Any],
    epsilon: float,
    *,
    level: float = 0.5,
    people: int = 100,
    compensation: str = "5500 USD",
) -> dict[str, float]:
    """The expected compensation when epsilon is promised at risk and the noise has a level.

    Parameters
    ----------
    setting
        `formula`: 'exact', 'exact-one-sided' or 'as-published'.
    """
    model, gamma = _price(setting, level, people, compensation)
    share = gamma(epsilon)
    return {"budget": float(model.at_risk(level, epsilon, share, direction="nearest").amount)}


@step("cheapest-promise", outputs=("epsilon", "budget", "plain", "saving"))
def cheapest_promise(
    setting: Mapping[str, Any], *, level: float = 0.5, people: int = 100, compensation: str = "5500 USD"
) -> dict[str, float]:
    """The promise at risk with the least expected compensation, beside what the level itself costs."""
    model, gamma = _price(setting, level, people, compensation)
    found = model.cheapest(level, gamma, direction="nearest")
    return {
        "epsilon": found.epsilon,
        "budget": float(found.budget.amount),
        "plain": float(model.budget(level, "nearest").amount),
        "saving": float(found.saving.amount),
    }


def _price(
    setting: Mapping[str, Any], level: float, people: int, compensation: str
) -> tuple[Any, Callable[[float], float]]:
    """The cost model, and the confidence of an epsilon by the formula that is asked for."""
    from ziggurat.privacy import CostModel, LaplaceAtRisk, Money, Stakeholders, published_confidence

    formula, _, dimensions = _laplace(setting)
    noise = LaplaceAtRisk(level, dimensions)

    def published(epsilon: float) -> float:
        with _hush():
            return published_confidence(level, epsilon, dimensions)

    def exact(epsilon: float) -> float:
        return noise.confidence(epsilon, _side(formula))

    return CostModel(Stakeholders(people, Money.parse(compensation))), published if formula == PUBLISHED else exact
