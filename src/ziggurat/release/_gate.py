"""The gate: thresholds for what attacks found stop a release, and say why.

Formal guarantee: of releases that give nothing away beyond what is promised (no attack with a control has a risk, and
every promised epsilon holds) at most `level` are stopped by attacks with a control, however many attacks are made, and
however these depend on each other.

Proof. Each such attack has a p-value P: if it has nothing to find, P[P <= x] <= x for every x (Fisher's test and random
swaps, see `attacks._guesses`; the bounds of `attacks.synthetic._closest`, of `attacks.sequences` and of
`attacks._epsilon`). Attacks on models are so only where members and others were drawn at random from the same people:
Fisher's test is exact then for membership (scores follow from the model and from people of whom nobody is marked as a
member, so that a model which knows nothing cannot tell a draw from another, see `attacks.models._scored`) and for
inferred attributes, and the epsilon shown is a p-value of its promise. Without such a split they are told and not
judged; so are the inequalities of `_tried_models`, which are no tests. Which attacks are judged follows from the gate
and from how many guesses there are, not from who is in the table. Of the m that are judged let m0 have nothing to find.
Unless one of those m0 has P <= level / m0, which happens with probability at most m0 * level / m0 = level (Bonferroni),
none of them is rejected by Holm's steps, which compare the i-th smallest P with level / (m - i + 1) and end at the
first that is larger: if one were, take the first; at most m - m0 were rejected before it, so it was compared with at
most level / m0, and is larger. What is stopped is rejected, and has a risk above its threshold besides (Holm 1979, "A
simple sequentially rejective multiple test procedure", Scand. J. Statist. 6(2)). QED.

The threshold is compared with the risk itself, not with the lower end of its interval: chance is accounted for by P
already, and fewer guesses must not let more pass. Attacks without a control have exact figures about a file, and plain
thresholds; the level says nothing about them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from ziggurat.cards import Shown
from ziggurat.errors import GateError, ParameterError
from ziggurat.plain import fields_to_plain
from ziggurat.privacy import Amount, exact, in_words
from ziggurat.release._evidence import Evidence

if TYPE_CHECKING:
    from ziggurat.release._tried import Tried

NOT_PROTECTED_BY_GATE = (
    "A gate judged this release by attacks on private rows: that it stopped it, or let it go, was itself learned from "
    "these rows, and no guarantee protects it."
)
"""What every release that a gate judged says of itself."""

DEFAULTS: Mapping[str, Fraction | None] = MappingProxyType(
    {
        "closest records": Fraction(1, 10),
        "closest sequences": Fraction(1, 10),
        "copied sequences": Fraction(1, 10),
        "closest trajectories": Fraction(1, 10),
        "copied trajectories": Fraction(1, 10),
        "nearest people": Fraction(1, 10),
        "found by points": Fraction(1, 10),
        "singling out, one column": Fraction(1, 10),
        "singling out, several columns": Fraction(1, 10),
        "linking": Fraction(1, 10),
        "inferring": Fraction(1, 10),
        "membership": Fraction(1, 10),
        "membership, surest": Fraction(1, 5),
        "undone": Fraction(0),
        "held rows": Fraction(0),
        "matching": Fraction(1, 5),
        "unique by points": Fraction(1, 5),
        "linked traces": Fraction(1, 5),
        "canaries": None,
        "highest risk": None,
        "average risk": None,
        "homogeneity": None,
        "skewness": None,
        "joining": None,
        "intersection": None,
        "trajectory anonymity": None,
        "top places": None,
        "homes": None,
        "exact copies": None,
        "rows as they were": None,
        "rebuilt rows": None,
        "copied model": None,
        "promised curve": None,
        "promised accuracy": None,
    }
)
"""The thresholds by kind of attack: a figure above it stops the release, and None only reports it.

With a control a risk stops that chance does not explain and that is more than a tenth of what the control leaves to be
learned: in large tables much smaller ones are beyond chance, as of any model that learns from its rows, and a gate that
stops every release is switched off. Set 0 to be stopped by any risk beyond chance. A column that undoes an anonymised
table stops it until somebody decides. A fifth of targets found is what custodians take for the most (El Emam, Dankar
2008, "Protecting privacy using k-anonymity", JAMIA 15(5): a class of five under HIPAA's "very small" risk; the EMA's
policy 0070 asks for 0.09); so of people whom a few points single out, or whose two traces are linked. The risks of an
anonymised table have none: its steward chose models, which are verified on the file, and a table of the promised k = 3
must not be stopped at one third. Copies without a control may be chance.

Who a model was trained on has two thresholds: an even guess, as many people named as there are members, stops it like
any risk with a control; of the hundredth who are named most surely, a few whom the model remembers well among many whom
it forgot, members over and above chance may be a fifth, as of other targets. A model that holds rows of people gives
them to whoever has its file, and is stopped until somebody decides. That the row of one person follows from an exact
linear model and the rows of all others is so of every such model, and only told: nobody but a guarantee hinders it. How
soon a model is copied is about whoever owns it, and not about people.
"""

_LONGEST = 1000
_FEW = "There are too few guesses for a verdict."
_NO_THRESHOLD = "It has no threshold, and is only reported."
_NO_FIGURE = "The gate knows no figure of such an attack; it is only reported."
_NO_CLAIM = "No epsilon is promised, so there is none to refute."
_NOT_MADE = "It has a threshold of its own, but there was no such attack."


@dataclass(frozen=True)
class Weighed:
    """One attack with its figure, and what it was compared with.

    Attributes
    ----------
    attack
        What it is called.
    figure, means
        What was measured, and what that is in words.
    threshold
        Above which figure the release is stopped.
    chance, level
        How likely so much is by chance alone, and its share of the gate's level, which chance must not exceed to stop
        it; None if there is no control.
    claimed
        Whether the threshold is the epsilon that was promised.
    """

    attack: str
    figure: float
    means: str
    threshold: Fraction
    chance: float | None = None
    level: Fraction | None = None
    claimed: bool = False

    @property
    def sentence(self) -> str:
        """What was found and what it was compared with, in a sentence for a steward."""
        text = f"{self.attack}: {self.figure:.3g} {self.means} (threshold {in_words(self.threshold)}"
        if self.chance is None or self.level is None:
            return f"{text})."
        return f"{text}; chance {self.chance:.2g}, of which {in_words(self.level)} is allowed)."

    def to_dict(self) -> dict[str, Any]:
        """Return it as values that JSON can hold; amounts stay exact."""
        return {**fields_to_plain(self), "sentence": self.sentence}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        given = {name: value for name, value in facts.items() if name != "sentence"}
        level = None if given["level"] is None else Fraction(given["level"])
        return cls(**{**given, "threshold": Fraction(given["threshold"]), "level": level})


class Stop(Weighed):
    """One attack that stops the release."""


@dataclass(frozen=True)
class Verdict(Shown):
    """What a gate says of a release.

    Attributes
    ----------
    stopped, passed
        The attacks that stop it, and those that stayed within their thresholds.
    no_verdict
        What was tried and not judged, and why.
    skipped
        What was not tried, and why.
    level
        The share of harmless releases that attacks with a control may stop, all of them together.
    guaranteed
        Whether the release promises an epsilon.
    """

    stopped: tuple[Stop, ...] = ()
    passed: tuple[Weighed, ...] = ()
    no_verdict: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    level: Fraction = Fraction(1, 20)
    guaranteed: bool = False

    @property
    def refuted(self) -> bool:
        """Whether the promised epsilon was shown not to hold: such a release can go on only as unbounded."""
        return any(each.claimed for each in self.stopped)

    @property
    def sentence(self) -> str:
        """Why it was stopped and what to do, or what it passed, for a steward."""
        rest = [
            f"{len(names)} {words} ({', '.join(names)})"
            for names, words in ((self.no_verdict, "without a verdict"), (self.skipped, "not made"))
            if names
        ]
        told = f"; {' and '.join(rest)}" if rest else ""
        if not self.stopped:
            found = f"{len(self.passed)} judged, and within the thresholds" if self.passed else "nothing was judged"
            return f"The gate lets it go: {found}{told}."
        why = " ".join(each.sentence for each in self.stopped)
        return f"The gate stopped this release. {why} {self._advice}"

    @property
    def _advice(self) -> str:
        anew = "change its parameters and make it anew" + (", which is paid for anew" if self.guaranteed else "")
        if self.refuted:
            return f"Its promise is refuted: {anew}, or go on with a reason, but only as a release without a guarantee."
        return f"So {anew}, or go on with a reason, which the certificate and the ledger keep for ever."

    def require(self) -> None:
        """Raise `GateError` if the release was stopped."""
        if self.stopped:
            raise GateError(self.sentence)

    def went_on(self, reason: str) -> dict[str, Any]:
        """State the steward's decision to go on, for a certificate: which attacks stopped it, without any figure."""
        if not self.stopped:
            raise ParameterError("The release was not stopped, so there is nothing to decide.")
        if not isinstance(reason, str) or not reason.strip() or not reason.isprintable() or len(reason) > _LONGEST:
            raise ParameterError(f"A reason to go on is printable text of at most {_LONGEST:,} characters.")
        return {"stopped": [each.attack for each in self.stopped], "refuted": self.refuted, "reason": reason}

    def although(self, reason: str) -> str:
        """State the same for `Ledger.record_decision`, in a clause."""
        names = ", ".join(self.went_on(reason)["stopped"])
        named = names if len(names) <= _LONGEST // 2 else f"{names[: _LONGEST // 2]}…"
        refuted = "its epsilon was refuted, and " if self.refuted else ""
        return f"{refuted}the gate stopped it ({named}); the reason: {reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as values that JSON can hold."""
        return {**fields_to_plain(self), "refuted": self.refuted, "sentence": self.sentence}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(
            tuple(Stop.from_dict(each) for each in facts["stopped"]),
            tuple(Weighed.from_dict(each) for each in facts["passed"]),
            facts["no_verdict"],
            facts["skipped"],
            Fraction(facts["level"]),
            facts["guaranteed"],
        )


@dataclass(frozen=True)
class Gate(Shown):
    """Thresholds that stop a release.

    Parameters
    ----------
    level
        Which share of releases that give nothing away attacks with a control may stop, all of them together.
    thresholds
        By attack, as the evidence calls it ("inferring illness"), or by kind of attack (see `DEFAULTS`): above which
        figure it stops a release; None only reports it. A refuted epsilon stops whatever the thresholds are.
    """

    level: Amount = "0.05"
    thresholds: Mapping[str, Amount | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        level = exact(self.level, "The level of a gate")
        if not 0 < level < 1:
            raise ParameterError("The level of a gate must be above 0 and below 1, such as 0.05.")
        given = {name: _threshold(name, value) for name, value in dict(self.thresholds).items()}
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "thresholds", MappingProxyType(given))

    def judge(self, evidence: Evidence, *, guaranteed: bool) -> Verdict:
        """Judge what was found; `guaranteed` says whether the release promises an epsilon."""
        sorting = _Sorting(self, guaranteed)
        for name, finding in evidence.findings.items():
            from ziggurat.release._tried import figures_of

            found = figures_of(name, finding)
            if not found:
                sorting.no_verdict[name] = _NO_FIGURE
            for each in found:
                sorting.take(name, each)
        return sorting.verdict(evidence.skipped)


def _threshold(name: str, value: Amount | None) -> Fraction | None:
    if value is None:
        return None
    amount = exact(value, f"The threshold of {name!r}")
    if amount < 0:
        raise ParameterError(f"The threshold of {name!r} must be at least 0.")
    return amount


class _Sorting:
    """One call of `Gate.judge`: what is to be judged, and what is not."""

    def __init__(self, gate: Gate, guaranteed: bool) -> None:
        self.gate, self.guaranteed = gate, guaranteed
        self.used: set[str] = set()
        self.plain: list[tuple[Tried, Fraction]] = []
        self.tested: list[tuple[Tried, Fraction]] = []
        self.no_verdict: dict[str, str] = {}

    def take(self, name: str, each: Tried) -> None:
        """Put one figure where it belongs."""
        threshold = each.claimed if each.kind == "epsilon" else self._limit(each.name, name, each.kind)
        if each.unjudged:
            self.no_verdict[each.name] = each.unjudged
        elif each.claimed is not None and not self.guaranteed:
            self.no_verdict[each.name] = _NO_CLAIM
        elif threshold is None:
            self.no_verdict[each.name] = _NO_THRESHOLD
        elif each.few:
            self.no_verdict[each.name] = _FEW
        else:
            (self.plain if each.chance is None else self.tested).append((each, threshold))

    def _limit(self, *names: str) -> Fraction | None:
        """The threshold by the most telling name."""
        self.used.update(names)
        given: Mapping[str, Any] = {**DEFAULTS, **self.gate.thresholds}
        mine = next((name for name in names[:-1] if name in self.gate.thresholds), names[-1])
        found: Fraction | None = given[mine]
        return found

    def verdict(self, skipped: Mapping[str, str]) -> Verdict:
        """Sum up."""
        level = exact(self.gate.level)
        shares = holm([each.chance or 0.0 for each, _ in self.tested], level)
        stopped, passed = [], []
        rest: list[tuple[bool, Fraction | None]] = [(True, None)] * len(self.plain)
        for (each, threshold), (rejected, share) in zip([*self.tested, *self.plain], [*shares, *rest], strict=True):
            said = (each.name, each.figure, each.means, threshold, each.chance, share, each.claimed is not None)
            if rejected and each.figure > float(threshold):
                stopped.append(Stop(*said))
            else:
                passed.append(Weighed(*said))
        unmet = {name for name, limit in self.gate.thresholds.items() if limit is not None} - self.used
        not_made = {**dict.fromkeys(sorted(unmet), _NOT_MADE), **skipped}
        return Verdict(tuple(stopped), tuple(passed), self.no_verdict, not_made, level, self.guaranteed)


def holm(chances: Sequence[float], level: Fraction) -> list[tuple[bool, Fraction]]:
    """Return for each p-value whether it is rejected, and the share of the level that it was compared with.

    The i-th smallest of m is rejected if it and all smaller ones are at most level / (m - i + 1); those that are not
    have the share of the first of them.
    """
    found: list[tuple[bool, Fraction]] = [(False, level)] * len(chances)
    share, going = level, True
    for place, which in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        if going:
            share = level / (len(chances) - place)
            going = chances[which] <= share
        found[which] = going, share
    return found
