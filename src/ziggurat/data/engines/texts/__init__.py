"""Text files: the one kind that we write, checked byte by byte, and those of other habits, written out as that kind."""

from ziggurat.data.engines.texts._dialect import DELIMITERS
from ziggurat.data.engines.texts._header import TEXT_SUFFIXES, is_text_file
from ziggurat.data.engines.texts._loading import LoadedText, open_texts

__all__ = ["DELIMITERS", "TEXT_SUFFIXES", "LoadedText", "is_text_file", "open_texts"]
