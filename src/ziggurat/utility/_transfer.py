"""Train on synthetic rows, test on real ones."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from ziggurat.errors import DataError, ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.threads import one_thread
from ziggurat.utility._design import learn_codes, learn_ranks, matrix
from ziggurat.utility._judgement import Reals, Spread
from ziggurat.utility._sheets import ROWS, Sheet, SheetField, Sheets, make_generator, open_sheets
from ziggurat.wording import count_noun

Predictor = Literal["boosting", "forest", "linear"]

_HELD_OUT = 0.3
_MOST_CLASSES = 100


@dataclass(frozen=True)
class Transfer(Finding):
    """How well a model that learned on copies predicts real rows.

    Attributes
    ----------
    target, model
        What is predicted, and by what.
    score
        "AUC" for two classes, "balanced accuracy" for more, "R2" for numbers.
    synthetic
        Of models that learned on each copy.
    real
        Of a model that learned on the original.
    baseline
        Of predicting the most common class, or the mean.
    tested
        On how many real rows.
    unseen
        Whether those rows were given as a hold-out. If not, they were split off the original and the synthesiser may
        have seen them, which flatters the copies.
    dropped
        How many rows of the original lack the target.
    """

    target: str
    model: str
    score: str
    synthetic: Spread
    real: float
    baseline: float
    tested: int
    unseen: bool
    dropped: int

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        seen = "that were held out" if self.unseen else "of the original, which the synthesiser may have seen"
        return (
            f"Predicting {self.target!r} on {count_noun(self.tested, 'real row')} {seen}: {self.score} "
            f"{self.synthetic} learned from the copies, {self.real:.3g} from real rows, {self.baseline:.3g} from none."
        )

    @property
    def table(self) -> pa.Table:
        """One row for the baseline, for real rows and for each copy."""
        names = ["baseline", "real", *(f"copy {place}" for place in range(1, len(self.synthetic.values) + 1))]
        scores = [self.baseline, self.real, *self.synthetic.values]
        return pa.table({"learned from": names, self.score: pa.array(scores, pa.float64(), from_pandas=True)})


def transfer(
    original: object,
    synthetic: object,
    target: str,
    *,
    holdout: object = None,
    model: Predictor | Any = "boosting",
    columns: Iterable[str] | str | None = None,
    rows: int = ROWS,
    source: Source | None = None,
) -> Transfer:
    """Train a model on each copy and on the original, and test them on the same real rows.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of synthetic copies one, a list, or what `synthesize` returned.
    target
        The column to predict: categories, or numbers.
    holdout
        Real rows that the synthesiser has not seen. By default three in ten rows of the original are tested on, and
        the others are what the model for comparison learns from; the synthesiser may have seen all of them.
    model
        "boosting", "forest", "linear", or a scikit-learn classifier or regressor, which is cloned.
    columns
        Which columns predict; by default all others, without those of free text.
    rows
        At most how many rows of each table are looked at.
    source
        Of the draw of these rows, of the split and of the models.
    """
    draw = make_generator(source)
    wanted = None if columns is None else [*((columns,) if isinstance(columns, str) else columns), target]
    sheets = open_sheets(original, synthetic, wanted, holdout=holdout, rows=rows, source=source)
    return transfer_of(sheets, target, model, draw)


@one_thread()
def transfer_of(sheets: Sheets, target: str, model: Predictor | Any, draw: np.random.Generator) -> Transfer:
    """Train and test on tables that were read already."""
    if target not in sheets.names:
        raise ParameterError(f"The target {target!r} is not among the columns that are compared.")
    field = sheets.field(target)
    fields = tuple(each for each in sheets.fields if each.name != target)
    if not fields:
        raise ParameterError("There is no column to predict the target from; name more columns.")
    known = _with_target(sheets, field)
    learned, tested = _split(known, draw)
    task = _TransferTask(field, fields, learned, tested, model, int(draw.integers(2**31)))
    return Transfer(
        target=target,
        model=model if isinstance(model, str) else type(model).__name__,
        score=task.score,
        synthetic=Spread.of(task.try_on(copy) for copy in known.copies),
        real=task.try_on(learned),
        baseline=task.baseline(learned),
        tested=tested.rows,
        unseen=sheets.holdout is not None,
        dropped=sheets.original.rows - known.original.rows,
    )


def _with_target(sheets: Sheets, field: SheetField) -> Sheets:
    """Return the tables without the rows that lack the target."""

    def kept(sheet: Sheet, what: str) -> Sheet:
        found = sheet.take(~sheet.missing(field))
        if found.rows < 2:
            raise DataError(f"{what} has fewer than 2 rows with a value of column {field.name!r}.")
        return found

    copies = tuple(kept(each, f"Synthetic copy {place}") for place, each in enumerate(sheets.copies, start=1))
    held = None if sheets.holdout is None else kept(sheets.holdout, "The hold-out")
    return replace(sheets, original=kept(sheets.original, "The original"), copies=copies, holdout=held)


def _split(sheets: Sheets, draw: np.random.Generator) -> tuple[Sheet, Sheet]:
    if sheets.holdout is not None:
        return sheets.original, sheets.holdout
    order = draw.permutation(sheets.original.rows)
    size = max(1, round(_HELD_OUT * sheets.original.rows))
    return sheets.original.take(order[size:]), sheets.original.take(order[:size])


class _TransferTask:
    """Predicting one column: which score, which model, and on which rows it is tested."""

    def __init__(
        self, field: SheetField, fields: tuple[SheetField, ...], learned: Sheet, tested: Sheet, model: Any, seed: int
    ) -> None:
        self._field, self._seed, self._model = field, seed, model
        trees = model in ("boosting", "forest") if isinstance(model, str) else False
        self._coding = learn_ranks(fields, (learned, tested)) if trees else learn_codes(fields, learned)
        self._classes = np.empty(0) if field.numeric else np.unique(self._values(learned))
        self._tested, self._truth = matrix(self._coding, tested), self._values(tested)
        if self._classes.size > _MOST_CLASSES:
            raise ParameterError(
                f"Column {field.name!r} has {self._classes.size} categories; predict one of at most {_MOST_CLASSES}."
            )
        if np.unique(self._truth).size < 2:
            raise DataError(f"The rows to test on have only one value of column {field.name!r}.")

    @property
    def score(self) -> str:
        """What a model is judged by."""
        if self._field.numeric:
            return "R2"
        return "AUC" if self._classes.size == 2 else "balanced accuracy"

    def try_on(self, sheet: Sheet) -> float:
        """Return the score of a model that learned on these rows."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        values = self._values(sheet)
        if np.unique(values).size < 2:
            return self._score(np.full(len(self._truth), values[0]), None)
        model = estimator(self._model, self._field.numeric, self._seed)
        with threadpool_limits(limits=1, user_api="openmp"):  # its threads wait in busy loops for cores others use
            model = model.fit(matrix(self._coding, sheet), values)
            guessed = np.asarray(model.predict(self._tested), dtype=np.float64)
            return self._score(guessed, self._chances(model) if self.score == "AUC" else None)

    def baseline(self, sheet: Sheet) -> float:
        """Return the score of predicting the mean, or the most common class."""
        values = self._values(sheet)
        common = values.mean() if self._field.numeric else float(np.bincount(values.astype(np.int64)).argmax())
        return self._score(np.full(len(self._truth), common), None)

    def _values(self, sheet: Sheet) -> Reals:
        cells = sheet.cells[self._field.name]
        return cells.numbers if self._field.numeric else cells.codes.astype(np.float64)

    def _chances(self, model: Any) -> Reals | None:
        found = np.flatnonzero(model.classes_ == self._classes[-1])
        if not found.size:
            return None
        chances: Reals = model.predict_proba(self._tested)[:, found[0]]
        return chances

    def _score(self, guessed: Reals, chances: Reals | None) -> float:
        from sklearn.metrics import roc_auc_score

        if self.score == "R2":
            left = float(np.sum((self._truth - guessed) ** 2))
            return 1 - left / float(np.sum((self._truth - self._truth.mean()) ** 2))
        if self.score == "AUC":
            hits = self._truth == self._classes[-1]
            return 0.5 if chances is None or hits.all() or not hits.any() else float(roc_auc_score(hits, chances))
        recalls = [float(np.mean(guessed[self._truth == each] == each)) for each in np.unique(self._truth)]
        return math.fsum(recalls) / len(recalls)


def estimator(model: Predictor | Any, numbers: bool, seed: int) -> Any:
    """Return a scikit-learn model for numbers or for classes."""
    from sklearn import ensemble, linear_model
    from sklearn.base import clone

    if not isinstance(model, str):
        return clone(model)
    choices: dict[str, tuple[type[Any], type[Any], dict[str, Any]]] = {
        "boosting": (
            ensemble.HistGradientBoostingRegressor,
            ensemble.HistGradientBoostingClassifier,
            {"random_state": seed},
        ),
        "forest": (
            ensemble.RandomForestRegressor,
            ensemble.RandomForestClassifier,
            {"random_state": seed, "min_samples_leaf": 3},
        ),
        "linear": (linear_model.Ridge, linear_model.LogisticRegression, {}),
    }
    if model not in choices:
        raise ParameterError("The model is 'boosting', 'forest', 'linear' or a scikit-learn estimator.")
    regressor, classifier, options = choices[model]
    more = {"max_iter": 1000} if classifier is linear_model.LogisticRegression and not numbers else {}
    return (regressor if numbers else classifier)(**options, **more)
