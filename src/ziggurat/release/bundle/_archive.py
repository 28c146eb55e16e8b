"""Zips in one canonical byte form: the same files always give the same bytes, so that every byte can be verified.

Files lie uncompressed, sorted by name, on the first day that the format knows, with nothing before, between or after
them (APPNOTE 6.3.10 of the format, of which version 2.0 with UTF-8 names is used). Nothing is ever unpacked: a stretch
of the zip *is* the file, so that no zip is larger inside than outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from struct import Struct, error
from typing import BinaryIO

from ziggurat.errors import DataError
from ziggurat.release.bundle._members import STEWARD, Member

_LOCAL, _CENTRAL, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_COMMON = Struct("<5H3I2H")  # version, flags, method, time, day, CRC-32, size stored, size, length of name, of extras
_REST = Struct("<3H2I")  # length of comment, disk, kind of text, attributes, where the local header is
_LAST = Struct("<4H2IH")  # two disks, entries twice, size and place of the directory, length of comment
_VERSION, _UNIX, _UTF8, _STORED, _MIDNIGHT, _1980 = 20, 3 << 8, 0x800, 0, 0, 0x21
_LARGEST, _MOST = (1 << 32) - 1, (1 << 16) - 1


@dataclass(frozen=True)
class ArchivePiece:
    """A stretch of a canonical zip: what the format says of a file (or at its end, of none), or the file itself."""

    name: str
    start: int
    data: bytes | Member

    @property
    def end(self) -> int:
        """Where the next one starts."""
        return self.start + (self.data.size if isinstance(self.data, Member) else len(self.data))


def write_archive(file: BinaryIO, members: dict[str, Member]) -> None:
    """Write files as a canonical zip."""
    headers = sum(200 + 2 * len(name.encode()) for name in members)
    if len(members) >= _MOST or headers + sum(each.size for each in members.values()) >= _LARGEST:
        raise DataError("A zip of a bundle holds at most 4 GiB and 65,534 files; write a folder instead.")
    for piece in pieces(sorted(members.items())):
        for block in piece.data.blocks() if isinstance(piece.data, Member) else [piece.data]:
            file.write(block)


def pieces(members: Sequence[tuple[str, Member]]) -> Iterator[ArchivePiece]:
    """Lay files out one after the other, then the directory of all of them."""
    offset, directory = 0, []
    for name, member in members:
        called = name.encode()
        said = _record(member, called)
        yield ArchivePiece(name, offset, _LOCAL + said + called)
        yield ArchivePiece(name, offset + 4 + _COMMON.size + len(called), member)
        rest = _REST.pack(0, 0, 0, _mode(name) << 16, offset)
        directory.append((name, _CENTRAL + (_UNIX | _VERSION).to_bytes(2, "little") + said + rest + called))
        offset += 4 + _COMMON.size + len(called) + member.size
    begins = offset
    for name, data in directory:
        yield ArchivePiece(name, offset, data)
        offset += len(data)
    yield ArchivePiece("", offset, _END + _LAST.pack(0, 0, len(members), len(members), offset - begins, begins, 0))


def _record(member: Member, called: bytes) -> bytes:
    sizes = (member.size, member.size, len(called), 0)
    return _COMMON.pack(_VERSION, _UTF8, _STORED, _MIDNIGHT, _1980, member.checksum(), *sizes)


def _mode(name: str) -> int:
    """A plain file, which nobody but its owner reads in the steward's part."""
    return 0o100600 if name.startswith(f"{STEWARD}/") else 0o100644


def read_archive(path: Path) -> tuple[list[tuple[str, Member]], list[ArchivePiece]]:
    """Find the files of a zip, and the pieces that are not as in the canonical form; `ValueError` if it cannot be read.

    The directory at the end and the headers before the files say the same twice. If they do not, the reading by which
    less is wrong counts.
    """
    size = path.stat().st_size
    read: list[tuple[list[tuple[str, Member]], list[ArchivePiece]]] = []
    wrong = ""
    for way in (_by_directory, _by_sequence):
        try:
            found = way(path, size)
        except ValueError as problem:
            wrong = wrong or str(problem)
            continue
        read.append((found, _differing(path, size, found)))
        if not read[-1][1]:
            break
    if not read:
        raise ValueError(wrong)
    return min(read, key=lambda each: len(each[1]))


def _differing(path: Path, size: int, found: list[tuple[str, Member]]) -> list[ArchivePiece]:
    if len({name for name, _ in found}) != len(found):
        return [ArchivePiece("", 0, b"")]  # two files of one name have no canonical form
    laid = list(pieces(sorted(found)))
    with path.open("rb") as file:
        return [piece for piece in laid if not _as_laid(file, piece)] + [
            ArchivePiece("", piece.end, b"") for piece in laid[-1:] if piece.end != size
        ]


def _as_laid(file: BinaryIO, piece: ArchivePiece) -> bool:
    if isinstance(piece.data, Member):
        return piece.data.start == piece.start
    file.seek(piece.start)
    return file.read(len(piece.data)) == piece.data


def _by_directory(path: Path, size: int) -> list[tuple[str, Member]]:
    """Find files as the directory at the end has them."""
    with path.open("rb") as file:
        at = _reader(file, size)
        last = at(size - 4 - _LAST.size, 4 + _LAST.size)
        _, _, count, _, length, begins, _ = _unpack(_LAST, last, _END)
        place, found = begins, []
        for _ in range(count):
            header = at(place, 6 + _COMMON.size + _REST.size)
            said = _unpack(_COMMON, header[6 : 6 + _COMMON.size])
            start = _unpack(_REST, header[6 + _COMMON.size :])[-1]
            name = _read_stored(header[:4] == _CENTRAL, said, at(place + len(header), said[8]))
            found.append((name, Member(path, start + 4 + _COMMON.size + said[8], said[7])))
            place += len(header) + said[8]
    if place != begins + length:
        raise ValueError("is not laid out as a bundle is")
    return _apart(found, size)


def _by_sequence(path: Path, size: int) -> list[tuple[str, Member]]:
    """Find files by the headers before them."""
    with path.open("rb") as file:
        at = _reader(file, size)
        place, found = 0, []
        while (header := at(place, 4 + _COMMON.size))[:4] == _LOCAL:
            said = _unpack(_COMMON, header[4:])
            name = _read_stored(True, said, at(place + len(header), said[8]))
            found.append((name, Member(path, place + len(header) + said[8], said[7])))
            place += len(header) + said[8] + said[7]
    return _apart(found, size)


def _reader(file: BinaryIO, size: int) -> Callable[[int, int], bytes]:
    def at(place: int, length: int) -> bytes:
        if place < 0 or place + length > size:
            raise ValueError("ends too early to be a zip of a bundle")
        file.seek(place)
        return file.read(length)

    return at


def _unpack(form: Struct, data: bytes, begins: bytes = b"") -> tuple[int, ...]:
    try:
        if data.startswith(begins):
            return form.unpack(data[len(begins) :])
    except error:
        pass
    raise ValueError("is not laid out as a bundle is")


def _read_stored(good: bool, said: Sequence[int], name: bytes) -> str:
    if not good or said[9]:
        raise ValueError("is not laid out as a bundle is")
    if said[2] != _STORED or said[6] != said[7]:
        raise ValueError("holds compressed files; bundles hold none, and those are not unpacked")
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError("holds a file whose name is no text") from None


def _apart(found: Iterable[tuple[str, Member]], size: int) -> list[tuple[str, Member]]:
    """Take files that lie in the zip one after the other; those that share bytes would make it larger than it is."""
    listed = list(found)
    end = 0
    for _, member in sorted(listed, key=lambda each: each[1].start):
        if member.start < end or member.start + member.size > size:
            raise ValueError("holds files that lie over each other")
        end = member.start + member.size
    if not listed:
        raise ValueError("is not a zip of a bundle")
    return listed
