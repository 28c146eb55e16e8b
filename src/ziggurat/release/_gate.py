"""stub"""

from dataclasses import dataclass
from typing import Any

NOT_PROTECTED_BY_GATE = "x"


@dataclass(frozen=True)
class Verdict:
    stopped: tuple[Any, ...] = ()
    refuted: bool = False
    sentence: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Gate:
    def judge(self, evidence: Any, *, guaranteed: bool) -> Verdict:
        return Verdict()
