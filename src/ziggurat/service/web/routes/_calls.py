"""Where requests come from that nobody is signed in for."""

from fastapi import Request


def from_where(request: Request) -> str:
    """Name the address of a request, for counting how many come from it."""
    return f"from {request.client.host if request.client else ''}"
