"""A process that does a job, watched: started with what it needs and nothing else, ended with all it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from threading import Thread

from ziggurat.service._settings import PREFIX, ServiceSettings
from ziggurat.service.work._child import LIMIT, failed_by_memory
from ziggurat.service.work._folders import JobFolder

_TAIL = 8192


class WatchedChild:
    """The process of one job.

    Parameters
    ----------
    folder
        The job's.
    settings
        Of the service: which ledger pays, which key signs, how much memory there is.
    """

    def __init__(self, folder: JobFolder, settings: ServiceSettings) -> None:
        self.step = ""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`; libraries may write cells there
        self._process = subprocess.Popen(  # noqa: S603 - this Python, with the folder of a job
            [sys.executable, "-m", "ziggurat.service.work", str(folder.path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, env=_environment(settings),
            start_new_session=True, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
        self._listening = Thread(target=self._listen, daemon=True)
        self._listening.start()

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    def ended(self, within: float = 0.0) -> bool:
        """Whether it has ended, after waiting so many seconds at most."""
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def starved(self) -> bool:
        """Whether the last that was heard of it is about memory."""
        size = os.fstat(self._said.fileno()).st_size
        return failed_by_memory(os.pread(self._said.fileno(), _TAIL, max(0, size - _TAIL)).decode(errors="replace"))

    def ask_to_stop(self) -> None:
        """Ask it to end between two steps."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it now, with all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        """Let go of it; it is ended, if it has not."""
        self.kill()
        self._listening.join(5)
        for each in (self._process.stdin, self._process.stdout, self._said):
            if each is not None:
                with suppress(OSError):
                    each.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.step = line.strip()


def _environment(settings: ServiceSettings) -> dict[str, str]:
    """What the process of a job knows: none of the service's own secrets but the ledger that pays."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    return {
        **usual,
        "ZIGGURAT_LEDGER": settings.ledger_place,
        "ZIGGURAT_KEY": str(settings.release_key),
        LIMIT: str(settings.job_bytes),
    }
