"""What attacks on models say to a gate, and the region to which a promised epsilon holds every attack.

For an (epsilon, delta)-DP model that anybody may attack, on average over all draws of its members,

    TPR <= e^epsilon FPR + delta   and   (TPR + 1 - FPR) / 2 <= (e^epsilon + delta) / (1 + e^epsilon).

Proof. Let T be the event that a person is named a member. P[T | in] <= e^epsilon P[T | out] + delta is the first. The
same about not being named gives 1 - FPR <= e^epsilon (1 - TPR) + delta. Both added, and TPR - FPR = d: d <=
(e^epsilon - 1) FPR + delta and d <= (e^epsilon - 1) (1 - TPR) + delta, hence 2 d <= (e^epsilon - 1) (1 - d) + 2
delta, and so (1 + d) / 2 <= (e^epsilon + delta) / (1 + e^epsilon). QED (Kairouz, Oh, Viswanath 2015, ICML).

Of one model both are told, with the sampling error of its people, and stop nothing: what one model says about one
person depends on all others, so intervals of shares are no test. The exact test of the same is `MembershipAttack.bound`
(Steinke, Nasr, Jagielski 2023; proof in `attacks._epsilon`): of r people named those who are members are at most
Binomial(r, p), and p is the largest precision that the first inequality leaves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ziggurat.attacks.models import MembershipAttack, MembershipReport, clopper_pearson
from ziggurat.privacy import in_words
from ziggurat.release._tried import Tried

if TYPE_CHECKING:
    from ziggurat.attacks import EpsilonBound, Guesses
    from ziggurat.attacks.models.extraction import CopiedModel
    from ziggurat.attacks.models.inspection import HeldRows
    from ziggurat.attacks.models.inversion import InferredAttribute, ReconstructedRows

NO_SPLIT = "Members and others were not drawn at random from the same people, so that there is no verdict."
_EXACT = "the exact test of it is the epsilon shown"
_EVEN = "of what the control leaves to be learned is learned about who the members are"
_SUREST = "of the people named most surely, over and above as many as chance names, are members"


@dataclass(frozen=True)
class PromisedRegion:
    """How far any attack on membership can get if an (epsilon, delta) holds.

    Attributes
    ----------
    epsilon, delta
        What is promised about adding or removing one person.
    """

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def most_named(self, falsely: float) -> float:
        """The largest share of members that can be named with this share of others: TPR at FPR."""
        rise = math.exp(min(float(self.epsilon), 700.0))
        low = rise * falsely + float(self.delta)
        high = 1 - (1 - falsely - float(self.delta)) / rise
        return max(0.0, min(1.0, low, high))

    @property
    def accuracy(self) -> float:
        """The largest balanced accuracy."""
        fall = math.exp(-float(self.epsilon))
        return min(1.0, (1 + float(self.delta) * fall) / (1 + fall))

    def tell_curve(self, guesses: Guesses) -> str:
        """The first inequality beside what was seen, less the sampling error of both shares."""
        members, others = clopper_pearson(guesses.attack)[0], clopper_pearson(guesses.control)[1]
        allowed = self.most_named(guesses.control.rate)
        kept = members <= self.most_named(others)
        return (
            f"{guesses.attack.rate:.1%} of the members are named with {guesses.control.rate:.1%} of others, and the "
            f"promise ({in_words(self.epsilon)}) allows {allowed:.1%}: {_tell(kept)}; {_EXACT}."
        )

    def tell_accuracy(self, guesses: Guesses) -> str:
        """The second inequality likewise."""
        low, high = clopper_pearson(guesses.attack)[0], clopper_pearson(guesses.control)[1]
        seen = (1 + guesses.attack.rate - guesses.control.rate) / 2
        kept = (1 + low - high) / 2 <= self.accuracy
        return (
            f"The balanced accuracy is {seen:.1%}, and the promise ({in_words(self.epsilon)}) allows "
            f"{self.accuracy:.1%}: {_tell(kept)}; {_EXACT}."
        )


def _tell(kept: bool) -> str:
    return "no more than the promise and sampling error explain" if kept else "more than sampling error explains"


def weigh_membership(finding: MembershipAttack | MembershipReport, name: str) -> Iterator[Tried]:
    """Give the figures of attacks on membership: two risks of each, and what they show of a promised epsilon."""
    made = {name: finding} if isinstance(finding, MembershipAttack) else _by_name(finding, name)
    why = "" if finding.random_split else NO_SPLIT
    for called, each in made.items():
        even, surest = each.even, each.surest
        yield Tried(called, "membership", even.risk.rate, _EVEN, even.chance, even.risk.verdict is None, unjudged=why)
        figure, few = _excess_precision(surest), surest.risk.verdict is None
        yield Tried(f"{called}, surest", "membership, surest", figure, _SUREST, surest.chance, few, unjudged=why)
    if finding.bound is not None:
        yield from _weigh_promise(finding.bound, _find_strongest(finding), name)


def _by_name(report: MembershipReport, name: str) -> dict[str, MembershipAttack]:
    return {f"{name} by {called}": each for called, each in report.attacks.items()}


def _find_strongest(finding: MembershipAttack | MembershipReport) -> MembershipAttack:
    return finding if isinstance(finding, MembershipAttack) else finding.strongest


def _weigh_promise(shown: EpsilonBound, strongest: MembershipAttack, name: str) -> Iterator[Tried]:
    """The epsilon shown, which of a report is corrected for all its attacks, and both inequalities of the strongest."""
    claimed = f"{name}, epsilon"
    yield Tried(claimed, "epsilon", shown.lower, "is the epsilon shown", shown.chance, claimed=shown.claimed)
    region = PromisedRegion(shown.claimed, shown.delta)
    told = {
        "promised curve": region.tell_curve(strongest.surest),
        "promised accuracy": region.tell_accuracy(strongest.even),
    }
    for kind, words in told.items():
        yield Tried(f"{name}, {kind}", kind, 0.0, "", unjudged=words)


def weigh_attribute(finding: InferredAttribute, name: str) -> Iterator[Tried]:
    """Give the risk of members beyond others; both exact tests must reject, so the larger chance is a p-value."""
    why = "" if finding.random_split else NO_SPLIT
    risk, chance = finding.guesses.risk, max(finding.guesses.chance, finding.paired_chance)
    means = "of what the model leaves to be learned about others is learned about members, beyond the population"
    yield Tried(name, "inferring", risk.rate, means, chance, risk.verdict is None, unjudged=why)


def weigh_rows(finding: ReconstructedRows, name: str) -> Iterator[Tried]:
    """Give the share of people whose row is rebuilt nearer than anybody else's, by whoever knows all other rows."""
    near = finding.nearer_than_anybody
    means = "of the people have their row rebuilt by whoever knows all others"
    yield Tried(name, "rebuilt rows", near.rate, means, finding.chance, finding.verdict is None)


def weigh_held(finding: HeldRows, name: str) -> Iterator[Tried]:
    """Give in how many parts a model holds rows of people; one that could not be looked through counts as such."""
    hidden = 0 if finding.complete else 1
    means = "parts of the model hold rows of people, or could not be looked at"
    yield Tried(name, "held rows", float(len(finding.parts) + hidden), means)


def weigh_copy(finding: CopiedModel, name: str) -> Iterator[Tried]:
    """Tell how closely the model was copied: information for whoever sets limits, never a verdict."""
    last = finding.points[-1]
    words = (
        f"After {last.questions:,} questions a copy agrees on {last.agreement.rate:.1%} of others: told, never judged."
    )
    yield Tried(name, "copied model", last.agreement.rate, "of unseen questions have the same answer", unjudged=words)


def _excess_precision(guesses: Guesses) -> float:
    """Of those named, the members over and above their share of all people, as a share of what that leaves."""
    named = guesses.attack.hits + guesses.control.hits
    people = guesses.attack.trials + guesses.control.trials
    if not named or not guesses.control.trials:
        return 0.0
    base = guesses.attack.trials / people
    return (guesses.attack.hits / named - base) / (1 - base)
