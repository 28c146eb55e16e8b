"""The attacks on membership by their names, what each needs, and when it is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows
from ziggurat.attacks.models._compared import (
    FEWEST_SHADOWS,
    score_by_calibration,
    score_by_lira,
    score_by_offline_lira,
    score_by_offline_rmia,
    score_by_rmia,
)
from ziggurat.attacks.models._learned import score_by_classifier
from ziggurat.attacks.models._shadows import Shadows
from ziggurat.attacks.models._signals import measure_confidence
from ziggurat.attacks.models._survival import score_by_survival

Score = Callable[[AttackedModel, LabelledRows, Shadows, np.random.Generator], Floats]


@dataclass(frozen=True)
class MembershipMethod:
    """One way to tell members from others.

    Attributes
    ----------
    phrase
        What it goes by, for people.
    score
        Model, people, shadows and draws in; a score for each person out, the larger the likelier a member.
    shadows
        How many shadows it needs at least.
    confidences
        True if it needs a model that tells more than labels; False if one that does not is what it is for.
    """

    phrase: str
    score: Score
    shadows: int = 0
    confidences: bool | None = None


METHODS = {
    "loss": MembershipMethod(
        "its confidence in the true label", lambda model, rows, *_: measure_confidence(model, rows)
    ),
    "label-only": MembershipMethod(
        "how often the label survives noise",
        lambda model, rows, _, draw: score_by_survival(model, rows, draw),
        confidences=False,
    ),
    "calibrated": MembershipMethod(
        "its loss beside that of shadow models",
        lambda model, rows, shadows, _: score_by_calibration(model, rows, shadows),
        shadows=2,
    ),
    "shadow": MembershipMethod(
        "a classifier learned on shadow models", score_by_classifier, shadows=2, confidences=True
    ),
    "lira": MembershipMethod(
        "likelihoods over shadow models (LiRA)",
        lambda model, rows, shadows, _: score_by_lira(model, rows, shadows),
        shadows=FEWEST_SHADOWS,
        confidences=True,
    ),
    "lira-offline": MembershipMethod(
        "likelihoods over shadow models without the person (LiRA offline)",
        lambda model, rows, shadows, _: score_by_offline_lira(model, rows, shadows),
        shadows=FEWEST_SHADOWS,
        confidences=True,
    ),
    "rmia": MembershipMethod(
        "likelihoods beside those of other people (RMIA)",
        lambda model, rows, shadows, _: score_by_rmia(model, rows, shadows),
        shadows=2,
    ),
    "rmia-offline": MembershipMethod(
        "likelihoods beside those of other people, over shadow models without the person (RMIA offline)",
        lambda model, rows, shadows, _: score_by_offline_rmia(model, rows, shadows),
        shadows=2,
    ),
}

MEMBERSHIP_ATTACKS = tuple(METHODS)
"""What attacks on membership are called."""


def explain_skipping(method: MembershipMethod, model: AttackedModel, shadows: int, *, asked_for: bool) -> str | None:
    """Return why an attack cannot be made on a model, or need not be; None if it is to be made."""
    if method.shadows and model.recipe is None:
        return "it needs shadow models, and there is no recipe to train them by"
    if method.shadows > shadows:
        return f"it needs at least {method.shadows} shadow models"
    if method.confidences is True and model.labels_only:
        return "the model tells labels alone"
    if method.confidences is False and model.kind == "numbers":
        return "the model tells numbers, not labels"
    if method.confidences is False and not model.labels_only and not asked_for:
        return "the model tells its confidence too, which says more; ask for this attack by name"
    return None
