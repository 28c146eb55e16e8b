"""Faults that are special to synthesizers, sequences and mobility, caught by the draws and statistics of the catalogue.

A sound mechanism fails with probability 1e-6 each; draws are seeded. What spends more than it claims is elsewhere.
"""

import copy
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.attacks import epsilon_bound
from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import judge
from ziggurat.attacks.audits import audit_case
from ziggurat.attacks.audits.catalogue import _mobility as mobility
from ziggurat.attacks.audits.catalogue import _sequences as sequences
from ziggurat.attacks.audits.catalogue import find_case
from ziggurat.attacks.audits.catalogue._synthesize import draw_seed
from ziggurat.data import Categories, Column, Kind, Schema, Unit, read
from ziggurat.mechanisms import Selection
from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.sequences.tokens import LatentPrivatizer, LengthRule, MarkovSequences, SymbolEmbedding, SymbolPrivatizer
from ziggurat.synthesize import AIM
from ziggurat.synthesize.marginals._counts import CountedUnit

pytestmark = pytest.mark.statistical


def is_refuted(make, like, **given):
    """Whether draws refute an epsilon of 1, as the case of the catalogue would see them."""
    case = find_case(like)
    return audit_case(replace(case, make=make), 1, random_state=3, **given).refuted


@dataclass(frozen=True)
class Leaking(LengthRule):
    """Says that it protects the length, and stops where the sequence does."""

    def steps(self, lengths):
        return lengths


@pytest.mark.parametrize("leaks", [False, True])
def test_a_length_that_leaks_where_it_is_protected(leaks):
    def make(epsilon):
        embedding = SymbolEmbedding(sequences.TWO, [[1.0], [-1.0]], training="public")
        made = SymbolPrivatizer(epsilon / 2, embedding, length="protected")
        if leaks:
            made.length = Leaking("protected", (2,))
        return sequences.draw_privatized(made, ("a", "bb"))

    assert is_refuted(make, "sequences.tokens.SymbolPrivatizer") is leaks


@pytest.mark.parametrize("bounded", ["before", "after"])
def test_a_norm_that_is_bounded_after_the_noise(bounded):
    network = copy.deepcopy(sequences.learn_network(False))
    network.module_.code.weight.data.mul_(20)
    network.module_.code.bias.data.mul_(20)

    def make(epsilon):
        return sequences.draw_privatized(LatentPrivatizer(epsilon, network, bounded=bounded), ("aa", "bb"))

    assert is_refuted(make, "sequences.tokens.LatentPrivatizer") is (bounded == "after")


@pytest.mark.parametrize("from_data", [False, True])
def test_symbols_taken_from_the_data(from_data):
    def once(epsilon, world, source):
        logs = [*sequences.COMMON, "bb"] if world else sequences.COMMON
        tokens = tuple(sorted(set("".join(logs)))) if from_data else ("a", "b")
        domain = SequenceDomain(tokens, longest=3)
        made = MarkovSequences(epsilon, phrases=0, random_state=draw_seed(source)).fit(Sequences.of(domain, logs))
        drawn = made.sample(400, random_state=draw_seed(source))
        return float("b" in drawn.domain.tokens), *sequences.count_steps(Sequences.of(sequences.LOGS, list(drawn)))

    assert is_refuted(sequences.run_each(once), "sequences.tokens.MarkovSequences", runs=200) is from_data


def test_trajectories_as_the_unit_are_no_promise_to_a_person():
    """Thirty days of one person, each bounded by itself: what a person adds is not bounded."""
    assert is_refuted(sequences.run_each(mobility._fit(Unit(), 30)), "sequences.mobility.MarkovTrajectories", spent=1)


class LoudChoice:
    """A choice that spends so many times the epsilon that it says, and says the honest one."""

    def __init__(self, made, times):
        self.epsilon, self.event = made.epsilon, made.event
        self.release = Selection(times * made.epsilon, made.sensitivity, method="gumbel").release


@pytest.mark.parametrize(("like", "times"), [("synthesize.AIM (choices)", 40), ("synthesize.MST (tree)", 24)])
def test_a_choice_that_spends_more_than_its_share_is_caught_while_the_counts_are_honest(like, times, monkeypatch):
    honest = CountedUnit.choice
    monkeypatch.setattr(CountedUnit, "choice", lambda *given: LoudChoice(honest(*given), times))
    assert audit_case(find_case(like), 1, random_state=3).refuted


# AIM in one run: of 400 rows with a value of their own each is in the table by a coin.

PEOPLE, NAMED = 400, 100


def bound_of_one_run(spent):
    """What one synthesis proves about a claim of epsilon 1."""
    values = [f"v{place}" for place in range(PEOPLE)]
    schema = Schema((Column("value", Kind.CATEGORY, categories=Categories(tuple(values))),))
    inside = np.random.default_rng(4).random(PEOPLE) < 0.5
    rows = np.repeat(np.arange(PEOPLE), 50 + inside)
    made = AIM(spent, "1e-9", missing=[], rounds=1, random_state=5)
    made.fit(read(pa.table({"value": np.array(values)[rows]}), schema=schema))
    drawn = made.sample(200_000, random_state=6)["value"].to_pandas().value_counts()
    order = np.argsort([drawn.get(value, 0) for value in values], kind="stable")
    out, named = order[:NAMED], order[-NAMED:]
    hits, false = int(inside[named].sum()), int((~inside[named]).sum())
    members = int(inside.sum())
    guesses = judge(Share(hits, members), Share(false, PEOPLE - members), Share(0, members))
    return epsilon_bound(
        "who has a cell of many", guesses, people=PEOPLE, kept_back=0.5, epsilon=1, delta="1e-9", level=1e-6,
        named_out=Share(int((~inside[out]).sum()), NAMED),
    )  # fmt: skip


def test_aim_end_to_end_in_one_run():
    assert bound_of_one_run(1).lower <= 1
    assert bound_of_one_run(30).lower > 1
