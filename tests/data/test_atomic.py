"""A write that fails leaves the old file."""

import subprocess
import sys
from pathlib import Path

import pytest

from ziggurat.data import Column, Schema
from ziggurat.errors import DataError
from ziggurat.files import write_text

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


def test_a_file_may_be_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "private.yaml"
    file.write_text("old")
    file.chmod(0o644)
    write_text(file, "new", mode=0o600)
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o600)
