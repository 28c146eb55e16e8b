"""Identifiers: pseudonyms, tokens, redaction; nothing of the original is in the bytes of the output."""

import hashlib
import hmac
import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from ziggurat.anonymize import (
    Among,
    Drop,
    KeyedHash,
    PlainHash,
    Redact,
    SuppressCells,
    Tokens,
    Vault,
    mask,
    mask_batches,
    new_secret,
)
from ziggurat.anonymize.masking._formats import format_sizes, guessing_time
from ziggurat.anonymize.masking._identifiers import collision_bound
from ziggurat.anonymize.masking._tokens import _tokens, format_of
from ziggurat.errors import DataError, ParameterError, ZigguratError
from ziggurat.randomness import secure, seeded

SECRET = b"a secret of thirty-two bytes ...."
SALT = b"release 1"
TEXTS = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12), max_size=30)


def numbers(n: int) -> pa.Table:
    return pa.table({"ssn": [f"{(i * 7919) % 1000:03d}-{i % 97:02d}-{(i * 31) % 9973:04d}" for i in range(n)]})


def test_a_keyed_hash_is_the_hmac_of_salt_and_value():
    shown = mask(pa.table({"x": ["Zoë"]}), {"x": KeyedHash(SECRET, SALT, 64)}).table["x"][0].as_py()
    message = bytes([len(SALT)]) + SALT + "Zoë".encode()
    assert shown == hmac.new(SECRET, message, hashlib.sha256).hexdigest()


@given(TEXTS)
@settings(max_examples=40)
def test_keyed_hashes_are_injective_and_consistent(texts):
    shown = mask(pa.table({"x": pa.array(texts, pa.string())}), {"x": KeyedHash(SECRET, SALT)}).table["x"].to_pylist()
    assert len(set(zip(texts, shown, strict=True))) == len(set(texts)) == len(set(shown))


def test_a_fresh_salt_makes_releases_unlinkable_and_is_recorded():
    first, second = (mask(numbers(5), {"ssn": KeyedHash(SECRET)}) for _ in range(2))
    assert not set(first.table["ssn"].to_pylist()) & set(second.table["ssn"].to_pylist())
    again = KeyedHash(SECRET, bytes.fromhex(first.records[0].parameters["salt"]))
    assert mask(numbers(5), {"ssn": again}).table == first.table


def test_the_secret_is_in_no_repr_record_or_error():
    technique = KeyedHash("correct horse battery staple")
    said = repr(technique) + json.dumps(mask(numbers(3), {"ssn": technique}).to_dict())
    assert "horse" not in said
    with pytest.raises(ParameterError, match="16 bytes") as caught:
        KeyedHash("horse")
    assert "horse" not in str(caught.value)
    assert len(new_secret()) == 32
    assert new_secret() != new_secret()


def test_the_collision_bound_is_stated_and_met():
    record = mask(numbers(1000), {"ssn": KeyedHash(SECRET, length=16)}).to_dict()["techniques"][0]
    distinct = len(set(numbers(1000)["ssn"].to_pylist()))
    assert record["stated"]["collision_probability_at_most"] == pytest.approx(distinct * (distinct - 1) / 2 / 16**16)
    assert collision_bound(0, 8) == collision_bound(1, 8) == 0
    assert collision_bound(10**9, 8) == 1


def test_pseudonyms_that_coincide_are_refused():
    many = pa.table({"x": [str(i) for i in range(200_000)]})  # at 32 bits 99% likely to hold a collision; salt fixed
    with pytest.raises(DataError, match="share a hash"):
        mask(many, {"x": KeyedHash(SECRET, SALT, 8)})


def test_a_plain_hash_of_few_possible_values_is_refused_with_the_time_to_guess_them():
    with pytest.raises(
        ParameterError, match=r"1,000,000,000 possible values.* in \d[\d,]* (minutes?|hours?)"
    ) as caught:
        mask(numbers(500), {"ssn": PlainHash(accept_guessing=True)})
    assert not any(cell in str(caught.value) for cell in numbers(500)["ssn"].to_pylist())


def test_a_plain_hash_of_random_values_needs_a_word():
    uuids = pa.table({"x": [secure().words(2).tobytes().hex() for _ in range(50)]})
    with pytest.raises(ParameterError, match="accept_guessing"):
        mask(uuids, {"x": PlainHash()})
    shown = mask(uuids, {"x": PlainHash(accept_guessing=True)}).table["x"].to_pylist()
    assert shown[0] == hashlib.sha256(uuids["x"][0].as_py().encode()).hexdigest()


def test_one_guessable_cell_among_random_ones_is_enough_to_refuse():
    mixed = pa.table({"x": [*(secure().words(2).tobytes().hex() for _ in range(50)), "unknown"]})
    with pytest.raises(ParameterError, match="try them all"):
        mask(mixed, {"x": PlainHash(accept_guessing=True)})


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        (["12-3", "45-6"], [1000]),
        (["beef", "1234"], [16**4]),
        (["a1", "Z9"], [32 * 10 - 6 * 10]),
        (["", "7"], [1, 10]),
        (["ab", "a-"], [6 * 6, 6]),
    ],
)
def test_a_format_has_as_many_values_as_its_classes_allow(values, sizes):
    assert sorted(format_sizes(pa.array(values))) == sorted(sizes)


@pytest.mark.parametrize(
    ("values", "said"),
    [(1, "less than a second"), (10**9, "17 minutes"), (10**12, "12 days"), (10**15, "32 years")],
)
def test_guessing_times_read_as_people_say_them(values, said):
    assert guessing_time(values, 10**6) == said


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    (tmp_path / "secrets").mkdir()
    return Vault(tmp_path / "secrets" / "v.vault")


@given(st.lists(st.from_regex(r"[A-Z]{2}[a-z]{3}-[0-9]{4}", fullmatch=True), max_size=40))
@settings(max_examples=25)
def test_tokens_keep_the_format_and_never_coincide(tmp_path_factory, texts):
    vault = Vault(tmp_path_factory.mktemp("v") / "v.vault")
    shown = mask(pa.table({"x": pa.array(texts, pa.string())}), {"x": Tokens(vault)}).table["x"].to_pylist()
    assert len(set(zip(texts, shown, strict=True))) == len(set(texts)) == len(set(shown))
    assert all(re.fullmatch(r"[A-Z]{2}[a-z]{3}-[0-9]{4}", token) for token in shown)
    assert not set(shown) & set(texts)


def test_letters_of_any_alphabet_become_letters_of_their_case():
    assert format_of("Ärö-９x 漢!") == "Aaa-0a a!"


def test_tokens_stay_the_same_across_releases_and_lead_back(vault):
    table = numbers(200)
    first = mask(table, {"ssn": Tokens(vault)}).table["ssn"]
    again = mask(table.slice(50), {"ssn": Tokens(Vault(vault.path))})
    assert again.table["ssn"].to_pylist() == first.slice(50).to_pylist()
    assert again.records[0].tally.counts == {"tokens_drawn": 0}
    assert vault.reveal([None, *first.to_pylist()], "ssn") == [None, *table["ssn"].to_pylist()]


def test_columns_of_one_domain_share_tokens_and_others_do_not(vault):
    table = pa.table({"a": ["12345678"], "b": [12345678], "c": ["12345678"]})
    shared = Tokens(vault, domain="person")
    row = mask(table, {"a": shared, "b": shared, "c": Tokens(vault)}).table.to_pylist()[0]
    assert row["a"] == row["b"] != row["c"]


def test_a_format_with_too_few_values_is_refused_and_leaves_the_vault_alone(vault):
    with pytest.raises(DataError, match="only 10 possible values"):
        mask(pa.table({"x": ["1", "2", "3"]}), {"x": Tokens(vault)})
    assert vault.count("x") == 0
    mask(pa.table({"x": ["1", "2"]}), {"x": Tokens(vault)})
    with pytest.raises(DataError, match="only 10 possible values"):
        mask(pa.table({"x": ["4"]}), {"x": Tokens(vault)})


def test_a_crowded_format_still_gives_every_value_a_token_of_its_own(vault):
    crowded = pa.table({"x": [f"{i:03d}" for i in range(250)]})  # 1,000 possible values, a quarter of them taken
    shown = mask(crowded, {"x": Tokens(vault)}).table["x"].to_pylist()
    assert len(set(shown)) == 250
    assert not set(shown) & set(crowded["x"].to_pylist())


def test_every_free_token_is_as_likely_as_any_other(tmp_path):
    source, counts = seeded("tokens"), dict.fromkeys("023456789", 0)  # one original, so nine free digits
    with Vault(tmp_path / "v").changing("seeded") as drawing:
        for domain in range(2000):
            tokens, _ = _tokens(drawing, str(domain), ["1"], "x", source)
            counts[tokens["1"]] += 1
    expected = 2000 / 9
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 45  # 8 df: 1 in 3 million


def test_a_vault_is_its_owners_alone_and_no_other_file_is_taken_for_one(vault, tmp_path):
    assert vault.path.stat().st_mode & 0o777 == 0o600
    vault.path.chmod(0o644)
    with pytest.raises(DataError, match="chmod 600"):
        Vault(vault.path)
    other = tmp_path / "other"
    other.write_text("not a vault at all, but a text of some length")
    other.chmod(0o600)
    with pytest.raises(DataError, match="vault"):
        Vault(other)
    with pytest.raises(DataError, match="could not be made"):
        Vault(tmp_path / "nowhere" / "v")


def test_rehearsed_tokens_never_mix_with_released_ones(vault):
    rehearsed = mask(numbers(3), {"ssn": Tokens(vault)}, source=seeded(1))
    assert rehearsed.rehearsal
    with pytest.raises(ParameterError, match="rehearsals"):
        mask(numbers(3), {"ssn": Tokens(vault)})


def test_an_unknown_token_is_counted_not_shown(vault):
    with pytest.raises(DataError, match="1 of these tokens was not given") as caught:
        vault.reveal(["987-65-4321"], "ssn")
    assert "987" not in str(caught.value)


def test_a_table_is_not_saved_beside_its_vault(vault, tmp_path):
    masked = mask(numbers(3), {"ssn": Tokens(vault)})
    with pytest.raises(ParameterError, match="another folder"):
        masked.save(vault.path.parent / "out.parquet")
    masked.save(tmp_path / "out.parquet")
    assert json.loads((tmp_path / "out.parquet.mask.json").read_text())["promise"] == "unbounded"


def saved_bytes(masked, folder: Path) -> bytes:
    """All that was saved as CSV and as Parquet, the latter also without the compression that could hide a word."""
    folder.mkdir()
    for suffix in ("csv", "parquet"):
        masked.save(folder / f"out.{suffix}")
    parquet.write_table(masked.table, folder / "bare.parquet", compression="none", use_dictionary=False)
    return b"".join(file.read_bytes() for file in folder.iterdir())


def test_no_original_value_is_in_the_bytes_of_what_was_saved(vault, tmp_path):
    names = [f"Person{i:05d}x" for i in range(300)]
    table = pa.table({"name": names, "ssn": numbers(300)["ssn"], "mail": names, "key": names, "n": range(300)})
    hidden = {"name": Redact("-"), "ssn": KeyedHash(SECRET), "mail": Drop(), "key": Tokens(vault)}
    written = saved_bytes(mask(table, hidden), tmp_path / "masked")
    assert not any(original.encode() in written for original in (*names, *table["ssn"].to_pylist()))
    control = saved_bytes(mask(table, {**hidden, "key": SuppressCells(Among(["nobody"]))}), tmp_path / "control")
    assert all(name.encode() in control for name in names)  # the search finds what is there


def test_dictionaries_keep_no_word_of_what_was_redacted(tmp_path):
    table = pa.table({"x": pa.array(["Alice", "Bob", None]).dictionary_encode()})
    masked = mask(table, {"x": Redact("*")})
    assert masked.table["x"].to_pylist() == ["*", "*", None]
    masked.save(tmp_path / "x.parquet")
    assert b"Alice" not in (tmp_path / "x.parquet").read_bytes()


@pytest.mark.parametrize("make", [Redact, lambda: KeyedHash(SECRET), Drop, lambda: PlainHash(accept_guessing=True)])
@pytest.mark.parametrize("cells", [[], [None], [None, None]])
def test_missing_cells_stay_missing_and_empty_tables_pass(make, cells):
    for type_ in (pa.string(), pa.int64(), pa.null()):
        masked = mask(pa.table({"x": pa.array(cells, type_), "y": [1] * len(cells)}), {"x": make()})
        assert masked.records[0].share == 0
        assert masked.table.num_rows == len(cells)
        assert "x" not in masked.table.column_names or masked.table["x"].null_count == len(cells)


def test_reals_are_refused_as_identifiers():
    with pytest.raises(DataError, match="reals"):
        mask(pa.table({"x": [1.0]}), {"x": KeyedHash(SECRET)})


def test_batches_give_what_the_whole_table_gives(tmp_path):
    table, vault = numbers(1000), Vault(tmp_path / "v")
    for technique in (KeyedHash(SECRET), Tokens(vault), Redact("x")):
        batches = mask_batches(table.to_reader(max_chunksize=64), {"ssn": technique})
        made = pa.Table.from_batches(list(batches), batches.schema)
        whole = mask(table, {"ssn": technique})
        assert made == whole.table
        assert batches.records[0].tally.cells == 1000


@given(TEXTS)
@settings(max_examples=25)
def test_no_error_about_identifiers_shows_a_cell(tmp_path_factory, texts):
    cells = [*texts, "planted 7919"]
    table = pa.table({"c": pa.array(cells, pa.string())})
    vault = Vault(tmp_path_factory.mktemp("v") / "v.vault")
    raised = []
    for technique in (PlainHash(), Tokens(vault), KeyedHash(SECRET)):
        try:
            mask(table, {"c": technique})
        except ZigguratError as error:
            raised.append(error)
    foreign = [cell for cell in cells if len(cell) > 4 and not cell.isascii()]  # others may be words of our sentences
    assert not any(cell in str(error) for cell in [*foreign, cells[-1]] for error in raised)
    assert all(error.__cause__ is None for error in raised)
