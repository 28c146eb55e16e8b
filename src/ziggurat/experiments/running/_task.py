"""One node executed: load its inputs, call its step, store its outputs; the same in every process."""

from __future__ import annotations

import copy
import io
import math
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from ziggurat.errors import ArtefactError
from ziggurat.experiments._types import StoredOutput
from ziggurat.experiments.storing import DamagedError, Objects, StoreError, number_in, pack, unpack

LONGEST_MESSAGE = 2_000
LONGEST_TRACEBACK = 8_000
_LONGEST_CHAIN = 5
_MOST_FRAMES = 30
PRINTED_HEAD = PRINTED_TAIL = 65_536


@dataclass(frozen=True)
class Many:
    """A gathered input: what the step receives for each run, with the value still in the cache."""

    parameters: tuple[Mapping[str, Any], ...]
    repeats: tuple[Mapping[str, int], ...]
    values: tuple[StoredOutput, ...]


@dataclass(frozen=True)
class NodeTask:
    """All that is needed to run a node anywhere that sees the cache folder."""

    node: str
    function: Callable[..., Any]
    parameters: Mapping[str, Any]
    inputs: Mapping[str, StoredOutput | Many]
    seed: int | None
    metrics: tuple[str, ...]
    folder: str


@dataclass(frozen=True)
class Outcome:
    """What became of a task.

    `status` is 'damaged' if an input must be made again (`damaged` holds the digests of its payloads), and 'stopped' if
    the cache cannot be written, so that going on is useless.
    """

    node: str
    status: Literal["done", "failed", "damaged", "stopped"]
    started: str
    seconds: float
    outputs: Mapping[str, StoredOutput] = field(default_factory=dict)
    error: str | None = None
    printed: str = ""
    damaged: tuple[str, ...] = ()
    missing: bool = False


class StepError(Exception):
    """A step did not keep to its contract; the message is the sentence to record."""


def execute(task: NodeTask) -> Outcome:
    """Run a task; whatever its step does wrong becomes part of the outcome.

    Only what is meant to end the process, such as KeyboardInterrupt, is raised.
    """
    started, clock = datetime.now(UTC).isoformat(timespec="milliseconds"), time.perf_counter()

    def outcome(status: Literal["done", "failed", "damaged", "stopped"], **more: Any) -> Outcome:
        return Outcome(task.node, status, started, time.perf_counter() - clock, **more)

    printed = _CapturedText()
    try:
        outputs = _run(task, printed)
        check_metrics(outputs, task.metrics)
        return outcome("done", outputs=outputs, printed=printed.text())
    except _DamagedInputs as error:
        return outcome("damaged", error=str(error), damaged=error.digests, missing=error.missing)
    except StoreError as error:
        return outcome("stopped", error=str(error), printed=printed.text())
    except (StepError, ArtefactError) as error:
        return outcome("failed", error=str(error), printed=printed.text())
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a step may raise anything; it fails alone
        return outcome("failed", error=failure(error), printed=printed.text())


def check_metrics(outputs: Mapping[str, StoredOutput], names: tuple[str, ...]) -> dict[str, float]:
    """Return the metrics among outputs.

    Raises
    ------
    StepError
        If one is missing or is not a finite number.
    """
    return {name: _metric(outputs, name) for name in names}


def _metric(outputs: Mapping[str, StoredOutput], name: str) -> float:
    if name not in outputs:
        known = ", ".join(map(repr, sorted(outputs)[:12])) or "nothing"
        raise StepError(f"The step did not return the metric {name!r}; it returned {known}.")
    value = number_in(outputs[name])
    if value is None:
        raise StepError(f"The metric {name!r} is not a number; return a float or an int.")
    if not math.isfinite(value):
        raise StepError(f"The metric {name!r} is not finite; return a finite number.")
    return value


def failure(error: BaseException) -> str:
    """Return the type and message of an exception on one line, and below it the end of its traceback."""
    text = "\n".join(_tell(each) for each in reversed(_chain(error)))
    if len(text) > LONGEST_TRACEBACK:
        text = f"[…]\n{text[-LONGEST_TRACEBACK:]}"
    return f"{_headline(error)}\n{text}"


def _headline(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a foreign __str__ may do anything
        message = "its message cannot be shown"
    shown = f"{message[:LONGEST_MESSAGE]}…" if len(message) > LONGEST_MESSAGE else message
    return ": ".join(filter(None, (type(error).__name__, " ".join(shown.split()))))


def _chain(error: BaseException | None) -> list[BaseException]:
    """The exception, what it came from, what that came from; a few of them tell enough."""
    found: list[BaseException] = []
    while error is not None and error not in found and len(found) < _LONGEST_CHAIN:
        found.append(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def _tell(error: BaseException) -> str:
    frames = "".join(traceback.format_tb(_own_part(error), limit=-_MOST_FRAMES))
    return f"Traceback (most recent call last):\n{frames}{_headline(error)[:200]}"


def _own_part(error: BaseException) -> Any:
    """Leave out the frames of this module, which say nothing about the step."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _run(task: NodeTask, printed: _CapturedText) -> dict[str, StoredOutput]:
    objects = Objects(task.folder)
    arguments = _Inputs(objects).load(task.inputs)
    arguments.update(copy.deepcopy(dict(task.parameters)))
    if task.seed is not None:
        arguments["seed"] = task.seed
    with _capture(printed):
        returned = task.function(**arguments)
    del arguments
    _require_outputs(returned)
    return {name: pack(value, objects, name) for name, value in returned.items()}


class _DamagedInputs(Exception):  # noqa: N818 - not an error of the step
    """Inputs that must be made again."""

    def __init__(self, errors: Sequence[DamagedError]) -> None:
        super().__init__(str(next((each for each in errors if not each.missing), errors[0])))
        self.digests = tuple(each.digest for each in errors)
        self.missing = all(each.missing for each in errors)


class _Inputs:
    """Loads inputs and collects the damaged ones, so that all of them are made again at once."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._errors: list[DamagedError] = []

    def load(self, inputs: Mapping[str, StoredOutput | Many]) -> dict[str, Any]:
        loaded = {name: self._load(each) for name, each in inputs.items()}
        if self._errors:
            raise _DamagedInputs(self._errors)
        return loaded

    def _load(self, given: StoredOutput | Many) -> Any:
        return self._one(given) if isinstance(given, StoredOutput) else self._many(given)

    def _one(self, stored: StoredOutput) -> Any:
        try:
            return unpack(stored, self._objects)
        except DamagedError as error:
            self._errors.append(error)

    def _many(self, given: Many) -> list[dict[str, Any]]:
        rows = zip(given.parameters, given.repeats, given.values, strict=True)
        return [
            {"parameters": dict(parameters), "repeats": dict(repeats), "value": self._one(stored)}
            for parameters, repeats, stored in rows
        ]


def _require_outputs(returned: Any) -> None:
    if not isinstance(returned, Mapping):
        kind = type(returned).__name__
        raise StepError(f"The step returned a value of type {kind!r}; return a mapping of output names to values.")
    for name in returned:
        if not isinstance(name, str):
            kind = type(name).__name__
            raise StepError(f"The step returned an output whose name is of type {kind!r}; names must be text.")


class _CapturedText(io.RawIOBase):
    """The first and the last of what is written to it; the rest is counted and dropped."""

    def __init__(self) -> None:
        self._head, self._tail, self._size = bytearray(), bytearray(), 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        size = len(view)
        self._size += size
        room = PRINTED_HEAD - len(self._head)
        if room > 0:
            self._head += view[:room]
            view = view[room:]
        self._tail += view[-PRINTED_TAIL:]
        if len(self._tail) > 2 * PRINTED_TAIL:
            del self._tail[:-PRINTED_TAIL]
        return size

    def text(self) -> str:
        if not self._size:
            return ""
        tail = self._tail[-PRINTED_TAIL:]
        dropped = self._size - len(self._head) - len(tail)
        middle = f"\n[… {dropped:,} bytes are left out …]\n".encode() if dropped else b""
        return (bytes(self._head) + middle + bytes(tail)).decode("utf-8", "replace")


@contextmanager
def _capture(printed: _CapturedText) -> Iterator[None]:
    """Take what is printed through Python; what a library writes past it, to the descriptor itself, is not seen."""
    stream = io.TextIOWrapper(io.BufferedWriter(printed), encoding="utf-8", errors="backslashreplace")
    try:
        with redirect_stdout(stream), redirect_stderr(stream):
            yield
    finally:
        with suppress(ValueError):  # the step may have closed it
            stream.flush()
