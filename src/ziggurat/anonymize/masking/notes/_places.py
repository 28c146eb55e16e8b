"""Forms of streets with their number, and of postcodes with their town."""

from __future__ import annotations

from ziggurat.anonymize.masking.notes._rules import ADDRESS, make_rule

_UP = "A-ZÄÖÜÉÈÀÂÇŒ"
_WORD = rf"[{_UP}][\w'’-]*"
_NUMBER = r"\d{1,4}\s?[a-zA-Z]?(?:\s?[-/+]\s?\d{1,4}\s?[a-zA-Z]?)?(?![\w%]|[.,]\d)"
_STREET = (
    r"(?:[sS]tr\.?|[sS]traße|[sS]trasse|[wW]eg|[pP]latz|[aA]llee|[gG]asse|[rR]ing|[dD]amm|[uU]fer|[cC]haussee|[sS]teig|"
    r"[pP]fad|[pP]romenade|[sS]tieg|[zZ]eile|[hH]of|[wW]all|[gG]raben|[mM]arkt|[tT]or|[bB]rücke|[kK]amp|[sS]tiege)"
)
_AT_THE = r"(?:Am|An der|An den|An dem|Auf dem|Auf der|Im|In der|In den|Unter den|Zum|Zur|Hinter der|Bei der|Vor dem)"
_NO_PLACE = (
    r"(?!Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|Januar|Februar|März|April|Mai|Juni|Juli|August|"
    r"September|Oktober|November|Dezember|Alter|Jahr|Verlauf|Labor|Zeitraum|Schnitt|Tag|Woche|Monat|Mittel)"
)
_VOIE = (
    r"(?:[rR]ue|[aA]venue|[aA]v\.|[bB]oulevard|[bB]d\.?|[bB]lvd\.?|[pP]lace|[pP]l\.|[cC]hemin|[iI]mpasse|[aA]llées?|"
    r"[qQ]uai|[cC]ours|[rR]oute|[sS]quare|[pP]assage|[fF]aubourg|[rR]uelle|[vV]illa|[sS]entier|[rR]ésidence)"
)
_OF = r"(?:(?:de\sla|de\sl['’]|des|du|de|d['’]|la|le|les|aux?|à|en|sur|sous|lès)\s?)"
_ROAD = (
    r"(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Court|Ct|Close|Way|Place|Pl|Boulevard|Blvd|Terrace|Crescent|"
    r"Cres|Square|Sq|Gardens|Gdns|Row|Hill|Park|Mews|Grove|Parkway|Pkwy|Circle|Highway|Hwy|Broadway|Walk|Green)"
)
_STATES = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]"
    r"|W[AIVY])"
)
_TOWN = rf"{_WORD}(?:[ -](?:{_WORD}|am {_WORD}|an der {_WORD}|bei {_WORD}|im {_WORD}|sur {_WORD}|upon {_WORD})){{0,2}}"
_WHERE = (
    r"(?:in|aus|nach|wohnhaft|wohnt|à|from|of|near|habitant|demeurant|domicilié|domiciliée|wohnhaft in|bei|adresse:?|"
    r"anschrift:?|address:?|plz:?|ort:?|wohnort:?)"
)

STREET_RULES = (
    make_rule(ADDRESS, rf"(?<!\w)(?:{_WORD}[ -]){{0,3}}(?:[{_UP}][\w-]*)?{_STREET}\s?(?:Nr\.?\s?)?{_NUMBER}",
              None, "de", exact=True),
    make_rule(ADDRESS, rf"(?<!\w){_AT_THE} {_NO_PLACE}{_WORD}(?: {_WORD})? {_NUMBER}(?!\s?(?:Uhr|h\b|Jahre|mg|Tage))",
              None, "de", exact=True),
    make_rule(ADDRESS, rf"(?<!\w)(?:\d{{1,4}}(?:\s?(?:bis|ter|quater|[a-zA-D]))?,?\s)?{_VOIE}\s(?:{_OF}{{0,2}}{_WORD})"
              rf"(?:[\s-]{_OF}{{0,2}}{_WORD}){{0,3}}(?:\s\(\d{{5}}\)|,?\s(?:n°\s?)?{_NUMBER})?",
              None, "fr", exact=True),
    make_rule(ADDRESS, rf"(?<!\w)(?:(?:[Ff]lat|[Aa]pt|[Uu]nit)\.?\s?\w{{1,4}},?\s)?\d{{1,5}}[A-Za-z]?,?\s"
              rf"(?:[NSEW]\.?\s)?(?:(?:{_WORD}|\d{{1,3}}(?:st|nd|rd|th))\s){{1,3}}{_ROAD}\b\.?"
              r"(?:,?\s(?:[Ff]lat|[Aa]pt|[Uu]nit|[Ss]uite|#)\.?\s?\w{1,5})?", None, "us", exact=True),
    make_rule(ADDRESS, rf"(?<!\w)(?:(?:[Ff]lat|[Aa]pt|[Uu]nit)\.?\s?\w{{1,4}},?\s)?\d{{1,4}}[A-Za-z]?,?\s"
              rf"(?:The\s)?(?:{_WORD}\s){{0,3}}{_ROAD}\b", None, "gb", exact=True),
)  # fmt: skip
"""Streets with a number."""

TOWN_RULES = (
    make_rule(ADDRESS, rf"(?<!\w)(?:[DF]-)\s?\d{{5}}\s{_TOWN}", exact=True),
    make_rule(ADDRESS, rf"(?:(?<=[,;(]\s)|(?<=[,;(])|(?<=^)|(?<=\])|(?<=\n))\s?(?P<it>\d{{5}}\s{_TOWN})", exact=True),
    make_rule(ADDRESS, rf"(?<!\w)(?i:{_WHERE})\s(?P<it>\d{{5}}(?:\s{_TOWN})?)", exact=True),
    make_rule(ADDRESS, rf"(?<!\w)(?:{_WORD},?\s)?[A-Z]{{1,2}}\d[A-Z\d]?\s?\d[ABD-HJLNP-UW-Z]{{2}}\b", None, "gb",
              exact=True),
    make_rule(ADDRESS, rf"(?<!\w){_WORD}(?:\s{_WORD}){{0,2}},?\s{_STATES}\s\d{{5}}(?:-\d{{4}})?\b", None, "us",
              exact=True),
    make_rule(ADDRESS, rf"(?<!\w)\d{{4}}\s?[A-Z]{{2}}\s{_WORD}", exact=True),
    make_rule(ADDRESS, rf"(?<!\w){_TOWN}\s\(\d{{5}}\)", exact=True),
)  # fmt: skip
"""Postcodes with a town."""
