"""News titles become headlines: words of lower-case letters and digits, separated by single blanks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ziggurat.errors import DataError, ParameterError

TOPICS = {"b": "business", "t": "technology", "e": "entertainment", "m": "medicine"}
"""The topics of the News Aggregator dataset by their letters; "m" is called health there."""

LEAST_WORDS = 4
"""Three words go in and the next comes out."""

_OTHER = re.compile(r"[^0-9a-z]+")


def clean_title(title: str) -> str:
    """Make a title a headline: lower case, everything but letters and digits of ASCII a gap between words."""
    return " ".join(_OTHER.sub(" ", title.lower()).split())


def prepare_headlines(titles: Iterable[str]) -> tuple[list[str], list[int]]:
    """Clean titles, and give those of more than three words with the places they came from."""
    cleaned = [clean_title(title) for title in titles]
    places = [place for place, headline in enumerate(cleaned) if headline.count(" ") + 1 >= LEAST_WORDS]
    return [cleaned[place] for place in places], places


def topic_name(topic: str) -> str:
    """The name of a topic that may be given by its letter, or by the name that the dataset has for medicine."""
    return "medicine" if topic == "health" else TOPICS.get(topic, topic)


def split_words(headline: str) -> list[str]:
    """The words of a headline; DataError, which does not repeat it, if there are too few."""
    words = headline.split()
    if len(words) < LEAST_WORDS:
        raise DataError("A headline has fewer than four words; leave such headlines out (prepare_headlines does).")
    return words


def seed_words(seed: str) -> list[str]:
    """The words that a headline shall begin with: three at least."""
    words = clean_title(seed).split()
    if len(words) < LEAST_WORDS - 1:
        raise ParameterError('A headline goes on from at least three words, such as "kim jong un".')
    return words
