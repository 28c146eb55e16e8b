"""How a command ends: one sentence, or one JSON object under `--json`, and an exit code that says what kind of end.

This module loads nothing heavy, so that Ctrl-C is understood from the first moment.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from types import FrameType
from typing import Any

from ziggurat.errors import EngineError, ZigguratError

EXIT_CODES = {
    0: "well",
    1: "a check failed",
    2: "usage",
    3: "refused by the budget",
    4: "ledger failure",
    5: "refused by the gate",
    6: "bad data",
    7: "engine or machine failure",
    8: "not signed in, or not allowed",
    70: "unexpected",
    130: "stopped by Ctrl-C",
    143: "stopped by SIGTERM",
}
_MACHINE, _UNEXPECTED = 7, 70
_SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


def main() -> None:
    """Run the command line; the way `ziggurat` starts."""
    # Nearly all that a command makes while it loads stays: looking through it for garbage often finds none.
    gc.set_threshold(200_000, 20, 100)
    for stream in (sys.stdout, sys.stderr):
        # A terminal or log that cannot show a letter gets a question mark, not a crash half-way.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    arguments = sys.argv[1:]
    as_json = "--json" in arguments[: arguments.index("--") if "--" in arguments else None]
    with _listen() as heard:
        try:
            code = _run(arguments)
        except BaseException as error:  # noqa: BLE001 - whatever ends a command ends it with a sentence
            code = _end(error, heard, as_json)
    sys.exit(code)


def _run(arguments: Sequence[str]) -> int:
    from ziggurat.cli._app import run_command

    code = run_command(arguments)
    sys.stdout.flush()
    return code


@contextmanager
def _listen() -> Iterator[list[signal.Signals]]:
    """Let SIGINT and SIGTERM end the command in an orderly way; gives the signals that were heard.

    An engine that is interrupted in the middle of its work raises an error of its own, which is why they are kept. A
    signal that whoever started us chose to ignore stays ignored.
    """
    heard: list[signal.Signals] = []
    us = os.getpid()

    def hear(number: int, _frame: FrameType | None) -> None:
        if os.getpid() != us and number == signal.SIGTERM:  # a worker that is being ended
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        heard.append(signal.Signals(number))
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, hear)
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(error: BaseException, heard: Sequence[signal.Signals], as_json: bool) -> int:
    """Say how it ended; gives the exit code."""
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has left; keep the interpreter from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    if isinstance(error, KeyboardInterrupt) or (heard and not _is_a_refusal(error)):
        found = _describe_stop(error, heard[-1] if heard else signal.SIGINT)
    elif isinstance(error, ZigguratError):
        found = error.to_dict()["error"]
    elif hasattr(error, "format_message"):  # how the parser of options refuses
        if not as_json:
            error.show()  # type: ignore[attr-defined]
            return int(error.exit_code)  # type: ignore[attr-defined]
        found = {"kind": "UsageError", "message": error.format_message(), "exit_code": 2}
    elif isinstance(error, OSError | MemoryError):
        found = {"kind": type(error).__name__, "message": _explain(error), "exit_code": _MACHINE}
    elif isinstance(error, Exception) and not os.environ.get("ZIGGURAT_DEBUG"):
        found = {"kind": type(error).__name__, "message": _explain(error), "exit_code": _UNEXPECTED}
    else:
        raise error
    _print(found, as_json)
    return int(found["exit_code"])


def _is_a_refusal(error: BaseException) -> bool:
    """Whether we ended it ourselves, after a Ctrl-C that the command took as the sign to make do with what it has."""
    return isinstance(error, ZigguratError) and not isinstance(error, EngineError)


def _describe_stop(error: BaseException, number: signal.Signals) -> dict[str, Any]:
    told = str(error) if isinstance(error, KeyboardInterrupt) else ""
    message = told or (
        f"Stopped by {_SIGNALS[number]}; a file is whole or was not written, and what a ledger had reserved by then "
        "stays spent."
    )
    return {"kind": "Stopped", "message": message, "exit_code": 128 + number}


def _explain(error: Exception) -> str:
    """The text of a foreign error may quote cells, so only its kind is shown."""
    if isinstance(error, OSError):
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        return f"a file or the output could not be read or written ({reason})."
    if isinstance(error, MemoryError):
        return "this does not fit into the memory of this machine; ask for less at a time."
    return (
        f"something unexpected happened ({type(error).__name__}); nothing was released. "
        "Set ZIGGURAT_DEBUG=1 to see the details, which may contain raw values."
    )


def _print(found: dict[str, Any], as_json: bool) -> None:
    stream = sys.stdout if as_json else sys.stderr
    told = found["message"] if found["kind"] == "Stopped" else f"Error: {found['message']}"
    try:
        stream.write(f"{json.dumps({'error': found}, indent=1, ensure_ascii=False) if as_json else told}\n")
        stream.flush()
        sys.stdout.flush()
    except OSError:
        sys.stdout = None  # what could not be written is not tried again at exit
