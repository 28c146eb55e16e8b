"""Text files whose header is missing, doubled, broken or looks like data."""

from messy_file import MessyFile, as_rows, day, write_text

_BARE = "4711;12.03.1980;f\n4712;30.11.1955;m\n4713;01.07.1991;f\n"
_BORN = (day("1980-03-12"), day("1955-11-30"), day("1991-07-01"))
_SEX = ("f", "m", "f")
_BARE_CELLS = tuple(zip((4711, 4712, 4713), _BORN, _SEX, strict=True))

FILES = (
    MessyFile(
        "no_header.csv",
        "A machine writes rows and no header.",
        write_text(_BARE),
        refused="(?i)(?=.*header(=False| none))(?=.*names)",
        unlike=("4711", "1980", "4712"),
    ),
    MessyFile(
        "no_header_named.csv",
        "A file without header is told so, with the names of its columns.",
        write_text(_BARE),
        {"header": False, "names": ("case", "born", "sex")},
        rows=as_rows("case born sex", *_BARE_CELLS),
        kinds={"case": "integer", "born": "date", "sex": "text"},
    ),
    MessyFile(
        "no_header_unnamed.csv",
        "A file without header is told so, and nobody knows the names.",
        write_text(_BARE),
        {"header": False},
        rows=as_rows("column_1 column_2 column_3", *_BARE_CELLS),
        kinds={"column_2": "date"},
    ),
    MessyFile(
        "no_header_too_few_names.csv",
        "Fewer names are told than the file has columns.",
        write_text(_BARE),
        {"header": False, "names": ("case", "born")},
        refused="(?i)(?=.*names)(?=.*\\b(2|two)\\b)(?=.*\\b(3|three)\\b)",
        unlike=("4711",),
    ),
    MessyFile(
        "better_names.csv",
        "The header holds cryptic codes, and better names are told in its place.",
        write_text("V001;V002;V003\n4711;12.03.1980;f\n4712;30.11.1955;m\n"),
        {"names": ["case", "born", "sex"]},
        rows=as_rows("case born sex", *_BARE_CELLS[:2]),
    ),
    MessyFile(
        "pandas_index.csv",
        "pandas writes its index as a first column without a name.",
        write_text(",age,sex\n0,34,f\n1,71,m\n2,58,f\n"),
        rows=as_rows("column_1 age sex", (0, 34, "f"), (1, 71, "m"), (2, 58, "f")),
        notes="column_1",
    ),
    MessyFile(
        "r_write_csv.csv",
        "R's write.csv writes the names of rows in quotes below an empty name.",
        write_text('"","age","sex"\n"1",34,"f"\n"2",71,"m"\n"3",NA,"f"\n'),
        rows=as_rows("column_1 age sex", (1, 34, "f"), (2, 71, "m"), (3, None, "f")),
        notes="column_1",
    ),
    MessyFile(
        "r_write_table.tsv",
        "R's write.table has one name fewer than columns, because the names of rows have none.",
        write_text("age\tsex\n1\t34\tf\n2\t71\tm\n3\t58\tf\n"),
        refused="(?i)header",
        unlike=("34", "71"),
    ),
    MessyFile(
        "r_write_table_told.tsv",
        "R's write.table is read when the names of all columns are told.",
        write_text("age\tsex\n1\t34\tf\n2\t71\tm\n3\t58\tf\n"),
        {"skip": 1, "header": False, "names": ("row", "age", "sex")},
        rows=as_rows("row age sex", (1, 34, "f"), (2, 71, "m"), (3, 58, "f")),
    ),
    MessyFile(
        "name_left_out.csv",
        "A column in the middle has no name.",
        write_text("id;ward;;age\n1;north;x;34\n2;south;y;71\n"),
        rows=as_rows("id ward column_3 age", (1, "north", "x", 34), (2, "south", "y", 71)),
        notes="column_3",
    ),
    MessyFile(
        "name_twice.csv",
        "Two measurements have the same name.",
        write_text("id;pressure;pressure\n1;140;90\n2;120;80\n"),
        rows=as_rows("id pressure pressure_2", (1, 140, 90), (2, 120, 80)),
        notes="pressure_2",
    ),
    MessyFile(
        "name_twice_in_other_case.csv",
        "Two names differ only in capitals, which databases take for one.",
        write_text("id;Age;age\n1;34;30-39\n2;71;70-79\n"),
        rows=as_rows("id Age age_2", (1, 34, "30-39"), (2, 71, "70-79")),
        notes="age_2",
    ),
    MessyFile(
        "break_in_name.csv",
        "A name was broken into two lines to make its column narrow.",
        write_text('id;"Gewicht\nin kg";alter\n1;86,8;34\n2;61,2;71\n'),
        rows=as_rows(["id", "Gewicht in kg", "alter"], (1, 86.8, 34), (2, 61.2, 71)),
        notes="(?i)line break|Gewicht in kg",
    ),
    MessyFile(
        "blanks_around_names.csv",
        "Names have blanks around them.",
        write_text(" id ; Alter  ;\tOrt\n1;34;Ulm\n2;71;Hof\n"),
        rows=as_rows("id Alter Ort", (1, 34, "Ulm"), (2, 71, "Hof")),
        notes="(?i)blank|space",
    ),
    MessyFile(
        "other_scripts.csv",
        "Names and cells are Greek and Cyrillic.",
        write_text("Όνομα;Возраст\nΜαρία;34\nПётр;71\n"),
        rows=as_rows("Όνομα Возраст", ("Μαρία", 34), ("Пётр", 71)),
        kinds={"Возраст": "integer"},
    ),
    MessyFile(
        "odd_names.csv",
        "Names hold units, quotation marks, points and percent signs.",
        write_text('id,Gewicht (kg),"der ""Wert""",HbA1c [%],v.1\n1,86.8,3,6.5,9\n2,61.2,4,7.1,8\n'),
        rows=as_rows(
            ["id", "Gewicht (kg)", 'der "Wert"', "HbA1c [%]", "v.1"], (1, 86.8, 3, 6.5, 9), (2, 61.2, 4, 7.1, 8)
        ),
    ),
    MessyFile(
        "years_as_names.csv",
        "A wide table has years for names, which look like data.",
        write_text("ward;2021;2022\nnorth;140;150\nsouth;120;131\n"),
        refused="(?i)header",
        unlike=("north", "140"),
    ),
    MessyFile(
        "years_as_names_told.csv",
        "Years as names are read when the header is told to be one.",
        write_text("ward;2021;2022\nnorth;140;150\nsouth;120;131\n"),
        {"header": True},
        rows=as_rows("ward 2021 2022", ("north", 140, 150), ("south", 120, 131)),
    ),
    MessyFile(
        "two_header_lines.csv",
        "Groups of columns have names of their own above the header; told, that line is skipped.",
        write_text("Blutdruck;Blutdruck;Labor\nsys;dia;CRP\n140;90;5,2\n120;80;11,8\n"),
        {"skip": 1},
        rows=as_rows("sys dia CRP", (140, 90, 5.2), (120, 80, 11.8)),
    ),
    MessyFile(
        "fixed_width.txt",
        "A mainframe prints columns of fixed width, with blanks in between and no separator.",
        write_text("NR    NAME      BETRAG\n00001 Meier      12.50\n00002 Schulze   107.00\n"),
        refused="(?i)fixed width.*separator",
        unlike=("Meier", "Schulze"),
    ),
    MessyFile(
        "total_nobody_told_of.csv",
        "A statistics office writes the sum of all rows below them; it would count as one more place.",
        write_text("Gemeinde;Fälle;Tage\nAdorf;3;12\nBheim;5;31\nInsgesamt;8;43\n"),
        rows=as_rows("Gemeinde Fälle Tage", ("Adorf", 3, 12), ("Bheim", 5, 31), ("Insgesamt", 8, 43)),
        notes=r"1 row begins with a word for a sum \(line 4\).*--skip-last 1",
    ),
    MessyFile(
        "total_as_a_value.csv",
        "In a long table 'gesamt' is a value of its column like others: every row of it is meant.",
        write_text("sex;jahr;n\n" + "".join(f"{s};{y};1\n" for y in (2019, 2020, 2021, 2022) for s in ("m", "gesamt"))),
        rows=[{"sex": s, "jahr": y, "n": 1} for y in (2019, 2020, 2021, 2022) for s in ("m", "gesamt")],
    ),
    MessyFile(
        "header_again.csv",
        "Monthly files were joined with their headers, so the header stands among the rows; told, it is missing.",
        write_text("alter;tage\n34;3\n71;12\nalter;tage\n58;7\n"),
        {"missing": ("alter", "tage")},
        rows=as_rows("alter tage", (34, 3), (71, 12), (None, None), (58, 7)),
        kinds={"alter": "integer", "tage": "integer"},
    ),
    MessyFile(
        "database_prefix.csv",
        "Hive writes the name of the table before the name of each column.",
        write_text("visits.id\tvisits.ward\n1\tnorth\n2\tsouth\n"),
        rows=as_rows("visits.id visits.ward", (1, "north"), (2, "south")),
    ),
)
