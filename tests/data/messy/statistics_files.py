"""Files of SPSS, Stata, SAS and R, with labels, codes for missing values and dates of their own."""

from datetime import date
from pathlib import Path
from typing import Any

from messy_file import Make, MessyFile, as_rows, day, write_bytes

_SEX = {1: "männlich", 2: "weiblich"}
_SMOKES = {0: "nein", 1: "ja", 98: "weiß nicht", 99: "verweigert"}


def write_statistics(writer: str, columns: dict[str, list[Any]], **told: Any) -> Make:
    """Return what writes columns with one of the writers of pyreadstat."""

    def make(path: Path) -> None:
        import pandas as pd
        import pyreadstat

        getattr(pyreadstat, writer)(pd.DataFrame(columns), str(path), **told)

    return make


def write_r(writer: str, **frames: dict[str, list[Any]]) -> Make:
    """Return what writes frames as R does, one alone (.rds) or several by name (.RData)."""

    def make(path: Path) -> None:
        import pandas as pd
        import rdata

        made = {
            name: pd.DataFrame(
                {key: pd.Categorical(cells) if key == "sex" else cells for key, cells in columns.items()}
            )
            for name, columns in frames.items()
        }
        getattr(rdata, writer)(path, made if writer == "write_rda" else next(iter(made.values())))

    return make


FILES = (
    MessyFile(
        "labels.sav",
        "SPSS keeps codes, their labels, and which of them mean that somebody refused.",
        write_statistics(
            "write_sav",
            {"id": [1.0, 2.0, 3.0], "sex": [1.0, 2.0, 2.0], "smokes": [0.0, 99.0, 1.0], "bmi": [24.5, 31.25, None]},
            variable_value_labels={"sex": _SEX, "smokes": _SMOKES},
            missing_ranges={"smokes": [98, 99]},
            column_labels={"sex": "Geschlecht"},
        ),
        rows=as_rows("id sex smokes bmi", (1, 1, 0, 24.5), (2, 2, None, 31.25), (3, 2, 1, None)),
        kinds={"id": "integer", "bmi": "real"},
        missing={"smokes": (98, 99)},
        labels={"sex": _SEX, "smokes": _SMOKES},
    ),
    MessyFile(
        "missing_range.sav",
        "SPSS calls a whole range of ages missing: 997 to 999.",
        write_statistics(
            "write_sav", {"age": [34.0, 998.0, 71.0, 999.0]}, missing_ranges={"age": [{"lo": 997, "hi": 999}]}
        ),
        rows=as_rows("age", (34,), (None,), (71,), (None,)),
        missing={"age": (998, 999)},
    ),
    MessyFile(
        "text_codes.sav",
        "SPSS calls a text missing, and pads texts with blanks.",
        write_statistics(
            "write_sav",
            {"ward": ["north", "n.a.", "south"], "age": [34.0, 71.0, 58.0]},
            missing_ranges={"ward": ["n.a."]},
        ),
        rows=as_rows("ward age", ("north", 34), (None, 71), ("south", 58)),
        missing={"ward": ("n.a.",)},
    ),
    MessyFile(
        "dates.zsav",
        "SPSS counts seconds since 1582 and shows dates, in a packed file.",
        write_statistics(
            "write_sav", {"id": [1.0, 2.0], "born": [date(1980, 12, 31), date(1955, 2, 1)]}, compress=True
        ),
        rows=as_rows("id born", (1, day("1980-12-31")), (2, day("1955-02-01"))),
        kinds={"born": "date"},
    ),
    MessyFile(
        "labels.dta",
        "Stata keeps labels of codes, and dates as days since 1960.",
        write_statistics(
            "write_dta",
            {"sex": [1, 2, 2], "born": [date(1980, 12, 31), date(1955, 2, 1), None], "bmi": [24.5, None, 31.25]},
            variable_value_labels={"sex": _SEX},
        ),
        rows=as_rows("sex born bmi", (1, day("1980-12-31"), 24.5), (2, day("1955-02-01"), None), (2, None, 31.25)),
        kinds={"born": "date", "bmi": "real"},
        labels={"sex": _SEX},
    ),
    MessyFile(
        "letters_for_missing.dta",
        "Stata tells several reasons for a missing value apart by letters: .a and .b.",
        write_statistics(
            "write_dta",
            {"id": [1, 2, 3, 4], "income": [2100, "a", 1850, "b"]},
            missing_user_values={"income": ["a", "b"]},
        ),
        rows=as_rows("id income", (1, 2100), (2, None), (3, 1850), (4, None)),
        kinds={"income": "integer"},
        missing={"income": (".a", ".b")},
    ),
    MessyFile(
        "old_stata.dta",
        "A file of Stata 8 from 2003.",
        write_statistics("write_dta", {"id": [1, 2], "ward": ["north", "south"]}, version=8),
        rows=as_rows("id ward", (1, "north"), (2, "south")),
    ),
    MessyFile(
        "transport.xpt",
        "SAS transport files hold names in capitals, texts padded with blanks, and a point for a missing number.",
        write_statistics("write_xport", {"USUBJID": ["S-01", "S-02"], "AGE": [34.0, None], "SEX": ["F", "M"]}),
        rows=as_rows("USUBJID AGE SEX", ("S-01", 34, "F"), ("S-02", None, "M")),
        kinds={"AGE": "integer"},
    ),
    MessyFile(
        "frame.rds",
        "R saves a frame with a factor.",
        write_r("write_rds", people={"id": [1, 2, 3], "sex": ["f", "m", "f"], "bmi": [24.5, 31.25, 22.0]}),
        rows=as_rows("id sex bmi", (1, "f", 24.5), (2, "m", 31.25), (3, "f", 22.0)),
        kinds={"bmi": "real"},
    ),
    MessyFile(
        "two_frames.RData",
        "R saves a workspace with two frames, and nobody says which.",
        write_r("write_rda", people={"id": [1, 2], "age": [34, 71]}, visits={"id": [1, 1], "day": [3, 9]}),
        refused="(?i)(?=.*people)(?=.*visits)(?=.*table)",
    ),
    MessyFile(
        "two_frames_told.RData",
        "R saves a workspace with two frames, and one is told.",
        write_r("write_rda", people={"id": [1, 2], "age": [34, 71]}, visits={"id": [1, 1], "day": [3, 9]}),
        {"table": "visits"},
        rows=as_rows("id day", (1, 3), (1, 9)),
    ),
    MessyFile(
        "not_spss.sav",
        "A text was renamed to .sav.",
        write_bytes(b"id,age\n4711,34\n"),
        refused="(?i)(?=.*SPSS)(?=.*save)",
        unlike=("4711",),
    ),
)
