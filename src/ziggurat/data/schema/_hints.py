"""What the name of a column suggests about its role, and which cells usually stand for a missing value."""

import re

from ziggurat.data.schema._column import Role

TEXT_CODES = ("?", "NA", "N/A", "NULL", "na", "n/a", "null", "#N/A", "None")
"""How people write that a value is missing."""

NUMBER_CODES = (-8, -9, -99, -999, -9999)
"""Numbers that stand for a missing value if nothing else in their column is negative."""

_TELLING_NAMES = (
    (
        Role.IDENTIFIER,
        r"(?:first|last|full|user|sur|fore)?name|e?mail|phone|telephone|mobile|ssn|passport|iban|address|uuid|guid",
    ),
    (
        Role.SENSITIVE,
        r"incomes?|pincp|salary|salaries|wages?|earnings?|costs?|charges?|debts?|credit|loans?|diagnos[ei]s|disease\w*"
        r"|illness|icd\w*|hiv|aids|depress\w*|anxiety|mental|alcohol\w*|alcabuse|smok\w*|drugs?|disab\w*"
        r"|drem|dphy|deye|dear|dout|ddrs|hba|glucose|blood\w*|diabet\w*|cancer|pregnan\w*|medication|treatment"
        r"|religio\w*|orientation|politic\w*|convict\w*",
    ),
    (
        Role.QUASI_IDENTIFIER,
        r"age(?:p|s|d|group|band|class|cat|years?|range)?|birth\w*|dob|yob|sex|gender|male|female"
        r"|rac|race|ethnic\w*|hisp\w*|nationality|citizen\w*|language|zip|zipcode|postcode|postal|plz|country|county"
        r"|city|town|state|region|province|district|municipality|puma|lat|lon|lng|latitude|longitude|location|geo\w*"
        r"|marital|education|schl|occupation|occp|profession|job|employer",
    ),
)
_UNIT_NAMES = r"id|ids|uid|pid|\w*(?:user|patient|customer|person|member|client|subject)(?:id)?"
_COUNTER_NAMES = r"index|row|rows|rowid|rownum|rownumber|unnamed|line|seq|sequence|record"


def role_in_name(name: str) -> tuple[Role, str] | None:
    """Return the role that a word in the name of a column speaks for, and the word."""
    words = _words(name)
    for role, pattern in _TELLING_NAMES:
        for word in words:
            if re.fullmatch(pattern, word):
                return role, word
    return None


def names_a_unit(name: str) -> str:
    """Return the word at the end of a name that says whom a row is about, such as id or patient; else nothing."""
    last = (_words(name) or [""])[-1]
    return last if re.fullmatch(_UNIT_NAMES, last) else ""


def names_a_counter(name: str) -> bool:
    """Return whether a column is named like a counter of rows."""
    words = _words(name)
    return bool(words) and re.fullmatch(_COUNTER_NAMES, words[0]) is not None


def _words(name: str) -> list[str]:
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return re.findall(r"[^\W\d_]+", spaced.lower())
