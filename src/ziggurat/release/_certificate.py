"""The certificate of a release, of whichever kind: what was promised to whom, by which account, and what was not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self

from ziggurat import __version__
from ziggurat.cards import Badge, Card, Shown
from ziggurat.errors import PrivacyError
from ziggurat.plain import fields_to_plain
from ziggurat.privacy import ApproximateDP, Event, Guarantee, PureDP, compose
from ziggurat.release._cited import Cited

FORMAT = "ziggurat/certificate/2"
NO_PROMISE = (
    "No privacy is promised: nothing bounds what this release tells about the people in the table, to whoever knows "
    "enough or tries hard enough."
)
REHEARSAL = "This is a rehearsal: whoever knows the seed can take the noise off, so that nobody is protected."
LOOKED = "The settings were chosen by looking at the private table; that choice is not covered by the promise."
NOT_RECORDED = "No ledger remembers this release, so that it is missing from every account of these people."

_MUCH = Fraction(101, 100)
_LIBRARIES = ("numpy", "duckdb", "pyarrow", "scikit-learn")


@dataclass(frozen=True)
class Artefact(Shown):
    """A file that left: its name, its SHA-256 and its size."""

    name: str
    sha256: str
    bytes: int

    @classmethod
    def at(cls, path: Path, **more: Any) -> Self:
        """Hash a file."""
        with path.open("rb") as content:
            return cls(path.name, hashlib.file_digest(content, "sha256").hexdigest(), path.stat().st_size, **more)

    @classmethod
    def parts_of(cls, folder: Path) -> tuple[Self, ...]:
        """Hash every file of a folder, in the order of their names, which begin with that of the folder."""
        files = sorted(each for each in folder.rglob("*") if not each.is_dir())
        return tuple(replace(cls.at(each), name=each.relative_to(folder.parent).as_posix()) for each in files)

    @classmethod
    def of_parts(cls, name: str, parts: Sequence[Artefact]) -> Self:
        """State what a folder is: its digest is the SHA-256 of a line "SHA-256  NAME" for each part, sorted by name.

        That is what `sha256sum * | sha256sum` says in the folder: it changes with every byte, name and part.
        """
        within = sorted((each.name.removeprefix(f"{name}/"), each.sha256) for each in parts)
        lines = "".join(f"{digest}  {each}\n" for each, digest in within)
        return cls(name, hashlib.sha256(lines.encode()).hexdigest(), sum(each.bytes for each in parts))

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return fields_to_plain(self)


@dataclass(frozen=True)
class StewardDecision(Shown):
    """What the gate stopped, and why the steward went on all the same."""

    stopped: tuple[str, ...]
    reason: str
    refuted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {"stopped": list(self.stopped), "refuted": self.refuted, "reason": self.reason}


@dataclass(frozen=True)
class Certificate(Shown):
    """What a release promises, in facts that may all be published.

    Where `event` is None nothing is promised. Of a release with a guarantee nothing here was measured on private rows,
    except what was paid for, and whether a gate stopped it, which `not_protected` says.

    Attributes
    ----------
    kind, what, made
        What left, in a word and in a line, and on which day.
    event, guarantee
        What was done to the people in the table, as their budget counts it, and what that promises at the delta of
        their budget (a pure promise where that is 0), with the account by which it is proven.
    not_protected
        What the promise does not cover.
    randomness
        "secure", or "seeded" for a rehearsal, which may never be published.
    population, budget, analyst, recorded
        Whose account it is in, what paid for it and for whom, and where that is written.
    artefacts
        The files that left.
    decision
        What the gate stopped, if the steward went on.
    config
        The file that describes the release, if one does.
    details
        What else may be told of this kind.
    audited
        What an audit of the promise on invented data found (`AuditedPromise.to_dict`); None if there was none.
    """

    kind: str
    what: str
    made: date
    event: Event | None
    guarantee: Guarantee | None
    not_protected: tuple[str, ...]
    randomness: Literal["secure", "seeded"]
    population: str
    budget: str
    analyst: str
    recorded: Cited | None
    artefacts: tuple[Artefact, ...] = ()
    decision: StewardDecision | None = None
    config: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    audited: Mapping[str, Any] | None = None

    @property
    def rehearsal(self) -> bool:
        """Whether randomness was seeded, so that nothing of this may be published."""
        return self.randomness != "secure"

    @property
    def sentence(self) -> str:
        """The promise in a sentence, or that there is none."""
        if self.rehearsal:
            return REHEARSAL
        return NO_PROMISE if self.guarantee is None else _in_words(self.guarantee)

    def _card(self) -> Card:
        facts = {
            "what": self.what,
            "made": self.made.isoformat(),
            "population": self.population,
            "budget": self.budget,
            "files": ", ".join(each.name for each in self.artefacts),
        }
        badge: Badge = "rehearsal" if self.rehearsal else "public"
        told = [(name, value) for name, value in facts.items() if value]
        rows = [(each,) for each in self.not_protected]
        return Card(f"Certificate of {self.kind}", self.sentence, told, badge, ("not covered",) if rows else (), rows)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form: every field by itself, amounts exact, as text."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "what": self.what,
            "made": self.made.isoformat(),
            "promise": self._promise(),
            "sentence": self.sentence,
            "not_protected": list(self.not_protected),
            "randomness": self.randomness,
            "rehearsal": self.rehearsal,
            "population": self.population,
            "budget": self.budget,
            "analyst": self.analyst,
            "recorded": None if self.recorded is None else self.recorded.to_dict(),
            "artefacts": [each.to_dict() for each in self.artefacts],
            "decision": None if self.decision is None else self.decision.to_dict(),
            "versions": versions(),
            "config": None if self.config is None else dict(self.config),
            "details": dict(self.details),
            **({} if self.audited is None else {"audited": dict(self.audited)}),
        }

    def _promise(self) -> dict[str, Any] | None:
        promised = self.guarantee
        if promised is None or self.event is None:
            return None
        return {
            "sentence": _in_words(promised),
            "guarantee": str(promised),
            "unit": str(promised.neighbours.unit),
            "relation": promised.neighbours.relation.value,
            "epsilon": str(getattr(promised, "epsilon", "")),
            "delta": str(getattr(promised, "delta", 0)),
            "account": getattr(promised, "route", "pure"),
            "event": self.event.to_dict(),
        }


@lru_cache(maxsize=1024)
def best_promise(event: Event, delta: Fraction) -> PureDP | ApproximateDP:
    """State what an event promises at the delta of its budget; a pure promise where that is 0 or needs none of it."""
    account = compose(event)
    found: list[PureDP | ApproximateDP] = []
    for state in (account.pure, *((lambda: account.approximate(delta),) if delta else ())):
        with suppress(PrivacyError):
            found.append(state())
    if found:  # a pure promise is stronger and simpler, unless it is much weaker in epsilon
        return min(found, key=lambda each: each.epsilon * (1 if isinstance(each, PureDP) else _MUCH))
    raise PrivacyError("The event promises nothing at the delta of its budget; state a larger one.")


def versions() -> dict[str, str]:
    """Name what made a release: ours, Python's and the libraries' that numbers depend on."""
    import platform
    from importlib.metadata import version

    return {
        "ziggurat": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in _LIBRARIES},
    }


def _in_words(guarantee: Guarantee) -> str:
    return guarantee.sentence() if isinstance(guarantee, PureDP | ApproximateDP) else str(guarantee)
