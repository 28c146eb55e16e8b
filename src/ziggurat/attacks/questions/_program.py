"""All secrets at once from random questions, by a linear program.

With n people, enough questions about random halves of them, and answers that are off by E = o(sqrt n) at most, every
table of secrets that fits all answers agrees with the true one but for o(n) people (Dinur, Nissim 2003, "Revealing
information while preserving privacy", PODS): almost everybody is given away. Errors of about sqrt n end that; so a
system that answers many questions must be far off, or refuse. The program here minimises the sum of absolute misfits,
as Dwork, McSherry, Talwar (2007, "The price of privacy and the limits of LP decoding", STOC) do: it also stands a share
of answers that are off by any amount. Cohen and Nissim (2018, 2020, "Linear program reconstruction in practice") broke
Diffix by it, a system whose small noise was no matter of a budget.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.questions._people import Flags

Floats = npt.NDArray[np.float64]


def solve_program(asked: Flags, answers: Floats) -> Floats:
    """Return values from 0 to 1, one for each person, whose sums fit the answers best; NaN if nothing was answered.

    Parameters
    ----------
    asked
        A mask of the people for each question.
    answers
        The answer to each; NaN where it was refused.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    told = np.isfinite(answers)
    questions, people = int(told.sum()), asked.shape[1]
    if not questions:
        return np.full(people, np.nan)
    # answers = asked x + over - under, 0 <= x <= 1, 0 <= over, under: the least sum of over and under.
    slack = sparse.identity(questions, format="csr")
    sums = sparse.hstack([sparse.csr_matrix(asked[told].astype(np.float64)), slack, -slack], format="csr")
    cost = np.concatenate([np.zeros(people), np.ones(2 * questions)])
    limits = np.array([[0.0, 1.0]] * people + [[0.0, np.inf]] * (2 * questions))
    found = linprog(cost, A_eq=sums, b_eq=answers[told], bounds=limits, method="highs")
    return np.asarray(found.x[:people], np.float64)
