"""Several ways to synthesise one table, tried on the same rows: which is useful, and which gives people away."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from ziggurat.data import Schema, Table, Unit, open_table, read, sample_rows
from ziggurat.errors import DataError, ParameterError, ZigguratError
from ziggurat.randomness import Source, choose_source
from ziggurat.release.comparing._candidate import Candidate, Candidates
from ziggurat.release.comparing._judging import JudgingTerms, Progress, count_steps, judge_copies
from ziggurat.synthesize import Synthesizer
from ziggurat.utility import ROWS

LOOKED = (
    "The candidates were tried on the real table and nothing was paid for: choosing among those with a guarantee by "
    "looking at it is not covered by their guarantee. Choose on public or old data, or accept it."
)
_FEWEST = 20


def candidates(
    table: object,
    models: Mapping[str, object],
    *,
    holdout: float = 0.2,
    target: str | None = None,
    formula: str | None = None,
    known: Iterable[str] | None = None,
    secret: Iterable[str] | str | None = None,
    copies: int = 1,
    rows: int | None = None,
    progress: Progress | None = None,
    random_state: int | None = None,
) -> Candidates:
    """Fit several synthesisers on the same rows of a table, and judge the copies that each of them draws.

    Utility is 1 minus the total variation of the tables of two columns, averaged over all pairs; sampling alone keeps
    it below 1. Risk is the share of what is left to be learned without the table that an attack learns, (attack -
    control) / (1 - control): of closest records, singling out and, where it is said what attackers know, linking and
    inferring, that whose 95 % interval begins highest. An attack that fails shows no safety: a stronger one may not.

    Not promised: that choosing is private. Trying candidates with a guarantee (`AIM`, `MST`) on the real table, and
    choosing by looking at what comes out, is not covered by their guarantee, and nothing here goes through a ledger;
    choose on public or old data, or accept it. A k-anonymous table is no candidate: its cells are ranges and groups,
    which cannot be compared with the original's values.

    Parameters
    ----------
    table
        A table, or anything that `ziggurat.data.read` opens.
    models
        The synthesisers by name: `Synthesizer("cart")`, `AIM(epsilon=1)`. They are cloned, not changed.
    holdout
        The share of rows, or of people if the table's unit says who they are, that no synthesiser sees. Closest
        records and singling out are tried on as many rows of the original as were held out: few blunt them.
    target, formula
        What to predict from each copy, and which regression to fit; by default nothing.
    known, secret
        Columns that attackers know, and those that they are after; by default the quasi-identifiers and the sensitive
        columns of the schema.
    copies
        How many copies each synthesiser draws.
    rows
        At most how many rows of the table are used, drawn at random; by default 100,000.
    progress
        Called with what is done next, how many steps are done and how many there are.
    random_state
        A seed for a rehearsal: of the choice of rows and of the attacks. The models have their own.
    """
    _check(models, holdout, copies)
    source = choose_source(random_state)
    held = open_table(table)
    cells, total = sample_rows(held, held.schema.names, ROWS if rows is None else rows, source.child("rows"))
    kept, outside = _split(held, cells, float(holdout), source.child("split"))
    training = _without_people(held, kept)
    asked = JudgingTerms.of(
        training.schema,
        target=target,
        formula=formula,
        known=known,
        secret=secret,
        rows=rows,
        random_state=random_state,
    )
    each_time = 1 + count_steps(asked, True, None)
    told = StepCounter(progress, each_time * len(models))
    found = []
    for name, model in models.items():
        made, drawn, seconds = _fit_and_draw(name, model, held, kept, training, copies, told)
        promise = _promise(made)
        found.append(
            judge_copies(name, training, drawn, asked, holdout=outside, seconds=seconds, promise=promise, told=told)
        )
    return Candidates(tuple(found), kept.num_rows, outside.num_rows, _notes(total, cells.num_rows, found))


class StepCounter:
    """Counts the steps of a long task, and tells which comes next."""

    def __init__(self, progress: Progress | None, of: int) -> None:
        self._progress, self._of, self._done = progress, of, 0

    def __call__(self, what: str) -> None:
        """Say what is done next."""
        if self._progress is not None:
            self._progress(what, self._done, self._of)
        self._done += 1


def _fit_and_draw(
    name: str, model: object, held: Table, kept: pa.Table, training: Table, copies: int, told: StepCounter
) -> tuple[Any, object, float]:
    """Fit a clone and draw from it; a synthesiser without a guarantee does not see who the people are."""
    told(f"{name}: learning")
    begun = time.perf_counter()
    made: Any = clone(model)
    try:
        if isinstance(made, Synthesizer):
            drawn: Any = made.fit(training).sample(copies=copies)
        else:
            made.fit(read(kept, held.schema, on_bad_cell="missing"))
            drawn = [made.sample(kept.num_rows, _seed_of(made, copy)) for copy in range(copies)]
    except ZigguratError as error:
        raise type(error)(f"Candidate {name!r}: {error}") from None
    return made, drawn, time.perf_counter() - begun


def _seed_of(made: Any, copy: int) -> int | None:
    """A rehearsal draws the same rows again, each copy its own."""
    return None if made.random_state is None else made.random_state + copy


def _promise(made: Any) -> str:
    guarantee = getattr(made, "guarantee_", None)
    if guarantee is None:
        return ""
    return f"{guarantee}{', had this been no rehearsal' if made.rehearsal_ else ''}"


def _split(held: Table, cells: pa.Table, share: float, source: Source) -> tuple[pa.Table, pa.Table]:
    """Hold out a share of the rows; all rows of a person together if the unit says who they are."""
    column = held.unit.column
    if column is None or column not in cells.column_names:
        people, count = np.arange(cells.num_rows), cells.num_rows
    else:
        coded = cells.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
        people, count = np.asarray(coded.indices), len(coded.dictionary)
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[source.simulation().permutation(count)[: round(share * count)]] = True
    apart = pa.array(chosen[people])
    kept, outside = cells.filter(pa.compute.invert(apart)), cells.filter(apart)
    if min(kept.num_rows, outside.num_rows) < _FEWEST:
        raise DataError(
            f"The table is too small to hold out a share of {share:g}: at least {_FEWEST} rows are needed to learn "
            "from, and as many to compare with."
        )
    return kept, outside


def _without_people(held: Table, cells: pa.Table) -> Table:
    names = [name for name in held.schema.names if name != held.unit.column]
    if not names:
        raise DataError("The table has no column but the one that tells people apart.")
    schema = Schema(tuple(held.schema[name] for name in names), Unit.row(), held.schema.name)
    return read(cells.select(names), schema, on_bad_cell="missing")


def _notes(total: int, used: int, found: list[Candidate]) -> tuple[str, ...]:
    notes = [f"A sample of {used:,} of {total:,} rows was used."] if used < total else []
    return (*notes, *([LOOKED] if any(each.promise for each in found) else []))


def _check(models: Mapping[str, object], holdout: float, copies: int) -> None:
    if not isinstance(models, Mapping) or not models:
        raise ParameterError('Name at least one candidate: candidates(table, {"cart": Synthesizer("cart")}).')
    for name, model in models.items():
        if not (hasattr(model, "fit") and hasattr(model, "sample") and hasattr(model, "get_params")):
            raise ParameterError(f"Candidate {name!r} is no synthesiser: it has no 'fit' and 'sample'.")
    if isinstance(holdout, bool) or not isinstance(holdout, int | float) or not 0 < holdout < 1:
        raise ParameterError("The share of rows to hold out must lie between 0 and 1, for instance 0.2.")
    if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
        raise ParameterError("The number of copies must be a whole number of at least 1.")
