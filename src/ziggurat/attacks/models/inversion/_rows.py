"""How near rows come that are rebuilt from a linear model, beside guesses that never see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import ALARM, FEWEST, whole
from ziggurat.attacks.models._attacked import Floats, LabelledRows
from ziggurat.attacks.models.inversion._linear import LinearParameters, reconstruct_row
from ziggurat.errors import DataError
from ziggurat.findings import Finding
from ziggurat.randomness import choose_source

_SHUFFLES = 999


@dataclass(frozen=True)
class ReconstructedRows(Finding):
    """How near rows of people come that are rebuilt from the parameters of a linear model.

    An error is the root of the mean square over columns, in standard deviations of the other rows.

    Attributes
    ----------
    model
        What was attacked.
    rows
        How many rows it was fitted on; the attacker knows all but one.
    error
        The median error of rebuilt rows.
    error_by_mean
        That of the mean of the others.
    error_by_nearest
        That of the nearest of the others, whom no attacker knows to be it.
    nearer_than_mean
        Targets whose rebuilt row is nearer than the mean of the others.
    nearer_than_anybody
        Targets whose rebuilt row is nearer than the row of anybody else: it tells who they are.
    labels
        Targets whose label is rebuilt: the class, or the number within a tenth of a standard deviation.
    chance
        How likely at least as many are nearer than anybody's, if rebuilt rows are dealt out among the targets.
    """

    model: str
    rows: int
    error: float
    error_by_mean: float
    error_by_nearest: float
    nearer_than_mean: Share
    nearer_than_anybody: Share
    labels: Share
    chance: float

    @property
    def verdict(self) -> bool | None:
        """Whether rows come out nearer than chance explains; None if the targets are too few to clear the model.

        The test deals rebuilt rows out anew (Barnard 1963): parameters that tell nothing are accused at most once in
        forty times (`ALARM`).
        """
        if self.chance <= ALARM:
            return True
        return None if self.nearer_than_anybody.trials < FEWEST else False

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        found = self.nearer_than_anybody
        text = (
            f"Who knows all other {self.rows - 1:,} rows and the parameters of {self.model} rebuilds the missing one "
            f"up to {self.error:.2g} standard deviations (median; the mean of the others is off by "
            f"{self.error_by_mean:.2g}), and {found} come nearer than anybody else's row"
        )
        if self.verdict:
            return f"{text}: the parameters hold rows of people."
        if self.verdict is None:
            return f"{text}; with fewer than {FEWEST} targets that clears nobody."
        return f"{text}: that is no more than chance explains."

    @property
    def table(self) -> pa.Table:
        """The figures, one a line."""
        figures = {
            "median error of rebuilt rows": self.error,
            "median error of the mean of the others": self.error_by_mean,
            "median error of the nearest of the others": self.error_by_nearest,
            "rebuilt nearer than the mean": self.nearer_than_mean.rate,
            "rebuilt nearer than anybody": self.nearer_than_anybody.rate,
            "labels rebuilt": self.labels.rate,
        }
        return pa.table({"figure": list(figures), "value": list(figures.values())})


def reconstruct_rows(
    model: Any, rows: LabelledRows, *, targets: int = 50, random_state: int | None = None
) -> ReconstructedRows:
    """Rebuild rows of several people, each from the model and all rows but theirs.

    Parameters
    ----------
    model
        A fitted linear model, or its `LinearParameters`, see `reconstruct_row`.
    rows
        All rows that it was fitted on; classes as codes from 0.
    targets
        How many people, drawn at random; all if there are fewer.
    random_state
        A seed; None draws whom to attack anew.
    """
    known = model if isinstance(model, LinearParameters) else LinearParameters.of(model)
    if len(rows) < 3:
        raise DataError("Rows are rebuilt where at least 3 were fitted on.")
    draw = choose_source(random_state).simulation()
    chosen = np.sort(draw.permutation(len(rows))[: whole(targets, "The number of targets")])
    spread = rows.features.std(axis=0)
    used = spread > 0
    scaled = rows.features[:, used] / spread[used]
    rebuilt = [_rebuild(known, rows, place) for place in chosen]
    features = np.array([each[0][used] for each in rebuilt]) / spread[used]
    nearest = np.array([_error_of_nearest(scaled, place) for place in chosen])
    by_mean = np.array([_error(_mean_of_others(scaled, place), scaled[place]) for place in chosen])
    errors = _error(features, scaled[chosen])
    labels = np.array([each[1] for each in rebuilt])
    return ReconstructedRows(
        known.name,
        len(rows),
        float(np.median(errors)),
        float(np.median(by_mean)),
        float(np.median(nearest)),
        Share(int((errors < by_mean).sum()), len(chosen)),
        Share(int((errors < nearest).sum()), len(chosen)),
        Share(int(_agree(known, labels, rows, chosen).sum()), len(chosen)),
        _deal_anew(features, scaled[chosen], nearest, draw),
    )


def _rebuild(known: LinearParameters, rows: LabelledRows, place: int) -> tuple[Floats, float]:
    others = rows.take(np.delete(np.arange(len(rows)), place))
    label = None if known.fit_intercept else float(rows.labels[place])
    made = reconstruct_row(known, others, label=label)
    return np.nan_to_num(made.features, nan=0.0), made.label


def _error(one: Floats, other: Floats) -> Any:
    return np.sqrt(((one - other) ** 2).mean(axis=-1))


def _mean_of_others(scaled: Floats, place: int) -> Floats:
    return np.asarray((scaled.sum(axis=0) - scaled[place]) / (len(scaled) - 1))


def _error_of_nearest(scaled: Floats, place: int) -> float:
    return float(np.min(_error(np.delete(scaled, place, axis=0), scaled[place])))


def _agree(known: LinearParameters, labels: Floats, rows: LabelledRows, chosen: Any) -> Any:
    truth = rows.labels[chosen].astype(np.float64)
    if known.loss == "logistic":
        return labels == truth
    return np.abs(labels - truth) <= float(np.std(rows.labels)) / 10


def _deal_anew(features: Floats, truth: Floats, nearest: Floats, draw: np.random.Generator) -> float:
    """The chance of as many, or more, if rebuilt rows change places among the targets."""
    errors = np.stack([_error(features, each) for each in truth])
    near = errors < nearest[:, None]
    hits, places = int(np.trace(near)), np.arange(len(truth))
    if not hits:
        return 1.0
    dealt = np.array([near[places, draw.permutation(len(truth))].sum() for _ in range(_SHUFFLES)])
    return float((1 + (dealt >= hits).sum()) / (1 + _SHUFFLES))
