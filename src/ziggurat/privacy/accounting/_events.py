"""Events: frozen records of what was done to the data.

An event states facts (which noise, which scale, which sensitivity), never an epsilon that somebody computed from
them, so that better accounting improves old records. `profile` interprets them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from ziggurat.cards import Card, Shown, list_facts
from ziggurat.data import Unit
from ziggurat.errors import MixedNeighboursError, ParameterError, PrivacyError, UnknownEventError
from ziggurat.plain import fields_to_plain
from ziggurat.privacy.accounting._amounts import exact, exact_delta, exact_epsilon, exact_positive, whole_number
from ziggurat.privacy.accounting._neighbours import Neighbours, Relation

_KINDS: dict[str, type[Event]] = {}


@dataclass(frozen=True)
class Event(Shown):
    """The root of all events; `neighbours` says whom the facts are about."""

    kind: ClassVar[str] = ""
    neighbours: Neighbours

    def __post_init__(self) -> None:
        if not isinstance(self.neighbours, Neighbours):
            raise ParameterError("An event must say whom it is about: give Neighbours(...) first.")

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__dict__.get("kind"):
            _KINDS[cls.kind] = cls

    def _card(self) -> Card:
        facts = list_facts(self)
        return Card(type(self).__name__, facts=[*facts[1:], ("about", str(self.neighbours))])

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form; amounts are exact strings such as '1/3'."""
        return {"kind": self.kind, **fields_to_plain(self)}

    def to_json(self) -> str:
        """Give the canonical JSON text: sorted keys, no spaces, ASCII."""
        return self._text

    @cached_property
    def _text(self) -> str:
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the facts alone, not what was worked out from them and kept beside them."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def _set(event: Event, name: str, value: object) -> None:
    """Normalise a field of a frozen event while it is being made."""
    object.__setattr__(event, name, value)


def _sequence(value: object, name: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        raise ParameterError(f"{name} must be a list or a tuple.")
    return tuple(value)


def _require_event(value: object) -> None:
    if not isinstance(value, Event):
        raise ParameterError("Give events here; the result of a mechanism carries its own as .event.")


@dataclass(frozen=True)
class LaplaceEvent(Event):
    """Discrete Laplace noise of `scale` on the lattice of multiples of `grid`, sensitivity in l1.

    `coordinates` is the most coordinates that one unit can change; the sharper accounts of scalar noise hold only
    for 1.
    """

    kind: ClassVar[str] = "laplace"
    sensitivity: Fraction
    scale: Fraction
    grid: Fraction = Fraction(1)
    coordinates: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sensitivity", "scale", "grid"):
            _set(self, name, exact_positive(getattr(self, name), name))
        _set(self, "coordinates", whole_number(self.coordinates, "coordinates"))
        if (self.sensitivity / self.grid).denominator != 1:
            raise ParameterError("The sensitivity of lattice noise must be a multiple of its grid.")


@dataclass(frozen=True)
class GaussianEvent(Event):
    """Gaussian noise of standard deviation `sigma`, drawn exactly and then rounded, sensitivity in l2."""

    kind: ClassVar[str] = "gaussian"
    sensitivity: Fraction
    sigma: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sensitivity", "sigma"):
            _set(self, name, exact_positive(getattr(self, name), name))


@dataclass(frozen=True)
class DiscreteGaussianEvent(Event):
    """Discrete Gaussian noise of parameter `sigma` on the integers, sensitivity in l2."""

    kind: ClassVar[str] = "discrete-gaussian"
    sensitivity: Fraction
    sigma: Fraction
    coordinates: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("sensitivity", "sigma"):
            _set(self, name, exact_positive(getattr(self, name), name))
        _set(self, "coordinates", whole_number(self.coordinates, "coordinates"))


@dataclass(frozen=True)
class PureEvent(Event):
    """Any mechanism proven epsilon-DP of which nothing finer is known."""

    kind: ClassVar[str] = "pure"
    epsilon: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "epsilon", exact_epsilon(self.epsilon))


@dataclass(frozen=True)
class ExponentialEvent(Event):
    """The exponential mechanism at `epsilon`, whose privacy loss also has range epsilon (bounded range)."""

    kind: ClassVar[str] = "exponential"
    epsilon: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "epsilon", exact_epsilon(self.epsilon))


@dataclass(frozen=True)
class RandomizedResponseEvent(Event):
    """Randomised response over `categories` answers that keeps the truth e^epsilon times as likely as any other."""

    kind: ClassVar[str] = "randomized-response"
    epsilon: Fraction
    categories: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "epsilon", exact_epsilon(self.epsilon))
        _set(self, "categories", whole_number(self.categories, "categories", 2))


@dataclass(frozen=True)
class ApproximateEvent(Event):
    """Any mechanism proven (epsilon, delta)-DP of which nothing finer is known."""

    kind: ClassVar[str] = "approximate"
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "epsilon", exact_epsilon(self.epsilon))
        _set(self, "delta", exact_delta(self.delta))


@dataclass(frozen=True)
class ZeroConcentratedEvent(Event):
    """Any mechanism proven rho-zCDP of which nothing finer is known."""

    kind: ClassVar[str] = "zcdp"
    rho: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "rho", exact_positive(self.rho, "rho"))


@dataclass(frozen=True)
class RenyiEvent(Event):
    """Any mechanism with proven Rényi divergences `epsilons` at `orders` (all greater than 1)."""

    kind: ClassVar[str] = "renyi"
    orders: tuple[Fraction, ...]
    epsilons: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "orders", tuple(exact(item, "order") for item in _sequence(self.orders, "orders")))
        given = _sequence(self.epsilons, "epsilons")
        _set(self, "epsilons", tuple(exact(item, "Rényi epsilon") for item in given))
        if len(self.orders) != len(self.epsilons) or not self.orders:
            raise ParameterError("A Rényi curve needs as many epsilons as orders, and at least one.")
        if any(order <= 1 for order in self.orders) or any(item < 0 for item in self.epsilons):
            raise ParameterError("Rényi orders must be greater than 1 and Rényi epsilons at least 0.")
        if any(low >= high for low, high in zip(self.orders, self.orders[1:], strict=False)):
            raise ParameterError("Rényi orders must increase.")


@dataclass(frozen=True)
class SampledGaussianEvent(Event):
    """`steps` rounds of Gaussian noise on a Poisson sample of the units, as DP-SGD makes them.

    `noise_multiplier` is sigma over the l2 sensitivity of one round. Only for add-or-remove-one neighbours.
    """

    kind: ClassVar[str] = "sampled-gaussian"
    sampling: Fraction
    noise_multiplier: Fraction
    steps: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "sampling", exact_positive(self.sampling, "sampling"))
        _set(self, "noise_multiplier", exact_positive(self.noise_multiplier, "noise_multiplier"))
        _set(self, "steps", whole_number(self.steps, "steps"))
        if self.sampling > 1:
            raise ParameterError("sampling must be a probability in (0, 1].")
        if self.neighbours.relation is not Relation.ADD_OR_REMOVE_ONE:
            raise MixedNeighboursError("Poisson sampling is accounted for add-or-remove-one neighbours only.")


@dataclass(frozen=True)
class UnboundedEvent(Event):
    """A release with no differential-privacy promise at all, written down so that nobody forgets it."""

    kind: ClassVar[str] = "unbounded"
    what: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.what, str):
            raise ParameterError("Say in words what was released.")


@dataclass(frozen=True)
class ComposedEvent(Event):
    """Several events on the same data."""

    kind: ClassVar[str] = "composed"
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "events", _sequence(self.events, "events"))
        for event in self.events:
            _require_event(event)
            self.neighbours.require(event.neighbours)


@dataclass(frozen=True)
class RepeatedEvent(Event):
    """The same event `count` times on the same data."""

    kind: ClassVar[str] = "repeated"
    event: Event
    count: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_event(self.event)
        _set(self, "count", whole_number(self.count, "count"))
        self.neighbours.require(self.event.neighbours)


@dataclass(frozen=True)
class ParallelEvent(Event):
    """Events on disjoint parts of the data, one part per unit.

    Under add-or-remove-one a neighbour changes one part, so the costliest part counts. Under replace-one a unit
    that `may_move` leaves one part and enters another: the parts must then promise under add-or-remove-one (a
    replace-one promise says nothing about a part whose size changes), and the cost is that of a group of two.
    With `may_move=False` the steward states that a unit's part is public and fixed.
    """

    kind: ClassVar[str] = "parallel"
    parts: tuple[Event, ...] = ()
    may_move: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _set(self, "parts", _sequence(self.parts, "parts"))
        if not self.parts:
            raise ParameterError("A parallel event needs at least one part.")
        if not isinstance(self.may_move, bool):
            raise ParameterError("may_move must be True or False.")
        moving = self.neighbours.relation is Relation.REPLACE_ONE and self.may_move
        wanted = Neighbours(self.neighbours.unit, Relation.ADD_OR_REMOVE_ONE) if moving else self.neighbours
        for part in self.parts:
            _require_event(part)
            if moving and part.neighbours == self.neighbours:
                raise MixedNeighboursError(
                    "A unit that is replaced may move between parts, which a replace-one promise about a part does "
                    "not cover; state the parts under add-or-remove-one, or set may_move=False if parts are fixed."
                )
            wanted.require(part.neighbours)


@dataclass(frozen=True)
class GroupEvent(Event):
    """The same event, seen by a group of `size` units; two added or removed units make one replaced unit."""

    kind: ClassVar[str] = "group"
    event: Event
    size: int = field(default=2)

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_event(self.event)
        _set(self, "size", whole_number(self.size, "size"))
        inner, outer = self.event.neighbours, self.neighbours
        replaced = inner.relation is Relation.ADD_OR_REMOVE_ONE and outer.relation is Relation.REPLACE_ONE
        if replaced and (inner.unit != outer.unit or self.size % 2):
            raise MixedNeighboursError("Replacing one unit is removing one and adding one: use an even group size.")
        if not replaced and inner.relation is not outer.relation:
            raise MixedNeighboursError("A replace-one promise cannot be turned into an add-or-remove-one promise.")


def as_replace_one(event: Event) -> Event:
    """Restate an add-or-remove-one event for replace-one neighbours, at the cost of a group of two."""
    _require_event(event)
    if event.neighbours.relation is Relation.REPLACE_ONE:
        return event
    if isinstance(event, SampledGaussianEvent):
        raise PrivacyError("No account of Poisson sampling for replace-one neighbours is known here.")
    return GroupEvent(Neighbours(event.neighbours.unit, Relation.REPLACE_ONE), event, 2)


def rename_unit(event: Event, unit: Unit) -> Event:
    """The same event about the same unit, which is told apart by another column elsewhere.

    That both columns name the same people is the steward's declaration; nothing about the amounts changes.
    """
    _require_event(event)
    if event.neighbours.unit == unit:
        return event
    return event_from_dict(_with_unit(event.to_dict(), event.neighbours.unit, unit))


def _with_unit(held: Any, old: Unit, new: Unit) -> Any:
    """Put another unit into the JSON form of an event, wherever the old one stands; relations stay."""
    if isinstance(held, list):
        return [_with_unit(part, old, new) for part in held]
    if not isinstance(held, dict):
        return held
    whom = held.get("neighbours")
    inside = {name: _with_unit(part, old, new) for name, part in held.items() if name != "neighbours"}
    if whom is None:
        return inside
    stated = Neighbours.from_dict(whom)
    kept = Neighbours(new, stated.relation) if stated.unit == old else stated
    return {**inside, "neighbours": kept.to_dict()}


def compose_events(events: Iterable[Event]) -> Event:
    """Make one event of several about the same neighbours; a single event stays itself."""
    items = tuple(events)
    if not items:
        raise ParameterError("There is nothing to compose: give at least one event.")
    for item in items:
        _require_event(item)
    return items[0] if len(items) == 1 else ComposedEvent(items[0].neighbours, items)


def event_from_dict(data: Any) -> Event:
    """Read an event from its JSON form; an unknown kind or field raises, it is never guessed."""
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise UnknownEventError("An event must be a JSON object with a 'kind'.")
    cls = _KINDS.get(data["kind"])
    if cls is None:
        raise UnknownEventError(f"No event is called {data['kind']!r}; known are {', '.join(sorted(_KINDS))}.")
    known = {item.name for item in fields(cls)}
    if set(data) - {"kind"} != known:
        raise UnknownEventError(f"A {cls.kind!r} event needs exactly the fields {', '.join(sorted(known))}.")
    try:
        return cls(**{name: _parse_field(name, data[name]) for name in known})
    except RecursionError:
        raise UnknownEventError("An event is nested too deeply.") from None


def _parse_field(name: str, value: Any) -> Any:
    """Turn a JSON field back into what the event holds."""
    if name == "neighbours":
        return Neighbours.from_dict(value)
    if name == "event":
        return event_from_dict(value)
    if name in ("events", "parts"):
        return tuple(event_from_dict(item) for item in _sequence(value, name))
    return value


def event_from_json(text: str) -> Event:
    """Read an event from JSON text."""
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise UnknownEventError("An event must be valid JSON.") from None
    return event_from_dict(data)
