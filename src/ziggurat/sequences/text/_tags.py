"""Parts of speech of headlines, by a tagger whose model is in its package; nothing is downloaded.

The tagger is HanTa, whose English model knows the tags of the British National Corpus (CLAWS C5). Each of them is
written as the tag of the Penn Treebank that means the same; a word that it calls unclassified, in headlines of lower
case mostly a rare name, is a foreign word (FW). The tagger was trained on other texts, so that tags tell nothing of
the headlines beyond the headline itself: each headline is tagged alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ziggurat.errors import MissingExtraError

_VERBS = {"B": "VBP", "D": "VBD", "G": "VBG", "I": "VB", "N": "VBN", "Z": "VBZ"}
_PENN = {
    "AJ0": "JJ", "AJC": "JJR", "AJS": "JJS", "AT0": "DT", "AV0": "RB", "AVP": "RP", "AVQ": "WRB", "CJC": "CC",
    "CJS": "IN", "CJT": "IN", "CRD": "CD", "DPS": "PRP$", "DT0": "DT", "DTQ": "WDT", "EX0": "EX", "IN": "IN",
    "ITJ": "UH", "NN": "NN", "NN0": "NN", "NN1": "NN", "NN2": "NNS", "NP0": "NNP", "ORD": "JJ", "PNI": "NN",
    "PNP": "PRP", "PNQ": "WP", "PNX": "PRP", "POS": "POS", "PRF": "IN", "PRP": "IN", "TO0": "TO", "VM0": "MD",
    "XX0": "RB", "ZZ0": "SYM", "PUL": "SYM", "PUN": "SYM", "PUQ": "SYM", "PUR": "SYM",
} | {f"V{kind}{form}": tag for kind in "BDHV" for form, tag in _VERBS.items()}  # fmt: skip
_OTHERWISE = "FW"

PENN_TAGS = tuple(sorted({*_PENN.values(), _OTHERWISE}))
"""The tags of the Penn Treebank that headlines can get."""

# A word is analysed the same way wherever it stands; what follows from its neighbours is found for each headline.
_KNOWN_WORDS = 1 << 17


def tag_headlines(headlines: Sequence[str]) -> list[tuple[str, ...]]:
    """Give every word of every headline its tag; headlines that are equal are tagged once.

    Examples
    --------
    >>> tag_headlines(["the bank raises rates"])
    [('DT', 'NN', 'VBZ', 'NNS')]
    """
    tagger = _tagger()
    found = {headline: _penn(tagger.tag_sent(headline.split(), taglevel=0)) for headline in dict.fromkeys(headlines)}
    return [found[headline] for headline in headlines]


def _penn(tags: Sequence[str]) -> tuple[str, ...]:
    return tuple(_PENN.get(tag, _OTHERWISE) for tag in tags)


@lru_cache(maxsize=1)
def _tagger() -> Any:
    try:
        from HanTa.HanoverTagger import HanoverTagger  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("Tags of words need HanTa; add it with: pip install 'ziggurat[text]'.") from None
    tagger = HanoverTagger("morphmodel_en.pgz")
    tagger._tag_word = lru_cache(maxsize=_KNOWN_WORDS)(tagger._tag_word)
    return tagger
