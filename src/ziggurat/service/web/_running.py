"""Start the processes of a service: those that answer, and those that do long work; one word stops all of them."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Self

from ziggurat.errors import EngineError
from ziggurat.service._settings import ServiceSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

_LOOK_SECONDS, _PATIENCE = 0.5, 40.0


def run_service(settings: ServiceSettings) -> None:
    """Serve until told to stop (Ctrl-C or SIGTERM), with as many processes for long work as the settings say.

    Parameters
    ----------
    settings
        What it is started with.
    """
    import uvicorn

    settings.tell_environment()
    if settings.workers > 1:
        _share_metrics(settings)
    for each in (signal.SIGTERM, signal.SIGINT):  # the server sends them to itself once more when it has stopped
        signal.signal(each, lambda *_: None)
    with JobWorkers(settings):
        _listen(settings, uvicorn)


def _listen(settings: ServiceSettings, uvicorn: Any) -> None:
    """Listen until told to stop; a server that could not start leaves by SystemExit, whose code is none of ours."""
    failed = False
    try:
        uvicorn.run(
            "ziggurat.service.web._running:from_environment", factory=True, host=settings.host, port=settings.port,
            workers=settings.workers, ssl_certfile=settings.tls_cert or None, ssl_keyfile=settings.tls_key or None,
            log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=30,
        )  # fmt: skip
    except SystemExit as stopped:
        failed = bool(stopped.code)
    if failed:
        raise EngineError(
            f"The service could not start at {settings.host}, port {settings.port}; its log on standard error says at "
            "which place it failed."
        )


class JobWorkers:
    """The processes of this one that do long work: started with it, started again if they die, and ended with it.

    Parameters
    ----------
    settings
        How the service is started; they know it from the environment.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings, self._stopping = settings, Event()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._watching = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._processes = [self._start() for _ in range(self._settings.job_workers)]
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._watching.join()
        for each in self._processes:
            each.terminate()
        for each in self._processes:
            try:
                each.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                each.kill()
                each.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        command = "from ziggurat.service.web._running import work_from_environment; work_from_environment()"
        return subprocess.Popen([sys.executable, "-c", command], stdin=subprocess.PIPE)  # noqa: S603 - this Python

    def _watch(self) -> None:
        """Start again what dies; its jobs are given to others at once, because it is known to be gone."""
        while not self._stopping.wait(_LOOK_SECONDS):
            for place, each in enumerate(self._processes):
                if each.poll() is not None and not self._stopping.is_set():
                    self._forget(each.pid)
                    self._processes[place] = self._start()

    def _forget(self, pid: int) -> None:
        from ziggurat.errors import UnavailableError
        from ziggurat.service.store import ServiceStore, forget_workers

        store = ServiceStore(self._settings.database_url)
        try:
            forget_workers(store, f"{socket.gethostname()[:40]}-{pid}-")
        except UnavailableError:
            pass  # they are given to others once it has been silent long enough
        finally:
            store.close()


def work_from_environment() -> None:
    """Do long work in one of several processes, until told to stop or until who started it is gone."""
    from ziggurat.service.web._logs import write_logs
    from ziggurat.service.work import run_jobs

    write_logs()
    ended = Event()

    def end_with_parent() -> None:
        while os.read(0, 1):
            pass
        ended.set()

    Thread(target=end_with_parent, daemon=True).start()
    run_jobs(ServiceSettings.read(), ended)


def _share_metrics(settings: ServiceSettings) -> None:
    folder = settings.folder / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)


def from_environment() -> FastAPI:
    """Make the application of one of several processes, which know their settings from the environment."""
    from ziggurat.service.web._app import make_app
    from ziggurat.service.web._logs import write_logs

    write_logs()
    return make_app(ServiceSettings.read())
