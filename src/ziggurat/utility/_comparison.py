"""All judges of usefulness at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.utility._correlations import Correlations, correlations_of
from ziggurat.utility._estimates import Estimates, estimates_of
from ziggurat.utility._fits import Formula
from ziggurat.utility._intervals import Combining
from ziggurat.utility._marginals import Marginals, marginals_of
from ziggurat.utility._pairs import Pairs, pairs_of
from ziggurat.utility._propensity import PERMUTATIONS, PROPENSITY_ROWS, Model, Propensity, propensity_of
from ziggurat.utility._regression import ComparedRegression, RegressionKind, regression_of
from ziggurat.utility._sheets import ROWS, make_generator, open_sheets
from ziggurat.utility._transfer import Predictor, Transfer, transfer_of
from ziggurat.wording import count_noun


@dataclass(frozen=True)
class Comparison(Finding):
    """How useful synthetic copies are beside their original, per column and overall.

    Attributes
    ----------
    rows, copies
        How many rows the original has, and how many copies there are.
    synthetic_rows
        How many rows each copy has.
    looked_at
        How many rows of the original were looked at, at most as many of each copy.
    marginals, pairs, correlations, estimates, propensity
        What each judge found.
    transfer, regression
        If a target, or a formula, was given.
    notes
        What was left out, in sentences.
    """

    rows: int
    copies: int
    synthetic_rows: tuple[int, ...]
    looked_at: int
    marginals: Marginals
    pairs: Pairs
    correlations: Correlations
    estimates: Estimates
    propensity: Propensity
    transfer: Transfer | None
    regression: ComparedRegression | None
    notes: tuple[str, ...]

    @property
    def judgements(self) -> tuple[Finding, ...]:
        """What was found, one by one."""
        found = (self.marginals, self.pairs, self.correlations, self.estimates, self.propensity)
        asked = (each for each in (self.transfer, self.regression) if each is not None)
        return (*found, *asked)

    @property
    def sentence(self) -> str:
        """What was found, in a paragraph for a steward."""
        head = f"Compared {count_noun(self.copies, 'synthetic copy')} with an original of "
        head += f"{count_noun(self.rows, 'row')} in {count_noun(len(self.marginals.columns), 'column')}."
        return " ".join([head, *(each.sentence for each in self.judgements), *self.notes])

    @property
    def table(self) -> pa.Table:
        """One row for each column: its own distance, its mean ratio with the others, the overlap of its intervals."""
        ratios, overlaps = self._ratios(), self.estimates.overlaps()
        single = self.marginals.table.select(["column", "kind", "total variation", "normalised KL"])
        names = single.column("column").to_pylist()
        more = {"pMSE ratio of pairs": ratios, "interval overlap": overlaps}
        for title, values in more.items():
            cells = [values.get(name) for name in names]
            single = single.append_column(title, pa.array(cells, pa.float64(), from_pandas=True))
        return single

    @property
    def overall(self) -> dict[str, float]:
        """The figure of each judge, by its name."""
        figures = {
            "total variation of columns": self.marginals.total_variation.mean,
            "normalised KL": self.marginals.normalised_kl.mean,
            "total variation of pairs": self.pairs.mean_total_variation.mean,
            "pMSE ratio of pairs": self.pairs.mean_pmse_ratio.mean,
            "difference of correlations": self.correlations.mean_difference.mean,
            "interval overlap": self.estimates.overlap,
            "pMSE": self.propensity.pmse.mean,
            "pMSE ratio": self.propensity.ratio.mean,
        }
        if self.transfer is not None:
            figures[f"{self.transfer.score}, synthetic"] = self.transfer.synthetic.mean
            figures[f"{self.transfer.score}, real"] = self.transfer.real
        if self.regression is not None:
            figures["regression overlap"] = self.regression.overlap
        return figures

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold; what has no value is None."""
        overall = {name: value if value == value else None for name, value in self.overall.items()}
        return {**super().to_dict(), "overall": overall}

    def _ratios(self) -> dict[str, float]:
        matrix, size = self.pairs.pmse_ratio, len(self.pairs.columns)
        found = {}
        for place, name in enumerate(self.pairs.columns):
            others = [matrix[place, other] for other in range(size) if other != place or size == 1]
            known = [float(each) for each in others if each == each]
            found[name] = sum(known) / len(known) if known else float("nan")
        return found


def compare(
    original: object,
    synthetic: object,
    *,
    columns: Iterable[str] | str | None = None,
    target: str | None = None,
    holdout: object = None,
    model: Predictor | Any = "boosting",
    formula: str | None = None,
    kind: RegressionKind = "linear",
    combining: Combining | None = None,
    confidence: float = 0.95,
    propensity: Model = "cart",
    rows: int = ROWS,
    source: Source | None = None,
) -> Comparison:
    """Say how useful synthetic copies are: columns, pairs, correlations, means, propensity, models.

    The original's schema says what the columns are. Numbers and dates are numbers; categories, truth values and text
    with few values are categories; free text is left out with a note. Missing is a category of its own. Nothing here
    says that a copy is private.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of synthetic copies one, a list, or what `synthesize` returned.
    columns
        Which columns; by default all, without those of free text.
    target, holdout, model
        What to predict, see `transfer`; by default nothing.
    formula, kind
        Which regression to fit, see `regression`; by default none.
    combining, confidence
        How the copies are combined to intervals, see `estimates`.
    propensity
        The model that tells synthetic rows from real ones, on at most 10,000 rows of each table; see `propensity`.
    rows
        At most how many rows of each table are looked at; a larger table is sampled, and a note says so. Samples are
        independent, so that the pMSE ratio of pairs is then about 2 for a perfect copy.
    source
        Of the draw of these rows, of permutations and models.
    """
    draw = make_generator(source)
    sheets = open_sheets(original, synthetic, columns, holdout=holdout, rows=rows, source=source)
    fewer = sheets.with_rows(PROPENSITY_ROWS, draw)
    return Comparison(
        rows=sheets.original.total,
        copies=len(sheets.copies),
        synthetic_rows=tuple(each.total for each in sheets.copies),
        looked_at=sheets.original.rows,
        marginals=marginals_of(sheets),
        pairs=pairs_of(sheets),
        correlations=correlations_of(sheets),
        estimates=estimates_of(sheets, combining=combining, confidence=confidence),
        propensity=propensity_of(fewer, propensity, None, PERMUTATIONS, draw),
        transfer=None if target is None else transfer_of(sheets, target, model, draw),
        regression=None
        if formula is None
        else regression_of(sheets, Formula.parse(formula), kind, combining, confidence),
        notes=sheets.notes,
    )
