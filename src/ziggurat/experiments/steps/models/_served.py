"""`serve-model`: a model whose function was perturbed once, beside one whose every answer is perturbed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import Floats, cut_parts, normal_density, permute

NONE, FUNCTIONAL, PUBLISHED, PURE = "none", "functional", "functional-as-published", "pure"
OUTPUT = ("gaussian", "gaussian-once", "laplace")
MODELS = ("histogram", "density", "regression", "classification")
BOX = (-1, 1)
_LEAST = 1e-3  # of the ratio of two densities whose logarithm is taken; noise may make one of them negative


@dataclass(frozen=True)
class _ServedCase:
    """What a model learns from, with which public settings, and where it is asked."""

    model: str
    chosen: Mapping[str, Any]
    learned: Floats
    labels: npt.NDArray[Any]
    asked: Floats

    def make_served(self, **options: Any) -> Any:
        """The private model, not yet fitted."""
        from ziggurat import learn

        options["bounds"] = BOX
        if self.model != "histogram":
            options["bandwidth"] = self.chosen["bandwidth"]
        if self.model == "regression":
            variance = self.chosen["noise_variance"]
            return learn.GaussianProcessRegression(y_bounds=BOX, noise_variance=variance, **options)
        options["relation"] = "replace-one"  # as the document has it
        if self.model == "histogram":
            return learn.ServedHistogram(bins=self.chosen["bins"], **options)
        if self.model == "density":
            return learn.KernelDensity(**options)
        return learn.KernelSVM(C=self.chosen["cost"], classes=list(range(int(self.labels.max()) + 1)), **options)

    def exactly(self) -> npt.NDArray[Any]:
        """Answers without privacy."""
        if self.model == "histogram":
            counts = np.bincount(self._bin(self.learned), minlength=self.chosen["bins"])
            return counts[self._bin(self.asked)] / self.one_per_bin
        width = self.chosen["bandwidth"]
        if self.model == "density":
            from sklearn.neighbors import KernelDensity

            return np.asarray(np.exp(KernelDensity(bandwidth=width).fit(self.learned).score_samples(self.asked)))
        return np.asarray(self._plain(1 / (2 * width**2)).fit(self.learned, self.labels).predict(self.asked))

    @property
    def one_per_bin(self) -> float:
        """How many rows make a density of 1 in a bin."""
        return len(self.learned) * 2 / float(self.chosen["bins"])

    def _bin(self, rows: Floats) -> npt.NDArray[np.int64]:
        places = ((rows[:, 0] + 1) / 2 * self.chosen["bins"]).astype(np.int64)
        return np.asarray(np.minimum(places, self.chosen["bins"] - 1))

    def _plain(self, gamma: float) -> Any:
        if self.model == "classification":
            from sklearn.svm import SVC

            return SVC(gamma=gamma)
        from sklearn.kernel_ridge import KernelRidge

        return KernelRidge(alpha=self.chosen["noise_variance"], kernel="rbf", gamma=gamma)


@step("serve-model", outputs=("error", "noise", "protected", "event"))
def serve_model(
    features: Floats,
    target: npt.NDArray[Any],
    *,
    model: str,
    mechanism: str = FUNCTIONAL,
    epsilon: float = 0.4,
    delta: float = 1e-3,
    rows: int = 5000,
    questions: int = 200,
    bandwidth: float = 0.125,
    bins: int = 20,
    noise_variance: float = 10.0,
    cost: float = 0.01,
    against: str = "exact",
    seed: int = 0,
) -> dict[str, Any]:
    """Fit a model to some rows, ask it at others, and measure how wrong the answers are.

    Parameters
    ----------
    features, target
        Scaled to [-1, 1], as `model-data` gives them; classes for 'classification'.
    model
        'histogram', 'density' (kernel density estimate), 'regression' (Gaussian process) or 'classification' (kernel
        support vector machine).
    mechanism
        'functional': noise in the function, once, exactly calibrated. 'functional-as-published': with the printed
        sensitivity and constant. 'gaussian', 'laplace': noise in every answer, that of composition; 'gaussian-once':
        the same, equal questions being answered once. 'pure' (histogram): Laplace noise on all bins. 'none': the model
        without privacy, scikit-learn's where it has one; its support vector machine has a bias, and C = 1.
    rows, questions
        How many rows are learned from, and at how many others the model is asked.
    bandwidth, bins, noise_variance, cost
        Public settings of the models, in scaled units; `cost` is C of the support vector machine.
    against
        What a density is compared with: 'exact', the estimate without privacy, or 'normal', the density that rows of
        dataset 'gaussian' come from.

    Returns
    -------
    dict
        The `error`: for densities the divergence E[log(p/q) + q/p - 1] over the questions, Kullback's and Leibler's
        for densities that need not add up to 1, with q/p at least 1/1000; for regression the root mean square; for
        classification the share of wrong answers. The mean deviation of the `noise` in an answer, 0 without privacy;
        1 if anybody is `protected`, else 0; and the `event`.
    """
    from ziggurat.threads import one_thread

    _check(model, mechanism)
    chosen = {"bins": bins, "bandwidth": bandwidth, "noise_variance": noise_variance, "cost": cost}
    parts = cut_parts(permute(len(features), seed), {"rows": rows, "questions": questions})
    learned, asked = parts["rows"], parts["questions"]
    given = _ServedCase(model, chosen, features[learned], target[learned], features[asked])
    with one_thread():
        served = _answer(given, mechanism, _amounts(epsilon, delta, mechanism, seed))
        if model in ("histogram", "density"):
            truth = normal_density(given.asked) if against == "normal" else given.exactly()
            error = _divergence(truth, served["answers"])
        else:
            error = _error(model, served["answers"], target[asked])
    return {"error": error, **{name: served[name] for name in ("noise", "protected", "event")}}


def _check(model: str, mechanism: str) -> None:
    if model not in MODELS:
        raise ExperimentError(f"'model' must be one of {', '.join(MODELS)}.")
    known = (NONE, FUNCTIONAL, PUBLISHED, *OUTPUT, *([PURE] if model == "histogram" else []))
    if mechanism not in known:
        raise ExperimentError(f"'mechanism' of {model!r} must be one of {', '.join(known)}.")


def _amounts(epsilon: float, delta: float, mechanism: str, seed: int) -> dict[str, Any]:
    pure = mechanism in ("laplace", PURE)
    return {"epsilon": repr(epsilon), "delta": 0 if pure else repr(delta), "random_state": seed}


def _answer(given: _ServedCase, mechanism: str, amounts: dict[str, Any]) -> dict[str, Any]:
    """The answers, their noise, and what they cost; that they may be mostly noise is what is measured."""
    import warnings

    if mechanism == NONE:
        return {"answers": given.exactly(), "noise": 0.0, "protected": 0, "event": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if mechanism in OUTPUT:
            return _answer_fixed(given, mechanism, amounts)
        made = given.make_served(**amounts, **({"as_published": True} if mechanism == PUBLISHED else {}))
        made.fit(given.learned, given.labels)
        answers = made.density(given.asked) if hasattr(made, "density") else made.predict(given.asked)
    noise = made.noise_scale_ / (given.one_per_bin if given.model == "histogram" else 1.0)
    return {"answers": answers, "noise": float(noise), **_cost(made)}


def _cost(made: Any) -> dict[str, Any]:
    from ziggurat.privacy import UnboundedEvent

    return {"protected": int(not isinstance(made.event_, UnboundedEvent)), "event": made.event_.to_dict()}


def _answer_fixed(given: _ServedCase, mechanism: str, amounts: dict[str, Any]) -> dict[str, Any]:
    """Answers to questions that were fixed beforehand, each with noise of its own."""
    from ziggurat import learn

    asked, places = given.asked, np.arange(len(given.asked))
    if mechanism == "gaussian-once":
        asked, places = np.unique(given.asked, axis=0, return_inverse=True)
    made = learn.OutputPerturbation(given.make_served(), questions=asked, **amounts)
    made.fit(given.learned, given.labels)
    answers = made.answers_[places.ravel()]
    if given.model == "classification":
        answers = (answers > 0).astype(int)
    return {"answers": answers, "noise": float(made.noise_scales_.mean()), **_cost(made)}


def _divergence(truth: Floats, answers: Floats) -> float:
    there = truth > 0
    if not there.any():
        raise ExperimentError("The density is 0 at every question; ask more.")
    ratio = np.maximum(answers[there] / truth[there], _LEAST)
    return float(np.mean(ratio - 1 - np.log(ratio)))


def _error(model: str, answers: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    if model == "classification":
        return float(np.mean(answers != truth))
    return float(np.sqrt(np.mean((answers - truth) ** 2)))
