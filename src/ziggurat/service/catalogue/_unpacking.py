"""Files that hold packed parts: unpacked once for nothing but their length, before anything reads them.

What a packed file says of its own length is not believed: its parts are unpacked piece by piece, and the first piece
too many ends it.
"""

from __future__ import annotations

import bz2
import lzma
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from ziggurat.errors import DataError, TooLargeError

_WORKBOOKS = ("xlsx", "ods")
_OF_R = ("rds", "rdata")
_OF_ARROW = ("arrow", "feather")
_MOST_TIMES, _ALWAYS = 50, 1 << 26  # unpacked, in times of the file, or bytes if that is more
_PIECE = 1 << 16
_MOST_PARTS = 10_000
_LOCAL_HEADER = 30
_MORE = "The file unpacks to far more than it is; save it as CSV."
_BEGINNINGS: dict[bytes, Callable[[], zlib._Decompress | bz2.BZ2Decompressor | lzma.LZMADecompressor]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(31),
    b"BZ": bz2.BZ2Decompressor,
    b"\xfd7": lzma.LZMADecompressor,
}


def require_harmless(file: Path, ending: str, longest: int) -> None:
    """Refuse a file that unpacks to far more than it is.

    Parameters
    ----------
    file, ending
        Where it is, and what it says it is.
    longest
        How many bytes a file may have.
    """
    most = min(longest * 4, max(_ALWAYS, file.stat().st_size * _MOST_TIMES))
    broken = False
    try:
        if ending in _WORKBOOKS:
            _count(_unpack_parts(file), most)
        elif ending in _OF_R:
            _count(_unpack_whole(file), most)
        elif ending == "parquet":
            _require_moderate(file, most)
        elif ending in _OF_ARROW:
            _require_measured(file, most)
    except (zipfile.BadZipFile, OSError, ValueError, EOFError, zlib.error, lzma.LZMAError, NotImplementedError):
        broken = True
    if broken:
        raise DataError("The file is damaged; save it again.")


def _count(pieces: Iterator[bytes], most: int) -> None:
    seen = 0
    for piece in pieces:
        seen += len(piece)
        if seen > most:
            raise TooLargeError(_MORE)


def _unpack_parts(file: Path) -> Iterator[bytes]:
    """Unpack every part of a zip, by the bytes that are there and not by the length that is said."""
    with zipfile.ZipFile(file) as packed, file.open("rb") as opened:
        parts = packed.infolist()
        if len(parts) > _MOST_PARTS:
            raise TooLargeError("The file has more parts than any workbook; save it as CSV.")
        for part in parts:
            if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or part.flag_bits & 1:
                raise zipfile.BadZipFile
            opened.seek(part.header_offset)
            header = opened.read(_LOCAL_HEADER)
            opened.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
            stored = part.compress_type == zipfile.ZIP_STORED
            yield from _pieces(opened, None if stored else zlib.decompressobj(-15), part.compress_size)


def _unpack_whole(file: Path) -> Iterator[bytes]:
    """Unpack a file of R, which is packed as a whole or not at all."""
    with file.open("rb") as opened:
        beginning = opened.read(2)
        opened.seek(0)
        made = _BEGINNINGS.get(beginning)
        yield from _pieces(opened, None if made is None else made(), file.stat().st_size)


def _pieces(
    opened: BinaryIO, unpacker: zlib._Decompress | bz2.BZ2Decompressor | lzma.LZMADecompressor | None, length: int
) -> Iterator[bytes]:
    left = length
    while left > 0 and (taken := opened.read(min(_PIECE, left))):
        left -= len(taken)
        if unpacker is None:
            yield taken
        elif isinstance(unpacker, bz2.BZ2Decompressor | lzma.LZMADecompressor):
            yield from _of_blocks(unpacker, taken)
        else:
            yield unpacker.decompress(taken, _PIECE)
            while unpacker.unconsumed_tail and not unpacker.eof:
                yield unpacker.decompress(unpacker.unconsumed_tail, _PIECE)


def _of_blocks(unpacker: bz2.BZ2Decompressor | lzma.LZMADecompressor, taken: bytes) -> Iterator[bytes]:
    if unpacker.eof:
        return
    yield unpacker.decompress(taken, _PIECE)
    while not unpacker.needs_input and not unpacker.eof:
        yield unpacker.decompress(b"", _PIECE)


def _require_moderate(file: Path, most: int) -> None:
    """Refuse a Parquet file whose own list of parts says that it is far more than it is."""
    from pyarrow.parquet import read_metadata

    known = read_metadata(file)
    groups = range(known.num_row_groups)
    held = sum(known.row_group(each).total_byte_size for each in groups) + known.num_rows * known.num_columns
    if held > most:
        raise TooLargeError(_MORE)


def _require_measured(file: Path, most: int) -> None:
    """Refuse an Arrow file that a process with so much memory cannot unpack."""
    script = Path(__file__).with_name("_measuring.py")
    command = [sys.executable, "-P", str(script), str(file), str(most)]
    ended = subprocess.run(command, check=False, capture_output=True, stdin=subprocess.DEVNULL)  # noqa: S603 - this Python
    if ended.returncode:
        raise TooLargeError(_MORE)
