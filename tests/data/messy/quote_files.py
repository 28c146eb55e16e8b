"""Text files whose cells are separated and quoted in other ways than RFC 4180 says."""

from messy_file import MessyFile, as_rows, day, write_text

_NOTES = as_rows("id note", (1, "tired, pale"), (2, 'said "no"'), (3, "fine"))

FILES = (
    MessyFile(
        "tabs.txt",
        "A statistics office delivers tabs in a .txt file.",
        write_text("id\tregion\tincome\n1\tNord-Est\t2100\n2\tSud\t1850\n"),
        rows=as_rows("id region income", (1, "Nord-Est", 2100), (2, "Sud", 1850)),
    ),
    MessyFile(
        "tabs_named_csv.csv",
        "A file with tabs is named .csv, and its cells hold commas.",
        write_text("id\tname\tage\n1\tDoe, Jane\t34\n2\tRoe, Rick\t71\n"),
        rows=as_rows("id name age", (1, "Doe, Jane", 34), (2, "Roe, Rick", 71)),
    ),
    MessyFile(
        "columns.tab",
        "A Dataverse archive names its tabbed files .tab.",
        write_text("id\tage\n1\t34\n2\t71\n"),
        rows=as_rows("id age", (1, 34), (2, 71)),
    ),
    MessyFile(
        "pipes.psv",
        "A billing system separates by | and leaves semicolons in cells.",
        write_text("id|codes|sum\n1|E11.9; I10|250.50\n2|J45|80.00\n"),
        rows=as_rows("id codes sum", (1, "E11.9; I10", 250.5), (2, "J45", 80.0)),
    ),
    MessyFile(
        "semicolons_and_commas.csv",
        "Semicolons separate, and more commas than semicolons stand in the cells.",
        write_text("id;diagnosen;alter\n1;Asthma, Gicht, Migräne;34\n2;Gicht, Asthma, Husten;71\n"),
        rows=as_rows("id diagnosen alter", (1, "Asthma, Gicht, Migräne", 34), (2, "Gicht, Asthma, Husten", 71)),
    ),
    MessyFile(
        "colons_told.txt",
        "An old registry separates by colons, which must be told.",
        write_text("id:ward:age\n1:north:34\n2:south:71\n"),
        {"delimiter": ":"},
        rows=as_rows("id ward age", (1, "north", 34), (2, "south", 71)),
    ),
    MessyFile(
        "blanks_told.dat",
        "A measuring device separates by single blanks, which must be told.",
        write_text("id pulse temp\n1 72 36.6\n2 88 38.1\n"),
        {"delimiter": " "},
        rows=as_rows("id pulse temp", (1, 72, 36.6), (2, 88, 38.1)),
    ),
    MessyFile(
        "one_column.csv",
        "A list of one column has no separator at all.",
        write_text("age\n34\n71\n58\n"),
        rows=as_rows("age", (34,), (71,), (58,)),
        kinds={"age": "integer"},
    ),
    MessyFile(
        "all_quoted.csv",
        "A system quotes every cell, numbers and dates too.",
        write_text('"id","age","seen"\n"1","34","2024-03-12"\n"2","71","2024-11-30"\n'),
        rows=as_rows("id age seen", (1, 34, day("2024-03-12")), (2, 71, day("2024-11-30"))),
        kinds={"id": "integer", "age": "integer", "seen": "date"},
    ),
    MessyFile(
        "quoted_decimal_comma.csv",
        "A French LibreOffice separates by commas and quotes numbers with decimal commas.",
        write_text('nom,taille,poids\nZoé,"1,72","86,8"\nLéa,"1,65","61,2"\n'),
        rows=as_rows("nom taille poids", ("Zoé", 1.72, 86.8), ("Léa", 1.65, 61.2)),
        kinds={"taille": "real", "poids": "real"},
    ),
    MessyFile(
        "doubled_quotes.csv",
        "Quotation marks inside quoted cells are doubled.",
        write_text('id,note\n1,"tired, pale"\n2,"said ""no"""\n3,fine\n'),
        rows=_NOTES,
    ),
    MessyFile(
        "backslash_quotes.csv",
        "A web application writes a backslash before quotation marks in cells.",
        write_text('id,note\n1,"tired, pale"\n2,"said \\"no\\""\n3,"fine"\n'),
        rows=_NOTES,
        notes=r"(?i)backslash|\\",
    ),
    MessyFile(
        "single_quotes.csv",
        "A script puts cells into single quotes.",
        write_text("id,note\n1,'tired, pale'\n2,'said \"no\"'\n3,'fine'\n"),
        rows=_NOTES,
        notes="(?i)single|apostrophe|'",
    ),
    MessyFile(
        "single_quotes_told.csv",
        "Single quotes are told.",
        write_text("id,note\n1,'tired, pale'\n2,'said \"no\"'\n3,'fine'\n"),
        {"quote": "'"},
        rows=_NOTES,
    ),
    MessyFile(
        "inches.csv",
        "A workshop writes inches with a quotation mark and quotes nothing.",
        write_text('id;part;price\n1;6" pipe;12.50\n2;tube 3/4";8.25\n3;valve;30.00\n'),
        rows=as_rows("id part price", (1, '6" pipe', 12.5), (2, 'tube 3/4"', 8.25), (3, "valve", 30.0)),
        notes="(?i)quot",
    ),
    MessyFile(
        "nickname.tsv",
        "A cell begins with a quotation mark that closes in its middle; no cell is quoted.",
        write_text('id\tname\tage\n1\t"Bo" Derek\t34\n2\tAnn "Nan" Lee\t71\n'),
        {"quote": ""},
        rows=as_rows("id name age", (1, '"Bo" Derek', 34), (2, 'Ann "Nan" Lee', 71)),
    ),
    MessyFile(
        "blank_before_quote.csv",
        "Somebody typed a blank after every comma, before the quotation marks too.",
        write_text('id, name, age\n1, "Doe, Jane", 34\n2, "Roe, Rick", 71\n'),
        rows=as_rows("id name age", (1, "Doe, Jane", 34), (2, "Roe, Rick", 71)),
        notes="(?i)blank|space",
    ),
    MessyFile(
        "line_break_in_cell.csv",
        "A nurse pressed Enter within a note, and Excel quoted it.",
        write_text('id;notiz;alter\r\n1;"müde\nblass";34\r\n2;"Anruf\r\nTochter";71\r\n3;ok;58\r\n'),
        rows=as_rows("id notiz alter", (1, "müde\nblass", 34), (2, "Anruf\r\nTochter", 71), (3, "ok", 58)),
    ),
    MessyFile(
        "formula_in_cell.csv",
        "Cells that spreadsheets would run as formulas carry an apostrophe, which is taken off again.",
        write_text('id,note\n1,"\'=1+1"\n2,"\'@home"\n3,plain\n'),
        rows=as_rows("id note", (1, "=1+1"), (2, "@home"), (3, "plain")),
    ),
    MessyFile(
        "two_delimiters.csv",
        "Half of the file separates by semicolons and half by commas.",
        write_text("id;age\n1;34\n2;71\n3,58\n4,12\n"),
        refused="(?i)line 4",
        unlike=("58",),
    ),
    MessyFile(
        "two_letters_told.csv",
        "A separator of two characters is told.",
        write_text("id||age\n1||34\n"),
        {"delimiter": "||"},
        refused="(?i)delimiter .*one character",
    ),
    MessyFile(
        "padded_cells.txt",
        "A mainframe pads every cell with blanks to a fixed width.",
        write_text("id   |age |seen      \n00001|  34|12.03.2024\n00002|   7|30.11.2024\n"),
        rows=as_rows("id age seen", ("00001", 34, day("2024-03-12")), ("00002", 7, day("2024-11-30"))),
        kinds={"id": "text", "age": "integer", "seen": "date"},
    ),
)
