"""Words of several languages: for true and false, for the months, and for a value that is missing."""

TRUTH_PAIRS = (
    ("true", "false"),
    ("t", "f"),
    ("yes", "no"),
    ("y", "n"),
    ("ja", "nein"),
    ("j", "n"),
    ("wahr", "falsch"),
    ("oui", "non"),
    ("o", "n"),
    ("vrai", "faux"),
    ("sí", "no"),
    ("si", "no"),
    ("sì", "no"),
    ("s", "n"),
    ("verdadero", "falso"),
    ("vero", "falso"),
    ("sim", "não"),
    ("sim", "nao"),
    ("verdadeiro", "falso"),
    ("ja", "nee"),
    ("waar", "onwaar"),
    ("tak", "nie"),
    ("ja", "nej"),
    ("да", "нет"),
    ("ano", "ne"),
)
"""Words for true and false, a pair for each language, in lower case."""
TRUE_WORDS = (*dict.fromkeys(true for true, _ in TRUTH_PAIRS), "1")
"""Every word that reads as true."""
FALSE_WORDS = (*dict.fromkeys(false for _, false in TRUTH_PAIRS), "0")
"""Every word that reads as false."""

MONTHS = (
    ("january", "jan", "januar", "jänner", "janvier", "janv", "enero", "ene", "gennaio", "gen", "januari"),
    ("february", "feb", "februar", "février", "fevrier", "févr", "fév", "febrero", "febbraio", "februari"),
    ("march", "mar", "märz", "maerz", "mär", "mrz", "mars", "marzo", "maart", "mrt"),
    ("april", "apr", "avril", "avr", "abril", "abr", "aprile"),
    ("may", "mai", "mayo", "maggio", "mag", "mei"),
    ("june", "jun", "juni", "juin", "junio", "giugno", "giu"),
    ("july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug"),
    ("august", "aug", "août", "aout", "agosto", "ago", "augustus"),
    ("september", "sep", "sept", "septembre", "septiembre", "settembre", "set"),
    ("october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott"),
    ("november", "nov", "novembre", "noviembre"),
    ("december", "dec", "dezember", "dez", "décembre", "decembre", "déc", "diciembre", "dic", "dicembre"),
)
"""How each month is written, in lower case."""

MISSING_MARKS = (
    *("?", "NA", "N/A", "NULL", "na", "n/a", "null", "#N/A", "None"),
    *("-", "--", "---", "–", "—", ".", "..", "...", "*", "/", "NaN", "nan", "#NV", "#NULL!", "#DIV/0!", "#WERT!"),
    *("#VALUE!", "#BEZUG!", "#REF!", "#NAME?", "#NUM!", "#ZAHL!", "(null)", "\\N", "<NA>", "NaT", "k.A.", "k. A."),
    *("k.A", "keine Angabe", "Keine Angabe", "n.v.", "n.b.", "n. b.", "n.a.", "N.A.", "NC", "nc", "n.d.", "nd", "N.D."),
    *("s.d.", "b.d.", "(leer)", "(blank)", "missing", "Missing"),
)
"""How people write that a value is missing, whatever the column holds."""
TEXT_MARKS = tuple(
    mark
    for mark in MISSING_MARKS
    if mark
    not in ("NA", "na", "NC", "nc", "nd", "*", "/", ".", "..", "...", "n.d.", "N.D.", "s.d.", "b.d.", "n.a.", "N.A.")
)
"""Marks for a missing value that are no words, initials or signs of their own: also text knows them."""
UNSURE_MARKS = (
    "unbekannt",
    "Unbekannt",
    "unknown",
    "Unknown",
    "UNKNOWN",
    "inconnu",
    "Inconnu",
    "desconocido",
)
"""Words that mean a missing value among numbers and dates, and may be a value of its own among words."""
