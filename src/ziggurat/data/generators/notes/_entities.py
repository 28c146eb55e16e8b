"""What is planted in invented notes, written in the many ways in which people write it.

Where only a part of it tells who somebody is, that part stands between < and >.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from random import Random

from ziggurat.data.generators.notes._words import STREETS, TOWNS

_MONTHS = {
    "de": ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
           "Dezember"),
    "fr": ("janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre",
           "décembre"),
    "en": ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
           "December"),
}  # fmt: skip
# Forms that no rule can be expected to know: words for numbers, streets without one, a digit mistyped.
_HARD = 0.06
_HARD_DATES = {
    "de": ("Mitte März", "vorletzten Dienstag", "Heiligabend 2019", "dritten Februar"),
    "fr": ("quinze mai", "mi-septembre", "lundi de Pâques", "veille de Noël 2018"),
    "en": ("the third of March", "mid-October", "Boxing Day 2017", "last Tuesday"),
}
_HARD_PHONES = {
    "de": "null eins sieben eins ## ## ##",
    "fr": "zéro six, ##, ##, ##, ##",
    "en": "oh seven seven double-oh ### ###",
}
_HARD_PLACES = {
    "de": ("der Gartenstraße", "dem Haus neben der Post in Wurzen"),
    "fr": ("la maison derrière l'école de Vannes", "rue Pasteur"),
    "en": ("the old vicarage in Otley", "Church Road"),
}
_FOLDED = str.maketrans("äöüéèàâçôîëß'", "aoueeaacoies-")


def write_date(random: Random, language: str) -> str:
    """Write a day, or a month and a year."""
    if random.random() < _HARD:
        return random.choice(_HARD_DATES[language])
    day = date(1935, 1, 1) + timedelta(days=random.randrange(32_800))
    month, long = _MONTHS[language][day.month - 1], f"{day.day}"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10 if day.day not in (11, 12, 13) else 0, "th")
    forms = {
        "de": (f"{day:%d.%m.%Y}", f"{day.day}.{day.month}.{day:%Y}", f"{day:%d.%m.%y}", f"{long}. {month} {day:%Y}",
               f"{long}. {month[:3]}. {day:%y}", f"{day:%Y-%m-%d}", f"den <{long}. {month}>", f"{month} {day:%Y}",
               f"<{day:%d.%m.%Y}> um 8:30", f"{day:%d/%m/%Y}", f"am <{day.day}.{day.month}.>"),
        "fr": (f"{day:%d/%m/%Y}", f"{long} {month} {day:%Y}", f"{day:%d-%m-%y}", f"{long} {month}", f"{day:%d.%m.%Y}",
               f"{day:%Y-%m-%d}", f"{month} {day:%Y}", f"{day:%d/%m/%y}", f"1er {month} {day:%Y}"),
        "en": (f"{month} {long}, {day:%Y}", f"{long} {month} {day:%Y}", f"{day:%m/%d/%Y}", f"{day:%d-%b-%Y}",
               f"{long}{ending} of {month}", f"{day:%Y-%m-%d}", f"{month[:3]} {long}, {day:%Y}", f"{month} {day:%Y}",
               f"{day:%m/%d/%y}", f"{long}{ending} {month[:3]} '{day:%y}"),
    }  # fmt: skip
    return random.choice(forms[language])


def write_phone(random: Random, language: str) -> str:
    """Write a telephone number."""
    if random.random() < _HARD:
        return _fill(random, _HARD_PHONES[language])
    return _fill(random, random.choice({
        "de": ("+49 341 #######", "0341/######", "(0341) 12##-##", "0171-#######", "0049 171 ## ## ###",
               "0160 ########", "+49 (0)30 ########", "030 / ## ## ## ##", "+49-89-#######"),
        "fr": ("06 ## ## ## ##", "+33 6 ## ## ## ##", "01.##.##.##.##", "04########", "0033 1 ## ## ## ##",
               "+33 (0)4 ## ## ## ##", "07-##-##-##-##"),
        "en": ("(555) 2##-####", "555-2##-####", "+1 503 555 ####", "020 7946 0###", "+44 20 7946 0###", "07700 900###",
               "1-800-555-####", "555.2##.####", "0113 496 0###", "5032555###"),
    }[language]))  # fmt: skip


def write_mail(random: Random, name: str) -> str:
    """Write the e-mail address of somebody of this name."""
    plain = name.lower().translate(_FOLDED).split()
    local = random.choice((".".join(plain), plain[0][0] + plain[-1], f"{plain[-1]}{random.randrange(60, 99)}"))
    host = random.choice(("example.org", "web.example.de", "klinik-nord.de", "chu-lyon.example.fr", "nhs.example.uk"))
    return random.choice((
        *(f"{local}@{host}",) * 12, f"{local} (at) {host}", f"{local}[at]{host}", f"{local}@{host}".upper(),
        f"{local} at {host}",
    ))  # fmt: skip


def write_url(random: Random) -> str:
    """Write a web address."""
    number = random.randrange(1000, 9999)
    return random.choice((
        f"https://portal.example.org/p/{number}", f"www.praxis-{number}.de", f"http://chu.example.fr/rdv?id={number}",
        f"klinik-portal.de/termin/{number}", f"example.com/u/{number}",
    ))  # fmt: skip


def write_address(random: Random, language: str) -> str:
    """Write a street and its number, mostly with the town."""
    if random.random() < _HARD:
        return random.choice(_HARD_PLACES[language])
    street, (code, town) = random.choice(STREETS[language]), random.choice(TOWNS[language])
    number = f"{random.randrange(1, 199)}{random.choice(('', '', '', 'a', ' b'))}"
    if language == "de":
        place = f"{street} {number}"
        forms = (f"{place}, {code} {town}", place, f"{code} {town}, {place}", f"<{place}> in <{code} {town}>")
        return random.choice(forms)
    if language == "fr":
        place = random.choice(
            (f"{number}, {street}", f"{number} {street}", f"{number.split()[0].rstrip('ab')} bis {street}")
        )
        return random.choice((f"{place}, {code} {town}", place, f"<{place}> à <{town} ({code})>"))
    there = f"{town} {code}" if "," in town else random.choice((f"{town} {code}", f"{town}, {code}"))
    place = random.choice((f"{number.split()[0]} {street}", f"Flat 3, {number.split()[0]} {street}"))
    return random.choice((f"{place}, {there}", place))


def write_number(random: Random, language: str) -> str:
    """Write a national number with its check digit, plain or in groups, some announced by a word."""
    number = random.choice(_NUMBERS[language])(random)
    return _mistype(random, number) if random.random() < _HARD else number


def write_iban(random: Random, language: str) -> str:
    """Write an account number with its check digits."""
    country, length = {"de": ("DE", 18), "fr": ("FR", 23), "en": ("GB", 18)}[language]
    inside = "".join(random.choice("0123456789") for _ in range(length))
    inside = "NWBK" + inside[4:] if country == "GB" else inside
    turned = "".join(str(int(each, 36)) for each in f"{inside}{country}00")
    plain = f"{country}{98 - int(turned) % 97:02d}{inside}"
    return random.choice((plain, " ".join(plain[at : at + 4] for at in range(0, len(plain), 4))))


def write_card(random: Random) -> str:
    """Write the number of a payment card with its check digit."""
    digits = [int(each) for each in "4" + _fill(random, "#" * 14)]
    doubled = sum(sum(divmod(2 * each, 10)) for each in digits[::-1][::2]) + sum(digits[::-1][1::2])
    plain = "".join(map(str, [*digits, -doubled % 10]))
    grouped = [plain[at : at + 4] for at in range(0, 16, 4)]
    return random.choice((plain, " ".join(grouped), "-".join(grouped)))


def _mistype(random: Random, number: str) -> str:
    """Change the last digit, so that its check fails."""
    places = [place for place, each in enumerate(number) if each.isdecimal()]
    return f"{number[: places[-1]]}{(int(number[places[-1]]) + random.randrange(1, 9)) % 10}{number[places[-1] + 1 :]}"


def _fill(random: Random, form: str) -> str:
    return "".join(str(random.randrange(10)) if each == "#" else each for each in form)


def _tax_id(random: Random) -> str:
    digits = [random.randrange(1, 10), *(random.randrange(10) for _ in range(9))]
    product = 10
    for digit in digits:
        product = 2 * ((digit + product) % 10 or 10) % 11
    plain = "".join(map(str, digits)) + str((11 - product) % 10)
    return random.choice((plain, f"{plain[:2]} {plain[2:5]} {plain[5:8]} {plain[8:]}", f"Steuer-ID <{plain}>"))


def _pension(random: Random) -> str:
    day = f"{random.randrange(1, 29):02d}{random.randrange(1, 13):02d}{random.randrange(40, 99)}"
    place, letter, serial = (
        f"{random.randrange(10, 90)}",
        random.choice("ABCDEFGHKLMRSTW"),
        f"{random.randrange(100):02d}",
    )
    digits = f"{place}{day}{ord(letter) - 64:02d}{serial}"
    check = (
        sum(sum(divmod(int(d) * w, 10)) for d, w in zip(digits, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True)) % 10
    )
    return random.choice((f"{place}{day}{letter}{serial}{check}", f"{place} {day} {letter} {serial}{check}"))


def _insured(random: Random) -> str:
    letter, digits = random.choice("ABCDEFGHKLMNPRSTVWXZ"), _fill(random, "########")
    weighed = enumerate(f"{ord(letter) - 64:02d}{digits}")
    return f"{letter}{digits}{sum(sum(divmod(int(d) * (1 + at % 2), 10)) for at, d in weighed) % 10}"


def _french(random: Random) -> str:
    plain = f"{random.choice('12')}{random.randrange(40, 99)}{random.randrange(1, 13):02d}{random.randrange(10, 95)}"
    plain += f"{random.randrange(1, 900):03d}{random.randrange(1, 900):03d}"
    plain += f"{97 - int(plain) % 97:02d}"
    parts = (plain[0], plain[1:3], plain[3:5], plain[5:7], plain[7:10], plain[10:13], plain[13:])
    return random.choice((plain, " ".join(parts), f"NIR <{' '.join(parts)}>"))


def _nhs(random: Random) -> str:
    while True:
        digits = [random.randrange(1, 10), *(random.randrange(10) for _ in range(8))]
        check = (11 - sum(d * w for d, w in zip(digits, range(10, 1, -1), strict=True)) % 11) % 11
        if check < 10:
            break
    plain = "".join(map(str, [*digits, check]))
    return random.choice((plain, f"{plain[:3]} {plain[3:6]} {plain[6:]}", f"NHS no <{plain}>"))


def _nino(random: Random) -> str:
    plain = f"{random.choice('ABCEHJKL')}{random.choice('ABCEGHJK')}{_fill(random, '######')}{random.choice('ABCD')}"
    return random.choice((plain, f"{plain[:2]} {plain[2:4]} {plain[4:6]} {plain[6:8]} {plain[8]}"))


def _ssn(random: Random) -> str:
    parts = f"{random.randrange(100, 600)}", f"{random.randrange(10, 99)}", f"{random.randrange(1000, 9999)}"
    return random.choice(("-".join(parts), " ".join(parts), f"SSN <{''.join(parts)}>"))


_NUMBERS: dict[str, tuple[Callable[[Random], str], ...]] = {
    "de": (_tax_id, _pension, _insured),
    "fr": (_french,),
    "en": (_nhs, _nino, _ssn),
}
