"""Every way out as one file: text, Parquet, Arrow, JSON lines, Excel, Stata and SPSS."""

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
else:
    __getattr__, __dir__ = lazy(
        __name__, {"_by_ending": "STREAMED_ENDINGS TABLE_ENDINGS TableWriter check_table_file write_table"}
    )

__all__ = ["STREAMED_ENDINGS", "TABLE_ENDINGS", "TableWriter", "check_table_file", "write_table"]
