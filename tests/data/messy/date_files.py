"""Text files with dates, times and lengths of time as people write them."""

from datetime import timedelta

from messy_file import MessyFile, as_rows, day, write_text

_BORN = (day("1980-12-31"), day("1955-02-01"), day("1991-07-14"))
_ROWS = as_rows("id born", *enumerate(_BORN, start=1))
_DATES = {"born": "date"}
_START = day("2020-01-01")
_MANY = tuple((place, _START + timedelta(days=place)) for place in range(40))
_IMPOSSIBLE = "id;born\n" + "".join(f"{n};{d:%d.%m.%Y}\n" for n, d in _MANY) + "40;31.02.2020\n"


def list_dates(*cells: str, separator: str = ";") -> str:
    """Return a file with a counter and a column of dates."""
    return f"id{separator}born\n" + "".join(f"{n}{separator}{cell}\n" for n, cell in enumerate(cells, start=1))


FILES = (
    MessyFile(
        "german_dates.csv",
        "German offices write 31.12.1980, and 1.2.1955 without zeros.",
        write_text(list_dates("31.12.1980", "1.2.1955", "14.07.1991")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "french_dates.csv",
        "French offices write 31/12/1980.",
        write_text(list_dates("31/12/1980", "01/02/1955", "14/07/1991")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "american_dates.csv",
        "American Excel writes 12/31/1980 and 2/1/1955.",
        write_text(list_dates("12/31/1980", "2/1/1955", "7/14/1991", separator=",")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "either_way_dates.csv",
        "01/02/1980 could be January or February, and nothing tells which: it stays text.",
        write_text(list_dates("01/02/1980", "03/04/1955", "12/11/1991", separator=",")),
        rows=as_rows("id born", (1, "01/02/1980"), (2, "03/04/1955"), (3, "12/11/1991")),
        kinds={"born": "text"},
        notes="(?i)date.format",
    ),
    MessyFile(
        "either_way_dates_told.csv",
        "01/02/1980 is told to begin with the day.",
        write_text(list_dates("01/02/1980", "03/04/1955", "12/11/1991", separator=",")),
        {"date_format": "DD/MM/YYYY"},
        rows=as_rows("id born", (1, day("1980-02-01")), (2, day("1955-04-03")), (3, day("1991-11-12"))),
        kinds=_DATES,
    ),
    MessyFile(
        "dates_by_neighbour.csv",
        "01/02/1980 begins with the month, because another column of the file does.",
        write_text("born,seen\n01/02/1980,03/25/2024\n03/04/1955,11/30/2023\n"),
        rows=as_rows("born seen", (day("1980-01-02"), day("2024-03-25")), (day("1955-03-04"), day("2023-11-30"))),
        kinds={"born": "date", "seen": "date"},
    ),
    MessyFile(
        "both_ways_round.csv",
        "Two clerks filled one column, one with the day first and one with the month first: it stays text.",
        write_text(list_dates("31/12/1980", "12/31/1980", "01/02/1955", separator=",")),
        rows=as_rows("id born", (1, "31/12/1980"), (2, "12/31/1980"), (3, "01/02/1955")),
        kinds={"born": "text"},
        notes="(?i)date",
    ),
    MessyFile(
        "iso_and_german.csv",
        "A register changed from 1980-12-31 to 31.12.1980, and both are clear.",
        write_text(list_dates("1980-12-31", "01.02.1955", "14.07.1991")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "month_in_letters.csv",
        "A trial writes 31-Dec-1980, so that nobody mistakes the month.",
        write_text(list_dates("31-Dec-1980", "01-Feb-1955", "14-Jul-1991", separator=",")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "oracle_dates.csv",
        "Oracle writes 31-DEC-80 unless told otherwise.",
        write_text(list_dates("31-DEC-80", "14-JUL-91", "03-MAR-12", separator=",")),
        rows=as_rows("id born", (1, day("1980-12-31")), (2, day("1991-07-14")), (3, day("2012-03-03"))),
        kinds=_DATES,
    ),
    MessyFile(
        "german_letters.csv",
        "A registry office writes 31. Dezember 1980.",
        write_text(list_dates("31. Dezember 1980", "1. Februar 1955", "14. Juli 1991", "5. März 2001")),
        rows=as_rows("id born", *enumerate((*_BORN, day("2001-03-05")), start=1)),
        kinds=_DATES,
    ),
    MessyFile(
        "french_letters.csv",
        "A mairie writes 12 mars 2024 and 31 décembre 1980.",
        write_text(list_dates("31 décembre 1980", "1 février 1955", "14 juillet 1991", "5 mars 2001")),
        rows=as_rows("id born", *enumerate((*_BORN, day("2001-03-05")), start=1)),
        kinds=_DATES,
    ),
    MessyFile(
        "english_letters.csv",
        "A newspaper's archive writes March 12, 2024.",
        write_text('id,born\n1,"December 31, 1980"\n2,"February 1, 1955"\n3,"July 14, 1991"\n'),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "two_digit_years.csv",
        "A card index has years of two digits, which lie in the hundred years up to this one.",
        write_text(list_dates("31.12.80", "01.02.55", "14.07.05")),
        rows=as_rows("id born", (1, day("1980-12-31")), (2, day("1955-02-01")), (3, day("2005-07-14"))),
        kinds=_DATES,
        notes="(?i)two digits|centur|hundred years|19[0-9][0-9]",
    ),
    MessyFile(
        "with_time.csv",
        "A ward's system writes the time behind the date, sometimes with seconds.",
        write_text(list_dates("31.12.1980 14:35", "01.02.1955 00:00:10", "14.07.1991 23:59:59.5")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "sometimes_with_time.csv",
        "Some dates have a time and some have none.",
        write_text(list_dates("31.12.1980", "01.02.1955 08:15", "14.07.1991")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "american_time.csv",
        "SQL Server's reports write 12/31/1980 2:35:00 PM.",
        write_text(list_dates("12/31/1980 2:35:00 PM", "2/1/1955 12:00:00 AM", "7/14/1991 11:05:09 AM", separator=",")),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "iso_moments.csv",
        "An interface writes moments with T and Z.",
        write_text(
            list_dates("1980-12-31T14:35:10Z", "1955-02-01T00:00:00.123Z", "1991-07-14T23:59:59Z", separator=",")
        ),
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "iso_zones.csv",
        "Moments half an hour after midnight keep the date on their own clock, whatever the zone.",
        write_text("id,seen\n1,2024-03-31T00:30:00+02:00\n2,2023-11-30T23:45:00-05:00\n"),
        rows=as_rows("id seen", (1, day("2024-03-31")), (2, day("2023-11-30"))),
        kinds={"seen": "date"},
    ),
    MessyFile(
        "eight_digits.csv",
        "19801231 is a number unless somebody says that it is a date.",
        write_text(list_dates("19801231", "19550201", "19910714")),
        rows=as_rows("id born", (1, 19801231), (2, 19550201), (3, 19910714)),
        kinds={"born": "integer"},
    ),
    MessyFile(
        "eight_digits_told.csv",
        "19801231 is told to be a date.",
        write_text(list_dates("19801231", "19550201", "19910714")),
        {"date_format": "YYYYMMDD"},
        rows=_ROWS,
        kinds=_DATES,
    ),
    MessyFile(
        "impossible_date.csv",
        "Somebody was born on the 31st of February; where no cell may be lost the column stays text.",
        write_text(_IMPOSSIBLE),
        rows=as_rows("id born", *((n, f"{d:%d.%m.%Y}") for n, d in _MANY), (40, "31.02.2020")),
        kinds={"born": "text"},
    ),
    MessyFile(
        "impossible_date_missing.csv",
        "The 31st of February is to count as missing.",
        write_text(_IMPOSSIBLE),
        {"on_bad_cell": "missing"},
        rows=as_rows("id born", *_MANY, (40, None)),
        kinds=_DATES,
    ),
    MessyFile(
        "sap_no_date.csv",
        "SAP writes 00.00.0000 for no date; told, it is missing.",
        write_text(list_dates("31.12.1980", "00.00.0000", "14.07.1991")),
        {"missing": ("00.00.0000",)},
        rows=as_rows("id born", (1, _BORN[0]), (2, None), (3, _BORN[2])),
        kinds=_DATES,
        missing={"born": ("00.00.0000",)},
    ),
    MessyFile(
        "open_end.csv",
        "A contract without end lasts until 31.12.9999, which is a date like any other.",
        write_text("id;bis\n1;31.12.9999\n2;30.06.2025\n"),
        rows=as_rows("id bis", (1, day("9999-12-31")), (2, day("2025-06-30"))),
        kinds={"bis": "date"},
    ),
    MessyFile(
        "serial_numbers.csv",
        "Excel's dates were saved as serial numbers, and nothing says that they are dates.",
        write_text(list_dates("29586", "20121", "33433")),
        rows=as_rows("id born", (1, 29586), (2, 20121), (3, 33433)),
        kinds={"born": "integer"},
    ),
    MessyFile(
        "not_a_day.csv",
        "Months, quarters and weeks are no days and stay text.",
        write_text("month,quarter,week\n2024-03,2024-Q1,2024-W05\n2024-11,2023-Q4,2023-W52\n"),
        rows=as_rows("month quarter week", ("2024-03", "2024-Q1", "2024-W05"), ("2024-11", "2023-Q4", "2023-W52")),
        kinds={"month": "text", "quarter": "text", "week": "text"},
    ),
    MessyFile(
        "clock.csv",
        "Times of day become seconds since midnight.",
        write_text("id;ankunft;abgang\n1;14:35;14:35:10\n2;00:05;23:59:59\n3;8:00;08:00:00\n"),
        rows=as_rows("id ankunft abgang", (1, 52500, 52510), (2, 300, 86399), (3, 28800, 28800)),
        kinds={"ankunft": "integer", "abgang": "integer"},
    ),
    MessyFile(
        "clock_of_twelve.csv",
        "American times have AM and PM, and 12:05 AM is after midnight.",
        write_text("id,arrival\n1,2:35 PM\n2,12:05 AM\n3,12:00 PM\n"),
        rows=as_rows("id arrival", (1, 52500), (2, 300), (3, 43200)),
        kinds={"arrival": "integer"},
    ),
    MessyFile(
        "durations.csv",
        "Lengths of time pass 24 hours: 26:10:00.",
        write_text("id;dauer\n1;26:10:00\n2;0:45:30\n3;101:00:00\n"),
        rows=as_rows("id dauer", (1, 94200), (2, 2730), (3, 363600)),
        kinds={"dauer": "integer"},
    ),
    MessyFile(
        "durations_in_words.csv",
        "Lengths of time are written 1h 30m, PT1H30M or 90 min, each in its own column.",
        write_text("a,b,c\n1h 30m,PT1H30M,90 min\n2h 05m,PT45M,15 min\n45m,PT2H,120 min\n"),
        rows=as_rows("a b c", (5400, 5400, 5400), (7500, 2700, 900), (2700, 7200, 7200)),
        kinds={"a": "integer", "b": "integer", "c": "integer"},
    ),
)
