"""`ziggurat ask` and `ziggurat quote`."""

from ziggurat.cli.ask._asking import working

__all__ = [
    "working",
]
