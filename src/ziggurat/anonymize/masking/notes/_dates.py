"""Forms of days and months: in digits, and in German, French and English words. A year alone stays."""

from __future__ import annotations

import re

from ziggurat.anonymize.masking.notes._rules import DATE, make_rule

_GERMAN = (
    r"januar|jänner|februar|feber|märz|maerz|april|mai|juni|juli|august|september|oktober|november|dezember|"
    r"jan|feb|mär|mrz|apr|jun|jul|aug|sept|sep|okt|nov|dez"
)
_FRENCH = (
    r"janvier|février|fevrier|mars|avril|mai|juin|juillet|août|aout|septembre|octobre|novembre|décembre|decembre|"
    r"janv|févr|fév|avr|juil|sept|oct|nov|déc"
)
_ENGLISH = (
    r"january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_MONTHS = "|".join(dict.fromkeys(f"{_GERMAN}|{_FRENCH}|{_ENGLISH}".split("|")))
_YEAR = r"(?:1[89]\d{2}|20\d{2})"
_SHORT = rf"(?:{_YEAR}|['’]?\d{{2}}(?!\d))"
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"
_MEASURE = r"(?:mg|mmol|cm|kg|ml|%)"
_BEFORE = r"am|vom|bis|seit|zum|ab|den|dem|der|und|le|du|au"


def is_day(text: str) -> bool:
    """Return whether two of the numbers can be a day and a month, either way round."""
    first, second = (int(each) for each in re.findall(r"\d+", text)[:2])
    return 1 <= min(first, second) <= 12 and 1 <= max(first, second) <= 31


def is_compact_day(text: str) -> bool:
    """Return whether eight digits are year, month and day."""
    return 1 <= int(text[4:6]) <= 12 and 1 <= int(text[6:8]) <= 31


DATE_RULES = (
    make_rule(DATE, rf"(?<![\w.-]){_YEAR}[-/.](?:0?[1-9]|1[0-2])[-/.](?:[0-2]?\d|3[01])(?!\d){_TIME}"),
    make_rule(DATE, rf"(?<![\w.,/-])\d{{1,2}}\s?[./-]\s?\d{{1,2}}\s?[./-]\s?(?:{_YEAR}|\d{{2}})(?!\w|[./-]\d)", is_day),
    make_rule(DATE, rf"(?<!\w)(?:{_BEFORE})\s+(?P<it>\d{{1,2}}\.\s?\d{{1,2}}\.?)(?![\d.]|\s?{_MEASURE})", is_day),
    make_rule(DATE, rf"(?<!\w)(?:{_BEFORE}|on|since|until|from)\s+(?P<it>\d{{1,2}}/\d{{1,2}})(?![\d/])", is_day),
    make_rule(DATE, rf"(?<![\w.])\d{{1,2}}\.\s?(?:{_GERMAN})\b\.?(?:\s?{_SHORT})?"),
    make_rule(DATE, rf"(?<![\w.])\d{{1,2}}(?:st|nd|rd|th|er)?[\s-]?\s?(?:of\s)?(?:{_MONTHS})\b\.?"
              rf"(?:[\s,-]{{0,2}}{_SHORT})?"),
    make_rule(DATE, rf"(?<!\w)(?:{_MONTHS})\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?!\d|[.,]\d|\s?{_MEASURE})"
              rf"(?:,?\s{_YEAR})?"),
    make_rule(DATE, rf"(?<!\w)(?:{_MONTHS})\.?,?\s?(?:['’]\d{{2}}|{_YEAR})(?!\d)"),
    make_rule(DATE, rf"(?<![\w./-])(?:0?[1-9]|1[0-2])[/.]{_YEAR}(?![\w/-]*\d)"),
    make_rule(DATE, r"(?<!\w)(?:19|20)\d{6}(?!\w)", is_compact_day),
)  # fmt: skip
"""Days and months."""
