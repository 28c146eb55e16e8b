"""A witness over HTTP: a server that somebody else runs (`ziggurat witness serve`) keeps the list.

Nothing but the standard library is needed here. Whoever asks keeps one connection. What was sent and never answered
may have been taken or not, so it is sent again, and says so: for the same receipts, byte by byte, the server then gives
the answer that was lost, once they are on its disk. So nothing is written twice, and nothing that was taken is believed
to be refused. If no answer comes at all, that is an error, and an entry that was taken after all is put back later.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ziggurat.errors import LedgerUseError, WitnessError
from ziggurat.ledger.witness._access import WitnessAccess, find_access, spell_out_url
from ziggurat.ledger.witness._place import Seen, Witness, is_file_name

_PAUSES = (0.0, 0.05, 0.2, 0.75)  # seconds before each try
_LARGEST = 1 << 27  # bytes of an answer, or of a line
_BLOCK = 1 << 16
_LINES = "application/x-ndjson"

_SAID = {
    "NoToken": "refuses the token; set ZIGGURAT_WITNESS_TOKEN to the one it was started with, and name it again",
    "AnotherKey": "keeps this ledger's list under another key",
    "BadReceipt": "does not take the receipt: it carries no valid signature of this ledger",
    "TooLarge": "does not take an entry that large",
    "Damaged": "holds something at its end that is not a receipt; verify the ledger",
    "OutOfReach": "cannot reach or write its own folder",
}


class WitnessReply(NamedTuple):
    """What the server answered."""

    status: int
    kind: str
    body: bytes


class HttpWitness(Witness):
    """Receipts that a server keeps, at an address that is encrypted or on this machine."""

    def __init__(self, url: str, ledger: str, timeout: float = 30.0) -> None:
        self._url, self._ledger = spell_out_url(url), ledger
        self._timeout = max(0.1, timeout / len(_PAUSES))
        self._connection: HTTPConnection | None = None
        self._access: WitnessAccess | None = None
        self._process = os.getpid()

    @property
    def name(self) -> str:
        """The address."""
        return f"The witness {self._url!r}"

    def begin(self, first: Seen) -> bool:
        """Send the first receipt; the server knows the ledger already, or makes its list."""
        if not is_file_name(self._ledger):
            raise WitnessError(f"{self.name} cannot keep receipts of a ledger with such a name")
        return self._offer("", [first], durable=True)

    def last(self) -> Seen | None:
        """Ask for the newest receipt."""
        reply = self._ask("GET", "/newest")
        if reply.kind == "UnknownLedger":
            return None
        found = Seen.from_json(self._require(reply, 200).body)
        if found is None:
            raise WitnessError(f"{self.name} holds something at its end that is not a receipt; verify the ledger")
        return found

    def extend(self, seen: Sequence[Seen], durable: bool) -> bool:
        """Send receipts; the server compares the first with its newest."""
        return self._offer("/receipts", seen, durable)

    def all(self) -> Iterator[Seen | None]:
        """Read line after line, over a connection of its own; a list that breaks off is an error, not its end."""
        connection = self._connect()
        try:
            response = self._send(connection, "GET", self._path("/receipts"), b"")
            if response.status != 200:
                reply = _read(response)
                if reply.kind == "UnknownLedger":
                    return
                self._require(reply, 200)
            if response.length is None and not response.chunked:
                raise WitnessError(f"{self.name} does not say where its list ends")
            yield from map(Seen.from_json, _split_lines(response))
        except (OSError, HTTPException) as error:
            raise WitnessError(f"{self.name} cannot be reached ({_explain(error)})") from None
        finally:
            connection.close()

    def close(self) -> None:
        """End the connection; one that a parent process uses stays as it is for that."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _offer(self, path: str, seen: Sequence[Seen], durable: bool) -> bool:
        """Send receipts until there is an answer; False if they do not follow."""
        body = b"".join(one.to_json().encode() + b"\n" for one in seen)
        reply = self._ask("POST", f"{path}?durable={int(durable)}", body)
        if reply.kind in ("DoesNotFollow", "UnknownLedger", "KnownLedger"):
            return False
        self._require(reply, 201)
        return True

    def _ask(self, method: str, path: str, body: bytes = b"") -> WitnessReply:
        """Ask, and ask again where no answer came; the server is told that it may have heard this before."""
        self._known_access()
        whole, sent, trouble = self._path(path), False, "no answer"
        for pause in _PAUSES:
            time.sleep(pause)
            try:
                connection = self._live()
                sent_before, sent = sent, True
                again = "&repeated=1" if sent_before and body else ""
                reply = _read(self._send(connection, method, whole + again, body))
            except (OSError, HTTPException) as error:
                self.close()
                trouble = _explain(error)
            else:
                if reply.status != 503:
                    return reply
                trouble = "its folder is out of reach, or in use by others"
        maybe = "; if it took the receipt, that entry is put back and counts as spent" if sent and body else ""
        raise WitnessError(f"{self.name} cannot be reached or written ({trouble}){maybe}")

    def _send(self, connection: HTTPConnection, method: str, path: str, body: bytes) -> HTTPResponse:
        headers = {"Accept": f"application/json, {_LINES}"}
        if self._known_access().token:
            headers["Authorization"] = f"Bearer {self._known_access().token}"
        if method == "POST":
            headers["Content-Type"] = _LINES
        connection.request(method, path, body or None, headers)
        return connection.getresponse()

    def _path(self, rest: str) -> str:
        ledger = self._ledger if is_file_name(self._ledger) else "0"
        return f"{urlsplit(self._url).path}/v1/ledgers/{ledger}{rest}"

    def _require(self, reply: WitnessReply, status: int) -> WitnessReply:
        """Raise what an answer other than the one hoped for means; texts of the server are never passed on."""
        if reply.status == status:
            return reply
        said = _SAID.get(reply.kind, f"gave an answer that no witness gives (status {reply.status})")
        raise WitnessError(f"{self.name} {said}")

    def _live(self) -> HTTPConnection:
        """Give this process's connection; a child must not mix up its parent's conversation."""
        if self._process != os.getpid():
            self.close()
            self._process = os.getpid()
        if self._connection is None:
            made = self._connect()
            made.connect()
            self._connection = made
        return self._connection

    def _connect(self) -> HTTPConnection:
        parts = urlsplit(self._url)
        host = parts.hostname or ""
        if parts.scheme == "http":
            return HTTPConnection(host, parts.port, timeout=self._timeout)
        return HTTPSConnection(host, parts.port, timeout=self._timeout, context=self._context())

    def _context(self) -> Any:
        """Trust the certificate that was kept for this witness and no other, or else what the system trusts."""
        import ssl

        try:
            return ssl.create_default_context(cadata=self._known_access().certificate or None)
        except (ssl.SSLError, ValueError):
            raise WitnessError(
                f"{self.name} is known by a certificate that cannot be read; give its PEM file"
            ) from None

    def _known_access(self) -> WitnessAccess:
        if self._access is None:
            try:
                self._access = find_access(self._url)
            except LedgerUseError as error:
                raise WitnessError(f"{self.name} cannot be asked: {str(error).rstrip('.')}") from None
        return self._access


def _read(response: HTTPResponse) -> WitnessReply:
    """Read an answer whole; what kind of refusal it is stands in its JSON."""
    body = response.read(_LARGEST + 1)
    if len(body) > _LARGEST or response.length:
        raise HTTPException("too long, or too short")
    kind = ""
    if response.status >= 400:
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            kind = str(json.loads(body)["error"]["kind"])
    return WitnessReply(response.status, kind, body)


def _split_lines(response: HTTPResponse) -> Iterator[bytes]:
    rest = b""
    while block := response.read(_BLOCK):
        *whole, rest = (rest + block).split(b"\n")
        yield from whole
        if len(rest) > _LARGEST:
            raise HTTPException("too long")
    if rest or response.length:
        raise HTTPException("too short")


def _explain(error: Exception) -> str:
    """Say why without the texts of others; certificates are named, since a person has to see to those."""
    import ssl

    if isinstance(error, ssl.SSLCertVerificationError):
        return "its certificate is not trusted; give its PEM file by --ca-file or ZIGGURAT_WITNESS_CA"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno) if error.errno > 0 else "no such host"
    return "it broke off"
