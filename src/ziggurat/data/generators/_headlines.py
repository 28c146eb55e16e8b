"""Invented news titles of four topics, from patterns: nobody in them exists, and nothing in them happened."""

import re

import numpy as np
import pyarrow as pa

from ziggurat.data.generators._common import check_count, labels
from ziggurat.data.schema import Schema
from ziggurat.randomness import seeded

_SHARED = {
    "where": "Northport|Eastvale|Marlow Bay|Stonebridge|Lakeside|the capital|the islands|the valley",
    "when": "this week|next year|in spring|after a long delay|for the first time|before the summer",
    "many": "two|three|dozens of|hundreds of|thousands of|a record number of",
}
_TOPICS: dict[str, tuple[str, dict[str, str]]] = {
    "b": (
        "{firm} shares {move} as {thing} {change}|{firm} to buy {firm} in {sum} deal|{bank} holds rates steady {when}|"
        "{thing} {change} {when}, {bank} says|{firm} cuts {many} jobs in {where}|Why {thing} may {turn} {when}",
        {
            "firm": "Harbour Oil|Northwind Bank|Pellin Motors|Quarry Steel|Sable Air|Tidewater Foods|Union Freight",
            "bank": "central bank|the treasury|the lender|the regulator",
            "thing": "oil prices|house prices|exports|wages|consumer confidence|factory orders|bond yields",
            "move": "rise|fall|slide|jump|slip|climb",
            "change": "recover|weaken|surge|cool|beat forecasts|miss forecasts",
            "sum": "two billion|all cash|surprise|long planned",
            "turn": "fall again|rise again|hurt lenders|help exporters",
        },
    ),
    "t": (
        "{maker} unveils {device} with {feature}|{maker} delays {device} {when}|{device} review: {verdict}|"
        "Bug in {device} lets hackers read {data}|{maker} sues {maker} over {feature}|How to keep {data} safe {when}",
        {
            "maker": "Lumen|Orbital|Pixelworks|Quill|Ravel|Signalhouse|Tessera",
            "device": "its new phone|a folding tablet|the smart watch|its search app|a home robot|the game console",
            "feature": "a larger screen|longer battery life|a faster chip|voice control|face recognition|free maps",
            "data": "messages|passwords|photos|location history|contact lists",
            "verdict": "bright and fast|worth the wait|a careful upgrade|good ideas, poor battery",
        },
    ),
    "e": (
        "{star} and {star} end marriage {when}|{star} to star in {show}|{show} breaks records in {where}|"
        "{star} apologises for {deed}|Trailer: {show} returns {when}|{star} wins best {prize} for {show}",
        {
            "star": "Ada Merrow|Bo Lindqvist|Cleo Hart|Dex Marino|Ines Valdane|Juno Park|Milo Ashby",
            "show": "Midnight Harbour|The Glass Orchard|Paper Crowns|Second Winter|The Long Signal",
            "deed": "cancelled concert|angry message|late arrival|stolen melody",
            "prize": "actress|actor|song|picture|newcomer",
        },
    ),
    "m": (
        "Study links {habit} to {outcome}|{where} reports {many} new cases of {illness}|{drug} cuts risk of {illness}|"
        "Doctors warn of {illness} {when}|Vaccine against {illness} to be tested in {where}|"
        "{habit} may protect from {illness}",
        {
            "habit": "coffee|poor sleep|long walks|night work|fried food|daily aspirin|loneliness",
            "outcome": "longer life|heart disease|better memory|weight gain|fewer strokes",
            "illness": "measles|marsh fever|diabetes|asthma|river flu|migraine|heart failure",
            "drug": "New drug|An old remedy|Early treatment|A daily pill|Gene therapy",
        },
    ),
}  # fmt: skip
_PUBLISHERS = ("The Evening Lantern", "Harbour Post", "Daily Compass", "The Weekly Ledger", "City Wire", "North Star")
_SLOT = re.compile(r"{(\w+)}")


def headlines(n: int = 2_000, *, seed: int = 0) -> pa.Table:
    """Invent `n` news titles.

    Parameters
    ----------
    n
        How many, at least 1.
    seed
        The same seed gives the same table.

    Returns
    -------
    pyarrow.Table
        `title`; `category` (b business, t technology, e entertainment, m medicine); `publisher`.

    Examples
    --------
    >>> headlines(2, seed=1).column_names
    ['title', 'category', 'publisher']
    """
    n = check_count("the number of titles", n)
    random = seeded(seed).simulation()
    topics = random.integers(0, len(_TOPICS), n)
    letters = list(_TOPICS)
    return pa.table(
        {
            "title": [_fill(letters[topic], random) for topic in topics],
            "category": labels(topics, letters),
            "publisher": labels(random.integers(0, len(_PUBLISHERS), n), _PUBLISHERS),
        }
    )


def headlines_schema() -> Schema:
    """The public schema of `headlines`; its privacy unit is the title."""
    columns = {
        "title": {"kind": "text"},
        "category": {"kind": "category", "categories": list(_TOPICS)},
        "publisher": {"kind": "category", "categories": list(_PUBLISHERS)},
    }
    return Schema.from_dict({"name": "headlines", "columns": columns})


def _fill(topic: str, random: np.random.Generator) -> str:
    patterns, slots = _TOPICS[topic]
    known = {name: words.split("|") for name, words in (_SHARED | slots).items()}

    def choose(options: list[str]) -> str:
        return options[int(random.integers(len(options)))]

    text = _SLOT.sub(lambda slot: choose(known[slot[1]]), choose(patterns.split("|")))
    return f"{text[:1].upper()}{text[1:]}"
