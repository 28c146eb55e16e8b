"""Generators of sequences by the names that commands and release files use."""

from __future__ import annotations

from typing import Any

from ziggurat.errors import ParameterError
from ziggurat.sequences import SequenceGenerator, tokens
from ziggurat.wording import nearest

GENERATORS = {"markov": "MarkovSequences", "recurrent": "RecurrentSequences"}
"""What files and commands call the generators of `ziggurat.sequences.tokens`."""


def make_generator(method: str, **given: Any) -> SequenceGenerator:
    """Make a generator by its name; parameters that are not given have the generator's defaults."""
    if method not in GENERATORS:
        raise ParameterError(f"There is no method {method!r} for sequences; {nearest(method, GENERATORS)}")
    made: SequenceGenerator = getattr(tokens, GENERATORS[method])(**given)
    return made
