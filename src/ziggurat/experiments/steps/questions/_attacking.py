"""`attack-questions`: how many secrets an attack has right that asks one system, by questions and by epsilon."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step

Attack = Literal["ranges", "differences", "tracker", "averages", "program", "groups", "possible"]
System = Literal["exact", "no small sets", "rounded", "fresh noise", "session"]


@step("attack-questions", outputs=("right", "guessing", "possible", "asked", "refused", "refuted"))
def attack_questions(
    attack: Attack,
    system: System = "exact",
    *,
    people: int = 48,
    per_person: float = 4.0,
    times: int = 100,
    smallest: int = 10,
    base: int = 5,
    scale: float = 2.0,
    epsilon: float = 1.0,
    runs: int = 1,
    seed: int = 0,
) -> dict[str, Any]:
    """Let an attack ask a system about invented people, each with a secret by a fair coin.

    Parameters
    ----------
    attack
        'ranges' (document 000, figure 2.2), 'differences', 'tracker', 'averages', 'program', 'groups'; or 'possible':
        no attack, but the largest share that the promise allows.
    system
        'exact'; 'no small sets' refuses sets of fewer than `smallest` people, or all but so many; 'rounded' to
        multiples of `base`; 'fresh noise' of `scale` without a budget; 'session': a session of ours that has `epsilon`
        in all, divided evenly among the questions.
    people, runs
        How many, invented anew for each run; the runs are counted together.
    per_person, times
        How many questions for each person the program asks, and how often the averages ask each question.

    Returns
    -------
    dict
        The share of secrets that is `right`, by `guessing`, and `possible` at most (1 if nothing is promised); how many
        questions are `asked`, and the share of them that was `refused`; and how many runs refute the promise, which has
        a chance of one in a million each if it holds.
    """
    from ziggurat.attacks.questions import BitPromise, attack_answers, invent_people
    from ziggurat.randomness import seeded

    if attack == "possible":
        most = BitPromise.of(str(epsilon)).largest(0.5) if system == "session" else 1.0
        return {"right": most, "guessing": 0.5, "possible": most, "asked": 0, "refused": 0.0, "refuted": 0}
    found = []
    for run in range(runs):
        source = seeded(seed).child(run)
        known, secrets = invent_people(people, random_state=source.child("people"))
        planned = _plan(attack, known, per_person, times, smallest if system == "no small sets" else 2, source)
        terms: dict[str, Any] = {"smallest": smallest, "base": base, "scale": scale, "epsilon": epsilon}
        with _open(system, known, secrets, planned.price, source, **terms) as asked:
            found.append(attack_answers(planned, asked, secrets, level=1e-6))
    return {
        "right": sum(each.right.hits for each in found) / sum(each.right.trials for each in found),
        "guessing": found[0].baseline,
        "possible": found[0].largest,
        "asked": found[0].questions,
        "refused": sum(each.refused for each in found) / sum(each.questions for each in found),
        "refuted": sum(each.broken for each in found),
    }


def _plan(attack: str, known: Any, per_person: float, times: int, shortest: int, source: Any) -> Any:
    from ziggurat.attacks import questions as made

    draw = source.child("questions")
    plans: dict[str, Callable[[], Any]] = {
        "ranges": lambda: made.plan_ranges(known, shortest),
        "differences": lambda: made.plan_differences(known),
        "tracker": lambda: made.plan_tracker(known, random_state=draw),
        "averages": lambda: made.plan_averages(known, times, random_state=draw),
        "program": lambda: made.plan_program(known, max(1, round(per_person * len(known))), random_state=draw),
        "groups": lambda: made.plan_groups(known),
    }
    if attack not in plans:
        raise ExperimentError(f"The attacks are {', '.join(plans)}, and possible.")
    return plans[attack]()


@contextmanager
def _open(
    system: str, known: Any, secrets: Any, price: int, source: Any, *,
    smallest: int, base: int, scale: float, epsilon: float,
) -> Iterator[Any]:  # fmt: skip
    from ziggurat.attacks import questions as made

    exact = made.answer_exactly(secrets)
    systems: dict[str, Callable[[], Any]] = {
        "exact": lambda: exact,
        "no small sets": lambda: made.refuse_small(exact, smallest, len(known)),
        "rounded": lambda: made.round_answers(exact, base),
        "fresh noise": lambda: made.add_fresh_noise(exact, str(scale), random_state=source.child("noise")),
    }
    if system in systems:
        yield systems[system]()
    elif system == "session":
        with TemporaryDirectory() as folder:
            session = _session(made.open_people(known, secrets), str(epsilon), Path(folder), source.child("session"))
            yield made.question_session(session, Fraction(str(epsilon)) / price)
            session.ledger.close()
    else:
        raise ExperimentError(f"The systems are {', '.join(systems)}, and session.")


def _session(table: Any, epsilon: str, folder: Path, source: Any) -> Any:
    from ziggurat.ledger import Ledger
    from ziggurat.privacy import Neighbours
    from ziggurat.release import Session

    ledger = Ledger.open(folder / "ledger.db")
    ledger.create_budget("people", epsilon=epsilon, neighbours=Neighbours(table.unit))
    ledger.grant("people", "attacker", epsilon=epsilon, rule="sum")
    return Session(ledger, "attacker", {"people": table}, source=source)
