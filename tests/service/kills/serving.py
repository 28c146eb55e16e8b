"""A process of a service for tests that kill it: `python serving.py FOLDER SOCKET [URL]`.

Where the folder holds a file `stall-before` or `stall-after`, whoever pays next stops for ever, right before rows are
read or right after: when the cost is reserved and no answer is written down. It then writes the file `stalled`.
"""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import uvicorn

from ziggurat.release.questions import _asking
from ziggurat.service import ServiceSettings, make_app


def stop_where_asked(folder: Path) -> None:
    plans = [each for each in vars(_asking).values() if isinstance(each, type) and "run" in vars(each)]
    for kind in plans:
        usual = kind.run

        def run(self, *given, usual=usual):
            stall(folder, "stall-before")
            output = usual(self, *given)
            stall(folder, "stall-after")
            return output

        kind.run = run


def stall(folder: Path, word: str) -> None:
    asked = folder / word
    try:
        asked.unlink()
    except FileNotFoundError:
        return
    (folder / "stalled").write_text(word)
    time.sleep(600)


def main(folder: Path, handle: int, database: str = "") -> None:
    stop_where_asked(folder)
    settings = ServiceSettings.read(
        {"folder": folder, "slot": 0.05, "rehearse": "kills", "database": database, "requests_per_minute": 10**6}, {}
    )
    config = uvicorn.Config(make_app(settings), log_config=None, access_log=False, lifespan="on")
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=handle)])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:4])
