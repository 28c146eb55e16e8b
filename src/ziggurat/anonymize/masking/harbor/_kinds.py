"""The eighteen kinds of identifiers of HIPAA Safe Harbor, and the words that columns of them are named by.

Names are read in English, German and French, without accents and in small letters, with a blank between their words.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Identifier:
    """One of the eighteen kinds of identifiers of 45 CFR 164.514(b)(2)(i).

    Parameters
    ----------
    letter
        Its letter in the rule, A to R.
    name
        What it is called here.
    covers
        What falls under it.
    technique
        What is suggested, in words.
    pattern
        Words, one or several joined by a space, that a column of this kind is usually named by.
    """

    letter: str
    name: str
    covers: str
    technique: str
    pattern: str


_REMOVED = "removed"
_NO = r"(?:no|num|number|id|nr|nummer|numero|code)"
_US_ZIPS = r"zips?|zip ?codes?|zcta"
_POSTCODES = (
    r"post ?codes?|postal|postal codes?|pin ?codes?|eircodes?|cep|npa|plz|plz\w+|\w+plz|postleitzahl(?:en)?"
    r"|postnummer|postnr|post ?nr|code ?postal|codes? postaux|codigo postal|kod pocztowy"
)
SAFE_HARBOR = (
    Identifier("A", "names", "names of the person, relatives, employers and household members", _REMOVED,
               r"(first|last|full|middle|maiden|given|family|patient|mother|father|spouse|employer|user|nick)? ?names?"
               r"|surname|forename|initials|username"
               r"|(patienten|familien|geburts|madchen|benutzer|kunden|kind(es|er)?|eltern)?(vor|nach|zu|ruf|ehe)?namen?"
               r"|nom de \w+|nom ?prenom|noms?|prenoms?|patronyme|arbeitgeber|employeur|ehepartner|angehorige[rn]?"
               r"|mutter|vater|mere|pere|conjoint|initialen|ansprechpartner|kontaktperson|personne \w+"),
    Identifier("B", "places", "everything smaller than a state: street, city, county, precinct, ZIP code, coordinates",
               "removed; ZIP codes to three digits, those of sparse areas to 000, other postcodes to their region",
               r"address(es)?|street|city|town|county|precinct|parish|village|municipality|district|neighbou?rhood"
               rf"|{_US_ZIPS}|{_POSTCODES}|lat|lon|lng|latitude|longitude|geo\w*"
               r"|census tract|tract|block|puma|location"
               r"|ort|orte|(wohn|geburts|heimat|aufenthalts|arbeits|einsatz|unfall)orte?|ortsteil|stadt|stadtteil|gemeinde|kreis|landkreis|bezirk|strasse|str|\w+strasse"
               r"|haus ?(nr|nummer)|adresse|\w+adresse|anschrift|ville|commune|rue|voie|quartier|departement|canton"
               r"|arrondissement|lieu|lieu de \w+|domicile|koordinaten|breitengrad|langengrad"),
    Identifier("C", "dates and ages", "all parts of dates about a person except the year; ages over 89 and years that "
               "tell them", "dates to the year, ages over 89 to 90+",
               r"dates?|date ?times?|dt|timestamps?|created|updated|onset|admit"
               r"|dob|dod|birth ?(day|date)?|born|deaths?|died|admi(tted|ssion)|discharged?|visit(ed)?|yob|age"
               r"|ages|patient ?age|age ?(years?|yrs?)?|birth ?year|year ?of ?birth"
               r"|datum|\w+datum|geb|geboren|gebdat|geb ?dat|geburtsjahr|geburtsmonat"
               r"|(aufnahme|entlass|behandlungs)zeit(punkt)?"
               r"|(geburts|aufnahme|entlass|entlassungs|behandlungs|operations|op|todes|sterbe|besuchs)tag|aufnahme"
               r"|entlassung|einweisung|verlegung|verstorben|tod|termin|zeitpunkt|alter|lebensalter|jahrgang|naissance"
               r"|nee? le"
               r"|date ?(de )?\w+|annee de naissance|entree|sortie|deces|hospitalisation|jour"),
    Identifier("D", "telephone numbers", "telephone numbers", _REMOVED,
               r"phones?|telephones?|tel|mobile|cell ?phone"
               r"|telefon\w*|handy\w*|mobil|mobil(nummer|telefon|funk\w*)|rufnummer|portable|gsm"),
    Identifier("E", "fax numbers", "fax numbers", _REMOVED, r"(tele)?fax\w*|telecopie"),
    Identifier("F", "e-mail addresses", "e-mail addresses", _REMOVED,
               r"e ?mail (address(es)?|adresse)|e ?mails?|mails?|courriel|mel|e ?mailadresse"),
    Identifier("G", "social security numbers", "social security numbers", _REMOVED,
               rf"ssn|social security|sozialversicherungs\w*|sv ?{_NO}|rentenversicherungs\w*|rv ?{_NO}|steuer ?{_NO}"
               rf"|nir|secu|securite sociale|insee|nino|national insurance|nhs ?{_NO}?|ahv ?{_NO}?"),
    Identifier("H", "medical record numbers", "medical record numbers", _REMOVED,
               r"mrn|medical record|record (no|num|number|id)|chart (no|num|number|id)|patient (no|num|number|id)"
               rf"|(patienten|pat|fall|akten|aufnahme|bett) ?{_NO}|aktenzeichen|akte|dossier|ipp|iep"),
    Identifier("I", "health plan numbers", "health plan beneficiary numbers", _REMOVED,
               r"beneficiary|health plan|plan (no|num|number|id)|member (no|num|number|id)|policy"
               r"|insurance (no|number|id)|medicare|medicaid"
               rf"|(kranken)?versicher(ten|ungs) ?{_NO}|kv ?{_NO}|kvnr|assure|mutuelle|police|policen ?{_NO}"),
    Identifier("J", "account numbers", "account numbers", _REMOVED,
               r"accounts?|acct|iban|bank|credit card|card (no|num|number)|customer (no|num|number|id)"
               rf"|konto\w*|bankverbindung|(kunden|karten|mitglieds|rechnungs) ?{_NO}|compte|rib|carte|client"),
    Identifier("K", "certificate and licence numbers", "certificate and licence numbers", _REMOVED,
               r"certificates?|licen[cs]es?|passport|driver|zertifikat|fuhrerschein|\w*ausweis\w*|reisepass|permis"
               r"|passeport|certificat"),
    Identifier("L", "vehicle identifiers", "vehicle identifiers and serial numbers, number plates", _REMOVED,
               r"vin|vehicle|plate|number plate|licen[cs]e plate|registration|kfz\w*|kennzeichen|fahrgestell\w*"
               r"|immatriculation|plaque"),
    Identifier("M", "device identifiers", "device identifiers and serial numbers", _REMOVED,
               r"device|serial|imei|udi|mac( address)?|implant|gerat\w*|serien ?\w*|appareil|numero de serie"),
    Identifier("N", "web addresses", "URLs", _REMOVED,
               r"urls?|web ?sites?|web ?page|homepage|link|web ?seite|site ?web"),
    Identifier("O", "IP addresses", "Internet Protocol addresses", _REMOVED,
               r"ip ?address(es)?|ip ?adresse|ipv ?4|ipv ?6|ip|adresse ip"),
    Identifier("P", "biometric identifiers", "fingerprints and voice prints among them", _REMOVED,
               r"biometric\w*|finger ?prints?|voice ?prints?|retina|iris|dna|genome|fingerabdruck|empreinte|adn|dns"),
    Identifier("Q", "photographs", "full-face photographs and comparable images", _REMOVED,
               r"photos?|photographs?|images?|pictures?|face|portrait|selfie|fotos?|bild(er)?|lichtbild"),
    Identifier("R", "other identifiers", "any other unique identifying number, characteristic or code", _REMOVED,
               r"id|ids|uid|uuid|guid|pid|identifier|\w+ id|key|index|row ?id|case (no|num|number)"
               r"|nr|nummer|\w+nummer|\w+ nr|lfd ?nr|kennung|schlussel|identifiant|matricule|numero"),
)  # fmt: skip
"""The eighteen kinds, as data."""

_MATCHERS = tuple((kind, re.compile(rf"(?<!\S)(?:{kind.pattern})(?!\S)")) for kind in SAFE_HARBOR)


def _within(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|.* )(?:{pattern})(?: .*|$)")


US_ZIP = _within(_US_ZIPS)
POSTCODE = _within(_POSTCODES)
BIRTH = _within(r"dob|yob|birth\w*|born|geb|gebdat|geboren|geburts\w*|naissance|nee? le|jahrgang")
BIRTH_YEAR = _within(r"yob|birth ?year|year ?of ?birth|geburtsjahr|jahrgang|annee de naissance")
AGE = _within(r"ages?|patient ?age|alter|lebensalter|patientenalter")


def name_words(name: str) -> str:
    """Return the words of a column's name in small letters without accents, with blanks between them."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", name) if not unicodedata.combining(each))
    spaced = re.sub(r"(?<=[a-zß])(?=[A-Z])|(?<=[A-Za-z])(?=[0-9])", " ", plain)
    return " ".join(re.findall(r"[^\W_]+", spaced.casefold()))


def kind_named(words: str) -> Identifier | None:
    """Return the kind that most of the name speaks for: an IP address is no place."""
    lengths = {
        kind: max((len(found.group()) for found in matcher.finditer(words)), default=0) for kind, matcher in _MATCHERS
    }
    likeliest = max(lengths, key=lambda kind: lengths[kind])
    return likeliest if lengths[likeliest] else None


def names_people(name: str) -> bool:
    """Return whether a column is named like one of names of people."""
    kind = kind_named(name_words(name))
    return kind is not None and kind.letter == "A"
