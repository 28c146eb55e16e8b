"""Invented fare cards: rides with a tap-in and a tap-out, in the columns of table 5.2 of Dandekar's thesis.

Nobody is in them. Every card has a home and a place of work or school; on working days its owner rides there and back,
at weekends now and then to some other stop.
"""

from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.data.generators._common import Flags, Integers, check_count, draw_places, labels
from ziggurat.data.schema import Schema
from ziggurat.randomness import seeded

_LINES, _STOPS = 6, 12  # lines of the railway, and stops on each; after each station there are two stops of buses
_MODES = ("MRT", "LRT", "BUS")
_CATEGORIES, _OFTEN = ("ADULT", "STUDENT", "SENIOR"), (0.7, 0.2, 0.1)
_LEAVES = np.array([510, 440, 600])  # minutes after midnight, by category
_STAYS = np.array([560, 420, 240])
_PAYMENTS = ("CARD", "PASS")
_FIRST = np.datetime64(date(2024, 1, 1))  # a Monday
_MONTH = 31
_FORGOTTEN = 0.02  # rides without a tap-out


def fare_card_stops() -> pa.Table:
    """The invented stops, which are public: lines go out from the middle of an invented city.

    Returns
    -------
    pyarrow.Table
        `Location_ID`, `Transport_Mode`, `Line`, `Latitude` and `Longitude`.

    Examples
    --------
    >>> fare_card_stops().num_rows
    216
    """
    line, stop, beside = (each.ravel() for each in np.indices((_LINES, _STOPS, 3)))
    angle = 2 * np.pi * line / _LINES + 0.05 * stop
    far, aside = 0.012 * (stop + 1), 0.004 * (beside - (beside == 2) * 3)
    mode = np.where(beside > 0, 2, line == _LINES - 1)
    names = [f"L{each:02d}S{at:02d}{'ABC'[where]}" for each, at, where in zip(line + 1, stop + 1, beside, strict=True)]
    return pa.table(
        {
            "Location_ID": names,
            "Transport_Mode": labels(mode, _MODES),
            "Line": [f"line {each}" for each in line + 1],
            "Latitude": 1.35 + far * np.sin(angle) + aside * np.cos(angle),
            "Longitude": 103.82 + far * np.cos(angle) - aside * np.sin(angle),
        }
    )


def fare_cards(cards: int = 1_000, *, days: int = 14, seed: int = 0) -> pa.Table:
    """Invent the rides of fare cards, one row per ride.

    Parameters
    ----------
    cards
        How many cards.
    days
        Over how many days, from Monday, 1 January 2024; at most 31.
    seed
        The same seed gives the same table.

    Returns
    -------
    pyarrow.Table
        `Card_Number_E`, `Transport_Mode`, `Entry_Date`, `Entry_Time`, `Exit_Date`, `Exit_Time`, `Payment_Mode`,
        `Commuter_Category`, `Origin_Location_ID` and `Destination_Location_ID`. Some riders forget to tap out: then
        date, time and place of the exit are missing.

    Examples
    --------
    >>> fare_cards(5).column_names[:4]
    ['Card_Number_E', 'Transport_Mode', 'Entry_Date', 'Entry_Time']
    """
    cards, days = check_count("cards", cards), min(check_count("days", days), _MONTH)
    random = seeded(seed).simulation()
    category = draw_places(random, np.array(_OFTEN), cards)
    card, day, back, whence, whither = _rides(random, cards, days)
    kind = category[card]
    enters = day * 1440 + _LEAVES[kind] + back * _STAYS[kind] + np.round(random.normal(0, 25, len(card))).astype(int)
    leaves = enters + 4 + 2 * np.abs(whence // 3 - whither // 3) % 40 + random.integers(0, 5, len(card))
    tapped = random.random(len(card)) >= _FORGOTTEN
    names, modes = (fare_card_stops().column(name).to_numpy() for name in ("Location_ID", "Transport_Mode"))
    seconds = random.integers(0, 60, (2, len(card)))
    return pa.table(
        {
            "Card_Number_E": [f"C{each:07d}" for each in card],
            "Transport_Mode": modes[whence],
            "Entry_Date": _FIRST + enters // 1440,
            "Entry_Time": _clock(enters, seconds[0]),
            "Exit_Date": pa.array(_FIRST + leaves // 1440, mask=~tapped),
            "Exit_Time": pa.array(_clock(leaves, seconds[1]), mask=~tapped),
            "Payment_Mode": labels((card % 3 == 0).astype(int), _PAYMENTS),
            "Commuter_Category": labels(kind, _CATEGORIES),
            "Origin_Location_ID": names[whence],
            "Destination_Location_ID": pa.array(names[whither], mask=~tapped),
        }
    )


def fare_cards_schema() -> Schema:
    """The public schema of fare cards; its privacy unit is the card, which the thesis takes for the commuter."""
    day = {"kind": "date", "role": "quasi-identifier", "bounds": [date(2024, 1, 1), date(2024, 2, 1)]}
    clock = {"kind": "text", "role": "quasi-identifier", "description": "such as 08:15:00"}
    stop = {"kind": "category", "role": "quasi-identifier", "categories": fare_card_stops().column(0).to_pylist()}
    columns = {
        "Card_Number_E": {"kind": "text", "role": "identifier"},
        "Transport_Mode": {"kind": "category", "categories": list(_MODES)},
        "Entry_Date": day,
        "Entry_Time": clock,
        "Exit_Date": day,
        "Exit_Time": clock,
        "Payment_Mode": {"kind": "category", "categories": list(_PAYMENTS)},
        "Commuter_Category": {"kind": "category", "role": "sensitive", "categories": list(_CATEGORIES)},
        "Origin_Location_ID": stop,
        "Destination_Location_ID": stop,
    }
    return Schema.from_dict({"name": "fare_cards", "unit": {"person": "Card_Number_E"}, "columns": columns})


def _rides(random: np.random.Generator, cards: int, days: int) -> tuple[Integers, ...]:
    """For every ride: card, day, whether it is the way back, from which stop, and to which."""
    size = _LINES * _STOPS * 3
    home, work = random.integers(0, size, cards), random.integers(0, size, cards)
    card, day, back = (each.ravel() for each in np.indices((cards, days, 2)))
    weekend: Flags = day % 7 >= 5
    goes = np.repeat(random.random(cards * days), 2) < np.where(weekend, 0.4, 0.92)
    outing = np.repeat(random.integers(0, size, cards * days), 2)
    there = np.where(weekend, outing, work[card])
    whence, whither = np.where(back == 1, there, home[card]), np.where(back == 1, home[card], there)
    kept = goes & (whence != whither)
    return tuple(np.asarray(each[kept], dtype=np.int64) for each in (card, day, back, whence, whither))


def _clock(minutes: Integers, seconds: Integers) -> npt.NDArray[np.str_]:
    within = minutes % 1440
    return np.array(
        [f"{at // 60:02d}:{at % 60:02d}:{more:02d}" for at, more in zip(within, seconds, strict=True)], dtype=str
    )
