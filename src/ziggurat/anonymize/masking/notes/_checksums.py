"""Check digits of the numbers that people carry; each test takes digits and letters without blanks."""

from __future__ import annotations

import re

_LETTERS = {letter: place for place, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", start=10)}
_IBAN_LENGTHS = {
    "AT": 20, "BE": 16, "CH": 21, "CZ": 24, "DE": 22, "DK": 18, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "IE": 22,
    "IT": 27, "LI": 21, "LU": 20, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "SE": 24,
}  # fmt: skip


def bare(text: str) -> str:
    """Return a number without what stands between its digits, in capitals."""
    return re.sub(r"[^0-9A-Za-z]", "", text).upper()


def is_card(number: str) -> bool:
    """Return whether a payment card's number passes its test (Luhn)."""
    digits = [int(digit) for digit in reversed(bare(number))]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return 13 <= len(digits) <= 19 and any(digits) and (sum(digits[::2]) + sum(doubled)) % 10 == 0


def is_iban(number: str) -> bool:
    """Return whether an account number passes its test (ISO 13616: 1 modulo 97) and has its country's length."""
    given = bare(number)
    if not 15 <= len(given) <= 34 or len(given) != _IBAN_LENGTHS.get(given[:2], len(given)):
        return False
    turned = "".join(str(_LETTERS.get(each, each)) for each in given[4:] + given[:4])
    return turned.isdecimal() and int(turned) % 97 == 1


def is_german_tax_id(number: str) -> bool:
    """Return whether a German tax number passes its test (ISO 7064, modulo 11, 10)."""
    digits = [int(digit) for digit in bare(number)]
    if len(digits) != 11 or digits[0] == 0:
        return False
    product = 10
    for digit in digits[:-1]:
        total = (digit + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == digits[-1]


def is_german_pension_number(number: str) -> bool:
    """Return whether a German pension insurance number passes its test."""
    given = bare(number)
    digits = given[:8] + f"{_LETTERS[given[8]] - 9:02d}" + given[9:11]
    weights = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
    total = sum(sum(divmod(int(digit) * weight, 10)) for digit, weight in zip(digits, weights, strict=True))
    return total % 10 == int(given[11])


def is_german_insured_number(number: str) -> bool:
    """Return whether the number of a German insured person (KVNR) passes its test."""
    given = bare(number)
    digits = f"{_LETTERS[given[0]] - 9:02d}{given[1:9]}"
    total = sum(sum(divmod(int(digit) * (1 + place % 2), 10)) for place, digit in enumerate(digits))
    return total % 10 == int(given[9])


def is_french_person_number(number: str) -> bool:
    """Return whether a French NIR passes its test: its key is 97 less the remainder."""
    given = bare(number).replace("2A", "19").replace("2B", "18")
    return len(given) == 15 and given.isdecimal() and 97 - int(given[:13]) % 97 == int(given[13:])


def is_nhs_number(number: str) -> bool:
    """Return whether a British NHS number passes its test (modulo 11)."""
    digits = [int(digit) for digit in bare(number)]
    total = sum(digit * weight for digit, weight in zip(digits, range(10, 1, -1), strict=False))
    return len(digits) == 10 and (11 - total % 11) % 11 == digits[-1]


def is_social_security_number(number: str) -> bool:
    """Return whether a US social security number can have been given out; it has no check digit."""
    given = bare(number)
    area, group, serial = given[:3], given[3:5], given[5:]
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
