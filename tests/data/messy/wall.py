"""The export of an invented hospital, at which a new user's first own file once hit a wall."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

ILLNESSES = ("Asthma", "Gicht", "Migräne", "-")
POSTCODES = ("01067", "80331", "04109", "20095", "50667")
NAMES = ("Patient", "Geboren", "PLZ", "Gewicht", "Kosten €", "Diagnose", "union_member", "Besuch")
SIZE = 60


def cells() -> list[dict[str, Any]]:
    """Return the export as values: two visits of each of 30 patients, the later one first."""
    return [
        {
            "Patient": f"P-{place // 2:03}",
            "Geboren": date(1930, 12, 31) + timedelta(days=500 * (place // 2)),
            "PLZ": POSTCODES[place // 2 % len(POSTCODES)],
            "Gewicht": 61.2 + place * 0.7,
            "Kosten €": 980.5 + place * 37.25,
            "Diagnose": ILLNESSES[place % len(ILLNESSES)],
            "union_member": place % 3 == 0,
            "Besuch": date(2024, 11, 30) - timedelta(days=place),
        }
        for place in range(SIZE)
    ]


def write_number(number: float, decimals: int) -> str:
    """Return a number as a German hospital writes it: 1.234,50."""
    return f"{number:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def write_row(row: dict[str, Any]) -> list[str]:
    """Return a row as a German hospital writes it."""
    return [
        row["Patient"],
        f"{row['Geboren']:%d.%m.%Y}",
        row["PLZ"],
        write_number(row["Gewicht"], 1),
        write_number(row["Kosten €"], 2),
        row["Diagnose"],
        "yes" if row["union_member"] else "no",
        f"{row['Besuch']:%d.%m.%Y}",
    ]


def write_export(path: Path, *, header: bool = True, names: tuple[str, ...] = NAMES) -> None:
    """Write the export as the hospital's Excel saves it: semicolons, decimal commas, Windows-1252."""
    lines = [*([list(names)] if header else []), *map(write_row, cells())]
    path.write_bytes("".join(";".join(line) + "\r\n" for line in lines).encode("cp1252"))


def read_back() -> list[dict[str, Any]]:
    """Return the rows that reading the export must give."""
    return [
        {
            **row,
            "Gewicht": round(row["Gewicht"], 1),
            "Kosten €": round(row["Kosten €"], 2),
            "Diagnose": None if row["Diagnose"] == "-" else row["Diagnose"],
        }
        for row in cells()
    ]


def typed() -> dict[str, list[Any]]:
    """Return the export as columns with names that every program takes, for workbooks and statistics programs."""
    rows = read_back()
    names = {"Patient": "patient", "Geboren": "born", "Gewicht": "weight", "Besuch": "seen"}
    return {short: [row[name] for row in rows] for name, short in names.items()}
