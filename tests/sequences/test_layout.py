"""Where sequences stand in a table, what the schema says of them, and that one sequence never depends on another."""

import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Symbols, Unit, datasets, read
from ziggurat.data.generators import log_sequences, log_sequences_schema
from ziggurat.errors import NotPublicError, ParameterError, SchemaError
from ziggurat.sequences import SequenceLayout, domain_of, read_sequences

WIDE = Schema(
    (
        Column("seq", Kind.TEXT, sequence=Symbols(("a", "b"), longest=3, separator=",")),
        Column("kind", Kind.CATEGORY, categories=Categories(("x", "y"))),
        Column("many", Kind.INTEGER, bounds=Bounds(0, 10**9)),
    )
)
LONG = Schema(
    (
        Column("session", Kind.INTEGER),
        Column("event", Kind.CATEGORY, categories=Categories((10, 20))),
        Column("step", Kind.REAL),
    ),
    Unit.of("session", "session"),
)


def test_the_public_facts_come_from_the_schema_alone():
    assert domain_of(WIDE).tokens == ("a", "b")
    assert domain_of(WIDE, SequenceLayout("seq", label="kind", longest=2)).longest == 2
    assert domain_of(WIDE, SequenceLayout("seq", label="kind")).classes == ("x", "y")
    long = domain_of(LONG, SequenceLayout("session", "event", "step", longest=7))
    assert (long.tokens, long.longest, long.unit) == ((10, 20), 7, LONG.unit)
    assert domain_of(log_sequences_schema(), SequenceLayout("seq", label="label")).classes == (0, 1)
    assert domain_of(datasets.schema("hdfs")).size == 28


@pytest.mark.parametrize(
    ("schema", "layout", "error", "says"),
    [
        (WIDE, SequenceLayout("kind"), NotPublicError, "has no tokens"),
        (WIDE, SequenceLayout("seq", label="seq"), NotPublicError, "no categories"),
        (WIDE, SequenceLayout("seq", label="many"), SchemaError, "too many values"),
        (WIDE, SequenceLayout("sq"), SchemaError, "did you mean 'seq'"),
        (LONG, None, SchemaError, "declares no column of sequences"),
        (LONG, SequenceLayout("session", "step", "step", longest=3), NotPublicError, "no categories"),
        (
            LONG.with_unit(Unit()),
            SequenceLayout("session", "event", "step", longest=3),
            SchemaError,
            "declare the unit",
        ),
        (LONG, SequenceLayout("session", "event", "event", longest=3), SchemaError, "order symbols by"),
    ],
)
def test_what_is_not_public_is_refused_by_name(schema, layout, error, says):
    with pytest.raises(error, match=says):
        domain_of(schema, layout)


def test_a_description_tells_the_public_tokens():
    told = read(pa.table({"seq": ["a"], "kind": ["x"], "many": [1]}), WIDE).describe().to_pylist()[0]
    assert (told["values"], told["provenance"]) == ("up to 3 of a, b", "public")


def test_learned_tokens_are_not_public():
    learned = Column("seq", Kind.TEXT, sequence=Symbols(("a",), 3, provenance="learned"))
    with pytest.raises(NotPublicError, match="tokens of column 'seq' were learned"):
        domain_of(Schema((learned,)))


@pytest.mark.parametrize("given", [{"token": "event"}, {"order": "step"}, {"token": "event", "order": "step"}])
def test_half_a_layout_is_refused(given):
    with pytest.raises(ParameterError):
        SequenceLayout("session", **given)


def test_a_million_codes_come_in_pieces_and_whole():
    rows = 120_000  # more than one piece of an answer
    events = [10, 20, 30] * (rows // 3)
    given = {
        "session": [place // 4 for place in range(rows)],
        "event": events,
        "step": [-place for place in range(rows)],
    }
    found = read_sequences(read(pa.table(given), LONG), SequenceLayout("session", "event", "step", longest=3))
    wanted = [tuple(each for each in events[at : at + 4][::-1] if each != 30)[:3] for at in range(0, rows, 4)]
    assert list(found) == wanted
    assert found.owners.tolist() == list(range(rows // 4))


def test_adding_a_sequence_changes_no_other():
    cells = ["a,b", "b,b,b,b", "", "c"]
    before = list(read_sequences(read(pa.table({"seq": cells}), Schema(WIDE.columns[:1]))))
    after = list(read_sequences(read(pa.table({"seq": [*cells, "b,a"]}), Schema(WIDE.columns[:1]))))
    assert before == [("a", "b"), ("b", "b", "b"), (), ()]
    assert after == [*before, ("b", "a")]


def test_nothing_to_read_is_no_error():
    nothing = pa.table({"seq": pa.array([], pa.string()), "block_id": pa.array([], pa.string())})
    schema = log_sequences_schema().select(("seq", "block_id"))
    assert len(read_sequences(read(nothing, schema))) == 0


def test_invented_logs_carry_their_declaration():
    made = log_sequences(50, seed=3)
    found = read_sequences(read(made, log_sequences_schema()), SequenceLayout("seq", label="label"))
    assert found.to_texts() == made.column("seq").to_pylist()
    assert found.classes == made.column("label").to_pylist()
    assert len(set(found.owners.tolist())) == 50
