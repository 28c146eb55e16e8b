"""How long `import ziggurat` and `ziggurat --help` take beyond bare Python (promise: at most 0.3 s)."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

ROUNDS = 15
COMMANDS = {
    "bare Python": [sys.executable, "-c", "pass"],
    "import ziggurat": [sys.executable, "-c", "import ziggurat"],
    "ziggurat --help": [str(Path(sys.executable).parent / "ziggurat"), "--help"],
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            taken[name].append(seconds(command))
    bare = statistics.median(taken["bare Python"])
    for name, values in taken.items():
        middle = statistics.median(values)
        print(f"{name:<16} {middle:.3f} s   {middle - bare:+.3f} s beyond bare Python")


if __name__ == "__main__":
    main()
