"""Anonymise a table: every class of rows that look alike satisfies the models, at the least loss."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.generalizing._asking import ProtectedColumns, hierarchies_for, question_of, value_orders
from ziggurat.anonymize.generalizing._combinations import count_combinations
from ziggurat.anonymize.generalizing._kernels import TOLERANCE
from ziggurat.anonymize.generalizing._local import Recoded, recode
from ziggurat.anonymize.generalizing._metrics import Loss, Metric
from ziggurat.anonymize.generalizing._models import (
    HighestRisk,
    KAnonymity,
    ModelNumbers,
    Presence,
    PrivacyModel,
    TCloseness,
)
from ziggurat.anonymize.generalizing._mondrian import Boxes, mondrian
from ziggurat.anonymize.generalizing._published import Flags, Publication, PublishedLabels, local_labels, range_labels
from ziggurat.anonymize.generalizing._search import BestGeneralization, Lattice, Progress
from ziggurat.anonymize.generalizing._solutions import Analysis, Solutions
from ziggurat.cards import Card, Shown
from ziggurat.data import Kind, Table, open_table
from ziggurat.data.free_text import free_text_in, refuse_free_text
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.frames import GivenAsFrame
from ziggurat.privacy import Amount, exact

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from matplotlib.axes import Axes

    from ziggurat.anonymize.generalizing._combinations import Combinations
    from ziggurat.data import Hierarchy

Recoding = Literal["global", "local", "mondrian"]

NOT_PROMISED = (
    "This is not differential privacy, and nothing bounds what an attacker learns: knowledge of other columns, of "
    "sensitive values or of another release of the same table can undo it."
)
"""What every anonymised table says of itself."""
_PATIENT = 10**7  # nodes: larger lattices are searched for a minute unless another limit is given
_MINUTE = 60.0
_SURVEYED = 100_000
_POLL = 0.05


def anonymize(
    table: Any,
    models: Sequence[PrivacyModel] | PrivacyModel,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    suppression: Amount = 0,
    metric: Metric | Analysis | None = None,
    recoding: Recoding = "global",
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Anonymized:
    """Generalise and suppress until every class of rows that look alike satisfies all models, and lose least.

    Not promised: differential privacy. See `NOT_PROMISED`.

    Parameters
    ----------
    table
        A `data.Table`, or anything that `data.read` takes. Every row must be somebody else.
    models
        What classes must satisfy, such as [KAnonymity(5), LDiversity("disease", 3)].
    quasi_identifiers
        The columns that others could know; by default those with that role. Identifiers never leave, and other columns
        of free text (`data.free_text`) only if the release is told to keep them, for a reason.
    hierarchies
        How the values of each become more general; by default those of the schema, else proposed from the data.
    suppression
        Which share of the rows may be left out, exact: "0.02" is two in a hundred.
    metric
        What is to be lost least of: by default `Loss()`; an `Analysis` tries your own on the promising ones.
    recoding
        "global": one level for a whole column, optimal. "local": cells of their own level, far less loss, no optimum.
        "mondrian": ranges that are split as long as both halves satisfy the models.
    time_limit
        Seconds to search; the best so far is returned with the gap that is left. By default a minute in lattices of
        more than ten million generalisations, else as long as it takes. Ctrl-C also ends with the best so far. Local
        recoding then recodes coarsely what is left, keeps every model, and says so (`stopped`).
    progress
        Called about twenty times a second with the share that is decided and the best score so far.

    Raises
    ------
    PrivacyError
        Nothing satisfies the models within the limit; the message says how close one can get.
    DataError
        A value has no place in its hierarchy, or somebody has several rows.
    """
    held = open_table(table)
    question = question_of(held, models, quasi_identifiers)
    share = exact(suppression, "suppression")
    if not 0 <= share <= 1:
        raise ParameterError("The share of rows that may be suppressed must be between 0 and 1.")
    if recoding not in ("global", "local", "mondrian"):
        raise ParameterError("The recoding must be 'global', 'local' or 'mondrian'.")
    if metric is not None and not isinstance(metric, Metric | Analysis):
        raise ParameterError("The metric must be one such as Loss(), or an Analysis.")
    written = _find_free_text(held, question)
    seconds = None if time_limit is None else float(exact(time_limit, "The time limit"))
    if seconds is not None and seconds < 0:
        raise ParameterError("The time limit must be a number of seconds, at least 0.")
    ladders = hierarchies_for(held, question.quasi_identifiers, hierarchies)
    orders = value_orders(held, question.sensitive)
    numbers = count_combinations(
        held, question.quasi_identifiers, question.sensitive, ladders, question.population, orders
    )
    _require_enough_rows(question, numbers)
    asked = question.to_numbers(numbers, held)
    limit = int(share * numbers.rows)
    _require_known(question, numbers)
    work = _Assignment(held, question, ladders, numbers, asked, limit, seconds, progress)
    made = work.run(metric if metric is not None else Loss(), recoding)
    return replace(made, publication=made.publication.without(written), free_text=written) if written else made


@dataclass(frozen=True)
class Anonymized(Shown, GivenAsFrame):
    """An anonymised table, what was done to it, and what that is worth.

    Attributes
    ----------
    question
        What was asked: models, quasi-identifiers, sensitive columns.
    levels
        For each quasi-identifier the level of its cells; None where cells differ in theirs.
    rows, suppressed, classes
        Rows of the table, rows that were left out, classes of rows that look alike.
    metric, score
        What was to be lost least of, and how much of it was lost.
    best
        How the search went; None for local and Mondrian recoding, of which no optimum is known.
    recoding
        "global", "local" or "mondrian".
    hierarchies
        How the values of each quasi-identifier become more general.
    free_text
        The columns that were dropped because they hold free text.
    stopped
        Whether local recoding was ended by the time limit or by Ctrl-C: every model holds, but more is lost than need
        be.
    """

    question: ProtectedColumns
    levels: Mapping[str, int | None]
    rows: int
    suppressed: int
    classes: int
    metric: str
    score: float
    recoding: str
    best: BestGeneralization | None
    publication: Publication = field(repr=False)
    lattice: Lattice = field(repr=False)
    hierarchies: Mapping[str, Hierarchy] = field(repr=False, default_factory=dict)
    free_text: tuple[str, ...] = ()
    stopped: bool = False

    def table(self) -> pa.Table:
        """Return the anonymised rows, in an order that says nothing of that of the table."""
        return self.publication.table()

    def to_arrow(self) -> pa.Table:
        """Return the anonymised rows, as `table` does."""
        return self.table()

    def write(self, path: str | Path) -> None:
        """Write the anonymised rows to a .parquet, .csv, .xlsx or other file, whole or not at all.

        A name that ends in a slash, such as "people.parquet/", is a folder of parts; Spark writes files itself.
        """
        self.publication.write(path)

    def _card(self) -> Card:
        told = {name: "each cell its own" if level is None else f"level {level}" for name, level in self.levels.items()}
        facts = [(self.metric, f"{self.score:.4g}"), ("recoding", self.recoding), *told.items()]
        return Card("Anonymized", self.sentence, facts, "private")

    @cached_property
    def solutions(self) -> Solutions:
        """Every generalisation with its loss and its risk; ParameterError if there are too many to look at all."""
        return Solutions.of(self.lattice, self.question.quasi_identifiers)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw what every generalisation loses and how exposed people are in it, and give the Axes of matplotlib.

        Parameters
        ----------
        ax
            Where to draw; by default a new figure.
        """
        from ziggurat.anonymize.generalizing._frontier import fill_frontier
        from ziggurat.drawing import styled
        from ziggurat.plots import make_axes

        with styled():
            axes = make_axes(4.0) if ax is None else ax
            fill_frontier(axes, self)
        return axes

    @property
    def sentence(self) -> str:
        """What the steward may say of the table."""
        held = "; ".join(model.sentence for model in self.question.models)
        known = ", ".join(self.question.quasi_identifiers)
        return (
            f"Of {self.rows:,} rows {self.rows - self.suppressed:,} are published in {self.classes:,} classes. "
            f"To somebody who knows {known}, {held}. {NOT_PROMISED}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return what was done, in facts that can be stored."""
        return {
            "models": [model.sentence for model in self.question.models],
            "quasi_identifiers": list(self.question.quasi_identifiers),
            "sensitive": list(self.question.sensitive),
            "recoding": self.recoding,
            "levels": dict(self.levels),
            "rows": self.rows,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "metric": self.metric,
            "score": self.score,
            "optimal": self.best is not None and self.best.optimal,
            "gap": None if self.best is None else self.best.gap,
            "promise": "unbounded",
            "not_promised": NOT_PROMISED,
            **({"free_text": list(self.free_text)} if self.free_text else {}),
            **({"stopped": True} if self.stopped else {}),
        }


@dataclass(frozen=True)
class _Assignment:
    table: Table
    question: ProtectedColumns
    hierarchies: Mapping[str, Hierarchy]
    counted: Combinations
    asked: Sequence[ModelNumbers]
    limit: int
    time_limit: float | None
    progress: Progress | None

    def run(self, metric: Metric | Analysis, recoding: Recoding) -> Anonymized:
        guide = metric.guide if isinstance(metric, Analysis) else metric
        lattice = Lattice(self.counted, self.asked, guide, self.limit)
        if isinstance(metric, Analysis):
            if recoding != "global":
                raise ParameterError("Your own analysis is tried on global recoding only.")
            return self._try_analysis(metric, lattice)
        if recoding == "global":
            best = self._search(lattice)
            return self._at(lattice, best.levels, best.score, metric.name, best)
        if not isinstance(metric, Loss):
            raise ParameterError("Local and Mondrian recoding minimise Loss; choose it, or global recoding.")
        if any(isinstance(model, Presence) for model in self.question.models):
            # Who fits several overlapping classes is present with a higher chance than any of them shows.
            raise ParameterError("Presence speaks of classes that share no people; it needs global recoding.")
        return self._local(lattice, metric) if recoding == "local" else self._mondrian(lattice, metric)

    def _search(self, lattice: Lattice) -> BestGeneralization:
        patience = self.time_limit
        if patience is None and lattice.nodes > _PATIENT:
            patience = _MINUTE
        start = time.monotonic()
        best = lattice.best(time_limit=patience, progress=self.progress)
        if best is not None:
            return best
        if patience is not None and time.monotonic() - start > patience:
            raise PrivacyError(
                f"No generalisation that satisfies the models was found in {patience:g} seconds; "
                "give it more time, ask less of the classes, or give fewer quasi-identifiers."
            )
        raise PrivacyError(self._how_close(lattice))

    def _how_close(self, lattice: Lattice) -> str:
        """What would be needed, found by looking at every generalisation, or at the most general in a large lattice."""
        where, rows = "", self.counted.rows
        if lattice.nodes <= _SURVEYED:
            needed = int(lattice.survey()[:, 0].min())
        else:
            where = " at the most general one"
            needed = lattice.measure([height - 1 for height in lattice.heights])[0]
        allowed = "" if needed == rows else "allow that, "
        return (
            f"No generalisation satisfies the models with at most {self.limit:,} of {rows:,} rows suppressed; "
            f"{needed:,} rows ({needed / rows:.2%}) would have to be{where}: {allowed}ask less of the classes, "
            "or give fewer quasi-identifiers."
        )

    def _try_analysis(self, analysis: Analysis, lattice: Lattice) -> Anonymized:
        """Try the steward's own analysis on the generalisations that lose least by its guide."""
        best = self._search(lattice)
        nodes = Solutions.of(lattice, self.question.quasi_identifiers).least(self.limit, analysis.tries)
        found: tuple[float, tuple[int, ...]] | None = None
        for place, levels in enumerate(nodes):
            score = analysis.score(self._publication(lattice, levels).table())
            if found is None or score < found[0]:
                found = score, levels
            if self.progress is not None:
                self.progress((place + 1) / len(nodes), found[0])
        score, levels = found or (best.score, best.levels)
        return self._at(lattice, levels, score, analysis.name, None)

    def _at(
        self, lattice: Lattice, levels: Sequence[int], score: float, metric: str, best: BestGeneralization | None
    ) -> Anonymized:
        suppressed, classes = lattice.measure(levels)[:2] if best is None else (best.suppressed, best.classes)
        names = self.question.quasi_identifiers
        return Anonymized(
            question=self.question,
            levels=dict(zip(names, levels, strict=True)),
            rows=self.counted.rows,
            suppressed=suppressed,
            classes=classes,
            metric=metric,
            score=score,
            recoding="global",
            best=best,
            publication=self._publication(lattice, levels),
            lattice=lattice,
            hierarchies=self.hierarchies,
        )

    def _publication(self, lattice: Lattice, levels: Sequence[int]) -> Publication:
        labels = []
        for place, (ladder, level) in enumerate(zip(self.counted.ladders, levels, strict=True)):
            places = ladder.groups[level].take(self.counted.codes[:, place])
            labels.append(PublishedLabels(ladder.column, places, ladder.labels[level] if level else None))
        return Publication(self.table, self.counted, labels, lattice.find_kept(levels), self.question.sensitive)

    def _local(self, lattice: Lattice, metric: Loss) -> Anonymized:
        progress = None if self.progress is None else _half(self.progress)
        options: dict[str, Any] = {"weights": metric.weights, "limit": self.limit, "seconds": self.time_limit}
        made = _stoppable(lambda stop: recode(self.counted, self.asked, **options, stop=stop, progress=progress))
        kept = made.levels[:, 0] >= 0
        levels = [_only(each) for each in made.levels[kept].T]
        return self._cells(lattice, metric, made, "local", levels, local_labels(self.counted, made), kept)

    def _mondrian(self, lattice: Lattice, metric: Loss) -> Anonymized:
        numbers = (Kind.INTEGER, Kind.REAL)
        ordered = [name for name in self.question.quasi_identifiers if self.table.schema[name].kind in numbers]
        made = mondrian(self.counted, self.asked, ordered=ordered, weights=metric.weights)
        levels = [None if ranges else _only(each) for ranges, each in zip(made.ordered, made.levels.T, strict=True)]
        kept = np.ones(len(self.counted.counts), bool)
        return self._cells(lattice, metric, made, "mondrian", levels, range_labels(self.counted, made), kept)

    def _cells(
        self,
        lattice: Lattice,
        metric: Loss,
        made: Recoded | Boxes,
        recoding: Recoding,
        levels: Sequence[int | None],
        labels: Sequence[PublishedLabels],
        kept: Flags,
    ) -> Anonymized:
        """A table whose cells differ in how general they are."""
        return Anonymized(
            question=self.question,
            levels=dict(zip(self.question.quasi_identifiers, levels, strict=True)),
            rows=self.counted.rows,
            suppressed=made.suppressed,
            classes=made.classes,
            metric=metric.name,
            score=made.score,
            recoding=recoding,
            best=None,
            publication=Publication(self.table, self.counted, labels, kept, self.question.sensitive),
            lattice=lattice,
            hierarchies=self.hierarchies,
            stopped=isinstance(made, Recoded) and made.stopped,
        )


def _find_free_text(table: Table, question: ProtectedColumns) -> tuple[str, ...]:
    """The columns of free text, which do not leave; quasi-identifiers are generalised until others share them."""
    looked_at = [name for name in table.schema.names if name not in question.quasi_identifiers]
    found = free_text_in(table, looked_at)
    for name in question.sensitive:
        if name in found:
            raise ParameterError(refuse_free_text(name))
    return found


def _only(levels: Any) -> int | None:
    """The level of all cells, if it is one."""
    different = np.unique(levels)
    return int(different[0]) if different.size == 1 else None


def _stoppable(work: Callable[[npt.NDArray[np.int64]], Recoded]) -> Recoded:
    """Run compiled loops in a thread, so that Ctrl-C is heard meanwhile: what is left is then recoded coarsely."""
    stop = np.zeros(1, np.int64)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(work, stop)
        try:
            while not wait([running], timeout=_POLL).done:
                continue
        except KeyboardInterrupt:
            stop[0] = 1
        return running.result()


def _half(progress: Progress) -> Callable[[float], None]:
    def tell(share: float) -> None:
        progress(share, float("inf"))

    return tell


def _require_known(question: ProtectedColumns, counted: Combinations) -> None:
    """Where missing cells are no value, what they are may be farther from the table than t by their share alone."""
    for model in question.models:
        if not isinstance(model, TCloseness) or model.missing_is_a_value:
            continue
        place = question.sensitive.index(model.column)
        values = counted.values[place]
        code = values.index(None) if None in values else -1
        gone = int(counted.counts[counted.sensitive[:, place] == code].sum())
        if gone > (model.t + TOLERANCE) * counted.rows:
            raise PrivacyError(
                f"No class can be within {model.t:g} of the table in {model.column!r}: {gone:,} of {counted.rows:,} "
                "cells are missing, and whatever they are must be within it; ask for a larger t, or say that a missing "
                "cell counts as a value (missing_is_a_value=True, --missing-counts on the command line)."
            )


def _require_enough_rows(question: ProtectedColumns, counted: Combinations) -> None:
    for model in question.models:
        least = model.to_numbers().smallest if isinstance(model, KAnonymity | HighestRisk) else 1
        if least > counted.rows:
            raise ParameterError(
                f"Every class must have {least:,} rows, but the table has {counted.rows:,} in all; ask for less."
            )
