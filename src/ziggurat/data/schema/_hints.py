"""What the name of a column suggests about its role, in six languages, and which cells usually mean missing."""

import re
import unicodedata
from functools import cache, lru_cache
from itertools import pairwise

from ziggurat.data.schema._column import Role

TEXT_CODES = ("?", "NA", "N/A", "NULL", "na", "n/a", "null", "#N/A", "None")
"""How people write that a value is missing."""

NUMBER_CODES = (-8, -9, -99, -999, -9999)
"""Numbers that stand for a missing value if nothing else in their column is negative."""

_DIRECT = (
    r"(?:first|last|full|user|sur|fore|middle|maiden|birth|given|family|nick|login)names?"
    r"|(?:vor|nach|zu|familien|geburts|ruf|patienten|kunden|mitarbeiter)namen?|prenoms?|apellidos?|cognome"
    r"|voornaam|achternaam|(?:e|voice)?mails?|emailadresse|mailadresse|courriel|correo"
    r"|(?:tele|cell|mobile)?phones?|phone(?:number|no)|telefon\w*|telefoon\w*|telephone|tel|mobile|mobil|mobil(?:nr|nummer)"
    r"|handy\w*|cellulare|fax|ssn|socialsecurity\w*|sozialversicherungs\w*|svnr|svnummer|rentenversicherungs\w*|rvnr|nir|nif"
    r"|dni|nie|curp|codicefiscale|bsn|nhsnumber|nhsno|steuerid\w*|steuernummer|taxid|passports?|passportno|passportnumber"
    r"|reisepass\w*|ausweis\w*|personalausweis\w*|driverslicen[cs]e|fuhrerschein\w*|iban|konto(?:nr|nummer)"
    r"|account(?:no|number)|kreditkart\w*|creditcard\w*|cardnumber|kartennummer|address|addresses|adress\w*|anschrift"
    r"|(?:home|street|postal)address|wohnadresse|direccion|indirizzo|adres|street|streetname|strasse\w*|calle|rue|uuid|guid"
    r"|ipaddress|kennzeichen|licenseplate|numberplate|unterschrift|signature"
)
_NAMES = r"\w*names?|\w*namen?|nom|noms|nombres?|nome|nomi|naam"
_SENSITIVE = (
    r"\w*incomes?|pincp|salary|salaries|wages?|earnings?|costs?|charges?|debts?|credits?|loans?|\w*diagnos[a-z]*|\w*dx"
    r"|disease\w*|illness|icd\w*|hiv|aids|depress\w*|anxiety|mental|alcohol\w*|alcabuse|smok\w*|drugs?|disab\w*"
    r"|drem|dphy|deye|dear|dout|ddrs|hba|glucose|blood\w*|diabet\w*|cancer|pregnan\w*|medications?|treatments?"
    r"|religio\w*|orientation|politic\w*|convict\w*|union"
    r"|\w*kosten|\w*einkommen|\w*gehalt|\w*lohn|\w*schulden|kredit\w*|verdienst|rente|krankheit\w*|erkrankung\w*|befund\w*"
    r"|medikament\w*|medikation|therapie\w*|behandlung\w*|behinder\w*|schwanger\w*|rauch\w*|alkohol\w*|drogen\w*"
    r"|konfession|glaube\w*|partei\w*|gewerkschaft\w*|vorstraf\w*|blut\w*"
    r"|couts?|salaires?|revenus?|dettes?|maladies?|traitements?|medicaments?|handicap\w*|grossesse|tabac\w*|fumeu\w*"
    r"|syndicat\w*|costes?|salarios?|sueldos?|ingresos?|deudas?|enfermedad\w*|tratamientos?|embaraz\w*|fuma\w*|sindicato"
    r"|costi|costo|stipendi\w*|redditi?o?|malatti\w*|terapi\w*|gravidanz\w*|inkomen|salaris|loon|ziekte\w*|behandeling\w*"
)
_QUASI = (
    r"age(?:p|s|d|group|band|class|cat|years?|range)?|birth\w*|dob|yob|sex|gender|male|female"
    r"|rac|race|ethnic\w*|hisp\w*|nationality|citizen\w*|language|zip|zipcode|postcode|postalcode|postal|plz|country|county"
    r"|city|town|state|region|province|district|municipality|puma|lat|lon|lng|latitude|longitude|location|geo\w*"
    r"|marital|education|schl|occupation|occp|profession|job|employer|height|weight|admission\w*|discharge\w*"
    r"|alter|altersgruppe|geb|gebdat\w*|geburts?\w*|geboren|geschlecht|staats\w*|nationalitat|herkunft|sprache|postleitzahl\w*"
    r"|ort|\w*wohnort|stadt|gemeinde|kreis|landkreis|bundesland|land|familienstand|zivilstand|beruf\w*|arbeitgeber|schulabschluss"
    r"|bildung\w*|\w*abschluss|grosse|gewicht|aufnahmedatum|entlassungsdatum|sterbedatum|todesdatum"
    r"|naissance|sexe|codepostal|cp|ville|commune|departement|pays|metier|profession|nationalite|langue|etatcivil|taille|poids"
    r"|nacimiento|fechanac\w*|edad|sexo|genero|codigopostal|ciudad|municipio|provincia|pais|ocupacion|profesion|nacionalidad"
    r"|estadocivil|idioma|nascita|eta|sesso|cap|citta|comune|provincia|professione|nazionalita|statocivile"
    r"|geboortedatum|geboorte\w*|leeftijd|geslacht|woonplaats|gemeente|beroep|burgerlijkestaat|nationaliteit"
)
_TELLING_NAMES = (
    (Role.IDENTIFIER, _DIRECT),
    (Role.SENSITIVE, _SENSITIVE),
    (Role.QUASI_IDENTIFIER, _QUASI),
    (Role.IDENTIFIER, _NAMES),
)
_PERSON = (
    r"participant|respondent|employee|student|pupil|patientin|kunde|kundin|mitglied|versicherter?|proband|probandin|teilnehmer"
    r"|teilnehmerin|klient|klientin|mitarbeiter|mitarbeiterin|schuler|patiente|adherent|assure|membre|usuario|paciente|cliente"
    r"|miembro|socio|paziente|utente|klant|deelnemer|verzekerde|\w*(?:user|patient|customer|person|member|client|subject)"
)
_STEMS = (
    rf"{_PERSON}|pat|patienten|kunden|mitglieds|versicherten|probanden|klienten|personen|personal|studenten|matrikel|fall|case"
    r"|akten|encounter|episode|insured|insurance|policy|member(?:ship)?|dossier|expediente"
)
_NUMBERS = r"id|uid|pid|nr|nummer|number|no|num|numero|kennung|key|code|schlussel"
_PERSON_NUMBERS = rf"\w*?(?:{_STEMS})(?:{_NUMBERS})|(?:{_NUMBERS})(?:{_STEMS})"
_IDS = r"id|ids|uid|pid"
_COUNTER_NAMES = (
    r"index|row|rows|rowid|rownum|rownumber|unnamed|line|seq|sequence|record|zeile|zeilennr|lfd|lfdnr|laufnr|ligne|fila"
)


@lru_cache(4096)
def roles_in_name(name: str) -> tuple[tuple[Role, str], ...]:
    """Return the roles that words in the name of a column speak for, and the words.

    Direct identifiers (first name, e-mail, phone, address) come first, then what people keep to themselves, then what
    others can know of them, and last a bare 'name', which may be that of a product.
    """
    terms = _terms(name)
    found = ((role, next((term for term in terms if _fits(pattern, term)), "")) for role, pattern in _TELLING_NAMES)
    return tuple(dict.fromkeys((role, word) for role, word in found if word))


def is_bare_name(word: str) -> bool:
    """Return whether a word says 'name' without saying whose: productname, nom."""
    return _fits(_NAMES, word) and not _fits(_DIRECT, word)


@lru_cache(4096)
def names_a_unit(name: str) -> str:
    """Return the words at the end of a name that say whom a row is about, such as id or patient; else nothing."""
    words = _words(name)
    if names_one_person(name):
        return words[-1] if _fits(_PERSON_NUMBERS, words[-1]) else " ".join(words[-2:])
    last = (words or [""])[-1]
    return last if _fits(f"{_PERSON}|{_IDS}", last) else ""


def names_a_person(name: str) -> bool:
    """Return whether a name ends in a word for a person, with or without one for a number: patient, PatID, Fallnr."""
    return names_one_person(name) or _fits(_PERSON, (_words(name) or [""])[-1])


@lru_cache(4096)
def names_one_person(name: str) -> bool:
    """Return whether a name says that it numbers people: patient_id, Versichertennummer, id_cliente."""
    words = _words(name)
    return any(_fits(_PERSON_NUMBERS, word) for word in ("".join(words[-2:]), *words[-1:]))


def names_a_number(name: str) -> str:
    """Return the word at the end of a name for a number that is given to things: nr, number, no; else nothing."""
    last = (_words(name) or [""])[-1]
    found = re.search(r"(?:^|.)(nr|nummer|number|no|num|numero)$", last)
    return found.group(1) if found and (found.group(1) in ("nr", "nummer", "number") or last == found.group(1)) else ""


def names_a_counter(name: str) -> bool:
    """Return whether a column is named like a counter of rows."""
    words = _words(name)
    return bool(words) and _fits(_COUNTER_NAMES, words[0])


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _fits(pattern: str, word: str) -> bool:
    return _compiled(pattern).fullmatch(word) is not None


def _terms(name: str) -> list[str]:
    """The words of a name, and before them each two that stand side by side, joined: 'Geb.-Dat.' holds 'gebdat'."""
    words = _words(name)
    return [*(first + second for first, second in pairwise(words)), *words]


def _words(name: str) -> list[str]:
    """The words of a name without accents, in lower case: 'PatID' and 'Straße' are 'pat id' and 'strasse'."""
    spaced = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z][a-z]{2})", " ", name)
    plain = unicodedata.normalize("NFKD", spaced.casefold())
    bare = "".join(each for each in plain if not unicodedata.combining(each))
    return re.findall(r"[^\W\d_]+", bare)
