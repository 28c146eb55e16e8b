"""Every way out, as one file or a folder of parts: text, Parquet, Arrow, JSON lines, Excel, Stata and SPSS."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.writing._by_ending import (
        STREAMED_ENDINGS,
        TABLE_ENDINGS,
        TableWriter,
        check_table_file,
        write_table,
    )
    from ziggurat.data.writing._parts import PARTS_ENDINGS, check_parts_folder, names_folder
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_by_ending": "STREAMED_ENDINGS TABLE_ENDINGS TableWriter check_table_file write_table",
            "_parts": "PARTS_ENDINGS check_parts_folder names_folder",
        },
    )

__all__ = [
    "PARTS_ENDINGS",
    "STREAMED_ENDINGS",
    "TABLE_ENDINGS",
    "TableWriter",
    "check_parts_folder",
    "check_table_file",
    "names_folder",
    "write_table",
]
