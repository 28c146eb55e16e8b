"""Listening: nothing is heard beyond this machine without TLS, unless somebody says so in so many words."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from ziggurat.errors import LedgerUseError, MissingExtraError, ParameterError
from ziggurat.ledger.witness import is_loopback
from ziggurat.service.witness._token import TokenFile

_KEPT_ALIVE = 75  # seconds; a ledger that spends now and then need not connect anew


@dataclass(frozen=True)
class ServedWitness:
    """How a witness is to be served, from which folder, and to whom.

    Attributes
    ----------
    folder
        Where the lists are kept; it must be there already, so that a disk that is not mounted is noticed.
    host, port
        Where to listen; port 0 takes any that is free.
    token_file
        Where the SHA-256 of the token is kept; by default `token.sha256` in the folder.
    certificate, key
        The PEM files of a TLS certificate, with its chain, and of its private key.
    without_tls
        Whether to listen beyond this machine without TLS: only behind something else that encrypts.
    workers
        How many processes serve.
    """

    folder: str
    host: str = "127.0.0.1"
    port: int = 8474
    token_file: str = ""
    certificate: str = ""
    key: str = ""
    without_tls: bool = False
    workers: int = 1

    def serve(self, tell: Callable[[str], object] = print) -> None:
        """Serve until a signal ends it. What a steward must know is told first, the token only on the first start."""
        _require_extra()
        self._check()
        place = Path(self.folder).resolve()
        tokens = TokenFile(self.token_file or place / "token.sha256")
        with _listen(self.host, self.port) as listening:
            url = self._url(listening.getsockname()[1])
            made = tokens.make()
            hashes = tokens.read()
            for line in _describe(url, made, bool(self.certificate)):
                tell(line)
            self._run(str(place), hashes, listening)

    def _check(self) -> None:
        if not Path(self.folder).is_dir():
            raise LedgerUseError(
                f"There is no folder {self.folder!r} to keep receipts in; create it, or mount its disk."
            )
        if bool(self.certificate) != bool(self.key):
            raise ParameterError("A certificate and its private key go together: give --tls-cert and --tls-key.")
        if not self.certificate and not self.without_tls and not is_loopback(self.host):
            raise ParameterError(
                "Beyond this machine a witness listens with TLS only: give --tls-cert and --tls-key, or --without-tls "
                "if something in front of it encrypts."
            )
        for file in filter(None, (self.certificate, self.key)):
            if not os.access(file, os.R_OK):
                raise LedgerUseError(f"{file!r} cannot be read; check its name and permissions.")

    def _url(self, port: int) -> str:
        host = socket.getfqdn() if self.host in ("0.0.0.0", "::", "") else self.host  # noqa: S104 - compared only
        return f"{'https' if self.certificate else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"

    def _run(self, folder: str, hashes: tuple[str, ...], listening: socket.socket) -> None:
        import uvicorn
        from uvicorn.supervisors import Multiprocess

        configure = partial(uvicorn.Config, partial(_make_app, folder, hashes), **self._settings())
        tried = configure()
        try:
            tried.load()
        except (OSError, ValueError):
            raise LedgerUseError("The certificate or its private key cannot be used; give two PEM files.") from None
        try:
            if self.workers == 1:
                uvicorn.Server(tried).run(sockets=[listening])
            else:
                Multiprocess(configure(), sockets=[listening]).run()
        except KeyboardInterrupt:
            raise KeyboardInterrupt("The witness has stopped; it keeps whatever it acknowledged.") from None

    def _settings(self) -> dict[str, Any]:
        return {
            "factory": True,
            "workers": self.workers,
            "log_level": "warning",
            "access_log": False,
            "server_header": False,
            "proxy_headers": False,
            "lifespan": "off",
            "timeout_keep_alive": _KEPT_ALIVE,
            "ssl_certfile": self.certificate or None,
            "ssl_keyfile": self.key or None,
        }


def _make_app(folder: str, hashes: tuple[str, ...]) -> Any:
    """Make the application, in each process that serves; one of several ends when the one that started it is killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    from ziggurat.service.witness._routes import make_witness_app

    return make_witness_app(folder, hashes)


def _end_after(parent: BaseProcess) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def _require_extra() -> None:
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "A served witness needs FastAPI and uvicorn; add them with: pip install 'ziggurat[service]'."
        ) from None


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything is promised about it."""
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        listening = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else "no such host"
        raise LedgerUseError(f"Nothing can listen at {host!r}, port {port} ({reason}); name another.") from None
    # Answers are sent at once, also their last part; connections take this over from the socket that listens.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listening.set_inheritable(True)
    return listening


def _describe(url: str, token: str | None, encrypted: bool) -> list[str]:
    """What whoever starts a witness must know, and what to do where the ledger is."""
    said = [f"The witness listens at {url}; Ctrl-C ends it, and a list that is there is never changed."]
    if token is None:
        return said
    pinned = "  (where its certificate is made by hand, add --ca-file with its PEM file)" if encrypted else ""
    return [
        *said,
        "Its token, shown this once and kept nowhere here:",
        f"  {token}",
        "Where the ledger is, name the witness with:",
        f"  ZIGGURAT_WITNESS_TOKEN={token} ziggurat ledger witness {url}{pinned}",
    ]
