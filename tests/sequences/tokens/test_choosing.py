"""The rule that chooses a generator looks at public facts alone, and says why."""

from __future__ import annotations

import pytest

from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.sequences import SequenceDomain
from ziggurat.sequences.tokens import MarkovSequences, RecurrentSequences, choose_generator

LOGS = SequenceDomain(tuple(range(28)), longest=50, classes=("0", "1"))


@pytest.mark.parametrize(
    ("epsilon", "delta", "count", "kind", "said"),
    [
        (1, "1e-5", 6400, RecurrentSequences, "far back"), (1, 0, 10**6, MarkovSequences, "without a delta"),
        ("0.1", "1e-5", 6400, MarkovSequences, "too few"), ("0.1", "1e-5", 64_000, RecurrentSequences, "far back"),
    ],
)  # fmt: skip
def test_the_rule_follows_what_was_measured(epsilon: str, delta: str, count: int, kind: type, said: str) -> None:
    choice = choose_generator(LOGS, epsilon, delta, count)
    assert isinstance(choice.generator, kind)
    assert said in choice.reason
    assert choice.generator.planned(LOGS).neighbours.unit == LOGS.unit


def test_many_symbols_need_a_network_even_for_few_sequences() -> None:
    choice = choose_generator(SequenceDomain(tuple(range(20_000)), longest=5), 1, "1e-5", 300)
    assert isinstance(choice.generator, RecurrentSequences)
    assert "too many for tables" in choice.reason


def test_owners_are_counted_not_sequences() -> None:
    owned = LOGS.with_unit(Unit("person", "person"))
    choice = choose_generator(owned, 1, "1e-5", 6400, sequences_per_unit=4)
    assert isinstance(choice.generator, MarkovSequences)
    assert "1,600 units" in choice.reason
    enough = choose_generator(owned, 4, "1e-5", 6400, sequences_per_unit=4).generator
    assert (enough.expected_rows, enough.sequences_per_unit) == (1600, 4)
    with pytest.raises(ParameterError, match="sequences_per_unit"):
        choose_generator(owned, 1, "1e-5", 6400)
