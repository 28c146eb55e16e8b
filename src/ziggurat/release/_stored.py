"""How answers lie in the ledger: as they are, or packed where they are long."""

from __future__ import annotations

import json
import lzma
from base64 import b64decode, b64encode
from typing import Any

_LONG = 1 << 15
_PACKED = "packed"


def packed(answer: dict[str, Any]) -> dict[str, Any]:
    """Give an answer in the form in which it is stored."""
    text = json.dumps(answer, separators=(",", ":"), sort_keys=True)
    if len(text) <= _LONG:
        return answer
    return {_PACKED: b64encode(lzma.compress(text.encode("ascii"), preset=1)).decode("ascii")}


def unpacked(stored: dict[str, Any]) -> dict[str, Any]:
    """Give back the answer that was stored."""
    if _PACKED not in stored:
        return stored
    answer: dict[str, Any] = json.loads(lzma.decompress(b64decode(stored[_PACKED])))
    return answer
