"""The same fit by `mbi`, the authors' own library: the slower peer that ours is tested against.

`mbi` computes with JAX, which is in single precision unless told otherwise; counts above 100,000 need double, so every
call is made under `jax.enable_x64`, which leaves the rest of the process as it was. Nothing here sees the data.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ziggurat.errors import MissingExtraError
from ziggurat.synthesize.marginals._counts import NoisyCounts
from ziggurat.synthesize.marginals._solver import Distribution, Junction


def require_mbi() -> Any:
    """Return the library, or say how to add it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about settings of the whole process, which are not ours to change
            import mbi
    except ImportError:
        raise MissingExtraError("This solver needs mbi; add it with: pip install 'ziggurat[marginals]'.") from None
    return mbi


def fit_descent(
    sizes: Mapping[str, int],
    measured: Sequence[NoisyCounts],
    total: float,
    start: Distribution | None = None,
    steps: int = 1000,
) -> Distribution:
    """Fit the distribution to all measurements by mirror descent, from where the last fit ended."""
    import jax

    mbi = require_mbi()
    domain = mbi.Domain(tuple(sizes), tuple(sizes.values()))
    with jax.enable_x64(True):
        warm = None if start is None else _potentials(mbi, domain, start)
        given = [_state_measurement(mbi, each) for each in measured]
        made = mbi.estimation.MirrorDescent().estimate(domain, given, total, iters=10 * steps, warm_start=warm)
        potentials = {tuple(clique): np.array(factor.values) for clique, factor in made.potentials.tables.items()}
    tree = Junction(sizes, list(potentials), total).tree(list(potentials.values()))
    return Distribution(tree, potentials)


def _potentials(mbi: Any, domain: Any, start: Distribution) -> Any:
    tables = {clique: mbi.Factor(domain.project(clique), each) for clique, each in start.potentials.items()}
    return mbi.CliqueVector(domain, list(tables), tables)


def _state_measurement(mbi: Any, measured: NoisyCounts) -> Any:
    counts = measured.counts.astype(float).ravel()
    if measured.cells is None:
        return mbi.LinearMeasurement(counts, measured.columns, float(measured.sigma))
    # Of cells taken together the noise is wider; dividing by its width makes it the same for all.
    exactness = 1 / np.sqrt(measured.cells)
    return mbi.LinearMeasurement(
        counts * exactness, measured.columns, float(measured.sigma), mbi.WeightedQuery(exactness)
    )
