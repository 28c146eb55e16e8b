"""Propose a schema from the data: what each column is, which role it plays, and why."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.reading.suggesting._suggestion import Suggestion, suggest_schema
else:
    __getattr__, __dir__ = lazy(__name__, {"_suggestion": "Suggestion suggest_schema"})

__all__ = ["Suggestion", "suggest_schema"]
