"""What AIM and MST share: a plan that is priced before a row is read, noisy counts, a model, and rows drawn from it.

Why there is no private CART. Sequential synthesis by trees would have to pay once for every column, and within a column
once for every level of its tree: with d columns and depth k each choice and each leaf is left with about 1/(d k) of
rho, while the deeper leaves hold ever fewer rows; and what the first columns got wrong, the later ones are drawn from.
Marginal-based methods spend on d to a few times d tables of counts that all rows share, and fit all of them together,
so that noise cancels instead of adding up. In the benchmark of Tao, McKenna, Hay, Machanavajjhala and Miklau (2021)
methods of this kind (MST among them) were the best throughout, ahead of those by Bayesian networks and by generative
networks; AIM improved on them (McKenna, Mullins, Sheldon & Miklau 2022). A private tree that predicts one column is in
`ziggurat.learn`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ziggurat.archives import Array
from ziggurat.data import Schema, open_table
from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import (
    Amount,
    Event,
    Guarantee,
    Neighbours,
    Relation,
    compose,
    event_from_dict,
    exact,
    exact_delta,
    exact_epsilon,
    whole_number,
)
from ziggurat.privacy.accounting import compose_events, zcdp_rho
from ziggurat.randomness import Source, choose_source
from ziggurat.synthesize._saving import read_learned, write_learned
from ziggurat.synthesize.marginals._cliques import Clique, Floats, rows_from
from ziggurat.synthesize.marginals._counts import CountedUnit, ExactCounts, NoisyCounts, part_of, total_of
from ziggurat.synthesize.marginals._decoding import decode
from ziggurat.synthesize.marginals._domain import Axis, Bins, axis_of, check_bins, is_public, require_public
from ziggurat.synthesize.marginals._folding import Folded
from ziggurat.synthesize.marginals._paying import Price, is_listed, share_price
from ziggurat.synthesize.marginals._reading_codes import pay_for_axes, read_codes
from ziggurat.synthesize.marginals._solver import Distribution, fit_distribution
from ziggurat.threads import one_thread

Progress = Callable[[str], None]

# The accountants round up by a part in 1e9.
_KEPT_BACK = Fraction(1, 10**8)
_BATCH = 1 << 20


@dataclass(frozen=True)
class CopyTerms:
    """What is decided before a row is read: all of it follows from the parameters and the public schema."""

    names: tuple[str, ...]
    unit: CountedUnit
    rho: Fraction
    price: Price | None
    bins: Bins
    missing: frozenset[str]


@dataclass(eq=False, repr=False, kw_only=True)
class PrivateSynthesis(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A differentially private model of a whole table, from which rows are drawn.

    A subclass says in `_events` what measuring will cost, and does it in `_measure`.

    Attributes
    ----------
    axes_
        The cells of every column.
    measurements_
        The noisy counts from which the model was made, by the cells of the columns as they were taken together.
    total_
        How many rows the model stands for.
    spent_
        The rho that measuring took, never more than planned; it depends on noisy answers alone.
    event_, origin_
        What fitting did and with which randomness, for the ledger.
    """

    epsilon: Amount = field(default=1, kw_only=False)
    delta: Amount = field(default="1e-9", kw_only=False)
    columns: Sequence[str] | None = None
    bins: Any = 32
    missing: Sequence[str] | None = None
    domain: str = "public"
    domain_share: Amount = "0.1"
    relation: str = "add-or-remove-one"
    rows_per_unit: int | None = None
    max_cells: int = 1_000_000
    solver: str = "tree"
    random_state: int | None = None

    axes_: tuple[Axis, ...] = field(init=False)
    folded_: tuple[Folded, ...] = field(init=False)
    chain_: tuple[tuple[Clique, Clique, Floats], ...] = field(init=False)
    measurements_: tuple[NoisyCounts, ...] = field(init=False)
    total_: float = field(init=False)
    spent_: Fraction = field(init=False)
    event_: Event = field(init=False)
    origin_: str = field(init=False)

    @abstractmethod
    def _events(self, terms: CopyTerms) -> list[Event]:
        """Say what measuring will cost."""

    @abstractmethod
    def _measure(
        self, counts: ExactCounts, terms: CopyTerms, total: float | None, source: Source, progress: Progress
    ) -> tuple[list[NoisyCounts], list[Folded], Distribution, Fraction]:
        """Measure, and fit a model; the rho that was spent comes last."""

    def planned(self, schema: Schema) -> Event:
        """Say what fitting a table of this schema will cost; nothing is read."""
        return self._event(self.plan_terms(schema))

    def fit(self, table: Any, *, progress: Progress | None = None) -> Self:
        """Count, add noise, and fit a model to the noisy counts.

        Parameters
        ----------
        table
            Anything that `ziggurat.data.read` takes, or a `Table`; its schema holds the public domain and the unit.
        progress
            Is told in words how far it is; from noisy facts alone.

        Raises
        ------
        NotPublicError
            A column has no public domain, and nobody pays for it; nothing was read.
        """
        held, source = open_table(table), self._source()
        terms = self.plan_terms(held.schema)
        self.require_solver()
        axes = pay_for_axes(held, self._axes(held.schema, terms), terms, source)
        codes, rows = read_codes(held, axes, terms.unit, source)
        counts = ExactCounts(codes, {axis.name: axis.size for axis in axes})
        public = held.unit.is_row and terms.unit.neighbours.relation is Relation.REPLACE_ONE
        told = progress or (lambda text: None)  # noqa: ARG005
        with one_thread():
            done = self._measure(counts, terms, float(rows) if public else None, source, told)
        measured, folded, model, spent = done
        self.axes_, self.measurements_, self.folded_ = tuple(axes), tuple(measured), tuple(folded)
        self.chain_, self.total_, self.spent_ = tuple(model.tree.chain()), model.tree.total, spent
        self.event_, self.origin_ = self._event(terms), source.origin
        return self

    def sample(self, rows: int | None = None, random_state: int | None = None) -> pa.Table:
        """Draw rows from the model, as many as it stands for unless told: post-processing, which costs nothing.

        Drawn anew each time or, with a whole number, the same ones again.
        """
        check_is_fitted(self)
        wanted = max(round(self.total_), 1) if rows is None else whole_number(rows, "rows")
        draw = choose_source(random_state).simulation()
        sizes = [min(_BATCH, wanted - start) for start in range(0, wanted, _BATCH)]
        return pa.concat_tables([self._batch(size, draw) for size in sizes])

    def _batch(self, rows: int, draw: np.random.Generator) -> pa.Table:
        sizes = {each.name: each.size for each in self.folded_}
        codes = rows_from(self.chain_, sizes, rows, draw)
        cells = {each.name: each.unfold(codes[each.name], draw) for each in self.folded_}
        return decode(self.axes_, cells, draw)

    @property
    def guarantee_(self) -> Guarantee:
        """The promise that fitting keeps, for the unit and relation that it names."""
        return compose(self.event_).approximate(exact_delta(self.delta))

    @property
    def rehearsal_(self) -> bool:
        """Whether seeded randomness was used, so that nothing of it must be published."""
        return self.origin_ != "secure"

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file: noisy counts and what follows from them, so it is as safe as the rows."""
        check_is_fitted(self)
        arrays: dict[str, Array] = {}
        for place, (_, _, table) in enumerate(self.chain_):
            arrays[f"chain{place}"] = table
        for place, each in enumerate(self.folded_):
            arrays |= {f"places{place}": each.places, f"weights{place}": each.weights}
        for place, measured in enumerate(self.measurements_):
            arrays |= measured.arrays(f"measured{place}")
        facts = {
            "class": type(self).__name__,
            "parameters": {name: _plain(value) for name, value in self.get_params(deep=False).items()},
            "axes": [axis.to_dict() for axis in self.axes_],
            "chain": [[given, new] for given, new, _ in self.chain_],
            "measurements": [[each.columns, str(each.sigma)] for each in self.measurements_],
            "total": self.total_,
            "spent": str(self.spent_),
            "event": self.event_.to_dict(),
            "origin": self.origin_,
        }
        write_learned(path, facts, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` of this class wrote; nothing in the file is run.

        What the file says of its own cost is no evidence: the entry of the ledger that paid is.
        """
        facts, arrays = read_learned(path)
        if facts.get("class") != cls.__name__:
            raise DataError(f"What is in {str(path)!r} is no {cls.__name__} that this version saved.")
        try:
            return cls(**facts["parameters"])._restore(facts, arrays)
        except (KeyError, TypeError, ValueError):
            raise DataError(f"The {cls.__name__} in {str(path)!r} is damaged; restore a copy, or fit again.") from None

    def _restore(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        self.axes_ = tuple(Axis.from_dict(each) for each in facts["axes"])
        self.folded_ = tuple(
            Folded(axis.name, arrays[f"places{place}"], arrays[f"weights{place}"])
            for place, axis in enumerate(self.axes_)
        )
        self.chain_ = tuple(
            (tuple(given), tuple(new), arrays[f"chain{place}"]) for place, (given, new) in enumerate(facts["chain"])
        )
        self.measurements_ = tuple(
            NoisyCounts.restored(tuple(columns), Fraction(sigma), f"measured{place}", arrays)
            for place, (columns, sigma) in enumerate(facts["measurements"])
        )
        self.total_, self.spent_ = float(facts["total"]), Fraction(facts["spent"])
        self.event_, self.origin_ = event_from_dict(facts["event"]), str(facts["origin"])
        return self

    def _event(self, terms: CopyTerms) -> Event:
        return compose_events([*(terms.price.events if terms.price else []), *self._events(terms)])

    def plan_terms(self, schema: Schema) -> CopyTerms:
        """Say by the public schema which columns are learned, for whom, and at what price."""
        epsilon, delta = exact_epsilon(self.epsilon), exact_delta(self.delta)
        if delta == 0:
            raise ParameterError("These methods add Gaussian noise, which needs a delta above 0, such as '1e-9'.")
        whole_number(self.max_cells, "max_cells")
        names = _choose(self.columns, schema)
        bins = check_bins(self.bins, names)
        unit = CountedUnit(self._neighbours(schema), self._rows(schema))
        missing = frozenset(names if self.missing is None else _inside(self.missing, names))
        unknown = [schema[name] for name in names if not is_public(schema[name], bins)]
        if self.domain not in ("public", "pay"):
            raise ParameterError("domain must be 'public' (declared in the schema) or 'pay'.")
        if self.domain == "public" or not unknown:
            require_public(schema, names, bins)
            return CopyTerms(names, unit, _rho(epsilon, delta), None, bins, missing)
        looked_for = delta / 2 if any(map(is_listed, unknown)) else Fraction(0)
        rho, share = _rho(epsilon, delta - looked_for), _share(self.domain_share)
        price = share_price(unknown, part_of(rho, share), looked_for, unit)
        return CopyTerms(names, unit, part_of(rho, 1 - share), price, bins, missing)

    def _axes(self, schema: Schema, terms: CopyTerms) -> list[Axis | None]:
        paid = terms.price.mechanisms if terms.price else {}
        return [
            None if name in paid else axis_of(schema[name], terms.bins, name in terms.missing) for name in terms.names
        ]

    def _neighbours(self, schema: Schema) -> Neighbours:
        return Neighbours(schema.unit, Relation(self.relation)) if self.relation in set(Relation) else _refuse()

    def _rows(self, schema: Schema) -> int:
        if schema.unit.is_row:
            if self.rows_per_unit not in (None, 1):
                raise ParameterError("If the unit is a row, one row of each counts; leave rows_per_unit out.")
            return 1
        if self.rows_per_unit is None:
            raise ParameterError(
                f"State rows_per_unit=..., how many rows of {schema.unit} may count at most (--rows-per-unit 1, say, "
                "on the command line; options: {rows_per_unit: 1} in a release file)."
            )
        return whole_number(self.rows_per_unit, "rows_per_unit")

    def require_solver(self) -> None:
        """Raise unless the solver is there."""
        if self.solver not in ("tree", "mbi"):
            raise ParameterError("solver must be 'tree' (our own) or 'mbi'.")
        if self.solver == "mbi":
            from ziggurat.synthesize.marginals._mbi import require_mbi

            require_mbi()

    def _fit_distribution(
        self,
        counts: ExactCounts,
        measured: Sequence[NoisyCounts],
        total: float | None,
        start: Distribution | None,
        steps: int,
    ) -> Distribution:
        rows = total_of(measured) if total is None else max(total, 1.0)
        if self.solver == "mbi":
            from ziggurat.synthesize.marginals import _mbi

            return _mbi.fit_descent(counts.sizes, measured, rows, start, steps)
        return fit_distribution(counts.sizes, measured, rows, start, steps)

    def _source(self) -> Source:
        return choose_source(self.random_state)


def _rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The rho of which zero-concentrated DP implies (epsilon, delta)-DP (Canonne, Kamath & Steinke 2020)."""
    return part_of(Fraction(zcdp_rho(epsilon, delta)), 1 - _KEPT_BACK)


def _share(given: Amount) -> Fraction:
    share = exact(given, "domain_share")
    if not 0 < share < 1:
        raise ParameterError("domain_share must lie between 0 and 1, for instance 0.1.")
    return share


def _refuse() -> Neighbours:
    raise ParameterError("The relation must be 'add-or-remove-one' or 'replace-one'.")


def _choose(columns: Sequence[str] | None, schema: Schema) -> tuple[str, ...]:
    """The columns to synthesise: those named, or all but the one that tells units apart."""
    if columns is None:
        names = tuple(name for name in schema.names if name != schema.unit.column)
    elif isinstance(columns, str):
        raise ParameterError("Name columns in a list, such as ['age', 'sex'].")
    else:
        names = tuple(schema[name].name for name in dict.fromkeys(columns))
    if not names or schema.unit.column in names:
        raise ParameterError("Name at least one column to synthesise, and not the one that tells units apart.")
    return names


def _inside(columns: Sequence[str], names: Sequence[str]) -> Sequence[str]:
    if isinstance(columns, str) or any(name not in names for name in columns):
        raise ParameterError("missing must list columns that are synthesised, such as ['age'], or be None for all.")
    return columns


def _plain(value: Any) -> Any:
    """A parameter as JSON: amounts and dates as text that reads back."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
