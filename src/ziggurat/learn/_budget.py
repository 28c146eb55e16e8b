"""How an epsilon and a delta are shared out among the noisy answers that one fit asks for."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.learn._clipping import root_above
from ziggurat.mechanisms import Gaussian, Laplace, TooWideError
from ziggurat.privacy import Amount, Neighbours, Relation, exact, gaussian_mu, in_words

Kind = Literal["laplace", "gaussian"]

# The accountants round up by a part in 1e9.
_KEPT_BACK = Fraction(1, 10**8)


@dataclass(frozen=True)
class FitBudget:
    """A share of what a fit may spend.

    Of Laplace noise epsilons add up. Of Gaussian noise the squares of mu add up, which is exact (Dong, Roth & Su
    2022), so `share` is a part of the square of the mu that epsilon and delta allow together.
    """

    epsilon: Fraction
    delta: Fraction
    kind: Kind
    neighbours: Neighbours
    share: Fraction = Fraction(1)

    def split(self, part: Fraction) -> tuple[FitBudget, FitBudget]:
        """Give this part of the share, and what is left."""
        return (
            FitBudget(self.epsilon, self.delta, self.kind, self.neighbours, self.share * part),
            FitBudget(self.epsilon, self.delta, self.kind, self.neighbours, self.share * (1 - part)),
        )

    def noise(self, sensitivity: Fraction, coordinates: int) -> Laplace | Gaussian:
        """Noise for a vector of reals, or of integers counted in fine steps; sensitivity in l1 or l2 by the kind."""
        if self.kind == "laplace":
            return Laplace.calibrated(
                self.epsilon * self.share, sensitivity, coordinates=coordinates, neighbours=self.neighbours
            )
        return _gaussian(sensitivity, self.mu, coordinates, self.neighbours)

    def whole_noise(self, changed: int, coordinates: int) -> Laplace | Gaussian:
        """Noise for counts of which one unit changes so many by 1; ParameterError if epsilon is too small for any."""
        options: dict[str, Any] = {"values": "integers", "coordinates": coordinates, "neighbours": self.neighbours}
        try:
            if self.kind == "laplace":
                return Laplace(changed, changed / (self.epsilon * self.share), **options)
            root = root_above(Fraction(changed))
            return Gaussian(root, root / self.mu, **options)
        except TooWideError:
            raise ParameterError("epsilon is too small for any noise that can be drawn; allow a larger one.") from None

    @property
    def mu(self) -> Fraction:
        """The mu that this share allows."""
        most = gaussian_mu(float(self.epsilon), float(self.delta)) ** 2
        square = Fraction(most) * self.share * (1 - _KEPT_BACK)
        return square / root_above(square)


def _gaussian(sensitivity: Fraction, mu: Fraction, coordinates: int, neighbours: Neighbours) -> Gaussian:
    """The rounding to a grid moves a vector a little further; the noise is widened until it is covered."""
    width = sensitivity / mu
    while True:
        made = Gaussian(sensitivity, width, coordinates=coordinates, neighbours=neighbours)
        if made.mu <= mu:
            return made
        width *= made.mu / mu * (1 + Fraction(1, 1 << 30))


def about_rows(relation: str) -> Neighbours:
    """Neighbours that differ in a row."""
    return Neighbours(Unit.row(), Relation(relation)) if relation in set(Relation) else _refuse()


def _refuse() -> Neighbours:
    raise ParameterError("The relation must be 'replace-one' or 'add-or-remove-one'.")


def exact_share(value: Amount, name: str = "bounds_share") -> Fraction:
    """Read a part of the budget, such as that which bounds may cost."""
    share = exact(value, name)
    if not 0 < share < 1:
        raise ParameterError(f"{name} must lie between 0 and 1, for instance 0.1.")
    return share


def warn_of_noise(epsilon: Fraction, rows: int | None, columns: int, doubt: float) -> None:
    """Warn, from public facts alone, where noise is expected to outweigh what so many rows can tell."""
    if rows is not None and doubt > 1:
        warnings.warn(
            f"With epsilon {in_words(epsilon)}, {rows} rows and {columns} columns the noise is expected to be about "
            f"{doubt:.1f} times what the rows can tell: the model is noise; allow a larger epsilon.",
            UserWarning,
            stacklevel=3,
        )


def deviation_of(noise: Any) -> float:
    """The standard deviation of additive noise."""
    return math.sqrt(2) * float(noise.scale) if isinstance(noise, Laplace) else float(noise.sigma)


def lesser_noise(in_l1: float, in_l2: float, epsilon: Fraction, delta: Fraction) -> Kind:
    """Name the noise of less deviation for a vector of these sensitivities."""
    if not delta:
        return "laplace"
    gaussian = in_l2 / gaussian_mu(float(epsilon), float(delta))
    return "gaussian" if gaussian < math.sqrt(2) * in_l1 / float(epsilon) else "laplace"
