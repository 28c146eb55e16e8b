import datetime
import hashlib
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.data.datasets import content_digest
from ziggurat.data.datasets._canonical import canonical
from ziggurat.errors import DataError

texts = st.lists(st.none() | st.text(max_size=5), max_size=20)


def test_digest_is_the_one_written_out_by_hand():
    table = pa.table({"n": pa.array([1, None], pa.int16()), "t": pa.array(["é", ""], pa.string())})
    expected = hashlib.sha256(
        b"ziggurat table 1\0" + b"2\0" + b"2\0"
        b"n\0int16\0" + bytes([0b01000000]) + struct.pack("<hh", 1, 0)
        + b"t\0string\0" + bytes([0]) + struct.pack("<qq", 2, 0) + "é".encode()
    )  # fmt: skip
    assert content_digest(table) == expected.hexdigest()


@given(texts, st.integers(0, 20))
def test_digest_ignores_chunks_offsets_and_dictionaries(values, cut):
    whole = pa.table({"x": pa.array(values, pa.string())})
    chunked = pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])
    padded = pa.table({"x": pa.array(["pad", *values, "pad"], pa.large_string())}).slice(1, len(values))
    coded = pa.table({"x": whole["x"].dictionary_encode()})
    assert len({content_digest(table) for table in (whole, chunked, padded, coded)}) == 1


@given(texts, texts)
def test_digest_tells_different_columns_apart(left, right):
    tables = [pa.table({"x": pa.array(values, pa.string())}) for values in (left, right)]
    assert (content_digest(tables[0]) == content_digest(tables[1])) == (left == right)


def test_digest_sees_names_types_order_and_missing_values():
    tables = [
        pa.table({"x": pa.array([0, 1], pa.int32())}),
        pa.table({"y": pa.array([0, 1], pa.int32())}),
        pa.table({"x": pa.array([0, 1], pa.int64())}),
        pa.table({"x": pa.array([1, 0], pa.int32())}),
        pa.table({"x": pa.array([None, 1], pa.int32())}),
        pa.table({"x": pa.array([False, True])}),
        pa.table({"x": pa.array([b"0", b"1"], pa.binary(1))}),
        pa.table({"x": pa.array([datetime.date(1970, 1, 1), datetime.date(1970, 1, 2)])}),
    ]
    assert len({content_digest(table) for table in tables}) == len(tables)


def test_digest_refuses_types_it_has_no_form_for():
    with pytest.raises(DataError, match="has no digest"):
        content_digest(pa.table({"x": [[1], [2]]}))


def test_canonical_form_drops_metadata_and_dictionaries():
    table = pa.table({"x": pa.array(["a", "b"]).dictionary_encode()}).replace_schema_metadata({"pandas": "{}"})
    plain = canonical(table)
    assert plain.schema.metadata is None
    assert plain.schema.field("x").type == pa.string()
