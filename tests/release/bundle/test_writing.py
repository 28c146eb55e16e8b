"""A bundle is written whole or not at all, and its public part is made of what may be published alone."""

import json
import os
import signal
import stat
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.release.bundle import Contents, _writing, bundle_files, hand_out, verify_bundle, write_bundle
from ziggurat.release.bundle._members import name_problem

Make = Callable[..., Contents]

BAD_NAMES = [
    "/etc/passwd",
    "../up.csv",
    "a/../b.csv",
    "a//b.csv",
    "a\\b.csv",
    "C:x.csv",
    ".hidden",
    "dot.",
    " blank",
    "new\nline",
    "u\u0308.csv",
    "",
]


def files(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_bundle_holds_exactly_the_files_that_were_announced(bundle: Path, contents: Make) -> None:
    assert tuple(sorted(files(bundle))) == tuple(sorted(bundle_files(contents())))
    found = verify_bundle(bundle)
    assert found.sound
    assert (found.parts, found.files) == (("public", "steward"), 7)


def test_the_stewards_part_is_for_its_owner_only(bundle: Path, zipped: Path) -> None:
    assert stat.S_IMODE((bundle / "steward").stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in (bundle / "steward").iterdir())
    assert stat.S_IMODE(zipped.stat().st_mode) == 0o600


def test_nothing_measured_on_private_rows_changes_a_byte_of_the_public_part(
    tmp_path: Path, contents: Make, key: Path
) -> None:
    write_bundle(tmp_path / "one", contents(), key)
    other = contents(evidence={"facts": {"secret": 42}}, verdict={"sentence": "x"}, charts={"a": "<svg/>"})
    write_bundle(tmp_path / "two", other, key)
    assert files(tmp_path / "one" / "public") == files(tmp_path / "two" / "public")
    assert files(tmp_path / "one" / "steward") != files(tmp_path / "two" / "steward")


def test_the_public_manifest_says_nothing_about_the_stewards_part(bundle: Path) -> None:
    manifest = (bundle / "public" / "manifest.json").read_text()
    for name, data in files(bundle / "steward").items():
        assert name == "manifest.json" or name not in manifest
        assert sha256(data).hexdigest() not in manifest
    assert "steward" not in manifest


@pytest.mark.parametrize("name", ["answer", "answer.zip"])
def test_what_exists_is_refused_and_left_as_it_was(tmp_path: Path, contents: Make, key: Path, name: str) -> None:
    (tmp_path / name).mkdir() if name == "answer" else (tmp_path / name).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError, match="exists already"):
        write_bundle(tmp_path / name, contents(), key)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_dangling_link_is_something_too(tmp_path: Path, contents: Make, key: Path) -> None:
    (tmp_path / "answer").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match="exists already"):
        write_bundle(tmp_path / "answer", contents(), key)


@pytest.mark.parametrize("name", ["answer", "answer.zip"])
def test_a_failure_leaves_nothing(tmp_path: Path, contents: Make, key: Path, name: str) -> None:
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match="could not be written"):
        write_bundle(
            tmp_path / name, Contents(contents().certificate, {}, {}, {"answer.csv": tmp_path / "absent"}), key
        )
    with pytest.raises(ParameterError, match="JSON"):
        write_bundle(tmp_path / name, contents(evidence={"facts": object()}), key)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["answer", "answer.zip"])
def test_a_writer_who_is_killed_leaves_at_most_a_folder_that_nobody_else_reads(
    tmp_path: Path, contents: Make, key: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(_writing, "_put", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    made = contents()
    child = os.fork()
    if not child:
        try:
            write_bundle(tmp_path / name, made, key)
        finally:
            os._exit(1)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
    assert not (tmp_path / name).exists()
    (left,) = tmp_path.glob(f".{name}.*")
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    monkeypatch.undo()
    assert verify_bundle(write_bundle(tmp_path / name, made, key)).sound


def test_an_artefact_that_is_not_the_certified_one_is_refused(tmp_path: Path, contents: Make, key: Path) -> None:
    made = contents()
    (tmp_path / "rows.csv").write_bytes(b"others")
    with pytest.raises(DataError, match="not the one that was certified"):
        write_bundle(tmp_path / "answer", made, key)
    assert not (tmp_path / "answer").exists()


@pytest.mark.parametrize("name", [*BAD_NAMES, "index.html", "MANIFEST.JSON", "certificate.json", "manifest.json/x"])
def test_an_artefact_cannot_bear_a_name_that_leads_elsewhere(
    tmp_path: Path, contents: Make, key: Path, name: str
) -> None:
    made = contents(names=[name])
    with pytest.raises(ParameterError, match="cannot be called"):
        write_bundle(tmp_path / "answer", made, key)


@pytest.mark.parametrize("names", [("a.csv", "A.csv"), ("a", "a/b"), ("ﬁ.csv", "fi.csv")])
def test_two_artefacts_cannot_lie_in_one_place(
    tmp_path: Path, contents: Make, key: Path, names: tuple[str, str]
) -> None:
    made = contents(names=names)
    with pytest.raises(ParameterError, match="where another one does"):
        write_bundle(tmp_path / "answer", made, key)


def test_artefacts_may_lie_in_folders_and_bear_any_letters(tmp_path: Path, contents: Make, key: Path) -> None:
    names = ("copies/1.csv", "copies/2.csv", "Übersicht der Klinik.csv")
    made = contents(names=names)
    for place in ("answer", "answer.zip"):
        assert verify_bundle(write_bundle(tmp_path / place, made, key)).sound


def test_what_the_gate_stopped_is_bundled_only_with_a_decision(tmp_path: Path, contents: Make, key: Path) -> None:
    stopped = {"sentence": "Stopped.", "stopped": [{"attack": "singling out"}], "refuted": False}
    with pytest.raises(PrivacyError, match="The gate stopped"):
        write_bundle(tmp_path / "answer", contents(verdict=stopped), key)
    decided = {"decision": {"stopped": ["singling out"], "reason": "It is for the board only."}}
    with pytest.raises(PrivacyError, match="refuted"):
        write_bundle(tmp_path / "answer", contents(**decided, verdict=stopped | {"refuted": True}), key)
    write_bundle(tmp_path / "answer", contents(**decided, verdict=stopped), key)
    for page in ("public/index.html", "steward/report.html"):
        assert "It is for the board only." in (tmp_path / "answer" / page).read_text()


def test_evidence_that_is_no_number_does_not_stop_a_paid_release(tmp_path: Path, contents: Make, key: Path) -> None:
    write_bundle(tmp_path / "answer", contents(evidence={"facts": {"ratio": float("nan"), "most": float("inf")}}), key)
    found = json.loads((tmp_path / "answer" / "steward" / "evidence.json").read_text())
    assert found["evidence"]["facts"] == {"ratio": "nan", "most": "inf"}


def test_the_same_contents_give_the_same_zip_to_the_last_byte(
    tmp_path: Path, contents: Make, key: Path, zipped: Path, bundle: Path
) -> None:
    again = write_bundle(tmp_path / "again.zip", contents(), key)
    assert again.read_bytes() == zipped.read_bytes()
    with zipfile.ZipFile(zipped) as opened:  # the standard library reads it as the folder that it is
        assert opened.testzip() is None
        assert {name: opened.read(name) for name in opened.namelist()} == files(bundle)


def test_the_public_part_is_handed_out_alone_and_verifies_alone(
    tmp_path: Path, bundle: Path, zipped: Path, public_key: Path
) -> None:
    for source in (bundle, zipped):
        for place in ("out", "out.zip"):
            target = hand_out(source, tmp_path / f"{source.name}-{place}")
            found = verify_bundle(target, public_key)
            assert found.sound
            assert (found.parts, found.signer_checked) == (("public",), True)
    assert files(tmp_path / "answer-out") == {f"public/{k}": v for k, v in files(bundle / "public").items()}
    assert (tmp_path / "answer-out.zip").read_bytes() == (tmp_path / "answer.zip-out.zip").read_bytes()


def test_a_broken_bundle_is_not_handed_out(tmp_path: Path, bundle: Path) -> None:
    (bundle / "steward" / "report.html").write_text("x")
    with pytest.raises(DataError, match=r"not handed out: steward/report\.html"):
        hand_out(bundle, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("part", ["public", "steward"])
def test_each_part_verifies_by_itself(bundle: Path, public_key: Path, part: str) -> None:
    found = verify_bundle(bundle / part, public_key)
    assert found.sound
    assert found.parts == (part,)


def test_names_are_good_or_bad_by_what_every_system_makes_of_them() -> None:
    assert not any(map(name_problem, ["a.csv", "a/b/c.parquet", "Übersicht.csv", "a b-c_d.1.csv"]))
    assert all(map(name_problem, [*BAD_NAMES, "..", ".", "a/.", "x\u202etxt", "a" * 2000]))
