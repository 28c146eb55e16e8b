"""Text files with marks for what is missing, and with truth values in several languages."""

from messy_file import MessyFile, as_rows, day, write_text

_FAR = tuple((place, None if place == 2_222 else place % 90) for place in range(2_400))
_TRUE_FALSE = (True, False, True)


def truth(name: str, habit: str, yes: str, no: str, encoding: str = "utf-8") -> MessyFile:
    """Return a file with truth values of one language."""
    return MessyFile(
        name,
        habit,
        write_text(f"id;member\n1;{yes}\n2;{no}\n3;{yes}\n", encoding),
        rows=as_rows("id member", *enumerate(_TRUE_FALSE, start=1)),
        kinds={"member": "boolean"},
    )


FILES = (
    MessyFile(
        "dash_in_categories.csv",
        "A dash stands where no diagnosis was made: missing, no category of its own.",
        write_text("id;diagnose\n1;Asthma\n2;-\n3;Gicht\n4;-\n5;Asthma\n"),
        rows=as_rows("id diagnose", (1, "Asthma"), (2, None), (3, "Gicht"), (4, None), (5, "Asthma")),
        missing={"diagnose": ("-",)},
    ),
    MessyFile(
        "dash_in_numbers.csv",
        "A dash stands where nothing was measured.",
        write_text("id;gewicht\n1;86,8\n2;-\n3;61,2\n"),
        rows=as_rows("id gewicht", (1, 86.8), (2, None), (3, 61.2)),
        kinds={"gewicht": "real"},
        missing={"gewicht": ("-",)},
    ),
    MessyFile(
        "long_dash.csv",
        "Word made a long dash of the short one, in Windows-1252.",
        write_text("id;alter\n1;34\n2;–\n3;—\n4;71\n", "cp1252"),
        rows=as_rows("id alter", (1, 34), (2, None), (3, None), (4, 71)),
        kinds={"alter": "integer"},
        missing={"alter": ("–", "—")},
    ),
    MessyFile(
        "keine_angabe.csv",
        "German forms say k.A., k. A. or keine Angabe, in numbers and in dates.",
        write_text("alter;geboren\n34;31.12.1980\nk.A.;k. A.\nkeine Angabe;n.b.\n71;01.02.1955\n"),
        rows=as_rows("alter geboren", (34, day("1980-12-31")), (None, None), (None, None), (71, day("1955-02-01"))),
        kinds={"alter": "integer", "geboren": "date"},
        missing={"alter": ("k.A.", "keine Angabe"), "geboren": ("k. A.", "n.b.")},
    ),
    MessyFile(
        "unknown_age.csv",
        "'unbekannt' is missing among numbers, but a word like any other among words.",
        write_text("alter;herkunft\n34;Ulm\nunbekannt;unbekannt\n71;Hof\n"),
        rows=as_rows("alter herkunft", (34, "Ulm"), (None, "unbekannt"), (71, "Hof")),
        kinds={"alter": "integer", "herkunft": "text"},
    ),
    MessyFile(
        "excel_errors.csv",
        "German and English Excel saved the errors of formulas: #DIV/0!, #NV, #WERT!, #REF!",
        write_text("id;quote;summe\n1;0,5;12\n2;#DIV/0!;#WERT!\n3;#NV;#REF!\n4;0,75;#BEZUG!\n"),
        rows=as_rows("id quote summe", (1, 0.5, 12), (2, None, None), (3, None, None), (4, 0.75, None)),
        kinds={"quote": "real", "summe": "integer"},
    ),
    MessyFile(
        "mysql_dump.tsv",
        r"MySQL writes \N for NULL.",
        write_text("id\tage\tseen\n1\t34\t2024-03-12\n2\t\\N\t\\N\n3\t58\t2024-11-30\n"),
        rows=as_rows("id age seen", (1, 34, day("2024-03-12")), (2, None, None), (3, 58, day("2024-11-30"))),
        kinds={"age": "integer", "seen": "date"},
        missing={"age": ("\\N",), "seen": ("\\N",)},
    ),
    MessyFile(
        "oracle_null.csv",
        "Oracle's SQL Developer writes (null).",
        write_text("id,age\n1,34\n2,(null)\n3,58\n"),
        rows=as_rows("id age", (1, 34), (2, None), (3, 58)),
        kinds={"age": "integer"},
    ),
    MessyFile(
        "sql_server_null.csv",
        "SQL Server's results hold the word NULL.",
        write_text("id,age,ward\n1,34,north\n2,NULL,NULL\n3,58,south\n"),
        rows=as_rows("id age ward", (1, 34, "north"), (2, None, None), (3, 58, "south")),
        kinds={"age": "integer"},
        missing={"ward": ("NULL",)},
    ),
    MessyFile(
        "sas_points.csv",
        "SAS writes a point for a missing number.",
        write_text("id,age,dose\n1,34,2.5\n2,.,.\n3,58,0.5\n"),
        rows=as_rows("id age dose", (1, 34, 2.5), (2, None, None), (3, 58, 0.5)),
        kinds={"age": "integer", "dose": "real"},
    ),
    MessyFile(
        "python_words.csv",
        "Python programs leave NaN, nan, None and <NA> behind.",
        write_text("a,b,c,d\n1,2.5,3,x\nNaN,nan,None,<NA>\n4,5.5,6,y\n"),
        rows=as_rows("a b c d", (1, 2.5, 3, "x"), (None, None, None, None), (4, 5.5, 6, "y")),
        kinds={"b": "real"},
    ),
    MessyFile(
        "french_marks.csv",
        "French and Spanish forms say NC, nd and s.d.",
        write_text("âge;poids;edad\n34;86,8;58\nNC;nd;s.d.\n71;61,2;12\n"),
        rows=as_rows("âge poids edad", (34, 86.8, 58), (None, None, None), (71, 61.2, 12)),
        kinds={"âge": "integer", "poids": "real", "edad": "integer"},
    ),
    MessyFile(
        "suppressed.csv",
        "A statistics office hides small counts behind * and writes .. where nothing was asked.",
        write_text("region,count,rate\nN,120,1.5\nS,*,..\nW,85,0.75\n"),
        rows=as_rows("region count rate", ("N", 120, 1.5), ("S", None, None), ("W", 85, 0.75)),
        kinds={"count": "integer", "rate": "real"},
    ),
    MessyFile(
        "mark_far_below.csv",
        "The only mark for a missing number stands in row 2,223.",
        write_text("nr;alter\n" + "".join(f"{n};{'n/a' if a is None else a}\n" for n, a in _FAR)),
        rows=as_rows("nr alter", *_FAR),
        kinds={"alter": "integer"},
        missing={"alter": ("n/a",)},
    ),
    MessyFile(
        "blanks_for_nothing.csv",
        "Cells of blanks stand where nothing is known.",
        write_text("id;alter;tage\n1;34;  3\n2;   ; \n3;58; 12\n"),
        rows=as_rows("id alter tage", (1, 34, 3), (2, None, None), (3, 58, 12)),
        kinds={"alter": "integer", "tage": "integer"},
    ),
    MessyFile(
        "own_marks.csv",
        "A study has marks of its own, which are told for all columns: n.e. and 999.",
        write_text("alter;gewicht;ort\n34;86,8;Ulm\n999;n.e.;n.e.\n71;61,2;Hof\n"),
        {"missing": ("n.e.", "999")},
        rows=as_rows("alter gewicht ort", (34, 86.8, "Ulm"), (None, None, None), (71, 61.2, "Hof")),
        kinds={"alter": "integer", "gewicht": "real"},
    ),
    MessyFile(
        "empty_column.csv",
        "A column was planned and never filled.",
        write_text("id;später;alter\n1;;34\n2;;71\n"),
        rows=as_rows("id später alter", (1, None, 34), (2, None, 71)),
    ),
    truth("ja_nein.csv", "German forms say ja and nein.", "ja", "nein"),
    truth("wahr_falsch.csv", "German Excel writes WAHR and FALSCH.", "WAHR", "FALSCH"),
    truth("oui_non.csv", "French forms say oui and non.", "Oui", "Non"),
    truth("vrai_faux.csv", "French Excel writes VRAI and FAUX.", "VRAI", "FAUX"),
    truth("si_no.csv", "Spanish forms say sí and no, here in Windows-1252.", "sí", "no", "cp1252"),
    truth("sim_nao.csv", "Portuguese forms say sim and não.", "sim", "não"),
    truth("tak_nie.csv", "Polish forms say tak and nie.", "tak", "nie"),
    truth("da_net.csv", "Russian forms say да and нет.", "да", "нет"),
    truth("yes_no.csv", "English forms say yes and no.", "Yes", "No"),
    truth("true_false.csv", "Excel writes TRUE and FALSE.", "TRUE", "FALSE"),
    MessyFile(
        "truth_with_gaps.csv",
        "A question with ja and nein was left out by some.",
        write_text("id;raucher\n1;ja\n2;k.A.\n3;nein\n4;\n"),
        rows=as_rows("id raucher", (1, True), (2, None), (3, False), (4, None)),
        kinds={"raucher": "boolean"},
        missing={"raucher": ("k.A.",)},
    ),
    MessyFile(
        "two_languages.csv",
        "Answers in two languages are no truth values: ja and no.",
        write_text("id;raucher\n1;ja\n2;no\n3;ja\n"),
        rows=as_rows("id raucher", (1, "ja"), (2, "no"), (3, "ja")),
        kinds={"raucher": "text"},
    ),
    MessyFile(
        "zero_one.csv",
        "Zeros and ones stay numbers, so that their sum is a count.",
        write_text("id;raucher\n1;0\n2;1\n3;0\n"),
        rows=as_rows("id raucher", (1, 0), (2, 1), (3, 0)),
        kinds={"raucher": "integer"},
    ),
    MessyFile(
        "ticks.csv",
        "A cross is made where it applies, and nothing where it does not.",
        write_text("id;diabetes\n1;x\n2;\n3;x\n4;\n"),
        rows=as_rows("id diabetes", (1, "x"), (2, None), (3, "x"), (4, None)),
        kinds={"diabetes": "text"},
    ),
)
