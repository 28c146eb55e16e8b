"""Whatever is done to a bundle after it was signed is found and named."""

import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import DataError
from ziggurat.ledger import generate_key, load_private_key, public_hex
from ziggurat.release.bundle import BundleVerification, Contents, hand_out, verify_bundle, write_bundle
from ziggurat.release.bundle import _archive as archive
from ziggurat.release.bundle._manifest import Manifest, by_line

Make = Callable[..., Contents]

REHEARSED = {"rehearsal": True, "randomness": "seeded"}
FILES = [
    "public/answer.csv",
    "public/certificate.json",
    "public/index.html",
    "public/manifest.json",
    "steward/evidence.json",
    "steward/manifest.json",
    "steward/report.html",
]


def named(found: BundleVerification) -> set[str]:
    return {each.file for each in found.problems}


def flips(data: bytes, every: int = 1) -> Iterator[tuple[int, bytes]]:
    """Flip a bit of each byte; at every second one that which makes capitals of small letters."""
    for place in range(0, len(data), every):
        yield place, data[:place] + bytes([data[place] ^ (0x20 if place % 2 else 1)]) + data[place + 1 :]


@pytest.mark.parametrize("name", FILES)
def test_one_flipped_byte_in_any_file_is_found_and_the_file_is_named(bundle: Path, name: str) -> None:
    """Every byte of small files, and one in 43 of pages."""
    file = bundle / name
    whole = file.read_bytes()
    for _, data in flips(whole, 43 if name.endswith(".html") else 1):
        file.write_bytes(data)
        found = verify_bundle(bundle)
        assert not found.sound
        assert name in named(found)
    file.write_bytes(whole)
    assert verify_bundle(bundle).sound


def test_one_flipped_byte_of_a_public_part_that_is_alone_is_found(bundle: Path) -> None:
    """There the signature is the only witness of the manifest."""
    file = bundle / "public" / "manifest.json"
    for _, data in flips(file.read_bytes()):
        file.write_bytes(data)
        assert not verify_bundle(bundle / "public").sound


def test_one_flipped_byte_of_the_certificate_names_the_field(bundle: Path) -> None:
    file = bundle / "public" / "certificate.json"
    whole = file.read_bytes()
    lines = whole.split(b"\n")
    fields = [None, *(json.loads(b"{" + line.removesuffix(b",") + b"}") for line in lines[1:-2]), None]
    starts = [sum(len(each) + 1 for each in lines[:i]) for i in range(len(lines))]
    for place, data in flips(whole):
        line = max(i for i, start in enumerate(starts) if start <= place)
        file.write_bytes(data)
        problems = [each for each in verify_bundle(bundle).problems if each.file == "public/certificate.json"]
        last = place == starts[line] + len(lines[line]) - (lines[line].endswith(b","))  # a comma, or the end of a line
        if line < len(fields) and fields[line] and not last and place < starts[line] + len(lines[line]):
            assert next(iter(fields[line])) in {each.field for each in problems}, (place, problems)
        assert problems


def test_any_flipped_byte_of_a_zip_is_found_and_the_file_is_named(zipped: Path) -> None:
    whole = zipped.read_bytes()
    members, wrong = archive.read_archive(zipped)
    assert wrong == []
    laid = list(archive.pieces(members))
    for piece in laid:
        every = 1 if isinstance(piece.data, bytes) else 311
        for place in range(piece.start, piece.end, every):
            zipped.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            found = verify_bundle(zipped)
            assert not found.sound
            assert not piece.name or piece.name in named(found), (place, piece.name, found.problems)
    zipped.write_bytes(whole)
    assert verify_bundle(zipped).sound


def rewritten(folder: Path, part: str, key: Path | None, **changed: Any) -> None:
    """Write a manifest anew, signed by whomever; `changed` are its fields."""
    file = folder / part / "manifest.json"
    found = json.loads(file.read_text()) | changed
    found["public_key"] = None if key is None else public_hex(load_private_key(key).public_key())
    found.pop("signature")
    message = b"ziggurat-bundle-1\n" + json.dumps(found, sort_keys=True, separators=(",", ":")).encode()
    signature = None if key is None else load_private_key(key).sign(message).hex()
    file.write_bytes(by_line(found | {"signature": signature}))


def test_whoever_signs_anew_in_the_same_way_is_taken_for_a_signer(bundle: Path, key: Path) -> None:
    """A control of the forger above: with the right key and nothing changed its manifest holds."""
    rewritten(bundle, "public", key)
    assert verify_bundle(bundle).sound


def _edit(bundle: Path, name: str, old: str, new: str) -> None:
    text = (bundle / name).read_text()
    assert old in text
    (bundle / name).write_text(text.replace(old, new))


def _rename(bundle: Path, name: str, other: str) -> None:
    (bundle / name).rename(bundle / other)


def _link(bundle: Path) -> None:
    shutil.move(bundle / "public" / "answer.csv", bundle.parent / "moved.csv")
    (bundle / "public" / "answer.csv").symlink_to(bundle.parent / "moved.csv")


def _linked_part(bundle: Path) -> None:
    shutil.move(bundle / "public", bundle.parent / "moved")
    (bundle / "public").symlink_to(bundle.parent / "moved")


def _twice(bundle: Path) -> None:
    _edit(bundle, "public/certificate.json", '{\n"analyst"', '{\n"analyst":"eve",\n"analyst"')


def _pretty(bundle: Path) -> None:
    file = bundle / "public" / "certificate.json"
    file.write_text(json.dumps(json.loads(file.read_text()), indent=2))


def _pretty_manifest(bundle: Path) -> None:
    file = bundle / "public" / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()), indent=2, sort_keys=True))


def _manifest_twice(bundle: Path) -> None:
    _edit(bundle, "public/manifest.json", '"rehearsal":false', '"rehearsal":true,\n"rehearsal":false')


ATTACKS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a file is added": (lambda b: (b / "public" / "extra.csv").write_text("x"), r"public/extra\.csv was added"),
    "a file is added above": (lambda b: (b / "note.txt").write_text("x"), r"note\.txt was added"),
    "an empty folder is added": (lambda b: (b / "public" / "more").mkdir(), r"public/more was added"),
    "a file is removed": (lambda b: (b / "public" / "answer.csv").unlink(), r"public/answer\.csv is missing"),
    "the public part is removed": (lambda b: shutil.rmtree(b / "public"), "public is missing"),
    "a manifest is removed": (lambda b: (b / "public" / "manifest.json").unlink(), r"manifest\.json is missing"),
    "a file is renamed": (lambda b: _rename(b, "public/answer.csv", "public/other.csv"), r"other\.csv was added"),
    "a name is capitalised": (
        lambda b: _rename(b, "public/answer.csv", "public/Answer.csv"),
        r"public/Answer\.csv was added: the manifest does not name it, but 'answer\.csv'",
    ),
    "a file becomes a link": (_link, r"public/answer\.csv is a link"),
    "a part becomes a link": (_linked_part, "public was added"),
    "a pipe is put there": (lambda b: os.mkfifo(b / "public" / "pipe"), "public/pipe is no plain file"),
    "bytes are appended": (
        lambda b: (b / "public" / "answer.csv").open("ab").write(b"x"),
        r"answer\.csv was altered: it has 38 bytes instead of 37",
    ),
    "a promise is edited": (
        lambda b: _edit(b, "public/certificate.json", '"epsilon":"1/5"', '"epsilon":"1/9"'),
        r"certificate\.json, field 'promise', was altered",
    ),
    "a field is added": (
        lambda b: _edit(b, "public/certificate.json", '"analyst"', '"aaa":1,\n"analyst"'),
        "field 'aaa', was added",
    ),
    "a field comes twice": (_twice, r"public/certificate\.json was altered outside all fields: it holds a name twice"),
    "a certificate is written prettily": (
        _pretty,
        r"certificate\.json was altered outside all fields: it is not written in canonical form",
    ),
    "a manifest is written prettily": (_pretty_manifest, r"manifest\.json is not written in canonical form"),
    "a field of the manifest comes twice": (_manifest_twice, r"manifest\.json holds a name twice"),
    "a hash is edited": (
        lambda b: _edit(b, "public/manifest.json", '"sha256":"', '"sha256":"0000000000000000'),
        r"manifest\.json holds something that is not a SHA-256",
    ),
    "a length is edited": (
        lambda b: _edit(b, "public/manifest.json", '"bytes":37', '"bytes":38'),
        r"manifest\.json, field 'signature', was altered: its signature does not hold",
    ),
    "a manifest is far too long": (
        lambda b: os.truncate(b / "public" / "manifest.json", 1 << 40),
        r"manifest\.json is too long",
    ),
    "a page is far too long": (
        lambda b: os.truncate(b / "public" / "index.html", 1 << 40),
        r"index\.html was altered: it has 1,099,511,627,776 bytes",
    ),
    "the manifests are exchanged": (
        lambda b: shutil.copy(b / "steward" / "manifest.json", b / "public" / "manifest.json"),
        r"public/manifest\.json is the one of the steward part",
    ),
    "a signature is taken off": (lambda b: rewritten(b, "public", None), r"field 'signature', is not signed"),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_found_and_named(bundle: Path, public_key: Path, attack: str) -> None:
    change, words = ATTACKS[attack]
    change(bundle)
    found = verify_bundle(bundle, public_key)
    assert not found.sound
    assert re.search(words, "\n".join(map(str, found.problems))), found.problems


def test_somebody_elses_signature_is_found_where_a_key_is_given(
    tmp_path: Path, bundle: Path, public_key: Path, contents: Make
) -> None:
    generate_key(tmp_path / "eve")
    for part in ("public", "steward"):
        rewritten(bundle, part, tmp_path / "eve")
    digest = sha256((bundle / "public" / "manifest.json").read_bytes()).hexdigest()
    rewritten(bundle, "steward", tmp_path / "eve", public=digest)
    unchecked = verify_bundle(bundle)
    assert unchecked.sound
    assert not unchecked.signer_checked
    assert any("Nobody checked whose key" in each for each in unchecked.sentences())
    found = verify_bundle(bundle, public_key)
    assert not found.sound
    assert {each.field for each in found.problems} == {"public_key"}


def test_parts_of_two_bundles_do_not_belong_together(
    tmp_path: Path, bundle: Path, contents: Make, key: Path, public_key: Path
) -> None:
    other = write_bundle(tmp_path / "other", contents(analyst="bob"), key)
    shutil.rmtree(bundle / "public")
    shutil.copytree(other / "public", bundle / "public")
    found = verify_bundle(bundle, public_key)
    assert [str(each) for each in found.problems] == [
        "steward/manifest.json, field 'public', belongs to another public part, or that was altered."
    ]
    assert verify_bundle(bundle / "public", public_key).sound


def test_a_manifest_of_another_bundle_names_what_differs(
    tmp_path: Path, bundle: Path, contents: Make, key: Path
) -> None:
    other = write_bundle(tmp_path / "other", contents(analyst="bob"), key)
    shutil.copy(other / "public" / "manifest.json", bundle / "public" / "manifest.json")
    found = verify_bundle(bundle)
    assert ("public/certificate.json", "analyst") in {(each.file, each.field) for each in found.problems}


@pytest.mark.parametrize("name", ["../up.csv", "/etc/passwd", "a\\b", "manifest.json", ""])
def test_a_signed_manifest_that_names_other_places_is_refused(bundle: Path, key: Path, name: str) -> None:
    """Even the steward's own signature makes no other place a part of a bundle."""
    manifest = json.loads((bundle / "public" / "manifest.json").read_text())
    rewritten(bundle, "public", key, files=manifest["files"] | {name: {"sha256": "0" * 64, "bytes": 1}})
    assert any("names a file that no bundle holds" in str(each) for each in verify_bundle(bundle).problems)


def test_a_signed_certificate_that_lists_other_files_is_refused(bundle: Path, key: Path) -> None:
    manifest = json.loads((bundle / "public" / "manifest.json").read_text())
    (bundle / "public" / "more.csv").write_bytes(b"x")
    more = {"more.csv": {"sha256": sha256(b"x").hexdigest(), "bytes": 1}}
    rewritten(bundle, "public", key, files=manifest["files"] | more)
    assert ("public/certificate.json", "artefacts") in {
        (each.file, each.field) for each in verify_bundle(bundle).problems
    }


@pytest.mark.parametrize("made", [REHEARSED, {"randomness": "seeded"}, {"rehearsal": "no"}])
def test_a_rehearsal_is_never_signed(tmp_path: Path, contents: Make, key: Path, made: dict[str, Any]) -> None:
    folder = write_bundle(tmp_path / "answer", contents(**made), key)
    for part in ("public", "steward"):
        manifest = json.loads((folder / part / "manifest.json").read_text())
        assert (manifest["rehearsal"], manifest["public_key"], manifest["signature"]) == (True, None, None)
    for page in ("public/index.html", "steward/report.html"):
        assert "REHEARSAL: not to be published" in (folder / page).read_text()
    found = verify_bundle(folder)
    assert (found.sound, found.rehearsal, found.signer) == (False, True, "")
    assert found.sentences()[0].startswith("NOT A RELEASE. This is a rehearsal")
    with pytest.raises(DataError, match="not handed out"):
        hand_out(folder, tmp_path / "out")


def test_a_rehearsal_asks_for_no_key(tmp_path: Path, contents: Make) -> None:
    write_bundle(tmp_path / "answer", contents(**REHEARSED))
    assert not (tmp_path / "settings").exists()


def test_a_manifest_of_a_rehearsal_cannot_be_signed() -> None:
    manifest = Manifest("public", "2026-11-16", True, {})
    assert manifest.sign("there is no such key") is manifest


def test_a_rehearsal_that_somebody_signs_does_not_verify(
    tmp_path: Path, contents: Make, key: Path, public_key: Path
) -> None:
    folder = write_bundle(tmp_path / "answer", contents(**REHEARSED), key)
    rewritten(folder, "public", key)
    found = verify_bundle(folder / "public", public_key)
    assert not found.sound
    assert any("bears a signature although it is of a rehearsal" in str(each) for each in found.problems)


def test_a_rehearsal_passed_off_as_a_release_does_not_verify_even_with_the_stewards_signature(
    tmp_path: Path, contents: Make, key: Path, public_key: Path
) -> None:
    folder = write_bundle(tmp_path / "answer", contents(**REHEARSED), key)
    rewritten(folder, "public", key, rehearsal=False)
    found = verify_bundle(folder / "public", public_key)
    assert [(each.file, each.field) for each in found.problems] == [("certificate.json", "rehearsal")]


def test_a_certificate_edited_into_a_release_does_not_verify(tmp_path: Path, contents: Make, key: Path) -> None:
    folder = write_bundle(tmp_path / "answer", contents(**REHEARSED), key)
    _edit(folder, "public/certificate.json", '"rehearsal":true', '"rehearsal":false')
    _edit(folder, "public/certificate.json", '"randomness":"seeded"', '"randomness":"secure"')
    fields = {each.field for each in verify_bundle(folder).problems}
    assert {"rehearsal", "randomness"} <= fields


def _zip(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, data in members:
            made.writestr(name, data)
    return file.getvalue()


def _names(path: Path) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as opened:
        return [(name, opened.read(name)) for name in opened.namelist()]


ZIPS: dict[str, tuple[Callable[[Path], bytes], str]] = {
    "archived anew": (lambda z: _zip(_names(z)), "was archived anew"),
    "compressed": (lambda z: _zip(_names(z), zipfile.ZIP_DEFLATED), "compressed"),
    "a bomb": (lambda z: _zip([("public/manifest.json", b"\0" * (1 << 24))], zipfile.ZIP_DEFLATED), "compressed"),
    "a name leads upwards": (lambda z: _zip([*_names(z), ("public/../../x", b"x")]), r"public/\.\./\.\./x was added"),
    "an absolute name": (lambda z: _zip([*_names(z), ("/etc/passwd", b"x")]), "/etc/passwd was added"),
    "a third part": (lambda z: _zip([*_names(z), ("other/x", b"x")]), "other/x was added"),
    "a file at the top": (lambda z: _zip([*_names(z), ("README", b"x")]), "README was added"),
    "bytes after the end": (lambda z: z.read_bytes() + b"x", r"answer\.zip was altered at its end"),
    "bytes before the beginning": (lambda z: b"x" + z.read_bytes(), r"answer\.zip "),
    "cut off": (lambda z: z.read_bytes()[:-30], r"steward/report\.html was altered in what|answer\.zip"),
    "nearly empty": (lambda z: b"PK", r"answer\.zip ends too early"),
    "no zip at all": (lambda z: b"no zip" * 100, r"answer\.zip is not laid out"),
    "without the public part": (lambda z: _zip([each for each in _names(z) if each[0][0] == "s"]), "public is missing"),
}


@pytest.mark.parametrize("attack", ZIPS)
def test_an_attack_on_a_zip_is_found_and_named(zipped: Path, attack: str) -> None:
    change, words = ZIPS[attack]
    zipped.write_bytes(change(zipped))
    found = verify_bundle(zipped)
    assert not found.sound
    assert re.search(words, "\n".join(map(str, found.problems))), found.problems


def test_a_name_that_a_zip_holds_twice_is_named(zipped: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = _zip([*_names(zipped), ("public/answer.csv", b"forged")])
    zipped.write_bytes(data)
    assert "public/answer.csv is there twice." in map(str, verify_bundle(zipped).problems)


def test_files_that_share_the_bytes_of_a_zip_are_refused(zipped: Path) -> None:
    """So a small zip could be large inside without any compression."""
    members, _ = archive.read_archive(zipped)
    doubled = [*members, *((f"{name}.more", member) for name, member in members)]
    pieces = list(archive.pieces(members))
    directory = [each for each in archive.pieces(doubled) if isinstance(each.data, bytes)][len(doubled) : -1]
    first = directory[: len(members)]
    begins = pieces[2 * len(members)].start
    listed = b"".join(bytes(each.data) for each in first) * 2
    count = 2 * len(members)
    end = b"PK\5\6" + archive._LAST.pack(0, 0, count, count, len(listed), begins, 0)
    zipped.write_bytes(b"PK\0\0" + zipped.read_bytes()[4:begins] + listed + end)
    assert "lie over each other" in str(verify_bundle(zipped).problems[0])


def test_a_zip_that_the_format_cannot_hold_is_refused_before_it_is_written() -> None:
    huge = archive.Member(Path("absent"), 0, 1 << 32)
    with pytest.raises(DataError, match="4 GiB"):
        archive.write_archive(io.BytesIO(), {"public/huge": huge})
