"""What cells of text are, guessed from how they are written: kinds, notations and marks for missing values."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.reading.guessing._candidates import Candidate, find_candidates
    from ziggurat.data.reading.guessing._conventions import Conventions, looks_like_data
    from ziggurat.data.reading.guessing._guess import Guess, guess_schema
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_candidates": "Candidate find_candidates",
            "_conventions": "Conventions looks_like_data",
            "_guess": "Guess guess_schema",
        },
    )

__all__ = ["Candidate", "Conventions", "Guess", "find_candidates", "guess_schema", "looks_like_data"]
