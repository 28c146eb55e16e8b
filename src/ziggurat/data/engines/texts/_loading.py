"""Text files as they are loaded: as they stand if they are of the one kind that we write, or else written out again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ziggurat.data.engines.texts._dialect import find_dialect
from ziggurat.data.engines.texts._header import Header, open_unpacked
from ziggurat.data.engines.texts._scan import Scanned, check_files, line_of
from ziggurat.data.engines.texts._transcode import transcode
from ziggurat.data.engines.texts._transcribe import Transcript, transcribe
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError


@dataclass(frozen=True)
class LoadedText:
    """Text files that hold one table between them, checked whole.

    Attributes
    ----------
    files
        The files as they were named.
    header
        Of what is loaded.
    scans
        What was seen of each.
    transcripts
        Those that were written out again, one for each file, or none.
    """

    files: tuple[str, ...]
    header: Header
    scans: tuple[Scanned, ...]
    transcripts: tuple[Transcript, ...] = ()

    @property
    def copies(self) -> tuple[str, ...]:
        """The files to load."""
        return tuple(each.file for each in self.transcripts) or self.files

    @property
    def records(self) -> int:
        """How many rows they have."""
        return sum(each.records for each in self.scans)

    @property
    def apostrophes(self) -> bool:
        """Whether there is an apostrophe anywhere."""
        return any(each.apostrophes for each in self.scans)

    @property
    def notes(self) -> tuple[str, ...]:
        """How they were read, in sentences."""
        return tuple(dict.fromkeys(note for each in self.transcripts for note in each.notes))

    @property
    def layout(self) -> FileLayout | None:
        """What was told or found out of the first."""
        return self.transcripts[0].layout if self.transcripts else FileLayout(delimiter=self.header.delimiter)

    def line(self, row: int) -> str:
        """Return at which line of which file a row stands, in words."""
        for place, (file, scan) in enumerate(zip(self.files, self.scans, strict=True)):
            if row < scan.records:
                found = self.transcripts[place].lines[row] if self.transcripts else line_of(file, self.header, row)
                return f"line {found}" + (f" of {file!r}" if len(self.files) > 1 else "")
            row -= scan.records
        return ""

    def forget_copies(self) -> None:
        """Remove what was written out again, once it is loaded."""
        for each in self.transcripts:
            Path(each.file).unlink(missing_ok=True)


def open_texts(files: Sequence[str], layout: FileLayout | None) -> LoadedText:
    """Check text files whole.

    Parameters
    ----------
    files
        That hold one table between them.
    layout
        None if only the one kind is taken that we write; otherwise what was told, if anything.
    """
    is_packed = any(file.lower().endswith(".zip") for file in files)
    if is_packed or (layout is not None and layout.is_told and not layout.is_usual):
        return _write_out(files, layout or FileLayout().settle())
    try:
        header, scans = check_files(files)
        if layout is None or not _is_odd(files[0], header, scans, layout):
            return LoadedText(tuple(files), header, tuple(scans))
    except DataError:
        if layout is None:
            raise
    return _write_out(files, layout)


def _is_odd(file: str, header: Header, scans: Sequence[Scanned], layout: FileLayout) -> bool:
    """Whether a file that can be read as it stands is better not: empty records, padded names, another separator.

    A program that quotes every name, as we do, means its empty records; spreadsheets leave them behind.
    """
    if any(name != name.strip() for name in header.names) or layout.delimiter not in ("", header.delimiter):
        return True
    if any(each.empty for each in scans) and not header.is_quoted:
        return True
    if len(header.names) > 1 or layout.is_settled:
        return False
    with open_unpacked(file) as stream:
        return find_dialect(stream, file, FileLayout()).width > 1


def _write_out(files: Sequence[str], layout: FileLayout) -> LoadedText:
    transcript = transcode(files[0], layout) if len(files) == 1 else None
    return (_check_copy(files[0], transcript) if transcript else None) or _write_records(files, layout)


def _check_copy(file: str, transcript: Transcript) -> LoadedText | None:
    """The file by a copy that differs in its encoding alone; None if records must be repaired."""
    try:
        header, (scan,) = check_files([transcript.file], [file])
        if not scan.empty:
            return LoadedText((file,), header, (scan,), (transcript,))
    except DataError:
        pass
    Path(transcript.file).unlink(missing_ok=True)
    return None


def _write_records(files: Sequence[str], layout: FileLayout) -> LoadedText:
    transcripts = tuple(transcribe(file, layout) for file in files)
    header, scans = check_files([each.file for each in transcripts], files)
    return LoadedText(tuple(files), header, tuple(scans), transcripts)
