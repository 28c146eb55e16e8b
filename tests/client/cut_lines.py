"""Connections that are cut: the request was done, or never arrived, and nobody hears of it."""

import httpx


class Cut(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Lets the server answer, and cuts the line before the answer comes, so many times."""

    def __init__(self, inner, times, *, before=False, new_key=False, path="/v1/ask"):
        self.inner, self.times, self.before, self.new_key, self.path = inner, times, before, new_key, path
        self.seen = []

    def _prepare(self, request):
        if (request.method, request.url.path) != ("POST", self.path):
            return False
        self.seen.append(request.headers.get("Idempotency-Key"))
        if self.new_key:
            request.headers["Idempotency-Key"] = f"another-{len(self.seen)}"
        self.times -= 1
        return self.times >= 0

    def handle_request(self, request):
        cut = self._prepare(request)
        if cut and self.before:
            raise httpx.ConnectError("refused")
        answered = self.inner.handle_request(request)
        if cut:
            answered.read()
            raise httpx.ReadError("reset")
        return answered

    async def handle_async_request(self, request):
        cut = self._prepare(request)
        if cut and self.before:
            raise httpx.ConnectError("refused")
        answered = await self.inner.handle_async_request(request)
        if cut:
            await answered.aread()
            raise httpx.ReadError("reset")
        return answered


def cut_for(clinic, side, times, **how):
    """A line to a service that is cut, for one of the two sides."""
    inner = clinic.through if side == "waiting" else httpx.ASGITransport(clinic.app)
    return Cut(inner, times, **how)
