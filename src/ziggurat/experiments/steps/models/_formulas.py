"""Steps that compute what a document prints, in the printed way and in the right one.

Nothing here protects data: they are numbers about mechanisms. `as_printed` forms are for comparison only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step


@step("gaussian-sigma", outputs=("sigma", "true_delta"))
def gaussian_sigma(epsilon: float, delta: float = 1e-5, *, formula: str = "exact") -> dict[str, float]:
    """The noise that Gaussian answers of sensitivity 1 get for (epsilon, delta), and the delta it really gives.

    Parameters
    ----------
    formula
        'exact': the least sigma (Balle & Wang 2018). 'as-printed': sqrt(2 ln(1.25/delta)) / epsilon, which is proven
        for epsilon below 1 only, wastes noise there and gives too little beyond about 8.
    """
    import math

    from ziggurat.privacy import gaussian_delta, gaussian_mu

    if formula == "exact":
        sigma = 1 / gaussian_mu(epsilon, delta)
    elif formula == "as-printed":
        sigma = math.sqrt(2 * math.log(1.25 / delta)) / epsilon
    else:
        raise ExperimentError("'formula' must be 'exact' or 'as-printed'.")
    return {"sigma": sigma, "true_delta": gaussian_delta(epsilon, 1 / sigma)}


@step("selection-probability", outputs=("probability", "likeliest", "advantage"))
def selection_probability(
    scores: Sequence[float],
    candidate: int,
    *,
    epsilon: float = 1.0,
    sensitivity: float = 1.0,
    method: str = "exponential",
) -> dict[str, Any]:
    """How likely a private choice of the highest score picks the candidate at place `candidate`.

    Parameters
    ----------
    method
        'exponential': probability proportional to exp(epsilon u / (2 sensitivity)), which is epsilon-DP.
        'exponential-as-printed': without the 2, which is 2 epsilon-DP. 'laplace-as-printed': the maximum after
        Laplace noise of scale sensitivity/epsilon on every score, 2 epsilon-DP as well.

    Returns
    -------
    dict
        The `probability`, the place of the `likeliest` candidate, and the `advantage`: how much likelier `candidate`
        is than the best of the others (negative if it is not the likeliest).
    """
    import numpy as np

    if not 0 <= candidate < len(scores):
        raise ExperimentError("'candidate' must be the place of one of the scores, counted from 0.")
    given = np.asarray(scores, dtype=float)
    chances = _chances(given, epsilon, sensitivity, method)
    others = np.delete(chances, candidate)
    return {
        "probability": float(chances[candidate]),
        "likeliest": int(np.argmax(chances)),
        "advantage": float(chances[candidate] - others.max()) if others.size else 1.0,
    }


def _chances(scores: Any, epsilon: float, sensitivity: float, method: str) -> Any:
    import numpy as np

    if method in ("exponential", "exponential-as-printed"):
        rate = epsilon / sensitivity / (2 if method == "exponential" else 1)
        weights = np.exp(rate * (scores - scores.max()))
        return weights / weights.sum()
    if method == "laplace-as-printed":
        return np.array([_wins(place, scores * epsilon / sensitivity) for place in range(len(scores))])
    raise ExperimentError("'method' must be 'exponential', 'exponential-as-printed' or 'laplace-as-printed'.")


def _wins(place: int, centres: Any) -> float:
    """P[centre + Laplace(1) noise is the largest at `place`].

    Between the kinks the density is smooth, so that Gauss-Legendre nodes integrate it to round-off.
    """
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(80)
    ends = np.unique(np.concatenate([centres, [centres.min() - 40, centres.max() + 40]]))
    half = np.diff(ends)[:, None] / 2
    x = ends[:-1, None] + half * (1 + nodes)
    density = np.exp(-np.abs(x - centres[place])) / 2
    for centre in np.delete(centres, place):
        away = x - centre
        density *= np.where(away < 0, np.exp(-np.abs(away)) / 2, 1 - np.exp(-np.abs(away)) / 2)
    return float((half * weights * density).sum())


@step("proportion-sensitivity", outputs=("sensitivity",))
def proportion_sensitivity(people: int) -> dict[str, float]:
    """How far replacing one of `people` moves a proportion: 1/n where n is public."""
    if people < 1:
        raise ExperimentError("'people' must be at least 1.")
    return {"sensitivity": 1 / people}


@step("parallel-composition", outputs=("epsilon_spent",))
def parallel_composition(
    epsilon: float | str, *, parts: int = 2, relation: str = "replace-one", may_move: bool = True
) -> dict[str, float]:
    """What mechanisms of `epsilon` each, on disjoint parts of the data, cost together.

    Parameters
    ----------
    relation
        'add-or-remove-one' or 'replace-one'. A replaced record that `may_move` leaves one part and enters another.
    """
    from ziggurat.privacy import Neighbours, ParallelEvent, PureEvent, Relation, compose, exact_epsilon

    if relation not in tuple(Relation):
        raise ExperimentError("'relation' must be 'add-or-remove-one' or 'replace-one'.")
    whom = Neighbours(relation=Relation(relation))
    within = Neighbours() if may_move else whom
    part = PureEvent(within, exact_epsilon(epsilon))
    event = ParallelEvent(whom, tuple([part] * parts), may_move)
    return {"epsilon_spent": float(compose(event).pure().epsilon)}


@step("loss-tail", outputs=("at_least", "above", "delta"))
def loss_tail(mechanism: str, epsilon: float, *, strength: float = 1.0) -> dict[str, float]:
    """How often the privacy loss reaches epsilon, and the delta that is true at this epsilon.

    P[loss > epsilon] <= delta is sufficient for (epsilon, delta)-DP, but not the same.

    Parameters
    ----------
    mechanism
        'gaussian' (`strength` is sensitivity over sigma), 'randomised-response' (two answers) or 'laplace'
        (`strength` is the epsilon it is made for).

    Returns
    -------
    dict
        P[loss >= epsilon] as `at_least`, P[loss > epsilon] as `above`, and the true `delta`.
    """
    import math

    if mechanism == "gaussian":
        return _gaussian_tail(epsilon, strength)
    if mechanism == "randomised-response":
        truth = 1 / (1 + math.exp(-strength))
        delta = max(0.0, truth - math.exp(epsilon) * (1 - truth))
        return {
            "at_least": _tail(strength, epsilon, truth, True),
            "above": _tail(strength, epsilon, truth, False),
            "delta": delta if strength > epsilon else 0.0,
        }
    if mechanism == "laplace":
        return _laplace_tail(epsilon, strength)
    raise ExperimentError("'mechanism' must be 'gaussian', 'randomised-response' or 'laplace'.")


def _gaussian_tail(epsilon: float, mu: float) -> dict[str, float]:
    from scipy.special import ndtr

    from ziggurat.privacy import gaussian_delta

    tail = float(ndtr(mu / 2 - epsilon / mu))
    return {"at_least": tail, "above": tail, "delta": gaussian_delta(epsilon, mu)}


def _tail(strength: float, epsilon: float, truth: float, reached: bool) -> float:
    """The loss of randomised response is its strength, with probability `truth`, or minus that."""
    total = truth if strength > epsilon or (reached and strength == epsilon) else 0.0
    lower = -strength > epsilon or (reached and -strength == epsilon)
    return total + (1 - truth if lower else 0.0)


def _laplace_tail(epsilon: float, strength: float) -> dict[str, float]:
    """The loss equals `strength` with probability 1/2, and is spread below it (formulas for 0 <= epsilon)."""
    import math

    if epsilon > strength:
        return {"at_least": 0.0, "above": 0.0, "delta": 0.0}
    reached = 1 - math.exp((epsilon - strength) / 2) / 2
    delta = 1 - math.exp((epsilon - strength) / 2)
    return {"at_least": reached, "above": 0.0 if epsilon == strength else reached, "delta": delta}
