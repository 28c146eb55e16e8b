"""How long a proposal for a wide file takes, beside pandas that reads and describes it: ratios, in one run.

python bench/suggest.py [columns] [rows]
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

_PANDAS = "import pandas, sys; pandas.read_csv(sys.argv[1], low_memory=False).describe(include='all')"
_WORDS = np.array(["red", "green", "blue", "mauve"])


def write_wide(path: Path, columns: int, rows: int) -> None:
    """Write an invented file of numbers, reals, categories, dates, flags, texts and codes."""
    source = np.random.default_rng(1)
    makers = {
        "n": lambda: source.integers(0, 5000, rows),
        "x": lambda: source.normal(size=rows).round(3),
        "colour": lambda: source.choice(_WORDS, rows),
        "day": lambda: np.datetime64("2000-01-01") + source.integers(0, 9000, rows),
        "flag": lambda: source.integers(0, 2, rows),
        "text": lambda: np.char.add("w", source.integers(0, 3000, rows).astype(str)),
        "answer": lambda: source.choice([-9, 1, 2, 3, 4, 5], rows),
        "code": lambda: np.char.add("C", source.integers(1000, 3000, rows).astype(str)),
    }
    names = [f"{list(makers)[place % len(makers)]}{place}" for place in range(columns)]
    cells = [makers[name.rstrip("0123456789")]().astype(str) for name in names]
    lines = (",".join(row) for row in zip(*cells, strict=True))
    path.write_text("\n".join([",".join(names), *lines, ""]))


def measure_seconds(command: list[str]) -> float:
    """Return the processor time of a command, of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(columns: int, rows: int) -> None:
    """Print the processor time of both, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wide.csv"
        write_wide(file, columns, rows)
        out = ["--out", str(file.with_suffix(".yaml"))]
        ours = measure_seconds([sys.executable, "-m", "ziggurat", "schema", "suggest", str(file), *out])
        theirs = measure_seconds([sys.executable, "-c", _PANDAS, str(file)])
    print(f"{columns:,} columns, {rows:,} rows: proposal {ours:.2f} s, pandas {theirs:.2f} s, {ours / theirs:.2f} x")


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:3]]
    for rows in given[1:] or (200, 1_000):
        main(given[0] if given else 2_000, rows)
