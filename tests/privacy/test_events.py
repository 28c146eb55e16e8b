import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data import Unit
from ziggurat.errors import MixedNeighboursError, ParameterError, UnknownEventError, ZigguratError
from ziggurat.privacy import (
    ApproximateEvent,
    ComposedEvent,
    DiscreteGaussianEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    Neighbours,
    ParallelEvent,
    PureEvent,
    RandomizedResponseEvent,
    Relation,
    RenyiEvent,
    RepeatedEvent,
    SampledGaussianEvent,
    UnboundedEvent,
    ZeroConcentratedEvent,
    compose,
    event_from_dict,
    event_from_json,
    profile,
)

ONE = Neighbours()
PERSON = Neighbours(Unit.person("patient"))
SWAP = Neighbours(relation=Relation.REPLACE_ONE)
PURE = PureEvent(ONE, "1/3")

EVERY_KIND = [
    LaplaceEvent(PERSON, 1, "10/3", "1/4", 2),
    GaussianEvent(ONE, "1.5", "3.7"),
    DiscreteGaussianEvent(ONE, 1, 4),
    PURE,
    ExponentialEvent(ONE, "0.1"),
    RandomizedResponseEvent(SWAP, 1, 5),
    ApproximateEvent(ONE, 1, "1e-6"),
    ZeroConcentratedEvent(ONE, "0.05"),
    RenyiEvent(ONE, (2, 4), ("0.1", "0.3")),
    SampledGaussianEvent(ONE, "0.01", 1, 100),
    UnboundedEvent(ONE, "k-anonymous table"),
    ComposedEvent(ONE, (PURE, GaussianEvent(ONE, 1, 2))),
    RepeatedEvent(ONE, PURE, 3),
    ParallelEvent(SWAP, (PURE, PURE)),
    GroupEvent(SWAP, PURE, 2),
]


@pytest.mark.parametrize("event", EVERY_KIND, ids=lambda event: event.kind)
def test_every_event_survives_json_unchanged(event):
    assert event_from_json(event.to_json()) == event


def test_the_list_above_holds_every_kind():
    assert {type(event) for event in EVERY_KIND} == set(Event.__subclasses__())


@pytest.mark.parametrize("event", EVERY_KIND, ids=lambda event: event.kind)
def test_every_event_has_a_profile(event):
    profile(event)


def test_an_event_no_accountant_knows_raises():
    class Strange(Event):
        pass

    with pytest.raises(UnknownEventError):
        compose(Strange(ONE))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"kind":"magic"}', '{"kind":"pure"}', '{"kind":"pure","epsilon":"1","neighbours":3}', "{" * 9999],
)
def test_a_foreign_or_corrupt_record_raises_one_of_our_errors(text):
    with pytest.raises(ZigguratError):
        event_from_json(text)


def test_an_extra_field_is_not_silently_dropped():
    data = {**PURE.to_dict(), "note": "x"}
    with pytest.raises(UnknownEventError, match="exactly the fields"):
        event_from_dict(data)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_value_makes_the_reader_fail_otherwise(value):
    body = {**PURE.to_dict(), "epsilon": value}
    try:
        event_from_json(json.dumps(body))
    except ZigguratError:
        return
    assert Fraction(value) > 0


def test_mixing_units_or_relations_raises():
    with pytest.raises(MixedNeighboursError):
        compose(PURE, PureEvent(PERSON, 1))
    with pytest.raises(MixedNeighboursError):
        compose(PURE, PureEvent(SWAP, 1))


def test_events_are_frozen():
    with pytest.raises(AttributeError):
        PURE.epsilon = Fraction(9)


@pytest.mark.parametrize("bad", [0, -1, "nan", float("inf"), None])
def test_impossible_parameters_are_refused(bad):
    with pytest.raises(ParameterError):
        LaplaceEvent(ONE, 1, bad)
    with pytest.raises(ParameterError):
        PureEvent(ONE, bad)


def test_poisson_sampling_is_refused_for_replace_one():
    with pytest.raises(MixedNeighboursError):
        SampledGaussianEvent(SWAP, "0.01", 1)
