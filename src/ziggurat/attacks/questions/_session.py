"""All attacks against sessions of one's own making, on invented people: what would a budget let an attacker learn?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from ziggurat.attacks.questions._attacks import (
    QuestionAttack,
    plan_differences,
    plan_groups,
    plan_program,
    plan_ranges,
    plan_tracker,
)
from ziggurat.attacks.questions._guessed import GuessedSecrets, attack_answers
from ziggurat.attacks.questions._people import Flags, KnownPeople, invent_people, open_people
from ziggurat.attacks.questions._systems import AskedSession, question_session
from ziggurat.data import Table
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.privacy import Amount, exact_epsilon
from ziggurat.randomness import Source, choose_source
from ziggurat.wording import count_noun

AttackKind = Literal["ranges", "differences", "tracker", "averages", "program", "groups"]
"""Which attack, in a word."""

KINDS: tuple[AttackKind, ...] = ("ranges", "differences", "tracker", "averages", "program", "groups")
"""All attacks, in the order in which they were thought of."""

_CROWD: dict[AttackKind, int] = {"averages": 1024, "groups": 1024}  # one grouped question is little work for many


@dataclass(frozen=True)
class SessionAttacks(Finding):
    """What attacks on sessions learned, one by one.

    Attributes
    ----------
    found
        By the kind of attack.
    """

    found: dict[AttackKind, GuessedSecrets]

    @property
    def strongest(self) -> GuessedSecrets:
        """The attack that a refuted promise is refuted by most clearly, or else the one with most secrets right."""
        return max(self.found.values(), key=lambda each: (each.broken, each.right.rate))

    @property
    def broken(self) -> bool:
        """Whether any attack refutes the promise; each is tested at a share of the level, so that all keep it."""
        return any(each.broken for each in self.found.values())

    @property
    def sentence(self) -> str:
        """What an attacker with these tools learned, in a sentence."""
        return self.strongest.sentence

    @property
    def table(self) -> pa.Table:
        """A row for each attack."""
        all_found = list(self.found.values())
        return pa.table(
            {
                "attack": [each.attack for each in all_found],
                "questions": [each.questions for each in all_found],
                "right": [each.right.rate for each in all_found],
                "by guessing": [each.baseline for each in all_found],
                "possible": [each.largest for each in all_found],
                "within": [not each.broken for each in all_found],
            }
        )


def attack_session(
    make_session: Callable[[Table], AskedSession],
    epsilon: Amount,
    *,
    people: int = 32,
    share: float = 0.5,
    kinds: Sequence[AttackKind] = KINDS,
    times: int = 20,
    level: float = 0.05,
    random_state: Source | int | None = None,
    progress: Callable[[str], object] | None = None,
) -> SessionAttacks:
    """Attack sessions about invented people, each attack a session of its own, with all of its epsilon.

    Parameters
    ----------
    make_session
        Makes a session about the table that it is given, called "people", with a budget and a grant of its own of which
        `epsilon` is left: called once for each attack. The steward's own terms go in here.
    epsilon
        What each attack may spend, divided evenly among its questions.
    people
        How many are invented; 1,024 at least where one grouped question is asked, once or often.
    share
        With which probability a coin gives each of them the secret.
    kinds
        Which attacks.
    times
        How often the averages ask their one grouped question.
    level
        How often a promise that holds may be called broken, by all attacks together: at most.
    random_state
        Seeds people and attacks, so that they repeat; secure randomness without. The session has its own.
    progress
        Called with a few words before each attack.
    """
    if not kinds or set(kinds) - set(KINDS):
        raise ParameterError(f"The attacks are {', '.join(KINDS)}; name at least one.")
    budget, source = exact_epsilon(epsilon), choose_source(random_state)
    found: dict[AttackKind, GuessedSecrets] = {}
    for kind in kinds:
        known, secrets = invent_people(
            max(people, _CROWD.get(kind, 0)), share=share, random_state=source.child(kind, "people")
        )
        attack = _plan(kind, known, times, source.child(kind, "questions"))
        if progress is not None:
            asked = count_noun(attack.price * attack.times, "question")
            progress(f"{attack.name}: {asked} about {len(known):,} people")
        found[kind] = _ask(attack, make_session, secrets, budget / attack.price, share, level / len(kinds))
    return SessionAttacks(found)


def _ask(
    attack: QuestionAttack,
    make_session: Callable[[Table], AskedSession],
    secrets: Flags,
    each: Amount,
    share: float,
    level: float,
) -> GuessedSecrets:
    session = make_session(open_people(attack.people, secrets))
    return attack_answers(attack, question_session(session, each), secrets, share=share, level=level)


def _plan(kind: AttackKind, known: KnownPeople, times: int, source: Source) -> QuestionAttack:
    plans: dict[AttackKind, Callable[[], QuestionAttack]] = {
        "ranges": lambda: plan_ranges(known),
        "differences": lambda: plan_differences(known),
        "tracker": lambda: plan_tracker(known, random_state=source),
        "averages": lambda: plan_groups(known, times),
        "program": lambda: plan_program(known, random_state=source),
        "groups": lambda: plan_groups(known),
    }
    return plans[kind]()
