"""What in a fitted object holds rows of people: found by looking through all of it."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.models.inspection._held import HeldPart, HeldRows
    from ziggurat.attacks.models.inspection._inspect import inspect_model
else:
    __getattr__, __dir__ = lazy(__name__, {"_held": "HeldPart HeldRows", "_inspect": "inspect_model"})

__all__ = ["HeldPart", "HeldRows", "inspect_model"]
