"""How many questions copy a model that is served: information for the steward, never a verdict."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.models.extraction._copied import CopiedModel, CopyPoint
    from ziggurat.attacks.models.extraction._extract import draw_within, extract_model
else:
    __getattr__, __dir__ = lazy(__name__, {"_copied": "CopiedModel CopyPoint", "_extract": "draw_within extract_model"})

__all__ = ["CopiedModel", "CopyPoint", "draw_within", "extract_model"]
