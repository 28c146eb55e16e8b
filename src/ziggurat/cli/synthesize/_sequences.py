"""How the options of `ziggurat synthesize` become a generator of sequences, and where these stand in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.cli.synthesize._options import SynthesisOptions
    from ziggurat.data import Schema
    from ziggurat.privacy import Event
    from ziggurat.release.sequences import SequenceRequest
    from ziggurat.sequences import SequenceGenerator


def read_request(given: SynthesisOptions) -> SequenceRequest:
    """What was said about sequences."""
    from ziggurat.release.sequences import SequenceRequest

    named = ("sequence", "token", "order", "label", "longest", "sequences_per_unit")
    return SequenceRequest(**{name: getattr(given, name) for name in named}, sizes=_read_sizes(given.sizes))


def make_generator(given: SynthesisOptions, schema: Schema) -> SequenceGenerator:
    """Make the generator that was asked for; a unit that may own several sequences says how many count."""
    require_counts(given, schema)
    terms: dict[str, Any] = {"expected_rows": given.expected_rows} if given.expected_rows else {}
    terms |= {"epsilon": given.epsilon, "delta": given.delta or None, "random_state": given.seed}
    return read_request(given).generator(schema, given.method, **terms)


def require_counts(given: SynthesisOptions, schema: Schema) -> None:
    """Refuse what does not say how many sequences of an owner count, or about how many owners there are."""
    asked = read_request(given)
    single = bool(asked.token) and schema.unit.column == asked.sequence
    if not schema.unit.is_row and given.sequences_per_unit is None and not single:
        raise ParameterError(
            f"{schema.unit.name.capitalize()}s may own several sequences: say how many count at most with "
            "--sequences-per-unit (1 where each has one)."
        )
    if (given.method == "recurrent") is (given.expected_rows is None):
        raise ParameterError(
            "--method recurrent needs --expected-rows, about how many sequences (or owners of them) there are: a "
            "number that is public and not counted for this; markov does without."
        )


def plan_event(given: SynthesisOptions, schema: Schema) -> Event:
    """Say what it would cost, by the schema alone."""
    from ziggurat.sequences import domain_of

    return make_generator(given, schema).planned(domain_of(schema, read_request(given).layout(schema)))


def sequence_settings(given: SynthesisOptions, schema: Schema) -> dict[str, Any]:
    """Give what a release of sequences is asked for."""
    asked = read_request(given)
    settings: dict[str, Any] = {"layout": asked.layout(schema), "sizes": asked.sizes_of(schema), "count": given.count}
    settings["canaries"] = given.canaries or 0
    return settings | {"note": given.note, "go_on": given.go_on, "holdout": given.read_holdout()}


def _read_sizes(given: list[str] | None) -> dict[str, int]:
    found = {}
    for text in given or ():
        name, equals, number = text.strip().rpartition("=")
        if not (name and equals and number.isdecimal()):
            raise ParameterError(f"{text!r} must name a class and a number, for instance --sizes normal=4000.")
        found[name] = int(number)
    return found
