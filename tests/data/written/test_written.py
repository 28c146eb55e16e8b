"""Numbers, dates, times and truth values are read as people write them, on every engine alike."""

from datetime import date
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import Column, Notation, Schema, read
from ziggurat.data.written import read_date, read_number
from ziggurat.errors import SchemaError

COMMA = Notation(decimal=",", thousands=".")
BLANK = Notation(decimal=",", thousands=" ")
ENGLISH = Notation(thousands=",")
SWISS = Notation(thousands="'")
EURO = Notation(decimal=",", thousands=".", affixes=("€", "EUR"))
DOLLAR = Notation(thousands=",", affixes=("$",))
PERCENT = Notation(decimal=",", affixes=("%",))
CLOCK, LENGTH = Notation(time="clock"), Notation(time="duration")


def dates(*forms: str, century: int | None = None) -> Notation:
    return Notation(dates=forms, century=century)


NUMBERS = [
    (COMMA, "86,8", 86.8),
    (COMMA, "1.234,56", 1234.56),
    (COMMA, "1.234.567", 1234567.0),
    (COMMA, " -5,0 ", -5.0),
    (COMMA, "12,5-", -12.5),
    (COMMA, "(1.000,5)", -1000.5),
    (COMMA, "\u22123,5", -3.5),
    (COMMA, ",5", 0.5),
    (COMMA, "1,5e-3", 0.0015),
    (COMMA, "1.23", None),
    (COMMA, "12.34,5", None),
    (COMMA, "1,2,3", None),
    (COMMA, "86.8", None),
    (COMMA, "abc", None),
    (COMMA, "-", None),
    (COMMA, "5 €", None),
    (COMMA, "(5", None),
    (BLANK, "1 234,5", 1234.5),
    (BLANK, "1\u00a0234\u202f567,25", 1234567.25),
    (BLANK, "12 34,5", None),
    (ENGLISH, "1,234.5", 1234.5),
    (ENGLISH, "1,23,456", None),
    (SWISS, "1'234.50", 1234.5),
    (SWISS, "1\u2019234'000", 1234000.0),
    (EURO, "12,50 €", 12.5),
    (EURO, "€ 1.200", 1200.0),
    (EURO, "-3,20 EUR", -3.2),
    (EURO, "EUR -3,20", -3.2),
    (EURO, "3,20 USD", None),
    (EURO, "7", 7.0),
    (DOLLAR, "$1,200.50", 1200.5),
    (DOLLAR, "-$5", -5.0),
    (DOLLAR, "($5)", -5.0),
    (PERCENT, "86,8 %", 86.8),
    (PERCENT, "12%", 12.0),
]

DATES = [
    (dates("%d.%m.%Y"), "31.12.1980", date(1980, 12, 31)),
    (dates("%d.%m.%Y"), " 1.2.1980 ", date(1980, 2, 1)),
    (dates("%d.%m.%Y"), "31.02.1980", None),
    (dates("%d.%m.%Y"), "29.02.1900", None),
    (dates("%d.%m.%Y"), "29.02.2000", date(2000, 2, 29)),
    (dates("%d.%m.%Y"), "00.00.0000", None),
    (dates("%d.%m.%Y"), "31/12/1980", None),
    (dates("%d.%m.%Y"), "31.12.80", None),
    (dates("%d.%m.%Y"), "x31.12.1980", None),
    (dates("%m/%d/%Y"), "12/31/1980", date(1980, 12, 31)),
    (dates("%m/%d/%Y"), "31/12/1980", None),
    (dates("%d.%m.%y", century=1927), "31.12.27", date(1927, 12, 31)),
    (dates("%d.%m.%y", century=1927), "31.12.26", date(2026, 12, 31)),
    (dates("%d.%m.%y", century=2000), "01.01.00", date(2000, 1, 1)),
    (dates("%d-%b-%Y"), "31-Dec-1980", date(1980, 12, 31)),
    (dates("%d-%b-%Y"), "31-DEZ-1980", date(1980, 12, 31)),
    (dates("%d-%b-%Y"), "31-Dez.-1980", date(1980, 12, 31)),
    (dates("%d. %B %Y"), "3. März 2024", date(2024, 3, 3)),
    (dates("%d. %B %Y"), "3. MÄRZ 2024", date(2024, 3, 3)),
    (dates("%d %B %Y"), "12 février 2024", date(2024, 2, 12)),
    (dates("%d %B %Y"), "12\u00a0août 2024", date(2024, 8, 12)),
    (dates("%B %d, %Y"), "March 12, 2024", date(2024, 3, 12)),
    (dates("%d %B %Y"), "12 brumaire 2024", None),
    (dates("%d.%m.%Y %H:%M"), "31.12.1980 14:35", date(1980, 12, 31)),
    (dates("%d.%m.%Y %H:%M:%S"), "31.12.1980 14:35:10.25", date(1980, 12, 31)),
    (dates("%d.%m.%Y %H:%M"), "31.12.1980 24:35", None),
    (dates("%m/%d/%Y %H:%M %p"), "12/31/1980 2:35 PM", date(1980, 12, 31)),
    (dates("%Y-%m-%dT%H:%M:%S%z"), "2024-03-31T23:30:00+02:00", date(2024, 3, 31)),
    (dates("%Y-%m-%dT%H:%M:%S%z"), "2024-03-31T23:30:00Z", date(2024, 3, 31)),
    (dates("%d.%m.%Y", "%Y-%m-%d"), "1980-12-31", date(1980, 12, 31)),
    (dates("%d.%m.%Y", "%Y-%m-%d"), "31.12.1980", date(1980, 12, 31)),
    (dates("%Y%m%d"), "19801231", date(1980, 12, 31)),
]

TIMES = [
    (CLOCK, "14:35", 52_500),
    (CLOCK, "14:35:10", 52_510),
    (CLOCK, "2:35 PM", 52_500),
    (CLOCK, "12:05 a.m.", 300),
    (CLOCK, "12:05pm", 43_500),
    (CLOCK, "14h35", 52_500),
    (CLOCK, "14:35 Uhr", 52_500),
    (CLOCK, "25:00", None),
    (CLOCK, "14:75", None),
    (LENGTH, "26:10:00", 94_200),
    (LENGTH, "1:30", 5_400),
    (LENGTH, "1h 30m", 5_400),
    (LENGTH, "90 min", 5_400),
    (LENGTH, "2 Std. 10 Min", 7_800),
    (LENGTH, "45 s", 45),
    (LENGTH, "PT1H30M", 5_400),
    (LENGTH, "P1DT2H", 93_600),
    (LENGTH, "1,5 h", 5_400),
    (LENGTH, "PT", None),
    (LENGTH, "soon", None),
]

TRUTHS = [
    (None, "ja", True),
    (None, "Nein", False),
    (None, "oui", True),
    (None, "NON", False),
    (None, "wahr", True),
    (None, "tak", True),
    (None, "maybe", None),
    (Notation(true=("m",), false=("w",)), "M", True),
    (Notation(true=("m",), false=("w",)), "w", False),
    (Notation(true=("m",), false=("w",)), "ja", True),
]

CASES = [
    *(("real", *case) for case in NUMBERS),
    *(("date", *case) for case in DATES),
    *(("integer", *case) for case in TIMES),
    *(("boolean", *case) for case in TRUTHS),
]


def cells_and_schema() -> tuple[pa.Table, Schema, list[Any]]:
    """One row, a column for each case."""
    names = [f"c{place}" for place in range(len(CASES))]
    columns = [Column(name, kind, written=written) for name, (kind, written, _, _) in zip(names, CASES, strict=True)]
    cells = {name: [text] for name, (_, _, text, _) in zip(names, CASES, strict=True)}
    return pa.table(cells), Schema(tuple(columns)), [value for *_, value in CASES]


def wrong(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(*case, value) for case, value in zip(CASES, found.values(), strict=True) if value != case[-1]]


def test_every_cell_is_read_as_it_is_meant() -> None:
    cells, schema, _ = cells_and_schema()
    found: dict[str, Any] = {}
    for start in range(0, cells.num_columns, 10):  # the time for one query grows with the square of its columns
        names = cells.column_names[start : start + 10]
        found |= read(cells.select(names), schema.select(names), on_bad_cell="missing").raw.rows().to_pylist()[0]
    assert wrong(found) == []


@pytest.mark.postgres
def test_postgres_reads_the_same(postgres_uri: str) -> None:
    import psycopg

    cells, schema, _ = cells_and_schema()
    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS written_cells")
        listed = ", ".join(f"{name} text" for name in cells.column_names)
        connection.execute(f"CREATE TABLE written_cells ({listed})".encode())
        marks = ", ".join(["%s"] * cells.num_columns)
        connection.execute(f"INSERT INTO written_cells VALUES ({marks})".encode(), list(cells.to_pylist()[0].values()))
    table = read(postgres_uri, schema, table="written_cells", on_bad_cell="missing")
    assert wrong(table.raw.rows().to_pylist()[0]) == []


@pytest.mark.spark
def test_spark_reads_the_same(spark_session: Any) -> None:
    cells, schema, _ = cells_and_schema()
    frame = spark_session.createDataFrame(cells)
    assert wrong(read(frame, schema, on_bad_cell="missing").raw.rows().to_pylist()[0]) == []


@pytest.mark.parametrize(("notation", "text", "value"), NUMBERS)
def test_python_reads_numbers_as_engines_do(notation: Notation, text: str, value: float | None) -> None:
    assert read_number(text, notation) == value


@pytest.mark.parametrize(("notation", "text", "value"), DATES)
def test_python_reads_dates_as_engines_do(notation: Notation, text: str, value: date | None) -> None:
    found = [read_date(text, form, notation.century) for form in notation.dates]
    assert next((each for each in found if each is not None), None) == value


def test_cells_that_do_not_fit_are_counted_and_missing_codes_are_not() -> None:
    cells = pa.table({"cost": ["1,5", "-", "abc", None, "2.5"]})
    schema = Schema((Column("cost", "real", written=COMMA, missing=("-",)),))
    assert read(cells, schema, on_bad_cell="missing").unreadable() == {"cost": 2}


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (lambda: Notation(decimal=";"), "'decimal' must be"),
        (lambda: Notation(decimal=",", thousands=","), "not the decimal mark"),
        (lambda: Notation(affixes=("5",)), "must hold no digit"),
        (lambda: Notation(dates=("%d.%m",)), "a day, a month and a year"),
        (lambda: Notation(dates=("%d.%m.%y",)), "need 'century'"),
        (lambda: Notation(time="noon"), "'time' must be"),
        (lambda: Column("a", "text", written=COMMA), "does not say how such cells are written"),
        (lambda: Column("a", "real", written=dates("%d.%m.%Y")), "does not say how such cells are written"),
    ],
)
def test_a_notation_that_makes_no_sense_is_one_sentence(made: Any, sentence: str) -> None:
    with pytest.raises(SchemaError, match=sentence):
        made()


def test_a_readable_form_of_a_date_is_the_same_as_its_directives() -> None:
    assert Notation(dates=("DD.MM.YYYY",)) == dates("%d.%m.%Y")
    assert Notation(dates=("dd.MM.yyyy HH:mm:ss",)) == dates("%d.%m.%Y %H:%M:%S")
    assert Notation(dates=("MMMM DD, YYYY",)) == dates("%B %d, %Y")


FORMS = ("%d.%m.%Y", "%Y-%m-%d", "%m/%d/%y", "%Y%m%d", "%d. %m. %Y", "%Y-%m-%d %H:%M:%S", "%d.%m.%y %H:%M", "%d %b %Y")


@pytest.mark.parametrize("form", FORMS)
def test_days_with_one_digit_and_with_two_are_read_alike(form: str) -> None:
    days = [(day, month, year) for day in (1, 9, 29, 30, 31) for month in (1, 2, 4, 12) for year in (1900, 2000, 2023)]
    cells = sorted({write_day(form, wide, *day) for day in days for wide in (1, 2)})
    schema = Schema((Column("day", "date", written=dates(form, century=1930)),))
    found = read(pa.table({"day": cells}), schema, on_bad_cell="missing").raw.rows().column("day").to_pylist()
    assert found == [read_date(cell, form, 1930) for cell in cells]
    assert any(found)


def write_day(form: str, wide: int, day: int, month: int, year: int) -> str:
    pieces = {"d": f"{day:0{wide}}", "m": f"{month:0{wide}}", "Y": str(year), "y": f"{year % 100:02}", "b": "mar"}
    pieces |= {"H": "7", "M": "05", "S": "09"}
    for name, piece in pieces.items():
        form = form.replace(f"%{name}", piece)
    return form
