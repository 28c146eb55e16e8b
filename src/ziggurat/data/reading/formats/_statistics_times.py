"""Dates, moments and times of statistics programs, which are numbers that a format gives a meaning."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.data.reading.formats._cells import write_duration

_DAY = 86_400
_TO_1970 = {"SPSS": 141_428, "Stata": 3_653, "SAS": 3_653}  # days from 14 October 1582, and from 1 January 1960
_SPSS = {
    "date": "DATE|ADATE|EDATE|JDATE|SDATE|QYR|MOYR|WKYR",
    "moment": "DATETIME|YMDHMS",
    "time": "TIME|DTIME|MTIME",
}
_SAS = {
    "date": "DATE|WEEKDATE|WEEKDATX|WORDDATE|WORDDATX|JULIAN|MONYY|(DDMMYY|MMDDYY|YYMMDD|YYMM|MMYY|YYQ|YYMON)[BCDNPS]?"
    "|(IS|E|B|[$]N)8601DA|EURDFDD|NLDATE",
    "moment": "DATETIME|DATEAMPM|MDYAMPM|DTDATE|DTMONYY|(IS|E|B)8601D[TN]|NLDATM",
    "time": "TIME|TIMEAMPM|TOD|HHMM|(IS|E|B)8601TM|NLTIME|MMSS",
}
_FARTHEST = 2**53


class Meaning(StrEnum):
    """What a number of a statistics program is."""

    NUMBER = "number"
    DATE = "date"
    MOMENT = "moment"
    TIME = "time"
    PERIOD = "period"


def meaning_of(program: str, format_name: str) -> Meaning:
    """Return what numbers of a format are: %td of Stata, DATE11 of SPSS, DDMMYY10. of SAS."""
    if program == "Stata":
        return _meaning_in_stata(format_name)
    name = re.sub(r"[0-9]*\.?[0-9]*$", "", format_name.upper())
    known = _SPSS if program == "SPSS" else _SAS
    found = [meaning for meaning, pattern in known.items() if re.fullmatch(pattern, name)]
    return Meaning(found[0]) if found else Meaning.NUMBER


def column_of_times(meaning: Meaning, program: str, cells: Sequence[Any]) -> pa.Array:
    """Return numbers as dates, as moments, or as text such as 14:35:00."""
    numbers = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
    absent = np.isnan(numbers)
    numbers = np.clip(np.where(absent, 0, numbers), -_FARTHEST, _FARTHEST)
    if meaning is Meaning.TIME:
        seconds = numbers / 1000 if program == "Stata" else numbers
        return pa.array([None if gone else write_duration(each) for each, gone in zip(seconds, absent, strict=True)])
    if meaning is Meaning.DATE:
        days = np.floor(numbers / _DAY if program == "SPSS" else numbers) - _TO_1970[program]
        return pa.array(np.clip(days, -(2**30), 2**30).astype(np.int32), pa.int32(), mask=absent).cast(pa.date32())
    seconds = (numbers / 1000 if program == "Stata" else numbers) - _TO_1970[program] * _DAY
    finest = 1_000 if program == "SPSS" else 1_000_000  # seconds since 1582 leave no room for more in a double
    moments = np.clip(np.round(seconds * finest) * (1_000_000 // finest), -(2**62), 2**62).astype(np.int64)
    return pa.array(moments, pa.int64(), mask=absent).cast(pa.timestamp("us"))


def _meaning_in_stata(format_name: str) -> Meaning:
    shown = format_name.replace("-", "", 1)
    if re.match(r"%[0-9]*(td|d)", shown):
        return Meaning.DATE
    if re.match(r"%[0-9]*t[cC]", shown):
        form = re.sub(r"^%[0-9]*t[cC]", "", shown)
        return Meaning.TIME if form and not _without_clock(form) else Meaning.MOMENT
    return Meaning.PERIOD if re.match(r"%[0-9]*t[wmqh]", shown) else Meaning.NUMBER


def _without_clock(form: str) -> str:
    """A format of Stata without hours, minutes, seconds and what stands between them."""
    return re.sub(r"HH|Hh|hh|MM|SS|ss|\.s+|am|AM|a\.m\.|A\.M\.|[:_ .]", "", form)
