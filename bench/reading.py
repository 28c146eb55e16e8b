"""How long reading a long text file takes, beside pandas.read_csv: whole calls, ratios, in one run.

python bench/reading.py [rows]

One file is plain (commas, ISO dates, UTF-8), the other as German programs write it (semicolons, decimal commas, days
first, Windows-1252). pandas is told how each is written; Ziggurat finds it out, and checks every cell.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

_OURS = "import sys; from ziggurat.data import read; read(sys.argv[1], unit='row')"
_THEIRS = {
    "plain": "import pandas, sys; pandas.read_csv(sys.argv[1], parse_dates=['day'])",
    "German": "import pandas, sys; pandas.read_csv(sys.argv[1], sep=';', decimal=',', encoding='cp1252', "
    "parse_dates=['day'], date_format='%d.%m.%Y')",
}


def write_long(path: Path, rows: int, *, german: bool) -> None:
    """Write an invented file of whole numbers, reals, dates and words."""
    source = np.random.default_rng(1)
    days = np.datetime64("1990-01-01") + source.integers(0, 9000, rows)
    texts = [str(day) for day in days]
    written = [".".join(reversed(each.split("-"))) for each in texts] if german else texts
    reals = [f"{each:.4f}" for each in source.normal(50, 10, rows)]
    cells = (
        source.integers(0, 100, rows).astype(str),
        written,
        [each.replace(".", ",") for each in reals] if german else reals,
        source.choice(["Köln", "Ulm", "Düren"], rows),
    )
    mark = ";" if german else ","
    lines = [mark.join(("age", "day", "weight", "city")), *(mark.join(row) for row in zip(*cells, strict=True)), ""]
    path.write_text("\n".join(lines), encoding="cp1252" if german else "utf-8")


def measure(script: str, file: Path) -> tuple[float, float]:
    """Return the processor seconds and the megabytes of a script that reads a file."""
    process = subprocess.Popen([sys.executable, "-c", script, str(file)])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"The script that reads {file.name} failed.")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(rows: int) -> None:
    """Print both for both files, and their ratios."""
    with tempfile.TemporaryDirectory() as folder:
        for habit, script in _THEIRS.items():
            file = Path(folder) / f"{habit}.csv"
            write_long(file, rows, german=habit == "German")
            (ours, our_memory), (theirs, their_memory) = measure(_OURS, file), measure(script, file)
            print(
                f"{rows:,} rows, {habit}: read {ours:.2f} s and {our_memory:,.0f} MB, pandas {theirs:.2f} s and "
                f"{their_memory:,.0f} MB, {ours / theirs:.2f} x the time, {our_memory / their_memory:.2f} x the memory"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000)
