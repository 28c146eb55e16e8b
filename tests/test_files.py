"""A write that fails leaves the old file, and one that succeeded is on the disk with its permissions."""

import ast
import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ziggurat import files
from ziggurat.data import Column, Schema
from ziggurat.errors import DataError

_SOURCE = Path(files.__file__).parent

_FULL_DISK = """
import resource, signal, sys
from ziggurat.data import Column, Schema
from ziggurat.errors import DataError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    Schema(tuple(Column(f"c{place}", "text") for place in range(100))).to_yaml(sys.argv[1])
except DataError as error:
    print(error)
"""

_KILLED = """
import os, signal, sys
from ziggurat import files
with files.replacing(sys.argv[1]) as draft:
    draft.write_text("half of the n")
    os.kill(os.getpid(), signal.SIGKILL)
"""

# Who renames without `ziggurat.files`, and why.
_ALLOWED = {
    "release/bundle/_keys.py": "two halves of a key, which must not be taken back",
    "release/bundle/_writing.py": "a bundle is placed only where nothing is, as a folder or as an archive",
    "experiments/storing/_objects.py": "a cache that checks hashes, can compute again what is lost, and must be quick",
    "data/engines/_private_folder.py": "a folder for what an engine spills, which is removed at the end",
    "service/catalogue/_uploads.py": "a file that comes in pieces, under a name that nothing else has",
}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "file.txt"
    file.write_text("old")
    return file


def _only_old(file: Path) -> bool:
    return file.read_text() == "old" and list(file.parent.iterdir()) == [file]


def _failing(code: int, folders: bool) -> Callable[[int], None]:
    """An fsync that fails for folders, or for files."""

    def fsync(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").is_dir() == folders:
            raise OSError(code, "not shown")

    return fsync


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "schema.yaml"
    before = Schema((Column("a", "text"),)).to_yaml(file)
    command = [sys.executable, "-c", _FULL_DISK, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "could not be written (File too large); it was left as it was" in done.stdout
    assert file.read_text() == before
    assert list(tmp_path.iterdir()) == [file]


def test_an_absent_folder_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="could not be written"):
        Schema((Column("a", "text"),)).to_yaml(tmp_path / "absent" / "schema.yaml")
    with pytest.raises(DataError, match="could not be written"), files.filling(tmp_path / "absent" / "folder"):
        pass


def test_a_kill_in_the_middle_leaves_the_old_file(old: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _KILLED, str(old)], timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    assert old.read_text() == "old"
    draft = next(each for each in old.parent.iterdir() if each != old)
    assert draft.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_whatever_fails_in_the_middle_leaves_the_old_file(old: Path, error: type[BaseException]) -> None:
    def fail() -> None:
        with files.replacing(old) as draft:
            draft.write_text("half of the n")
            raise error

    with pytest.raises(error):
        fail()
    assert _only_old(old)


def test_a_disk_that_does_not_take_the_content_leaves_the_old_file(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", _failing(errno.ENOSPC, folders=False))
    with pytest.raises(DataError, match=r"could not be written \(No space left on device\); it was left as it was"):
        files.write_text(old, "new")
    assert _only_old(old)


def test_a_name_that_may_be_lost_again_is_told(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", _failing(errno.EIO, folders=True))
    with pytest.raises(DataError, match="was written, but may not outlast a power cut"):
        files.write_text(old, "new")
    assert old.read_text() == "new"
    # Some network disks cannot do it at all.
    monkeypatch.setattr(os, "fsync", _failing(errno.EINVAL, folders=True))
    files.write_text(old, "newer")
    assert old.read_text() == "newer"


def test_content_is_on_the_disk_before_its_name_and_the_folder_after(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    rename, fsync = Path.replace, os.fsync

    def noted_fsync(handle: int) -> None:
        seen.append("folder" if Path(f"/proc/self/fd/{handle}").is_dir() else "file")
        fsync(handle)

    def noted_rename(self: Path, target: Path) -> Path:
        seen.append("rename")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_rename)
    files.write_text(old, "new")
    assert seen == ["file", "rename", "folder"]


def test_permissions_are_those_asked_for_or_those_there_were_or_those_of_the_mask(old: Path) -> None:
    old.chmod(0o640)
    files.write_text(old, "kept")
    assert (old.read_text(), old.stat().st_mode & 0o777) == ("kept", 0o640)
    files.write_text(old, "private", mode=0o600)
    assert (old.read_text(), old.stat().st_mode & 0o777) == ("private", 0o600)
    before = os.umask(0o027)
    try:
        files.write_bytes(old.with_name("new"), b"new")
    finally:
        assert os.umask(before) == 0o027
    assert old.with_name("new").stat().st_mode & 0o777 == 0o640


def test_a_draft_is_for_its_owner_alone(old: Path) -> None:
    old.chmod(0o644)
    with files.replacing(old) as draft:
        assert draft.parent == old.parent
        assert draft.stat().st_mode & 0o777 == 0o600


def test_a_link_is_replaced_and_what_it_points_at_stays(old: Path) -> None:
    link, lost = old.with_name("link"), old.with_name("lost")
    link.symlink_to(old)
    lost.symlink_to("nowhere")
    for each in (link, lost):
        files.write_text(each, "new")
        assert (each.is_symlink(), each.read_text()) == (False, "new")
    assert old.read_text() == "old"


def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for each in (tmp_path / "pipe", tmp_path):
        with pytest.raises(DataError, match="no plain file"):
            files.write_text(each, "new")


def test_a_name_may_be_as_long_as_the_disk_allows(tmp_path: Path) -> None:
    files.write_text(tmp_path / ("n" * 255), "new")
    assert (tmp_path / ("n" * 255)).read_text() == "new"


def test_a_folder_appears_filled_or_not_at_all(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()  # an empty one may be there
    with files.filling(folder) as draft:
        (draft / "a").write_text("a")
        assert list(folder.iterdir()) == []
    assert (folder / "a").read_text() == "a"
    assert folder.stat().st_mode & 0o777 == 0o700
    with pytest.raises(DataError, match="it was left as it was"), files.filling(folder) as draft:
        (draft / "b").write_text("b")
    with pytest.raises(ValueError, match="inside"), files.filling(tmp_path / "other"):
        raise ValueError("inside")
    assert [each.name for each in tmp_path.rglob("*")] == ["folder", "a"]


def test_drafts_get_their_names_together_or_not_at_all(tmp_path: Path) -> None:
    drafts = {tmp_path / f"draft{number}": tmp_path / f"file{number}" for number in range(3)}
    for draft in drafts:
        draft.write_text(draft.name)
    (tmp_path / "file2").mkdir()
    with pytest.raises(DataError, match=r"Not all of .*none was left"):
        files.place(drafts)
    assert not any((tmp_path / name).exists() for name in ("file0", "file1"))
    for draft in drafts:
        draft.write_text(draft.name)
    (tmp_path / "file2").rmdir()
    files.place(drafts)
    assert [(tmp_path / f"file{number}").read_text() for number in range(3)] == ["draft0", "draft1", "draft2"]


def test_a_new_file_is_made_once_for_its_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.create(tmp_path / "new", b"new")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        files.create(tmp_path / "new", b"other")
    assert (tmp_path / "new").read_bytes() == b"new"
    monkeypatch.setattr(os, "fsync", _failing(errno.ENOSPC, folders=False))
    with pytest.raises(OSError, match="not shown"):
        files.create(tmp_path / "half", b"half")
    assert not (tmp_path / "half").exists()


def test_of_many_who_claim_a_file_one_makes_it_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "one.json"
    assert files.claim(file, b"first")
    assert not files.claim(file, b"second")
    assert file.read_bytes() == b"first"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]
    with pytest.raises(DataError, match="could not be written"):
        files.claim(tmp_path / "nowhere" / "one.json", b"first")
    monkeypatch.setattr(files.os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "not shown")))
    with pytest.raises(DataError, match="could not be written"):
        files.claim(tmp_path / "two.json", b"first")
    assert list(tmp_path.iterdir()) == [file]


def test_an_output_is_checked_before_work_is_done(old: Path) -> None:
    files.check_output(old.with_name("new"))
    files.check_output(old, force=True)
    with pytest.raises(DataError, match="is there already; name another file, or overwrite it with --force"):
        files.check_output(old)
    with pytest.raises(DataError, match=r"The folder of .* does not exist; create it first"):
        files.check_output(old.parent / "absent" / "new", force=True)
    with pytest.raises(DataError, match="is a folder; name a file"):
        files.check_output(old.parent, force=True)


def _renames(tree: ast.Module) -> bool:
    """Whether a module makes drafts or renames by itself; `replace` of text takes other arguments."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        name, owner = node.func.attr, node.func.value
        if name in ("mkstemp", "mkdtemp", "NamedTemporaryFile"):
            return True
        if isinstance(owner, ast.Name) and owner.id == "os" and name in ("replace", "rename", "fsync"):
            return True
        if name == "rename" and len(node.args) == 1 and not node.keywords and isinstance(owner, ast.Name):
            return True
        if name == "replace" and len(node.args) == 1 and not node.keywords and not _is_child(owner):
            return True
    return False


def _is_child(owner: ast.expr) -> bool:
    """Expressions of SQL replace themselves in their tree."""
    return isinstance(owner, ast.Name) and owner.id == "child"


def test_nobody_else_renames_drafts() -> None:
    found = set()
    for file in _SOURCE.rglob("*.py"):
        if file.name != "files.py" and _renames(ast.parse(file.read_text(encoding="utf-8"))):
            found.add(file.relative_to(_SOURCE).as_posix())
    assert found == set(_ALLOWED)


def test_the_search_for_renames_finds_them() -> None:
    for text in ("tempfile.mkstemp()", "os.replace(a, b)", "draft.replace(target)", "os.fsync(handle)", "a.rename(b)"):
        assert _renames(ast.parse(text))
    for text in ("text.replace('a', 'b')", "moment.replace(tzinfo=zone)", "child.replace(other)"):
        assert not _renames(ast.parse(text))
