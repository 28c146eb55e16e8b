import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@dataclass
class LocalServer:
    """A web server on this machine; `files` maps paths to bodies, `stated` overrides a Content-Length."""

    port: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    stated: dict[str, int] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def offer(self, name: str, body: bytes) -> str:
        self.files[f"/{name}"] = body
        return self.url(name)


def handler_for(site: LocalServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            body = site.files.get(self.path, b"")
            code = 302 if self.path in site.redirects else 200 if self.path in site.files else 404
            self.send_response(code)
            if code == 302:
                self.send_header("Location", site.redirects[self.path])
            self.send_header("Content-Length", str(site.stated.get(self.path, len(body))))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def server() -> Iterator[LocalServer]:
    site = LocalServer()
    web = ThreadingHTTPServer(("127.0.0.1", 0), handler_for(site))
    site.port = web.server_address[1]
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield site
    web.shutdown()
    web.server_close()
    thread.join(timeout=5)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache and no data folder; returns the folder that cached tables go to."""
    monkeypatch.setenv("ZIGGURAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ZIGGURAT_DATA", raising=False)
    return tmp_path / "cache" / "datasets"
