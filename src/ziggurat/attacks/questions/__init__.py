"""Attacks on answers to questions: trackers, averages, differences and linear programs against a session.

Everything here is about invented people, or for the steward's eyes: what attacks find is exact and unprotected.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.questions._attacks import (
        QuestionAttack,
        plan_averages,
        plan_differences,
        plan_groups,
        plan_program,
        plan_ranges,
        plan_tracker,
    )
    from ziggurat.attacks.questions._guessed import GuessedSecrets, attack_answers
    from ziggurat.attacks.questions._people import (
        PEOPLE,
        SECRET,
        KnownPeople,
        PeopleCondition,
        invent_people,
        open_people,
    )
    from ziggurat.attacks.questions._program import solve_program
    from ziggurat.attacks.questions._promise import BitPromise
    from ziggurat.attacks.questions._session import KINDS, AttackKind, SessionAttacks, attack_session
    from ziggurat.attacks.questions._systems import (
        AnswerEach,
        AnswerQuestion,
        AskedSession,
        QuestionedSystem,
        add_fresh_noise,
        answer_exactly,
        question_session,
        refuse_small,
        round_answers,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_attacks": """
                QuestionAttack plan_averages plan_differences plan_groups plan_program plan_ranges plan_tracker
            """,
            "_guessed": "GuessedSecrets attack_answers",
            "_people": "PEOPLE SECRET KnownPeople PeopleCondition invent_people open_people",
            "_program": "solve_program",
            "_promise": "BitPromise",
            "_session": "KINDS AttackKind SessionAttacks attack_session",
            "_systems": """
                AnswerEach AnswerQuestion AskedSession QuestionedSystem add_fresh_noise answer_exactly question_session
                refuse_small round_answers
            """,
        },
    )

__all__ = [
    "KINDS",
    "PEOPLE",
    "SECRET",
    "AnswerEach",
    "AnswerQuestion",
    "AskedSession",
    "AttackKind",
    "BitPromise",
    "GuessedSecrets",
    "KnownPeople",
    "PeopleCondition",
    "QuestionAttack",
    "QuestionedSystem",
    "SessionAttacks",
    "add_fresh_noise",
    "answer_exactly",
    "attack_answers",
    "attack_session",
    "invent_people",
    "open_people",
    "plan_averages",
    "plan_differences",
    "plan_groups",
    "plan_program",
    "plan_ranges",
    "plan_tracker",
    "question_session",
    "refuse_small",
    "round_answers",
    "solve_program",
]
