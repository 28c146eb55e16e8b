"""Whether a model can tell synthetic rows from real ones.

References
----------
Woo, Reiter, Oganian, Karr (2009), "Global measures of data utility for microdata masked for disclosure limitation",
Journal of Privacy and Confidentiality 1(1): the propensity mean squared error.
Snoke, Raab, Nowok, Dibben, Slavkovic (2018), "General and specific utility measures for synthetic data", JRSS A 181(3):
what to expect of it, and two ways to standardise it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Literal

import numpy as np
import pyarrow as pa
from scipy import linalg

from ziggurat.errors import DataError, ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.threads import one_thread
from ziggurat.utility._design import learn_codes, learn_ranks, matrix
from ziggurat.utility._fits import penalized_chances
from ziggurat.utility._judgement import Codes, Reals, Spread
from ziggurat.utility._pairs import expected_pmse
from ziggurat.utility._sheets import Sheet, SheetField, Sheets, make_generator, open_sheets
from ziggurat.wording import count_noun

Model = Literal["cart", "logistic"]
Null = Literal["formula", "permutation", "pairs"]

PROPENSITY_ROWS = 10_000
PERMUTATIONS = 20
_LEAVES = 100  # a leaf holds at least one row in so many, and 10
_PAIRS = 20
_ROWS_PER_PARAMETER = 5
_NULLS: dict[Null, str] = {
    "formula": "a copy drawn from the original's own distribution",
    "permutation": "two samples of one population",
    "pairs": "one copy beside another",
}


@dataclass(frozen=True)
class Propensity(Finding):
    """How well a model tells synthetic rows from real ones.

    Attributes
    ----------
    model
        "cart" or "logistic".
    null
        Against what it was standardised: the "formula" for a copy that was drawn from the original's own
        distribution; "permutation", labels drawn anew, which is what independent samples of one population give; or
        "pairs", the same error between copies.
    pmse
        The mean of (chance of being synthetic - share of synthetic rows) squared, over all rows.
    expected, deviation
        Mean and standard deviation of that error under the null.
    ratio, standardised
        pmse / expected, and (pmse - expected) / deviation.
    parameters
        Of the logistic model, with the intercept; 0 for a tree.
    rows
        How many rows of the original were looked at.
    """

    model: Model
    null: Null
    pmse: Spread
    expected: float
    deviation: float
    ratio: Spread
    standardised: Spread
    parameters: int
    rows: int

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        title = "A tree" if self.model == "cart" else "A logistic model"
        if math.isnan(self.ratio.mean):
            return f"{title} has nothing to tell synthetic rows from real ones by."
        return (
            f"{title} that tells synthetic rows from real ones has a pMSE of {self.pmse}, {self.ratio} times that of "
            f"{_NULLS[self.null]} (standardised {self.standardised})."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each copy."""
        return pa.table(
            {
                "copy": list(range(1, len(self.pmse.values) + 1)),
                "pMSE": self.pmse.values,
                "ratio": pa.array(self.ratio.values, pa.float64(), from_pandas=True),
                "standardised": pa.array(self.standardised.values, pa.float64(), from_pandas=True),
            }
        )


def propensity(
    original: object,
    synthetic: object,
    *,
    model: Model = "cart",
    null: Null | None = None,
    columns: Iterable[str] | str | None = None,
    permutations: int = PERMUTATIONS,
    rows: int = PROPENSITY_ROWS,
    source: Source | None = None,
) -> Propensity:
    """Train a model to tell synthetic rows from real ones, and say how far it gets.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of synthetic copies one, a list, or what `synthesize` returned.
    model
        "cart", a tree whose leaves hold at least 1 % of the rows; or "logistic", with main effects only.
    null
        What the error is compared with. A tree has "permutation" (the default) or "pairs" of copies, which needs at
        least 3 copies and is right for partly synthetic tables too; a logistic model has the "formula".
    columns
        Which columns; by default all, without those of free text.
    permutations
        How often labels are permuted, over all copies together.
    rows
        At most how many rows of each table are looked at.
    source
        Of the draw of these rows and of the permutations.
    """
    draw = make_generator(source)
    sheets = open_sheets(original, synthetic, columns, rows=rows, source=source)
    return propensity_of(sheets, model, null, permutations, draw)


@one_thread()
def propensity_of(
    sheets: Sheets, model: Model, null: Null | None, permutations: int, draw: np.random.Generator
) -> Propensity:
    """Tell synthetic rows from real ones in tables that were read already."""
    chosen = _null(model, null, len(sheets.copies))
    if isinstance(permutations, bool) or not isinstance(permutations, int) or permutations < 2:
        raise ParameterError("Permute the labels at least twice.")
    if model == "logistic":
        return _logistic(sheets)
    found = [_PropensityTree(sheets.fields, sheets.original, copy, draw) for copy in sheets.copies]
    errors = [tree.error(tree.labels) for tree in found]
    if chosen == "pairs":
        both = islice(combinations(sheets.copies, 2), _PAIRS)
        null_errors = [(tree := _PropensityTree(sheets.fields, *pair, draw)).error(tree.labels) for pair in both]
    else:
        trees = (found[place % len(found)] for place in range(permutations))
        null_errors = [tree.error(draw.permutation(tree.labels)) for tree in trees]
    expected, deviation = float(np.mean(null_errors)), float(np.std(null_errors, ddof=1))
    return _judge(model, chosen, errors, [(expected, deviation)] * len(errors), 0, sheets.original.rows)


class _PropensityTree:
    """A tree on the rows of two tables."""

    def __init__(
        self, fields: tuple[SheetField, ...], original: Sheet, synthetic: Sheet, draw: np.random.Generator
    ) -> None:
        coding = learn_ranks(fields, (original, synthetic))
        self.labels: Codes = np.repeat([0, 1], [original.rows, synthetic.rows])
        both = np.concatenate([matrix(coding, original), matrix(coding, synthetic)])
        self._design = both.astype(np.float32)
        self._leaf = max(10, len(self.labels) // _LEAVES)
        self._seed = int(draw.integers(2**31))

    def error(self, labels: Codes) -> float:
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(min_samples_leaf=self._leaf, random_state=self._seed)
        chances = tree.fit(self._design, labels).predict_proba(self._design)[:, 1]
        return float(np.mean((chances - labels.mean()) ** 2))


def _logistic(sheets: Sheets) -> Propensity:
    coding = learn_codes(sheets.fields, sheets.original)
    errors, nulls, sizes = [], [], []
    for copy in sheets.copies:
        together = np.concatenate([matrix(coding, sheets.original), matrix(coding, copy)])
        labels = np.repeat([0.0, 1.0], [sheets.original.rows, copy.rows])
        basis = _basis(together)
        share, rows, size = float(labels.mean()), len(labels), basis.shape[1]
        errors.append(float(np.mean((penalized_chances(basis, labels) - share) ** 2)))
        sizes.append(size)
        nulls.append((expected_pmse(size, share, rows), math.sqrt(2 * (size - 1)) * (1 - share) ** 2 * share / rows))
    return _judge("logistic", "formula", errors, nulls, max(sizes), sheets.original.rows)


def _basis(design: Reals) -> Reals:
    """Return an orthogonal basis, the constant first, of what the columns span: redundant columns leave no trace."""
    centred = design - design.mean(axis=0)
    norms = np.linalg.norm(centred, axis=0)
    varying = centred[:, norms > 1e-9 * math.sqrt(len(design))]
    basis = np.ones((len(design), 1))
    if varying.shape[1]:
        orthogonal, upper, _ = linalg.qr(varying / np.linalg.norm(varying, axis=0), mode="economic", pivoting=True)
        kept = np.abs(np.diag(upper)) > 1e-7
        basis = np.concatenate([basis, orthogonal[:, kept] * math.sqrt(len(design))], axis=1)
    if basis.shape[1] * _ROWS_PER_PARAMETER > len(design):
        raise DataError(
            f"A logistic model of {count_noun(basis.shape[1], 'parameter')} needs more than "
            f"{count_noun(len(design), 'row')}; name fewer columns, or use model='cart'."
        )
    return basis


def _judge(
    model: Model, null: Null, errors: list[float], nulls: list[tuple[float, float]], parameters: int, rows: int
) -> Propensity:
    return Propensity(
        model=model,
        null=null,
        pmse=Spread.of(errors),
        expected=float(np.mean([mean for mean, _ in nulls])),
        deviation=float(np.mean([deviation for _, deviation in nulls])),
        ratio=Spread.of(_over(error, mean) for error, (mean, _) in zip(errors, nulls, strict=True)),
        standardised=Spread.of(
            _over(error - mean, deviation) for error, (mean, deviation) in zip(errors, nulls, strict=True)
        ),
        parameters=parameters,
        rows=rows,
    )


def _over(above: float, below: float) -> float:
    return above / below if below > 0 else math.nan


def _null(model: str, null: str | None, copies: int) -> Null:
    if model not in ("cart", "logistic"):
        raise ParameterError("The model is 'cart' or 'logistic'.")
    allowed: tuple[Null, ...] = ("formula",) if model == "logistic" else ("permutation", "pairs")
    chosen = next((each for each in allowed if null is None or each == null), None)
    if chosen is None:
        raise ParameterError(f"The null of model {model!r} is {' or '.join(map(repr, allowed))}.")
    if chosen == "pairs" and copies < 3:
        raise ParameterError("Pairs of copies as a null need at least 3 copies; make more, or use 'permutation'.")
    return chosen
