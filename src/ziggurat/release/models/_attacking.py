"""Models are attacked before they leave: people are kept back as a control, and the model is asked about everybody.

Who is kept back. Under add-or-remove-one each unit is kept back by a coin of their own: whoever is added or removed has
their coin, and all others stay where they are, so that for any outcome of the coins the parts of neighbouring tables
are neighbours or equal. Under replace-one the number of rows n is public, and round(share n) *places* of the table are
drawn whoever stands there: for any draw, the parts of neighbouring tables have the same public size, and differ in one
row at most. Either way what fitting promises about the part it promises about the table: for every outcome of coins or
draw, which the data have no say in, and so on average over them. QED. Nothing is claimed for the coins being secret.

What the coins make testable. Under add-or-remove-one the model's own epsilon is the claim that `attacks._epsilon`
tests, with these very coins. A model that promises under replace-one alone has no such claim: exchanging a person for
another is not leaving them out, and the test would accuse it wrongly. Membership is judged all the same, and nothing
refuted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import Relation
from ziggurat.release._drafts import check_share
from ziggurat.release.models._modules import DeclaredModule

if TYPE_CHECKING:
    from ziggurat.attacks.models import AttackedModel, LabelledRows
    from ziggurat.randomness import Source

Floats = npt.NDArray[np.float64]
MEMBERSHIP, INSPECTION = "membership", "inspection"


@dataclass(frozen=True)
class KeptBack:
    """People who were kept back from a fit, as a control for attacks on the model.

    Attributes
    ----------
    share
        With which probability a coin kept each back, or which share of the places was drawn.
    drawn
        Whether a fixed number of places was drawn, and no coins were tossed.
    features, targets
        Their rows.
    """

    share: float
    drawn: bool
    features: Any = field(repr=False)
    targets: Any = field(repr=False)

    def __len__(self) -> int:
        return len(self.features)


def count_fitted(rows: int, share: float, relation: Relation) -> int:
    """How many rows a fit will see, where their number is public; under add-or-remove-one it decides nothing."""
    return rows - round(share * rows) if relation is Relation.REPLACE_ONE else rows


def keep_back(
    features: Any, targets: Any, share: float, relation: Relation, source: Source
) -> tuple[Any, Any, KeptBack | None]:
    """Split rows into those a model is fitted on and a control; see the module for why the promise stays."""
    if not check_share(share):
        return features, targets, None
    rows, drawn = np.asarray(features), relation is Relation.REPLACE_ONE
    coins = source.simulation()
    back = np.zeros(len(rows), bool)
    if drawn:
        back[coins.permutation(len(rows))[: len(rows) - count_fitted(len(rows), share, relation)]] = True
    else:
        back = coins.random(len(rows)) < share
    labels = np.asarray(targets)
    return rows[~back], labels[~back], KeptBack(share, drawn, rows[back], labels[back])


def require_attackable(model: Any, targets: Any) -> None:
    """Refuse to keep people back for a model that is not attacked here, before anything is paid."""
    from sklearn.base import is_classifier, is_regressor

    if targets is None or not (is_classifier(model) or is_regressor(model)):
        raise ParameterError("Only models that name a class or a number are attacked; leave the hold-out out.")


def meet_model(model: Any) -> AttackedModel:
    """A fitted estimator as attackers meet it, with its classes in its own order.

    Shadows of ours are fitted as nobody's copies: they never leave, and are no fits of this model.
    """
    from ziggurat.attacks.models import AttackedModel

    if isinstance(model, DeclaredModule):
        return model.meet()
    met = replace(AttackedModel.of(model), recipe=_find_recipe(model))
    if met.kind == "numbers":
        return met
    return replace(met, answers=_name_classes(model) if met.labels_only else model.predict_proba)


def _find_recipe(model: Any) -> Any:
    if not hasattr(model, "fresh"):
        return model
    made = model.fresh()
    return made.set_params(classes=len(model.classes_)) if "classes" in made.get_params(deep=False) else made


def _name_classes(model: Any) -> Callable[[Floats], Floats]:
    def answer(features: Floats) -> Floats:
        return np.asarray(np.asarray(model.predict(features))[:, None] == np.asarray(model.classes_), np.float64)

    return answer


def label_rows(model: Any, features: Any, targets: Any) -> LabelledRows:
    """Rows with the place of each label among the model's classes, or of a regression with its number.

    Raises
    ------
    DataError
        If somebody has a label that the model never names, or rows are no finite numbers.
    """
    from ziggurat.attacks.models import LabelledRows

    rows, labels = np.asarray(features, np.float64), np.asarray(targets)
    if not hasattr(model, "classes_"):
        return LabelledRows(rows, labels)
    places = {name: place for place, name in enumerate(np.asarray(model.classes_).tolist())}
    codes = np.array([places.get(name, -1) for name in labels.tolist()], np.int64)
    if (codes < 0).any():
        raise DataError("Somebody has a label that the model never names; leave them out, or give its own classes.")
    return LabelledRows(rows, codes)
