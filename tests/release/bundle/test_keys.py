"""The key that signs releases: made once, for its owner only, and replaced without losing what it signed."""

import re
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ziggurat.errors import DataError, LedgerUseError
from ziggurat.ledger import generate_key, load_private_key, load_public_key, public_hex
from ziggurat.release.bundle import Contents, ReleaseKey, release_key, rotate_release_key, verify_bundle, write_bundle

Make = Callable[..., Contents]


def test_a_release_key_is_made_once_for_its_owner_only(tmp_path: Path, contents: Make) -> None:
    with pytest.raises(DataError, match="ziggurat release key"):
        release_key()
    write_bundle(tmp_path / "one", contents())
    made = release_key(create=True)
    assert not made.new
    assert made.file == tmp_path / "settings" / "release" / "release"
    assert stat.S_IMODE(made.file.stat().st_mode) == 0o600
    assert re.fullmatch("([0-9a-f]{4} ){3}[0-9a-f]{4}", made.fingerprint)
    found = verify_bundle(tmp_path / "one", made.public_file)
    assert (found.sound, found.signer, found.signer_checked) == (True, made.fingerprint, True)


def test_the_environment_or_the_caller_names_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: Path
) -> None:
    assert release_key(key).file == key
    monkeypatch.setenv("ZIGGURAT_KEY", str(tmp_path / "elsewhere"))
    assert release_key(create=True) == ReleaseKey(
        tmp_path / "elsewhere",
        tmp_path / "elsewhere.pub",
        public_hex(load_private_key(tmp_path / "elsewhere").public_key()),
        new=True,
    )


def test_what_a_rotated_key_signed_stays_verifiable(tmp_path: Path, contents: Make) -> None:
    write_bundle(tmp_path / "one", contents())
    old = release_key()
    before = old.file.read_bytes()
    new = rotate_release_key()
    write_bundle(tmp_path / "two", contents())
    folder = old.file.parent
    assert new.new
    assert new.fingerprint != old.fingerprint
    assert sorted(each.name for each in folder.iterdir()) == [
        "release",
        f"release-{old.fingerprint.replace(' ', '')}.pub",
        "release.pub",
    ]
    assert before != new.file.read_bytes()  # the old private half is gone
    for place in ("one", "two"):
        assert verify_bundle(tmp_path / place, folder).signer_checked
    assert not verify_bundle(tmp_path / "one", new.public_file).sound


def test_a_rotation_that_was_cut_short_is_mended(tmp_path: Path) -> None:
    """The private half is the truth; the public half beside it may be the old one."""
    made = release_key(create=True)
    generate_key(tmp_path / "other")
    shutil.copy(tmp_path / "other.pub", made.public_file)
    assert release_key().public_key == made.public_key
    assert public_hex(load_public_key(made.public_file)) == made.public_key


def test_a_key_that_others_can_read_signs_nothing(tmp_path: Path, contents: Make) -> None:
    made = release_key(create=True)
    made.file.chmod(0o640)
    with pytest.raises(DataError, match="chmod 600"):
        write_bundle(tmp_path / "one", contents())


def test_a_folder_without_keys_and_a_file_that_is_none_are_refused(tmp_path: Path, bundle: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no public key"):
        verify_bundle(bundle, tmp_path / "empty")
    (tmp_path / "bad.pub").write_text("x")
    with pytest.raises(LedgerUseError, match="public key cannot be read"):
        verify_bundle(bundle, tmp_path / "bad.pub")


@pytest.mark.parametrize("name", ["absent", "absent.zip"])
def test_where_there_is_no_bundle_that_is_said(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="There is no bundle"):
        verify_bundle(tmp_path / name)
    with pytest.raises(DataError, match="neither parts nor a manifest"):
        verify_bundle(tmp_path)
