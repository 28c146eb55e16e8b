"""Parquet and Arrow files, and folders of files."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
from messy_file import Make, MessyFile, as_rows, day, write_bytes

_PARTS = as_rows("id age", (1, 34), (2, 71), (3, 58))


def write_parquet(table: pa.Table) -> Make:
    """Return what writes a Parquet file."""

    def make(path: Path) -> None:
        import pyarrow.parquet

        pyarrow.parquet.write_table(table, path)

    return make


def write_arrow(table: pa.Table, *, stream: bool) -> Make:
    """Return what writes an Arrow file, or an Arrow stream."""

    def make(path: Path) -> None:
        open_writer = pa.ipc.new_stream if stream else pa.ipc.new_file
        with open_writer(path, table.schema) as writer:
            writer.write_table(table)

    return make


def write_folder(members: dict[str, Make]) -> Make:
    """Return what writes a folder of these files."""

    def make(path: Path) -> None:
        for name, write in members.items():
            member = path / name
            member.parent.mkdir(parents=True, exist_ok=True)
            write(member)

    return make


def _ages(*rows: tuple[int, int]) -> pa.Table:
    return pa.table({"id": [row[0] for row in rows], "age": [row[1] for row in rows]})


_MOMENT = datetime(2024, 7, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))

FILES = (
    MessyFile(
        "decimals.parquet",
        "A warehouse writes money as decimals, and whole numbers as decimals without fraction.",
        write_parquet(
            pa.table(
                {
                    "cost": pa.array([Decimal("12.50"), Decimal("-3.75"), None], pa.decimal128(12, 2)),
                    "count": pa.array([Decimal(3), None, Decimal(7)], pa.decimal128(10, 0)),
                }
            )
        ),
        rows=as_rows("cost count", (12.5, 3), (-3.75, None), (None, 7)),
        kinds={"cost": "real", "count": "integer"},
    ),
    MessyFile(
        "moments.parquet",
        "Moments with a time zone keep the date on the clock of that zone.",
        write_parquet(
            pa.table(
                {
                    "seen": pa.array([_MOMENT], pa.timestamp("us", "Europe/Berlin")),
                    "sent": pa.array([_MOMENT.astimezone(UTC)], pa.timestamp("ms", "UTC")),
                }
            )
        ),
        rows=as_rows("seen sent", (day("2024-07-01"), day("2024-06-30"))),
        kinds={"seen": "date", "sent": "date"},
    ),
    MessyFile(
        "dictionary.parquet",
        "pandas writes categories as a dictionary.",
        write_parquet(
            pa.table({"ward": pa.array(["north", None, "south"]).dictionary_encode(), "day": [date(2024, 3, 12)] * 3})
        ),
        rows=as_rows("ward day", *((ward, day("2024-03-12")) for ward in ("north", None, "south"))),
        kinds={"day": "date"},
    ),
    MessyFile(
        "lists.parquet",
        "A column holds lists, which no kind describes; the others are read.",
        write_parquet(pa.table({"id": [1, 2], "codes": [["I10"], ["E11", "I10"]]})),
        rows=as_rows("id", (1,), (2,)),
        notes="codes",
    ),
    MessyFile(
        "stream.arrow",
        "A service writes an Arrow stream instead of an Arrow file.",
        write_arrow(_ages((1, 34), (2, 71)), stream=True),
        rows=_PARTS[:2],
    ),
    MessyFile(
        "file.feather",
        "R writes Arrow files as .feather.",
        write_arrow(_ages((1, 34), (2, 71)), stream=False),
        rows=_PARTS[:2],
    ),
    MessyFile(
        "text_named_parquet.parquet",
        "A CSV file was renamed to .parquet.",
        write_bytes(b"id,age\n4711,34\n"),
        refused="(?i)parquet",
        unlike=("4711",),
    ),
    MessyFile(
        "parts_of_parquet",
        "Spark writes a folder of parts, with a mark that it is done.",
        write_folder(
            {
                "part-00000.parquet": write_parquet(_ages((1, 34), (2, 71))),
                "part-00001.parquet": write_parquet(_ages((3, 58))),
                "_SUCCESS": write_bytes(b""),
            }
        ),
        rows=_PARTS,
        kinds={"age": "integer"},
    ),
    MessyFile(
        "parts_by_year",
        "Hive puts the year into the names of folders.",
        write_folder(
            {
                "year=2023/part-0.parquet": write_parquet(_ages((1, 34))),
                "year=2024/part-0.parquet": write_parquet(_ages((2, 71))),
            }
        ),
        rows=as_rows("id age year", (1, 34, 2023), (2, 71, 2024)),
        kinds={"year": "integer"},
    ),
    MessyFile(
        "parts_of_csv",
        "A folder holds one CSV file for each month, all with the same header.",
        write_folder(
            {
                "2024-01.csv": write_bytes(b"id;age\n1;34\n2;71\n"),
                "2024-02.csv": write_bytes(b"id;age\n3;58\n"),
            }
        ),
        rows=_PARTS,
    ),
    MessyFile(
        "parts_that_differ",
        "The header of a month differs from that of the others.",
        write_folder(
            {
                "2024-01.csv": write_bytes(b"id;age\n1;34\n"),
                "2024-02.csv": write_bytes(b"id;alter\n4711;58\n"),
            }
        ),
        refused="(?i)header|columns",
        unlike=("4711",),
    ),
    MessyFile(
        "mixed_folder",
        "A folder holds a Parquet file, a CSV file and a letter.",
        write_folder(
            {
                "a.parquet": write_parquet(_ages((1, 34))),
                "b.csv": write_bytes(b"id;age\n4711;58\n"),
                "letter.docx": write_bytes(b"PK\x03\x04"),
            }
        ),
        refused=r"(?i)folder",
        unlike=("4711",),
    ),
    MessyFile(
        "empty_folder",
        "The job that should have filled a folder failed.",
        lambda path: path.mkdir(),
        refused="(?i)folder",
    ),
    MessyFile(
        "letter.docx",
        "Somebody sends the table as a letter.",
        write_bytes(b"PK\x03\x04" + bytes(60)),
        refused=r"(?i)\.csv",
    ),
)
