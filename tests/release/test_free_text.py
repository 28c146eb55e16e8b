"""A secret planted in free text is in nothing that leaves, unless somebody kept its column by name and for a reason."""

import json

import numpy as np
import pyarrow as pa
import pytest

from ziggurat import read
from ziggurat.anonymize import Drop, KAnonymity, Keep, LDiversity, anonymize, mask
from ziggurat.data import Schema
from ziggurat.errors import NotPublicError, ParameterError
from ziggurat.release import candidates, release_anonymized, release_masked, release_synthetic
from ziggurat.synthesize import AIM, MST, Synthesizer, synthesize

SECRET = "Rumpelstilzchen"
ROWS = 120


def table(kind="text", role="insensitive"):
    draw = np.random.default_rng(5)
    rows = pa.table({
        "age": draw.integers(20, 60, ROWS),
        "sex": draw.choice(["f", "m"], ROWS),
        "ward": draw.choice(["north", "south", "east"], ROWS),
        "note": [f"spoke to {SECRET} number {i} about it" if i % 3 == 0 else "o.B." for i in range(ROWS)],
    })  # fmt: skip
    columns = {
        "age": {"kind": "integer", "role": "quasi-identifier", "bounds": [0, 99]},
        "sex": {"kind": "category", "role": "quasi-identifier", "categories": ["f", "m"]},
        "ward": {"kind": "category", "role": "sensitive", "categories": ["north", "south", "east"]},
        "note": {"kind": kind, "role": role},
    }
    return read(rows, Schema.from_dict({"columns": columns}))


def holds_secret(folder):
    return any(SECRET.encode() in file.read_bytes() for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("recoding", ["global", "local", "mondrian"])
@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_an_anonymised_table_shows_no_free_text_and_says_so(tmp_path, recoding, role):
    made = anonymize(table(role=role), KAnonymity(3), recoding=recoding, suppression="0.5")
    assert "note" not in made.table().column_names
    release = release_anonymized(made, tmp_path / "out.csv", keep={"ward": "a test"})
    assert not holds_secret(tmp_path)
    assert release.dropped == ("note",)
    assert release.to_dict()["details"]["free_text"] == ["note"]


def test_negative_control_an_anonymised_table_shows_what_was_kept_by_name_and_for_a_reason(tmp_path):
    made = anonymize(table(), KAnonymity(3), suppression="0.5")
    with pytest.raises(ParameterError, match="--codes note"):
        release_anonymized(made, tmp_path / "no.csv", keep=["note", "ward"])
    release = release_anonymized(made, tmp_path / "out.csv", keep={"note": "a test", "ward": "a test"})
    assert holds_secret(tmp_path)
    assert release.kept["note"] == "a test"
    assert "free_text" not in release.to_dict()["details"]


def test_a_model_that_names_free_text_is_refused():
    with pytest.raises(ParameterError, match="mask it first"):
        anonymize(table(), [KAnonymity(2), LDiversity("note", 2)])


def test_a_masked_table_shows_no_free_text(tmp_path):
    release_masked(mask(table(), {"ward": Drop()}), tmp_path / "out.csv")
    assert not holds_secret(tmp_path)


def test_negative_control_a_masked_table_shows_what_was_kept(tmp_path):
    release_masked(mask(table(), {"note": Keep("a test")}), tmp_path / "out.csv")
    assert holds_secret(tmp_path)


@pytest.mark.parametrize("method", ["cart", "forest", "linear", "network", "sample"])
def test_synthetic_copies_show_no_free_text_and_say_so(tmp_path, method):
    release = release_synthetic(table(), tmp_path / "out.csv", Synthesizer(method, random_state=1))
    assert not holds_secret(tmp_path)
    assert release.left_out == ("note",)
    assert release.to_dict()["details"]["free_text"] == ["note"]


def test_partially_synthetic_copies_show_no_free_text(tmp_path):
    maker = Synthesizer("cart", partial="age > 40", random_state=1)
    release_synthetic(table(), tmp_path / "out.csv", maker)
    maker = Synthesizer("cart", random_state=1).fit(table())
    maker.save(tmp_path / "learned.zip")
    assert not holds_secret(tmp_path)


def test_negative_control_synthetic_copies_repeat_what_was_declared_a_category(tmp_path):
    release_synthetic(table("category"), tmp_path / "out.csv", Synthesizer("sample", random_state=1))
    assert holds_secret(tmp_path)


def test_what_was_learned_of_free_text_before_is_not_drawn_from():
    maker = Synthesizer("sample", random_state=1).fit(table("category"))
    with pytest.raises(ParameterError, match="learn again with --leave-out note"):
        release_synthetic(table(), "never.csv", maker)


@pytest.mark.parametrize(
    "settings",
    [{"order": ["note"]}, {"methods": {"note": "sample"}}, {"predictors": {"note": ["age"]}}, {"known": ["note"]}],
)
def test_free_text_that_a_synthesiser_is_asked_for_by_name_is_refused(settings):
    with pytest.raises(ParameterError, match=r"--leave-out note.*--text note.*--codes note") as caught:
        synthesize(table(), random_state=1, **settings)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("model", [AIM, MST])
def test_methods_with_a_guarantee_refuse_text_before_a_row_is_read(model):
    with pytest.raises(NotPublicError, match=r"--leave-out note.*--text or --codes note"):
        model(epsilon=1, random_state=1).fit(table())
    drawn = model(epsilon=1, columns=["age", "sex"], random_state=1).fit(table()).sample(20, 1)
    assert SECRET not in str(drawn.to_pylist())


def test_a_comparison_of_candidates_shows_no_free_text():
    found = candidates(table(), {"cart": Synthesizer("cart", random_state=1)})
    assert SECRET not in json.dumps(found.to_dict(), default=str)
