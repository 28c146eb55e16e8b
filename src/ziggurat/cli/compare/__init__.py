"""`ziggurat compare`."""

from ziggurat.cli.compare._show import attack_table

__all__ = [
    "attack_table",
]
