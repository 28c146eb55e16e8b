"""Fetch a public file into memory: bounded, timed out, whole or not at all."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from ziggurat.errors import DataError

_SCHEMES = ("https", "http", "file")
_TIMEOUT_SECONDS = 30.0
_LIMIT_BYTES = 256 * 2**20
_CHUNK_BYTES = 2**16


def fetch(urls: tuple[str, ...], *, progress: bool) -> bytes:
    """Return the whole file from the first address that gives it.

    Parameters
    ----------
    urls
        Addresses of the same file, tried in order; https, http or file.
    progress
        Whether to draw a bar on standard error.

    Raises
    ------
    DataError
        If every address failed; the sentence names the last one and its reason.
    """
    failure = DataError("No address is known for this file.")
    for url in urls:
        try:
            return _one(url, progress=progress)
        except DataError as error:
            failure = error
    raise failure from None


def _one(url: str, *, progress: bool) -> bytes:
    _check_scheme(url)
    try:
        with _opener().open(url, timeout=_TIMEOUT_SECONDS) as response:
            return _whole(response, url, progress=progress)
    except (OSError, HTTPException) as error:
        raise DataError(f"{url} could not be downloaded ({_reason(error)}); try again later.") from None


def _whole(response: Any, url: str, *, progress: bool) -> bytes:
    stated = response.headers.get("Content-Length")
    size = int(stated) if stated and stated.isdigit() else None
    with _bar(url, size, shown=progress) as advance:
        content = bytearray()
        for chunk in _chunks(response):
            content += chunk
            advance(len(chunk))
            if len(content) > _LIMIT_BYTES:
                raise DataError(f"{url} is larger than any dataset here; the download was stopped.")
    if size is not None and len(content) != size:
        raise DataError(f"The download of {url} was cut short; try again.")
    return bytes(content)


def _chunks(response: BinaryIO) -> Iterator[bytes]:
    while chunk := response.read(_CHUNK_BYTES):
        yield chunk


def _check_scheme(url: str) -> None:
    if urlsplit(url).scheme not in _SCHEMES:
        raise DataError(f"{url} is not an https, http or file address.")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """A server may send us elsewhere on the web; urllib itself refuses local files, but would follow to FTP."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urlsplit(newurl).scheme not in ("https", "http"):
            raise DataError(f"{req.full_url} redirects to something that is not a web address.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.build_opener(_Redirects)
    opener.addheaders = [("User-Agent", "ziggurat")]
    return opener


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"the server answered {error.code}"
    return "it timed out" if isinstance(error, TimeoutError) else "it cannot be reached"


@contextmanager
def _bar(url: str, size: int | None, *, shown: bool) -> Iterator[Any]:
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not shown) as bar:
        task = bar.add_task(url.rsplit("/", 1)[-1], total=size)
        yield lambda count: bar.advance(task, count)
