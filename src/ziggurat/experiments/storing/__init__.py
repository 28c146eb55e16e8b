"""What steps returned and what runs recorded, on disk, in formats that hold no code."""

from ziggurat.experiments.storing._artefacts import number_in, pack, parts, unpack, whole
from ziggurat.experiments.storing._history import History, Run
from ziggurat.experiments.storing._objects import DamagedError, Objects, StoreError, store_error

__all__ = [
    "DamagedError",
    "History",
    "Objects",
    "Run",
    "StoreError",
    "number_in",
    "pack",
    "parts",
    "store_error",
    "unpack",
    "whole",
]
