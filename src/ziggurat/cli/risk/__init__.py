"""`ziggurat risk`."""

from ziggurat.cli.risk._command import _opened

__all__ = [
    "_opened",
]
