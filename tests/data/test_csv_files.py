"""Text in files and on screens: no cell runs in a spreadsheet or speaks to a terminal, and what is read is what was."""

import datetime
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.anonymize import Drop, Keep, mask
from ziggurat.cli._outputs import write_table
from ziggurat.data import (
    Categories,
    Column,
    CsvWriter,
    Hierarchy,
    Schema,
    read,
    read_hierarchy,
    unmark_table,
    write_csv,
    write_hierarchy,
)
from ziggurat.errors import DataError
from ziggurat.local import Frequencies
from ziggurat.queries import Answer, Estimate
from ziggurat.wording import printable

RUN = "=+-@\t\r\n"
RISKY = [f"{apostrophes}{first}1" for first in RUN for apostrophes in ("", "'", "''")]
TEXTS = [*RISKY, "'", "''", "plain", "a=b", " =1", "it's", '"=1"', "=cmd|' /C calc'!A0", "a,b", "ü"]
TABLE = pa.table({"text": TEXTS, "number": [-5] * len(TEXTS), "real": [-0.5] * len(TEXTS)})
SCHEMA = Schema((Column("text", "text"), Column("number", "integer"), Column("real", "real")))


def raw_cells(path: Path) -> list[str]:
    """The cells of the text column as a spreadsheet sees them."""
    options = {"parse_options": pyarrow.csv.ParseOptions(newlines_in_values=True)}
    types = pyarrow.csv.ConvertOptions(column_types={"text": pa.string()}, strings_can_be_null=False)
    return pyarrow.csv.read_csv(path, convert_options=types, **options).column("text").to_pylist()


def _with_mask(table: pa.Table, path: Path) -> None:
    mask(
        table.append_column("name", table.column("text")), {"name": Drop(), "text": Keep("to see how it is written")}
    ).save(path)


def _by_pieces(table: pa.Table, path: Path) -> None:
    with CsvWriter(path, table.schema) as writer:
        for batch in table.to_batches(max_chunksize=3):
            writer.write_batch(batch)


def _copies(table: pa.Table, path: Path) -> None:
    from ziggurat.synthesize import write_copies

    write_copies(path, iter([iter([table])]), 1, {}, resume=False)


WRITERS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "write_csv": write_csv,
    "in pieces": _by_pieces,
    "ask --out": lambda table, path: write_table(table, str(path)),
    "mask": _with_mask,
    "synthesize": _copies,
}


@pytest.mark.parametrize("writer", WRITERS)
def test_no_text_cell_would_run_and_reading_undoes_the_mark(writer: str, tmp_path: Path) -> None:
    WRITERS[writer](TABLE, tmp_path / "t.csv")
    cells = raw_cells(tmp_path / "t.csv")
    assert not [cell for cell in cells if cell[:1] in RUN]
    assert read(tmp_path / "t.csv", SCHEMA).raw.rows().equals(TABLE)


@pytest.mark.parametrize("writer", ["ask --out", "mask", "synthesize"])
def test_parquet_carries_no_mark(writer: str, tmp_path: Path) -> None:
    WRITERS[writer](TABLE, tmp_path / "t.parquet")
    assert parquet.read_table(tmp_path / "t.parquet").column("text").to_pylist() == TEXTS


def test_numbers_and_dates_are_not_touched(tmp_path: Path) -> None:
    table = pa.table({"n": [-5, 7], "r": [-0.5, 1e-7], "d": [datetime.date(2024, 2, 29)] * 2, "b": [True, None]})
    write_csv(table, tmp_path / "t.csv")
    plain = pyarrow.csv.read_csv(tmp_path / "t.csv")
    assert plain.column("n").to_pylist() == [-5, 7]
    assert b"'" not in (tmp_path / "t.csv").read_bytes()


def test_a_name_that_would_run_is_marked_and_read_back(tmp_path: Path) -> None:
    table = pa.table({"=1+1": ["x"], "'-a": ["y"]})
    write_csv(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().startswith('"\'=1+1","\'\'-a"')
    assert read(tmp_path / "t.csv").schema.names == ("=1+1", "'-a")


def test_a_dictionary_of_text_is_marked_too(tmp_path: Path) -> None:
    table = pa.table({"text": pa.array(["=1", "a", "=1"]).dictionary_encode()})
    write_csv(table, tmp_path / "t.csv")
    assert raw_cells(tmp_path / "t.csv") == ["'=1", "a", "'=1"]
    assert read(tmp_path / "t.csv").raw.rows().column("text").to_pylist() == ["=1", "a", "=1"]


def test_a_zero_byte_is_refused_where_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a zero byte .* write \.parquet instead"):
        write_csv(pa.table({"a": ["x\0"]}), tmp_path / "t.csv")


_CELL = st.text(st.sampled_from("'=+-@\t\r\na,\"＝"), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None)
@given(st.lists(_CELL, min_size=1, max_size=8))
def test_any_text_is_read_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, cells: list[str]) -> None:
    file = tmp_path_factory.getbasetemp() / "marked.csv"
    write_csv(pa.table({"text": cells}), file)
    assert not [cell for cell in raw_cells(file) if cell[:1] in RUN]
    assert read(file, Schema((Column("text", "text"),))).raw.rows().column("text").to_pylist() == cells
    marked = pa.table({"text": raw_cells(file)})
    assert unmark_table(marked).column("text").to_pylist() == cells


def test_hierarchies_are_marked_and_read_back(tmp_path: Path) -> None:
    levels: dict[Any, tuple[str, ...]] = {"=1": ("-x", "*"), "'@a": ("'+y", "*"), "b": ("y", "*")}
    write_hierarchy(Hierarchy(levels), tmp_path / "h.csv")
    fields = [line.split(";") for line in (tmp_path / "h.csv").read_text().splitlines()]
    assert not [field for field in itertools.chain(*fields) if field[:1] in RUN]
    assert dict(read_hierarchy(tmp_path / "h.csv").levels) == levels
    numbers: dict[Any, tuple[str, ...]] = {-5: ("low", "*"), 5: ("high", "*")}
    write_hierarchy(Hierarchy(numbers), tmp_path / "n.csv")
    assert (tmp_path / "n.csv").read_text().startswith("-5;low")


HOSTILE = "a\nb\x1b[2J\r\x07\x9b\u202e[red]x"
SHOWN = r"a\nb\x1b[2J\r\x07\x9b\u202e[red]x"


def test_what_is_printed_stays_in_its_line() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable("Ærø, 12 °C – 東京") == "Ærø, 12 °C – 東京"


def test_an_answer_prints_one_line_for_each_group() -> None:
    import ziggurat as zg
    from ziggurat.privacy import PureEvent

    event = PureEvent(zg.Neighbours(), 1)
    estimates = {"n": (Estimate(1, 0, 2), Estimate(3, 1, 4)), HOSTILE: (Estimate([HOSTILE]), Estimate(HOSTILE))}
    answer = Answer("q", ("k",), ("n", HOSTILE), ((HOSTILE,), ("b",)), estimates, 1, event, "seeded")
    assert len(str(answer).splitlines()) == 3
    for text in (str(answer), repr(answer), answer._repr_html_()):
        assert SHOWN.replace("[red]", "") in text.replace("[red]", "")
        assert "\x1b" not in text


def test_reports_print_one_line_for_each_category() -> None:
    import numpy as np

    made = Frequencies(5, 1, False, (HOSTILE, "b"), np.zeros(2), np.zeros(2), np.ones(2))
    assert len(str(made).splitlines()) == 2


def test_tables_in_the_terminal_show_hostile_text_as_text() -> None:
    import io

    from rich.console import Console

    from ziggurat.cli.terminal import Printed, schema_table

    out = io.StringIO()
    console = Console(file=out, width=200)
    console.print(Printed(HOSTILE))
    console.print(schema_table(Schema((Column("a", "category", categories=Categories((HOSTILE,))),))))
    assert out.getvalue().count(SHOWN) == 2
    assert "\x1b" not in out.getvalue()
