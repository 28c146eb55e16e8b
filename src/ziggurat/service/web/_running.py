"""Start the processes of a service: those that answer, and those that do long work; one word stops all of them."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from ziggurat.service._settings import ServiceSettings

if TYPE_CHECKING:
    from fastapi import FastAPI


def run_service(settings: ServiceSettings) -> None:
    """Serve until told to stop (Ctrl-C or SIGTERM).

    Parameters
    ----------
    settings
        What it is started with.
    """
    import uvicorn

    settings.tell_environment()
    if settings.workers > 1:
        _share_metrics(settings)
    uvicorn.run(
        "ziggurat.service.web._running:from_environment", factory=True, host=settings.host, port=settings.port,
        workers=settings.workers, ssl_certfile=settings.tls_cert or None, ssl_keyfile=settings.tls_key or None,
        log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=30,
    )  # fmt: skip


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
