"""Files and databases that are no plain text: workbooks, Stata, SPSS, SAS, R, JSON, SQLite, DuckDB, folders."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.reading.formats._by_ending import FILE_ENDINGS, attach_file, handles_file, load_file
    from ziggurat.data.reading.formats._databases import load_database
    from ziggurat.data.reading.formats._loaded import LoadedFile
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_by_ending": "FILE_ENDINGS attach_file handles_file load_file",
            "_databases": "load_database",
            "_loaded": "LoadedFile",
        },
    )

__all__ = ["FILE_ENDINGS", "LoadedFile", "attach_file", "handles_file", "load_database", "load_file"]
