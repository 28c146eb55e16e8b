"""What a promise about people says of one secret bit, and how often guesses of bits can then be right.

Let all answers of a session together be (epsilon, delta)-DP. Compare the laws P and Q of everything that was answered
if person i has the secret, and if not, all else equal. Both are close, P(S) <= e^a Q(S) + b and the same with P and Q
exchanged, where (a, b) depends on the relation and on what is asked:

- *replace-one*: (epsilon, delta). To flip the bit is to replace the person by one who differs in it.
- *add-or-remove-one*, and every question counts only people with the secret (`WHERE ill AND ...`): (epsilon, delta).
  On the whole table T and on the rows T1 of those who have it the same rows count, so that the answers have the same
  law. To flip the bit of i is to add i's rows to T1 or to remove them, which is what the promise is about. All attacks
  here ask so.
- *add-or-remove-one*, any questions: (2 epsilon, (1 + e^epsilon) delta). To flip the bit is to remove a person and to
  add another. It is reached: one question `GROUP BY ill` moves two counts.

So the odds that i has the secret move by a factor of e^a at most, whatever else is known, where b = 0.

*Per person.* Who says "has it" with probability t if i does and f if not has t <= e^a f + b and
1 - f <= e^a (1 - t) + b. Adding both, y = t + 1 - f has y <= e^a (2 - y) + 2 b: the balanced accuracy y / 2 is at most
(e^a + b) / (1 + e^a). If a coin gave i the secret with probability s, guesses are right with probability
s t + (1 - s) (1 - f), which is linear, so it is largest at a corner of the two lines and the unit square:
(e^a + b) / (1 + e^a), s + (1 - s) b or (1 - s) + s b.

*All people.* How many of all guesses are right is bounded in `ziggurat.attacks.epsilon_bound`, with "has the secret"
for "is in the table": its proof uses of P and Q no more than the above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from ziggurat.privacy import Amount, Relation, exact_delta, exact_epsilon

_ROUNDING = Fraction(1_000_000_001, 1_000_000_000)  # e^epsilon as a float, from above


@dataclass(frozen=True)
class BitPromise:
    """How close everything that is answered stays if one person's secret bit is flipped.

    Attributes
    ----------
    epsilon, delta
        As (a, b) above; exact, or rounded up.
    """

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(
        cls,
        epsilon: Amount,
        delta: Amount = 0,
        *,
        relation: Relation = Relation.ADD_OR_REMOVE_ONE,
        counts_secret_only: bool = True,
    ) -> Self:
        """What follows from a promise about people.

        Parameters
        ----------
        epsilon, delta
            The promise about everything that is answered.
        relation
            What makes two tables neighbours.
        counts_secret_only
            Whether every question counts only people who have the secret.
        """
        held, slack = exact_epsilon(epsilon), exact_delta(delta)
        if relation is Relation.REPLACE_ONE or counts_secret_only:
            return cls(held, slack)
        beyond = (1 + Fraction(math.exp(float(held))) * _ROUNDING) * slack
        return cls(2 * held, min(Fraction(1), beyond))

    @property
    def balanced(self) -> float:
        """The largest balanced accuracy of guesses about one person."""
        return self.largest(0.5)

    def largest(self, share: float) -> float:
        """The largest share of right guesses on average, if coins gave people the secret with this probability."""
        a, b = math.exp(-float(self.epsilon)), float(self.delta)
        corner = (1 + b * a) / (1 + a)
        return min(1.0, max(corner, share + (1 - share) * b, (1 - share) + share * b))
