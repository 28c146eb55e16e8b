"""Forms of e-mail and web addresses, telephone, account, card and national numbers."""

from __future__ import annotations

from ziggurat.anonymize.masking.notes._checksums import (
    is_card,
    is_french_person_number,
    is_german_insured_number,
    is_german_pension_number,
    is_german_tax_id,
    is_iban,
    is_nhs_number,
    is_social_security_number,
)
from ziggurat.anonymize.masking.notes._rules import CARD, E_MAIL, IBAN, ID, PHONE, URL, make_rule

_AT = r"\s?(?:@|\(at\)|\[at\]|\{at\}|\(a\)|\(ät\))\s?"
_DOT = r"(?:\.|\s?(?:\(dot\)|\[dot\]|\(punkt\)|\(point\))\s?)"
_ENDINGS = "de|at|ch|com|org|net|fr|uk|eu|info|be|nl|lu|io|edu|gov"
_CALLED = (
    r"tel|telefon|telefonisch|telephone|phone|fon|mobil|mobile|handy|fax|durchwahl|dw|ext|extension|poste|tél|"
    r"téléphone|portable|cell|call|rufnummer|rückruf|callback|pager|bleep|joignable"
)
_NUMBERED = (
    r"id|nr|no|nummer|number|num|numéro|mrn|nir|ssn|nhs|nino|steuer-?id|idnr|kvnr|rvnr|vsnr|svnr|versichertennummer|"
    r"versicherten-?nr|patientennummer|pat\.?-?nr|patienten-?id|fallnummer|fall-?nr|aktenzeichen|az|sozialversicherung|"
    r"sécurité sociale|sécu|dossier|passport|reisepass|ausweis|personalausweis|policy|matricule|insee|hospital number"
)

_ABROAD = r"(?<![\w.])(?<!\d[ -])(?:\+|00)[1-9]\d{0,2}(?:[\s./()-]{0,3}\d){6,12}(?!\d)"

CONTACT_RULES = (
    make_rule(PHONE, _ABROAD),
    make_rule(PHONE, r"(?<![\w.,/-])0[1-9](?:[ .-]\d{2}){4}(?!\d)", None, "fr"),
    make_rule(E_MAIL, rf"(?<![\w.])[\w.+'-]+{_AT}[\w-]+(?:{_DOT}[\w-]+)*{_DOT}[a-z]{{2,}}\b", digits=False),
    make_rule(URL, r"(?:https?://|www\.)[^\s<>\"]*[\w/]", digits=False),
    make_rule(URL, rf"(?<![\w.@-])[\w-]+(?:\.[\w-]+)*\.(?:{_ENDINGS})(?:/[^\s<>\"]*[\w/])?(?![\w.-]*\w)", digits=False),
)
"""Addresses of the net, and numbers that certainly are telephones."""

NUMBER_RULES = (
    make_rule(IBAN, r"\b[a-z]{2}\d{2}(?:[ -]?[a-z0-9]){11,30}\b", is_iban),
    make_rule(IBAN, r"\b[a-z]{2}\d{2}(?: ?[0-9]){11,18}\b", is_iban),
    make_rule(CARD, r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-]*\d)", is_card),
    make_rule(ID, r"\b[12][ .]?\d{2}[ .]?\d{2}[ .]?(?:\d{2}|2[ab])[ .]?\d{3}[ .]?\d{3}[ .]?\d{2}\b",
              is_french_person_number, "fr"),
    make_rule(ID, r"\b\d{2}[ .-]?\d{6}[ .-]?[a-z][ .-]?\d{3}\b", is_german_pension_number, "de"),
    make_rule(ID, r"\b[a-z][ ]?\d{3}[ ]?\d{3}[ ]?\d{3}\b", is_german_insured_number, "de"),
    make_rule(ID, r"(?<![\w+])\d{2}[ ./-]?\d{3}[ ./-]?\d{3}[ ./-]?\d{3}(?![\w])", is_german_tax_id, "de"),
    make_rule(ID, r"(?<![\w-])\d{3}[- ]\d{2}[- ]\d{4}(?![\w-])", is_social_security_number, "us"),
    make_rule(ID, r"(?<![\w+-])\d{3}[ -]?\d{3}[ -]?\d{4}(?![\w-])", is_nhs_number, "gb"),
    make_rule(ID, r"\b[a-ceghj-prtw-z][a-ceghj-npr-tw-z][ -]?\d{2}[ -]?\d{2}[ -]?\d{2}[ -]?[a-d]\b", None, "gb"),
    make_rule(ID, rf"(?<!\w)(?:{_NUMBERED})\b[\s.:#°º-]{{0,4}}(?:(?:ist|is|est|lautet|nr|no|n°)[\s.:]{{0,2}})?"
              r"(?P<it>[a-z]{0,3}[ /.-]?\d(?:[ /.-]?[a-z]{0,2}\d){2,17}[a-z]?)(?!\w)"),
)  # fmt: skip
"""Numbers of accounts, cards and people; the last is whatever stands behind a word that announces a number."""

PHONE_RULES = (
    make_rule(PHONE, r"(?<![\w.,/-])\(?0\d{1,5}\)?(?:[\s./-]{0,3}\d){5,10}(?!\d)"),
    make_rule(PHONE, r"(?<![\w.])(?:1[ .-])?\(?[2-9]\d{2}\)?[\s.-]{0,2}\d{3}[\s.-]\d{4}(?!\d)(?:\s?x\d+)?", None, "us"),
    make_rule(PHONE, rf"(?<!\w)(?:{_CALLED})\b[\s.:#]{{0,4}}(?:(?:unter|at|on|au|nr|no|n°|nummer)[\s.:]{{0,2}}){{0,2}}"
              r"(?P<it>[-+(]{0,2}\d[\d\s()./-]*\d)"),
    make_rule(ID, r"(?<![\w.,])\d{9,}(?!\w)"),
)  # fmt: skip
"""Telephone numbers, and last any number of nine digits or more: it counts nothing."""
