"""What commands and release files say about sequences, and the layout, generator and sizes that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ziggurat.data import Schema
from ziggurat.errors import ParameterError
from ziggurat.sequences import SequenceGenerator, SequenceLayout, Token, domain_of, tokens
from ziggurat.wording import nearest

GENERATORS = {"markov": "MarkovSequences", "recurrent": "RecurrentSequences"}
"""What files and commands call the generators of `ziggurat.sequences.tokens`."""


@dataclass(frozen=True)
class SequenceRequest:
    """Where sequences stand and how many of whom count, in the words of a command or a file; empty if not said.

    Attributes
    ----------
    sequence, token, order, label, longest
        As for `SequenceLayout`; without a sequence the one column that the schema declares.
    sequences_per_unit
        How many sequences of one owner count.
    sizes
        How many are drawn, by the name of the class.
    """

    sequence: str = ""
    token: str = ""
    order: str = ""
    label: str = ""
    longest: int | None = None
    sequences_per_unit: int | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)

    def layout(self, schema: Schema) -> SequenceLayout:
        """Where sequences stand."""
        label, token, order = (name or None for name in (self.label, self.token, self.order))
        if self.sequence:
            return SequenceLayout(self.sequence, token, order, label, self.longest)
        if token or order:
            raise ParameterError("A long table needs the column that tells sequences apart, too; name it: sequence.")
        return SequenceLayout.of(schema, label, self.longest)

    def generator(self, schema: Schema, method: str, **given: Any) -> SequenceGenerator:
        """Make a generator by its name; parameters that are not given have the generator's defaults."""
        if method not in GENERATORS:
            raise ParameterError(f"There is no method {method!r} for sequences; {nearest(method, GENERATORS)}")
        asked = {"sequences_per_unit": self._per_unit(schema), **given}
        kind = getattr(tokens, GENERATORS[method])
        made: SequenceGenerator = kind(**{name: value for name, value in asked.items() if value is not None})
        return made

    def sizes_of(self, schema: Schema) -> dict[Token, int] | None:
        """How many are drawn of each class; None if that is not said."""
        if not self.sizes:
            return None
        if not self.label:
            raise ParameterError("How many are drawn of each class goes with classes: name their column (label), too.")
        known = {str(each): each for each in domain_of(schema, self.layout(schema)).classes}
        for name in self.sizes:
            if name not in known:
                raise ParameterError(f"There is no class {name!r}; {nearest(name, known)}")
        return {known[name]: size for name, size in self.sizes.items()}

    def _per_unit(self, schema: Schema) -> int | None:
        """What was said; where the unit is what tells sequences of a long table apart, each has one."""
        only = bool(self.token) and schema.unit.column == self.sequence
        return 1 if self.sequences_per_unit is None and only else self.sequences_per_unit
