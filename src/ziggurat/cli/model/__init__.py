"""`ziggurat model`."""

from ziggurat.cli.model._options import Rehearse

__all__ = [
    "Rehearse",
]
