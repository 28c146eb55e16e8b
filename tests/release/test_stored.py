"""What is stored comes back as it was, long or short."""

from hypothesis import given
from hypothesis import strategies as st

from ziggurat.release._cited import pack, unpack

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=5), parts, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["groups", "notes"]), VALUES), st.integers(0, 20_000))
def test_an_answer_is_unpacked_as_it_was_packed(answer, length):
    whole = {**answer, "filling": "ab" * length}
    assert unpack(pack(whole)) == whole


def test_a_long_answer_takes_less_room_than_its_text():
    assert len(str(pack({"filling": list(range(20_000))}))) < 60_000
