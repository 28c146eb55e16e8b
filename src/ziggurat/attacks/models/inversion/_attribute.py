"""What a model adds to what the population tells about an attribute of people, and whether it adds anything."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from ziggurat.attacks._finding import Share
from ziggurat.attacks._guesses import ALARM, FEWEST, Guesses
from ziggurat.cards import Shown
from ziggurat.findings import Finding


@dataclass(frozen=True)
class CandidateHits(Shown):
    """How often guesses are right about people who have one of the values.

    Attributes
    ----------
    candidate
        The place of the value among the candidates.
    attack, control, naive
        With the model about members, with the model about others, and about members by the population alone.
    """

    candidate: int
    attack: Share
    control: Share
    naive: Share


@dataclass(frozen=True)
class InferredAttribute(Finding):
    """How often an attacker names an attribute of people, with a model and without it.

    Attributes
    ----------
    model
        What was attacked.
    attribute
        What the attribute is called.
    guesses
        With the model about members (`attack`) and about others (`control`); by the population alone about members
        (`naive`). Its risk is that of members beyond others.
    naive_control
        By the population alone about others.
    only_attack, only_naive
        Members whom only the attack names rightly, and whom only the population does.
    paired_chance
        How likely at least so many of these fall to the attack, if each falls to either alike (McNemar's exact test).
    by_candidate
        The same for people of each value: where one is rare, the whole share hides how they fare.
    random_split
        Whether members and others were drawn at random from the same people: only then is there a verdict.
    population
        How many people, neither members nor asked about, the baseline was learned from.
    baseline
        The learner of the baseline that predicted best among them.
    shadow
        Whether the attack was trained on a model of the attacker's own, by the model's recipe.
    """

    model: str
    attribute: str
    guesses: Guesses
    naive_control: Share
    only_attack: int
    only_naive: int
    paired_chance: float
    by_candidate: tuple[CandidateHits, ...]
    random_split: bool
    population: int
    baseline: str
    shadow: bool

    @property
    def verdict(self) -> bool | None:
        """Whether the model tells more about members than about others, and more than the population; None: too few.

        A model that does not know who its members are is accused at most once in forty times (`ALARM`), as both exact
        tests must reject.
        """
        if not self.random_split or self.guesses.risk.verdict is None:
            return None
        return self.guesses.risk.more_than_chance and self.paired_chance <= ALARM

    @property
    def added(self) -> float:
        """What the model adds about members to what the population tells: the difference of the shares."""
        return self.guesses.attack.rate - self.guesses.naive.rate

    @property
    def sentence(self) -> str:
        """What the model adds to what the population tells, in a sentence for a steward."""
        found = self.guesses
        text = (
            f"The population alone tells {self.attribute} for {found.naive} of members; with {self.model} an attacker "
            f"names it for {found.attack} of members and {found.control} of others"
        )
        if self.verdict is None:
            why = f"fewer than {FEWEST} people" if self.random_split else "groups that were not drawn at random"
            return f"{text}; with {why} that is no verdict."
        if self.verdict:
            return f"{text}: the model adds {self.added:+.1%} to what the population tells of members, beyond chance."
        if self.paired_chance <= ALARM:
            return f"{text}: it knows the population better, but members no better than others, beyond chance."
        return f"{text}: the model adds no more than chance to what the population tells."

    @property
    def table(self) -> pa.Table:
        """The shares with their intervals, over all and by candidate."""
        found = self.guesses
        shares = {
            "with the model, members": found.attack,
            "with the model, others": found.control,
            "by the population, members": found.naive,
            "by the population, others": self.naive_control,
        }
        for each in self.by_candidate:
            shares[f"with the model, members of candidate {each.candidate}"] = each.attack
            shares[f"with the model, others of candidate {each.candidate}"] = each.control
            shares[f"by the population, members of candidate {each.candidate}"] = each.naive
        ends = {end: [getattr(share, end) for share in shares.values()] for end in ("rate", "low", "high")}
        return pa.table({"figure": list(shares), **ends, "guesses": [share.trials for share in shares.values()]})
