"""Text files whose lines are odd: how they end, what stands above and below the table, and what is in between."""

from messy_file import MessyFile, as_rows, write_bytes, write_text

_FIRST = tuple((place, 50 + place % 30) for place in range(2_100))
_BLANK_AT = {5, 700, 2_050}
_SPARSE = "".join(("\n" if place in _BLANK_AT else "") + f"{place};{weight}\n" for place, weight in _FIRST)
_UNITS = tuple((40 + place, 60.5 + place) for place in range(24))
_STAY = as_rows("fall tage", ("A1", 3), ("A2", 12), ("A3", 7))

FILES = (
    MessyFile(
        "classic_mac.csv",
        "A Macintosh program from before 2001 ends lines with CR alone.",
        write_bytes(b"id;age\r1;34\r2;71\r3;58\r"),
        rows=as_rows("id age", (1, 34), (2, 71), (3, 58)),
        notes=r"\bCR\b",
    ),
    MessyFile(
        "mixed_line_ends.csv",
        "Files from Windows and Linux were joined, so some lines end in CR LF and some in LF.",
        write_bytes(b"id,age\r\n1,34\r\n2,71\n3,58\n4,12\r\n"),
        rows=as_rows("id age", (1, 34), (2, 71), (3, 58), (4, 12)),
        notes="(?i)mixed|(?=.*CR LF)(?=.*LF)",
    ),
    MessyFile(
        "no_last_end.csv",
        "A script forgets the end of the last line.",
        write_bytes(b"id,age\r\n1,34\r\n2,71"),
        rows=as_rows("id age", (1, 34), (2, 71)),
    ),
    MessyFile(
        "separator_at_end.csv",
        "A hospital system ends every line with a separator.",
        write_text("fall;tage;\nA1;3;\nA2;12;\nA3;7;\n"),
        rows=_STAY,
        notes="(?i)separator|last column|end of every line",
    ),
    MessyFile(
        "blank_lines.csv",
        "Somebody put blank lines between groups of patients.",
        write_text("fall;tage\nA1;3\n\nA2;12\n\n\nA3;7\n"),
        rows=_STAY,
        notes=r"(?i)\b(3|three) blank lines",
    ),
    MessyFile(
        "blank_lines_far_below.csv",
        "Blank lines stand in a long file, the last one far below.",
        write_text("nr;gewicht\n" + _SPARSE),
        rows=as_rows("nr gewicht", *_FIRST),
        notes=r"(?i)\b(3|three) blank lines",
    ),
    MessyFile(
        "deleted_rows.csv",
        "Excel saves rows whose content was deleted as lines of separators.",
        write_text("fall;tage\r\nA1;3\r\n;\r\nA2;12\r\nA3;7\r\n;\r\n;\r\n"),
        rows=_STAY,
        notes=r"(?i)\b(3|three) blank lines",
    ),
    MessyFile(
        "report_title.csv",
        "A report begins with its title, the day of the export and a blank line.",
        write_text("Klinikum Musterstadt: Verweildauer\nStand: 31.12.2023\n\nfall;tage\nA1;3\nA2;12\nA3;7\n"),
        rows=_STAY,
        notes=r"(?i)\b(3|three) lines?\b.*above",
    ),
    MessyFile(
        "padded_title.csv",
        "Excel saves a title above the table with the separators of the empty cells beside it.",
        write_text("Verweildauer 2023;;\r\n;;\r\nfall;tage;station\r\nA1;3;Nord\r\nA2;12;Süd\r\nA3;7;Nord\r\n"),
        rows=as_rows("fall tage station", ("A1", 3, "Nord"), ("A2", 12, "Süd"), ("A3", 7, "Nord")),
        notes=r"(?i)\b(2|two) lines?\b.*above",
    ),
    MessyFile(
        "comments_above.tsv",
        "A pipeline writes comments with # above the header.",
        write_text("# cohort 7, build 2024-03-01\n# do not edit\nfall\ttage\nA1\t3\nA2\t12\nA3\t7\n"),
        rows=_STAY,
        notes=r"(?i)\b(2|two) lines?\b.*above",
    ),
    MessyFile(
        "title_told.csv",
        "A title holds as many separators as the table, so the steward says how many lines to skip.",
        write_text("Haus, Station\nNord, 3\nfall,tage\nA1,3\nA2,12\nA3,7\n"),
        {"skip": 2},
        rows=_STAY,
    ),
    MessyFile(
        "excel_says_sep.csv",
        "The first line tells Excel the separator: sep=;",
        write_text("sep=;\r\nfall;kosten\r\nA1;12,5\r\nA2;3,75\r\n"),
        rows=as_rows("fall kosten", ("A1", 12.5), ("A2", 3.75)),
        kinds={"kosten": "real"},
    ),
    MessyFile(
        "psql_footer.txt",
        "psql without alignment ends its output with '(3 rows)'.",
        write_text("fall|tage\nA1|3\nA2|12\nA3|7\n(3 rows)\n"),
        refused="(?i)(?=.*line 5)(?=.*skip.last)",
        unlike=("A1", "3 rows"),
    ),
    MessyFile(
        "psql_footer_told.txt",
        "psql's '(3 rows)' below the table is skipped when told.",
        write_text("fall|tage\nA1|3\nA2|12\nA3|7\n(3 rows)\n"),
        {"skip_last": 1},
        rows=_STAY,
    ),
    MessyFile(
        "signature_below.csv",
        "A report ends with a sentence about who made it.",
        write_text("fall;tage\nA1;3\nA2;12\nA3;7\n\nErstellt von Controlling\n"),
        refused="(?i)(?=.*line 6)(?=.*skip.last)",
        unlike=("Erstellt", "Controlling"),
    ),
    MessyFile(
        "total_below.csv",
        "The last line is the total, in as many fields as the rest; told, it is skipped.",
        write_text("fall;tage\nA1;3\nA2;12\nA3;7\nSumme;22\n"),
        {"skip_last": 1},
        rows=_STAY,
    ),
    MessyFile(
        "sqlcmd_dashes.txt",
        "sqlcmd draws a line of dashes below the names and counts the rows at the end.",
        write_text("fall|tage\r\n----|----\r\nA1|3\r\nA2|12\r\nA3|7\r\n\r\n(3 rows affected)\r\n"),
        {"skip": 2, "header": False, "names": ("fall", "tage"), "skip_last": 1},
        rows=_STAY,
    ),
    MessyFile(
        "units_below_header.csv",
        "A laboratory writes the units in a row below the names; told, both lines are skipped.",
        write_text("größe;gewicht\ncm;kg\n181;86,8\n165;61,2\n"),
        {"skip": 2, "header": False, "names": ["größe_cm", "gewicht_kg"]},
        rows=as_rows("größe_cm gewicht_kg", (181, 86.8), (165, 61.2)),
        kinds={"größe_cm": "integer", "gewicht_kg": "real"},
    ),
    MessyFile(
        "units_untold.csv",
        "A row of units stands below the names of 24 rows, and cells that do not fit are to count as missing.",
        write_text("alter;gewicht\nJahre;kg\n" + "".join(f"{a};{w}\n".replace(".", ",") for a, w in _UNITS)),
        {"on_bad_cell": "missing"},
        rows=as_rows("alter gewicht", (None, None), *_UNITS),
        kinds={"alter": "integer", "gewicht": "real"},
    ),
    MessyFile(
        "comma_in_address.csv",
        "An address holds a comma, and nobody quoted it.",
        write_text("id,address,age\n1,Elm Street 5,34\n2,Oak Lane 7, Leeds,71\n3,High Street 1,58\n"),
        refused="(?i)(?=.*line 3)(?=.*quote)",
        unlike=("Oak", "Leeds", "Elm"),
    ),
    MessyFile(
        "short_lines.csv",
        "Old Excel leaves out the separators of empty cells at the end of a line.",
        write_text("fall,tage,note\nA1,3,ok\nA2,12\nA3,7,ok\n"),
        refused="(?i)line 3 has 2 fields",
        unlike=("A2",),
    ),
    MessyFile(
        "commas_everywhere.csv",
        "Decimal commas in a file that separates by commas, without quotes.",
        write_text("alter,gewicht\n34,86,8\n71,61,2\n58,102,5\n"),
        refused="(?i)quote|separator|delimiter|header",
        unlike=("86", "102"),
    ),
    MessyFile(
        "novel_in_a_cell.csv",
        "A letter of 50,000 characters stands in one cell.",
        write_text("id,letter\n1,ok\n2," + "Lorem ipsum " * 4_000 + "end\n3,ok\n"),
        rows=as_rows("id letter", (1, "ok"), (2, "Lorem ipsum " * 4_000 + "end"), (3, "ok")),
    ),
    MessyFile(
        "image_in_a_cell.csv",
        "A picture was pasted into a cell as more than two million letters.",
        write_text("id,letter\n1,ok\n2," + "iVBORw0KGgo" * 200_000 + "\n"),
        refused="(?i)line 3 is longer than 2,000,000 bytes",
        unlike=("iVBOR",),
    ),
    MessyFile(
        "never_closed.csv",
        "Some cells need their quotation marks, and one mark is never closed.",
        write_text('id,note\n1,"tired, pale"\n2,"oh\n3,fine\n4,"well, again"\n5,fine\n'),
        refused="(?i)line [2-6] .*quot",
        unlike=("tired", "fine"),
    ),
)
