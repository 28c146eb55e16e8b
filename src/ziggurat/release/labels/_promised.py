"""The two sides of a certificate: what was promised to the teachers' people, and what to the student's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self, get_args

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import MixedNeighboursError, ParameterError, PrivacyError
from ziggurat.ledger import Grant, Head, Ledger
from ziggurat.pate import PrivateEpsilon, Sanitized, account
from ziggurat.privacy import (
    Amount,
    ApproximateDP,
    Event,
    Neighbours,
    PureDP,
    Relation,
    UnboundedEvent,
    compose,
    compose_events,
    event_from_dict,
    exact,
    whole_number,
)
from ziggurat.release._cited import Cited, other_spends, require_unbounded
from ziggurat.release.labels._labelled import LabellingFacts
from ziggurat.release.labels._query_curator import PrivatizedQueries

Features = Literal["public", "privatised", "original"]

UNPROTECTED = "A student that was trained on the original rows and released"


@dataclass(frozen=True)
class Checked:
    """That the facts agree with a ledger which verifies: its newest entry then, and what else the analysts spent."""

    head: Head
    others: int

    @classmethod
    def against(cls, ledger: Ledger, cited: Sequence[Cited], manifests: Collection[str] = ()) -> Self:
        """Look into the ledger; whatever the facts cite has been compared."""
        return cls(ledger.head(), other_spends(ledger, cited, manifests))

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {"seq": self.head.seq, "hash": self.head.hash, "others": self.others}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | None) -> Self | None:
        """Read the JSON form."""
        if data is None:
            return None
        return cls(Head(whole_number(data["seq"], "seq"), str(data["hash"])), whole_number(data["others"], "others", 0))


@dataclass(frozen=True)
class TeachersSide(Shown):
    """The promise to the people whose data trained the teachers; no vote is in it.

    Attributes
    ----------
    labellings
        Everything that the student was taught by, threshold labels included.
    promise
        Data-independent and tight, for all labellings together, as planned.
    published
        The same by the papers' formula, for comparison; None where there is none.
    organisation, teachers_owned
        The promise to a unit that owns so many teachers.
    sanitised
        A data-dependent epsilon that was released with noise of its own; its cost is in `promise`.
    checked
        What a look into the ledger found; None if the facts are as stated by their files.
    """

    labellings: tuple[LabellingFacts, ...]
    promise: ApproximateDP
    published: Fraction | None = None
    organisation: ApproximateDP | None = None
    teachers_owned: int = 1
    sanitised: Sanitized | None = None
    checked: Checked | None = None

    def __post_init__(self) -> None:
        if any(isinstance(value, PrivateEpsilon) for value in vars(self).values()):
            raise PrivacyError("A data-dependent epsilon is private and has no place in a certificate.")

    @classmethod
    def of(
        cls,
        labellings: tuple[LabellingFacts, ...],
        delta: Amount | None = None,
        organisation: Unit | None = None,
        teachers_owned: int = 1,
        sanitised: Sanitized | None = None,
    ) -> Self:
        """Compute the promise from the facts, at the delta that was paid unless another is asked for."""
        delta = sum_deltas(labellings) if delta is None else delta
        owned = whole_number(teachers_owned, "teachers_owned")
        if owned > min(each.question["voters"] for each in labellings):
            raise ParameterError("An organisation cannot own more teachers than there are.")
        if sanitised is not None:
            _require_publishable(sanitised, organisation, delta, max(each.ballot.moved for each in labellings))
        made = _alike if _are_alike(labellings) else _compose_mixed
        promise, published, group = made(labellings, delta, organisation, owned)
        if sanitised is not None:
            promise = compose(*(each.event for each in labellings), sanitised.event).approximate(delta)
        return cls(labellings, promise, published, group, owned, sanitised)

    @property
    def event(self) -> Event:
        """All that was planned and paid."""
        extra = () if self.sanitised is None else (self.sanitised.event,)
        return compose_events([*(each.event for each in self.labellings), *extra])

    @property
    def rehearsal(self) -> bool:
        """Whether any randomness was seeded."""
        shown = self.sanitised is not None and self.sanitised.origin != "secure"
        return shown or any(each.rehearsal for each in self.labellings)

    def check_in(self, ledger: Ledger) -> Self:
        """Compare every labelling with the ledger's own entries; `DataError` if a file claims something else."""
        ledger.verify().require()
        for each in self.labellings:
            each.require_recorded(ledger)
        cited, taught_by = [each.entry for each in self.labellings], {each.manifest for each in self.labellings}
        return replace(self, checked=Checked.against(ledger, cited, taught_by))

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "promise": _promise_to_dict(self.promise),
            "event": self.event.to_dict(),
            "published": None if self.published is None else str(self.published),
            "organisation": None if self.organisation is None else _promise_to_dict(self.organisation),
            "teachers_owned": self.teachers_owned,
            "sanitised": None if self.sanitised is None else _sanitised_to_dict(self.sanitised),
            "labellings": [each.to_dict() for each in self.labellings],
            "checked": None if self.checked is None else self.checked.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the facts and compute the promises again; stated ones may be larger, as older accounts are."""
        facts = tuple(LabellingFacts.from_dict(each) for each in data["labellings"])
        stated = _promise_from_dict(data["promise"])
        group = None if data["organisation"] is None else _promise_from_dict(data["organisation"])
        shown = None if data["sanitised"] is None else _sanitised_from_dict(data["sanitised"])
        unit = None if group is None else group.neighbours.unit
        proven = cls.of(facts, stated.delta, unit, data["teachers_owned"], shown)
        _require_at_least(stated, proven.promise)
        if group is not None and proven.organisation is not None:
            _require_at_least(group, proven.organisation)
        checked = Checked.from_dict(data["checked"])
        return replace(proven, promise=stated, organisation=group, checked=checked)


def sum_deltas(labellings: Sequence[LabellingFacts]) -> Fraction:
    """The delta that was paid for labels: that of their grant, and the sum over several."""
    return sum((grant.delta for _, grant in grants_of(labellings)), Fraction(0))


def grants_of(labellings: Sequence[LabellingFacts]) -> list[tuple[str, Grant]]:
    """The grants that paid, each once, with the ledger that holds it."""
    return list(dict.fromkeys((each.entry.ledger, each.grant) for each in labellings))


def _are_alike(labellings: Sequence[LabellingFacts]) -> bool:
    """Whether all have the same aggregator, of Ziggurat's own, and votes about the same: they are one longer run."""
    first = labellings[0]
    noise = first.question["aggregator"]
    alike = all(each.ballot == first.ballot and each.question["aggregator"] == noise for each in labellings)
    return alike and first.aggregator is not None


Accounts = tuple[ApproximateDP, Fraction | None, ApproximateDP | None]


def _alike(labellings: Sequence[LabellingFacts], delta: Amount, unit: Unit | None, owned: int) -> Accounts:
    first = labellings[0]
    if first.aggregator is None:
        raise ParameterError("Only Ziggurat's own aggregators are accounted for by their name.")
    made = account(
        first.aggregator,
        first.ballot,
        delta=delta,
        queries=sum(each.queries for each in labellings),
        answered=sum(each.cap for each in labellings),
        organisation=unit,
        teachers_owned=owned,
    )
    return made.record, made.published, made.organisation


def _compose_mixed(labellings: Sequence[LabellingFacts], delta: Amount, unit: Unit | None, owned: int) -> Accounts:
    """Compose the events; there is no published formula for several kinds of noise."""
    promise = compose(*(each.event for each in labellings)).approximate(delta)
    if unit is None:
        return promise, None, None
    events = [_side_of(each, unit, owned) for each in labellings]
    return promise, None, compose(*events).approximate(delta)


def _side_of(facts: LabellingFacts, unit: Unit, owned: int) -> Event:
    if facts.aggregator is None:
        raise ParameterError("What an organisation is promised is known of Ziggurat's own aggregators alone.")
    return facts.aggregator.planned(facts.ballot.owned_by(unit, owned), facts.queries, facts.cap)


def _require_publishable(sanitised: object, organisation: Unit | None, delta: Amount, moved: int) -> None:
    if isinstance(sanitised, PrivateEpsilon):
        raise PrivacyError("A data-dependent epsilon is private; release it with sanitize(...) first.")
    if not isinstance(sanitised, Sanitized):
        raise ParameterError("Give what ziggurat.pate.sanitize returned.")
    if organisation is not None:
        raise PrivacyError("A sanitised epsilon is about one moved vote; leave it out, or the organisation.")
    if moved > 1:
        raise PrivacyError("A sanitised epsilon is about one moved vote, and out of this budget two may move.")
    if sanitised.delta != exact(delta):
        raise ParameterError("The sanitised epsilon was released at another delta; state the same one.")


def _require_at_least(stated: ApproximateDP, proven: ApproximateDP) -> None:
    if stated.epsilon < proven.epsilon or stated.delta < proven.delta or stated.neighbours != proven.neighbours:
        raise PrivacyError("The certificate claims less than its own facts prove.")


def _promise_to_dict(promise: ApproximateDP) -> dict[str, Any]:
    amounts = {"epsilon": str(promise.epsilon), "delta": str(promise.delta), "route": promise.route}
    return {**amounts, "neighbours": promise.neighbours.to_dict()}


def _promise_from_dict(data: Mapping[str, Any]) -> ApproximateDP:
    amounts = exact(data["epsilon"], "epsilon"), exact(data["delta"], "delta")
    return ApproximateDP(Neighbours.from_dict(data["neighbours"]), *amounts, str(data["route"]))


_AMOUNTS = ("epsilon", "delta", "order", "labels_cost", "confidence")


def _sanitised_to_dict(shown: Sanitized) -> dict[str, Any]:
    amounts = {name: str(getattr(shown, name)) for name in _AMOUNTS}
    return {**amounts, "event": shown.event.to_dict(), "origin": shown.origin}


def _sanitised_from_dict(data: Mapping[str, Any]) -> Sanitized:
    amounts = {name: exact(data[name], name) for name in _AMOUNTS}
    return Sanitized(**amounts, event=event_from_dict(data["event"]), origin=data["origin"])


@dataclass(frozen=True)
class StudentsSide(Shown):
    """The promise to the people in the student's own table.

    Attributes
    ----------
    features
        What the student was trained on: `"public"` rows, `"privatised"` reports, or the `"original"` rows.
    queries
        What curator B sent.
    matched
        Whether every labelled query is, by its digest, exactly what one call of curator B sent.
    checked
        What a look into the student's ledger found; None if the facts are as stated.
    recorded
        Where a release without a promise is written down.
    """

    features: Features
    queries: tuple[PrivatizedQueries, ...] = ()
    matched: bool = False
    checked: Checked | None = None
    recorded: Cited | None = None

    def __post_init__(self) -> None:
        if self.features not in get_args(Features):
            raise ParameterError("features must be 'public', 'privatised' or 'original'.")
        if not all(isinstance(each, PrivatizedQueries) and each.calls for each in self.queries):
            raise ParameterError("Give a QueryCurator that has privatised something, or what it has `sent`.")
        if self.features == "privatised" and not self.queries:
            raise ParameterError("Say who privatised the features: queries=the QueryCurator.")
        if self.features == "public" and self.queries:
            raise ParameterError("Public features are about nobody; leave queries out, or say 'privatised'.")
        if len({each.neighbours for each in self.queries}) > 1:
            raise MixedNeighboursError("The queries were privatised for different units; certify one student each.")

    @property
    def neighbours(self) -> Neighbours:
        """Whom the promise protects."""
        return self.queries[0].neighbours if self.queries else Neighbours(relation=Relation.REPLACE_ONE)

    @property
    def for_queries(self) -> PureDP | None:
        """What the queries promise against whoever sees them; None if they are public or left unprotected."""
        return compose(*(each.event for each in self.queries)).pure() if self.queries else None

    @property
    def for_student(self) -> PureDP | None:
        """What the released student promises: the same, if it has seen nothing but reports."""
        return self.for_queries if self.features == "privatised" else None

    @property
    def released(self) -> Event | None:
        """What releasing the student does to its own people; None where there are none."""
        if self.features == "public":
            return None
        if self.features == "original":
            return UnboundedEvent(self.neighbours, UNPROTECTED)
        return compose_events([each.event for each in self.queries])

    @property
    def rehearsal(self) -> bool:
        """Whether any noise was seeded."""
        return any(each.rehearsal for each in self.queries)

    def check_in(self, ledger: Ledger) -> Self:
        """Compare every call with the ledger's own entries."""
        ledger.verify().require()
        for each in self.queries:
            each.require_recorded(ledger)
        if self.recorded is not None:
            require_unbounded(ledger, self.recorded)
        cited = [call.entry for each in self.queries for call in each.calls if call.entry is not None]
        return replace(self, checked=Checked.against(ledger, cited))

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "features": self.features,
            "queries": [each.to_dict() for each in self.queries],
            "queries_epsilon": None if self.for_queries is None else str(self.for_queries.epsilon),
            "student_epsilon": None if self.for_student is None else str(self.for_student.epsilon),
            "event": None if self.released is None else self.released.to_dict(),
            "matched": self.matched,
            "checked": None if self.checked is None else self.checked.to_dict(),
            "recorded": None if self.recorded is None else self.recorded.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the facts."""
        queries = tuple(PrivatizedQueries.from_dict(each) for each in data["queries"])
        recorded = None if data["recorded"] is None else Cited.from_dict(data["recorded"])
        return cls(data["features"], queries, data["matched"], Checked.from_dict(data["checked"]), recorded)
