"""How people write numbers, dates, times and truth values, as patterns and values that every engine reads alike."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.data.written._cells import cell_pattern, is_notated, matching, notated_value
    from ziggurat.data.written._dates import date_pattern, read_date
    from ziggurat.data.written._numbers import BLANKS, affix_in, number_pattern, read_number, same_affix
    from ziggurat.data.written._times import clock_pattern, duration_pattern
    from ziggurat.data.written._words import (
        FALSE_WORDS,
        MISSING_MARKS,
        MONTHS,
        TEXT_MARKS,
        TRUE_WORDS,
        TRUTH_PAIRS,
        UNSURE_MARKS,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_cells": "cell_pattern is_notated matching notated_value",
            "_dates": "date_pattern read_date",
            "_numbers": "BLANKS affix_in number_pattern read_number same_affix",
            "_times": "clock_pattern duration_pattern",
            "_words": "FALSE_WORDS MISSING_MARKS MONTHS TEXT_MARKS TRUE_WORDS TRUTH_PAIRS UNSURE_MARKS",
        },
    )

__all__ = [
    "BLANKS",
    "FALSE_WORDS",
    "MISSING_MARKS",
    "MONTHS",
    "TEXT_MARKS",
    "TRUE_WORDS",
    "TRUTH_PAIRS",
    "UNSURE_MARKS",
    "affix_in",
    "cell_pattern",
    "clock_pattern",
    "date_pattern",
    "duration_pattern",
    "is_notated",
    "matching",
    "notated_value",
    "number_pattern",
    "read_date",
    "read_number",
    "same_affix",
]
