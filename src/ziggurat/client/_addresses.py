"""Which server, by which key: checked before anything is sent, and kept where only this user reads it."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ziggurat.cards import Card, Shown
from ziggurat.errors import DataError, ParameterError, SignInError
from ziggurat.files import write_text
from ziggurat.ledger import settings

SERVER_VARIABLE = "ZIGGURAT_SERVER"
"""The variable of the environment that says which server is meant."""

KEY_VARIABLE = "ZIGGURAT_APIKEY"
"""The variable of the environment that holds the key."""

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_KEY = re.compile(r"[\x21-\x7e]{8,512}")


@dataclass(frozen=True)
class ServerPlace(Shown):
    """Where a server is, and by which key it is asked; the key is shown nowhere.

    Attributes
    ----------
    address
        https://…, without a key in it.
    key
        What says who asks.
    ca_file
        The certificates of whoever vouches for the server; by default those of this machine.
    """

    address: str
    key: str = field(repr=False)
    ca_file: str = ""

    @property
    def here(self) -> bool:
        """Whether it is on this machine."""
        return (urlsplit(self.address).hostname or "") in _LOOPBACK

    def _card(self) -> Card:
        return Card("ServerPlace", self.address)


def find_place(url: str = "", key: str = "", ca_file: str = "", *, allow_plain: bool = False) -> ServerPlace:
    """Find out which server is meant, by which key; what was not said is in the environment or was stored.

    Parameters
    ----------
    url
        Its address; by default that of ZIGGURAT_SERVER, or of the only server that is stored.
    key
        By default that of ZIGGURAT_APIKEY, or the one that is stored for the address.
    ca_file
        The certificates of whoever vouches for it; by default what was stored, or those of this machine.
    allow_plain
        That http:// is well although the server is on another machine.
    """
    address = check_address(url or os.environ.get(SERVER_VARIABLE, "") or _only_stored(), allow_plain=allow_plain)
    stored = _stored().get(address, {})
    found = key or os.environ.get(KEY_VARIABLE, "") or str(stored.get("key", ""))
    if not found:
        raise SignInError(
            f"No key is known for {address}; give one, set {KEY_VARIABLE}, or store it with 'ziggurat login'."
        )
    return ServerPlace(address, check_key(found), ca_file or str(stored.get("ca_file", "")))


def check_address(url: str, *, allow_plain: bool = False) -> str:
    """Give the address of a server in its one form, or say what is wrong with it."""
    try:
        parts = urlsplit(url.strip())
        port, host = parts.port, parts.hostname
    except ValueError:
        port, host, parts = None, None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise ParameterError("A server is named by its address, such as https://privacy.example.org.")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ParameterError("An address is seen and logged: give it without a key, a password or anything after '?'.")
    if parts.scheme == "http" and host not in _LOOPBACK and not allow_plain:
        raise ParameterError(
            f"By http:// to {host} the key and the answers could be read along the way: give https://, or allow it "
            "(allow_plain=True, --allow-plain) where something else keeps the way secret."
        )
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def check_key(key: str) -> str:
    """Give a key as it is sent; a sentence that does not quote it if it can be none."""
    if not _KEY.fullmatch(key.strip()):
        raise ParameterError("This is no key of a server: it is one line of letters and digits that begins with zig_.")
    return key.strip()


def read_key_file(file: str | Path) -> str:
    """Read a key from a file that holds nothing else."""
    try:
        return check_key(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise DataError(f"The key file {str(file)!r} cannot be read; check its name.") from None


def store_place(place: ServerPlace) -> Path:
    """Keep a server and its key for later commands, in a file that only its owner reads; gives the file."""
    known = _stored()
    known[place.address] = {"key": place.key, "ca_file": place.ca_file}
    return _write(known)


def forget_place(url: str) -> None:
    """Forget a server and its key."""
    known = _stored()
    if known.pop(check_address(url, allow_plain=True), None) is None:
        raise ParameterError("No key is stored for this address.")
    _write(known)


def stored_addresses() -> list[str]:
    """The addresses of the servers for which keys are stored."""
    return sorted(_stored())


def _write(known: dict[str, Any]) -> Path:
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_text(file, json.dumps(known, indent=1) + "\n", mode=0o600)
    return file


def _only_stored() -> str:
    known = stored_addresses()
    if len(known) == 1:
        return known[0]
    also = f" Stored are {', '.join(known)}." if known else " Store one with 'ziggurat login URL'."
    raise ParameterError(f"Say which server is meant: its address, or {SERVER_VARIABLE}.{also}")


def _stored() -> dict[str, Any]:
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise DataError(
            f"{str(_file())!r}, where servers are stored, is damaged; remove it and log in again."
        ) from None
    if not isinstance(found, dict) or not all(isinstance(each, dict) for each in found.values()):
        raise DataError(f"{str(_file())!r}, where servers are stored, is damaged; remove it and log in again.")
    return found


def _file() -> Path:
    return settings() / "servers.json"
