"""What stands around a private model in scikit-learn, and whether it sees private rows for nothing.

A model cannot tell from its rows whether they were transformed. But a pipeline that fits it is on the stack, and what
its steps do is public: types and parameters, never rows. So a scaler in front is found when the model is fitted, and
`guarantee_of` finds it in a fitted pipeline. What somebody did to the rows before is beyond both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ziggurat.errors import PrivacyError
from ziggurat.privacy import Guarantee

_FOREIGN = ("sklearn.", "imblearn.")


def guarantee_of(fitted: Any) -> Guarantee:
    """State the promise of a fitted private model, or of a pipeline that ends in one.

    Formal guarantee: that of `guarantee_` of the private model, for its unit and relation, as steps in front of it that
    learn nothing map every row by itself: neighbours stay neighbours.

    Raises
    ------
    PrivacyError
        If something in front learned from the rows, or chose by them, or nothing is proven about it; it is named.
    """
    from ziggurat.learn._base import PrivateModel

    if isinstance(fitted, PrivateModel):
        return fitted.guarantee_
    found = sorted(unpaid(fitted))
    if found:
        raise PrivacyError(f"No promise covers this {type(fitted).__name__}: {'; '.join(found)}.")
    last = _inner(fitted)
    if last is None:
        raise PrivacyError(
            f"Nothing is proven about a {type(fitted).__name__}: it may learn from the rows beside what the private "
            "models in it do; give a model of ziggurat.learn, or a pipeline of public steps that ends in one."
        )
    return guarantee_of(last)


def seen_around() -> tuple[set[str], set[str]]:
    """What the estimators that are fitting this model do unpaid, and which of them choose by exact scores."""
    outer = list(_enclosing())
    learned = {each for one in outer if not _chooses(one) for each in unpaid(one)}
    return learned, {type(one).__name__ for one in outer if _chooses(one)}


def _enclosing() -> Iterator[Any]:
    """The estimators of scikit-learn that are at work on the stack, from the inside."""
    frame = sys._getframe(1)
    known: set[int] = set()
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        one = frame.f_locals.get("self") if module.startswith(_FOREIGN) else None
        if hasattr(one, "get_params") and id(one) not in known:
            known.add(id(one))
            yield one
        frame = frame.f_back  # type: ignore[assignment]


def unpaid(outer: Any) -> set[str]:
    """What an estimator does with private rows around the model in it that nobody pays for, in words."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline

    if isinstance(outer, Pipeline):
        return {learned for _, step in outer.steps[:-1] for learned in _find_learned(step, "in front of it")}
    if isinstance(outer, TransformedTargetRegressor):
        own = outer.transformer is None and outer.func is not None
        found = ["TransformedTargetRegressor has a function that may mix rows"] if own else []
        return {*found, *_find_learned(outer.transformer, "around its target")}
    if _chooses(outer):
        return {f"{type(outer).__name__} chose by exact scores of private rows; PrivateSearch pays for its choice"}
    if getattr(outer, "bootstrap", False):
        return {f"{type(outer).__name__} draws rows several times, so that one person has several; set bootstrap=False"}
    return set()


def _find_learned(step: Any, where: str) -> Iterator[str]:
    for part in _parts(step):
        if not learns_nothing(part):
            yield (
                f"{type(part).__name__} {where} learned from the rows; scale by public bounds with DeclaredScaler, "
                "declare categories, or pay for it"
            )


def _parts(step: Any) -> Iterator[Any]:
    """The steps that a step is made of."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    if isinstance(step, Pipeline):
        inner = [part for _, part in step.steps]
    elif isinstance(step, FeatureUnion):
        inner = [part for _, part in step.transformer_list]
    elif isinstance(step, ColumnTransformer) and not any(callable(columns) for *_, columns in step.transformers):
        inner = [part for _, part, _ in step.transformers] + [step.remainder]
    else:
        yield step
        return
    for part in inner:
        yield from _parts(part)


def learns_nothing(step: Any) -> bool:
    """Whether a transformer maps every row by itself, by its parameters alone; what is not known to does not.

    A transformer of your own says so by the tag `requires_fit=False`.
    """
    from sklearn import preprocessing
    from sklearn.impute import SimpleImputer
    from sklearn.utils import get_tags

    if step is None or isinstance(step, str):
        return True
    if isinstance(step, preprocessing.FunctionTransformer):
        return step.func is None or isinstance(step.func, np.ufunc)
    if isinstance(step, preprocessing.OneHotEncoder | preprocessing.OrdinalEncoder):
        return _declares_categories(step)
    if isinstance(step, SimpleImputer):
        return step.strategy == "constant" and bool(step.keep_empty_features) and not step.add_indicator
    if isinstance(step, preprocessing.PolynomialFeatures):
        return True
    return hasattr(step, "__sklearn_tags__") and not get_tags(step).requires_fit


def _declares_categories(encoder: Any) -> bool:
    """Declared, none joined because it is rare, and no cell quoted that was not declared."""
    declared = not isinstance(encoder.categories, str)
    rare = encoder.min_frequency is None and encoder.max_categories is None
    return declared and rare and encoder.handle_unknown in ("ignore", "use_encoded_value")


def _chooses(outer: Any) -> bool:
    from sklearn.feature_selection import RFECV, SequentialFeatureSelector
    from sklearn.model_selection._search import BaseSearchCV

    return isinstance(outer, BaseSearchCV | RFECV | SequentialFeatureSelector)


def _inner(outer: Any) -> Any:
    """The model at the end, where everything around it learns nothing."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline

    if isinstance(outer, Pipeline):
        return outer.steps[-1][1]
    return outer.regressor_ if isinstance(outer, TransformedTargetRegressor) else None
