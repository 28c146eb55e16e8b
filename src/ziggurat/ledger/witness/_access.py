"""How this machine gets at a witness over HTTP: its address, the token, and the certificate that it is known by.

The token is no part of the address, which stands in the ledger for ever. It is in `ZIGGURAT_WITNESS_TOKEN`, or in a
file of the user's settings folder, for its owner only, one for each address: a token that was kept is never sent to
another witness than the one it was kept for. The same file holds the certificate of a witness that made its own.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from ziggurat.errors import DataError, LedgerUseError
from ziggurat.ledger._keys import settings

_TOKEN = re.compile(r"[\x21-\x7e]{1,512}")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class WitnessAccess:
    """What this machine shows a witness, the token, and by what it knows it: a certificate, or the system's own."""

    token: str = field(default="", repr=False)
    certificate: str = field(default="", repr=False)


def spell_out_url(url: str) -> str:
    """Read the address of a witness over HTTP: encrypted or on this machine, and without a token or password."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise LedgerUseError("The address of a witness is 'https://server:port'; this is none.") from None
    if (
        parts.scheme not in ("https", "http")
        or not host
        or url.split("://", 1)[1].startswith("/")
        or not url.isascii()
        or " " in url
    ):
        raise LedgerUseError("The address of a witness is 'https://server:port'; this is none.")
    if parts.username is not None or "?" in url or "#" in url:
        raise LedgerUseError(
            "The address of a witness is written into the ledger for ever, so leave the token out of it, and whatever "
            "comes after '?' or '#'; keep it in ZIGGURAT_WITNESS_TOKEN or a file for --token-file."
        )
    if parts.scheme == "http" and not is_loopback(host):
        raise LedgerUseError(
            "A witness on another machine is reached by https:// only, because its token and the questions would cross "
            "the network for everybody to read; http:// is for 127.0.0.1."
        )
    named = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{named}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine, so that what is sent to it crosses no network."""
    if host in _LOOPBACK_NAMES:
        return True
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def find_access(url: str) -> WitnessAccess:
    """Find what is known of a witness; the environment counts more than what was kept."""
    kept, told = _read_kept(url), _read_environment()
    return WitnessAccess(told.token or kept.token, told.certificate or kept.certificate)


def keep_access(url: str, token: str = "", certificate: str = "") -> None:
    """Keep the token and the certificate of the witness at an address, for this user only.

    Parameters
    ----------
    url
        The address, as `Ledger.name_witness` takes it.
    token
        What the witness was started with; by default what `ZIGGURAT_WITNESS_TOKEN` says, or was kept before.
    certificate
        The text of a PEM file: only who is certified by it is taken for the witness. By default that of the file that
        `ZIGGURAT_WITNESS_CA` names, or what was kept before; without any, those count that this system trusts.
    """
    from ziggurat.files import write_text

    url = spell_out_url(url)
    found = find_access(url)
    made = {"where": url, "token": token or found.token, "certificate": certificate or found.certificate}
    if made["token"] and not _TOKEN.fullmatch(made["token"]):
        raise LedgerUseError("A token of a witness is one line of letters and digits; this is none.")
    if made == {"where": url, **_fields(_read_kept(url))} or not (made["token"] or made["certificate"]):
        return
    file = _file_of(url)
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_text(file, json.dumps(made, indent=1) + "\n", mode=0o600)
    except (OSError, DataError):
        raise LedgerUseError(f"The token of the witness cannot be kept in {str(file)!r}; mend the folder.") from None


def _file_of(url: str) -> Path:
    return settings() / "witnesses" / "servers" / f"{sha256(url.encode()).hexdigest()[:32]}.json"


def _fields(access: WitnessAccess) -> dict[str, str]:
    return {"token": access.token, "certificate": access.certificate}


def _read_kept(url: str) -> WitnessAccess:
    file = _file_of(url)
    try:
        fields = json.loads(file.read_text(encoding="utf-8"))
        if fields["where"] != url:
            raise ValueError
        return WitnessAccess(str(fields["token"]), str(fields["certificate"]))
    except FileNotFoundError:
        return WitnessAccess()
    except (OSError, ValueError, TypeError, KeyError):
        raise LedgerUseError(f"What {str(file)!r} says of a witness cannot be read; mend or remove it.") from None


def _read_environment() -> WitnessAccess:
    file = os.environ.get("ZIGGURAT_WITNESS_CA", "")
    token = os.environ.get("ZIGGURAT_WITNESS_TOKEN", "").strip()
    if token and not _TOKEN.fullmatch(token):
        raise LedgerUseError("ZIGGURAT_WITNESS_TOKEN is not the token of a witness: that is one line.")
    return WitnessAccess(token, read_certificate(file) if file else "")


def read_certificate(file: str | os.PathLike[str]) -> str:
    """Read the PEM file by which a witness is known."""
    try:
        text = Path(file).read_text(encoding="ascii")
    except (OSError, ValueError):
        text = ""
    if "-----BEGIN CERTIFICATE-----" not in text:
        raise LedgerUseError(f"{os.fspath(file)!r} holds no certificate; give the PEM file that the witness shows.")
    return text
