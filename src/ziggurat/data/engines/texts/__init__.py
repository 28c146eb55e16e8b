"""Text files: the one kind that we write, checked byte by byte, and those of other habits, written out as that kind."""

from ziggurat.data.engines.texts._dialect import DELIMITERS
from ziggurat.data.engines.texts._header import TEXT_SUFFIXES, Header, header_in, is_text_file
from ziggurat.data.engines.texts._loading import LoadedText, open_texts
from ziggurat.data.engines.texts._scan import LONGEST_RECORD

__all__ = [
    "DELIMITERS",
    "LONGEST_RECORD",
    "TEXT_SUFFIXES",
    "Header",
    "LoadedText",
    "header_in",
    "is_text_file",
    "open_texts",
]
