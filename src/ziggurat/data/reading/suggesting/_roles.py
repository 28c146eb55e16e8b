"""Which role a column plays: what its name says, unless its cells say otherwise, and the reason in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from ziggurat.data.reading.suggesting._facts import MOST_CATEGORIES, ColumnFacts
from ziggurat.data.schema import (
    Column,
    Kind,
    Role,
    is_bare_name,
    names_a_counter,
    names_a_number,
    names_a_unit,
    names_one_person,
    roles_in_name,
)
from ziggurat.wording import count_noun

OUT_OF_SIGHT = "out of sight: identifiers are never shown"
"""What every reason for an identifier says, so that no column vanishes unseen."""
_UNKNOWN = "nothing is known of it, so treat it as telling until you decide"
_FEW_PEOPLE = 10
_ENOUGH_TO_CONTRADICT = 100
_LEAST_DIGITS = 6


@dataclass(frozen=True)
class _Claim:
    """A role for which a word in a name speaks; as an identifier it has more than `few` values."""

    role: Role
    word: str
    few: int = 0

    @property
    def said(self) -> str:
        return f"its name says {self.word!r}"


def propose_role(column: Column, facts: ColumnFacts) -> tuple[Role, str]:
    """Return the role of a column and the reason, which names what its name and its cells say.

    The name speaks first, but a column with two values, or with few that repeat, is no identifier, whatever its name;
    one whose cells are all equal tells nobody apart; and text that hardly repeats is an identifier or free text.
    """
    role, reason = _weigh(column, facts)
    if facts.look is not None and facts.look.symbols is not None and role is Role.IDENTIFIER:
        role = Role.QUASI_IDENTIFIER
    return role, f"{reason}; {OUT_OF_SIGHT}" if role is Role.IDENTIFIER else reason


def _weigh(column: Column, facts: ColumnFacts) -> tuple[Role, str]:
    claims = list(_claims(column.name))
    objections = {claim: _object(claim, column, facts) for claim in claims}
    against = [f"{claim.said}, but {why}" for claim, why in objections.items() if why]
    held = next((claim for claim in claims if not objections[claim]), None)
    if held is not None:
        return held.role, "; ".join([f"{held.said}{_agree(held, column, facts)}", *against])
    role, reason = _role_of_cells(column, facts)
    known = against and reason == _UNKNOWN
    return role, "; ".join([*against, f"nothing else{_UNKNOWN.removeprefix('nothing')}" if known else reason])


def _claims(name: str) -> Iterator[_Claim]:
    """What the words of a name speak for, those first that leave the least doubt."""
    unit = names_a_unit(name)
    if names_one_person(name):
        yield _Claim(Role.IDENTIFIER, unit, 2)
    for role, word in roles_in_name(name):
        yield _Claim(role, word, MOST_CATEGORIES if is_bare_name(word) else _FEW_PEOPLE)
    if unit and not names_one_person(name):
        yield _Claim(Role.IDENTIFIER, unit, _FEW_PEOPLE if len(unit) > 3 else MOST_CATEGORIES)


def _object(claim: _Claim, column: Column, facts: ColumnFacts) -> str:
    """What the cells of a column say against the role of which its name speaks; nothing if they do not."""
    if facts.constant:
        return "all its cells are equal" if facts.filled else "all its cells are missing"
    if claim.role is Role.IDENTIFIER:
        return _object_to_identifier(claim, column, facts)
    return _object_to_attribute(column, facts)


def _object_to_identifier(claim: _Claim, column: Column, facts: ColumnFacts) -> str:
    if column.storage is Kind.DATE:
        return "it holds dates, so it is no identifier"
    if column.storage is Kind.REAL and not all(float(end).is_integer() for end in _ends(facts)):
        return "it holds fractions, so it is no identifier"
    if facts.look is not None and facts.look.alike and not facts.two_valued:
        return ""
    if column.storage is Kind.BOOLEAN or facts.has_few(claim.few):
        return f"it has {count_noun(facts.distinct or 0, 'value')}, so it is no identifier"
    return ""


def _ends(facts: ColumnFacts) -> list[float]:
    return [float(end) for end in (facts.lower, facts.upper) if isinstance(end, int | float)]


def _object_to_attribute(column: Column, facts: ColumnFacts) -> str:
    look = facts.look
    if column.storage is not Kind.TEXT or look is None or look.postcodes:
        return ""
    if look.alike:
        return f"its values look like {look.alike}"
    if _is_free_text(facts):
        return "its cells are free text"
    many = facts.filled >= _ENOUGH_TO_CONTRADICT and facts.nearly_unique
    return f"{facts.distinct:,} of {facts.filled:,} values differ" if many else ""


def _agree(claim: _Claim, column: Column, facts: ColumnFacts) -> str:
    """What the cells say beside the name that speaks for a role."""
    if facts.look is not None and facts.look.alike:
        return f" and its values look like {facts.look.alike}"
    if facts.look is not None and facts.look.postcodes:
        return " and its values look like postcodes"
    if claim.role is not Role.IDENTIFIER:
        return "" if facts.lower is None else f" and its values go from {facts.lower} to {facts.upper}"
    if facts.filled <= 1 or facts.distinct is None:
        return ""
    if facts.unique:
        return " and no value repeats"
    may_be = f": it may be the unit (unit: {{person: {column.name}}})" if names_a_unit(column.name) else ""
    return f" and values repeat{may_be or f' ({facts.distinct:,} of {facts.filled:,} differ)'}"


def _role_of_cells(column: Column, facts: ColumnFacts) -> tuple[Role, str]:
    """The role of a column of whose name nothing is left to believe."""
    if facts.constant:
        return Role.INSENSITIVE, "all its cells are equal" if facts.filled else "all its cells are missing"
    found = _identify_text(facts) if column.storage is Kind.TEXT else _identify_number(column, facts)
    if found:
        return Role.IDENTIFIER, found
    if facts.look is not None and facts.look.postcodes:
        return Role.QUASI_IDENTIFIER, "its values look like postcodes"
    if names_a_counter(column.name) and facts.consecutive:
        return Role.INSENSITIVE, "it only counts the rows"
    return Role.QUASI_IDENTIFIER, _UNKNOWN


def _identify_text(facts: ColumnFacts) -> str:
    """Why cells of text are identifiers, whatever their name; nothing if they are not."""
    look = facts.look
    if look is None or look.symbols is not None:
        return ""
    if look.alike and not facts.two_valued:
        return f"its values look like {look.alike}"
    if _is_free_text(facts):
        return (
            f"free text: {look.words:.0f} words in a cell on average, dropped by default; "
            "mask it (ziggurat mask --text) or turn it into codes"
        )
    return "nearly every value is unique" if facts.nearly_unique and not look.postcodes else ""


def _is_free_text(facts: ColumnFacts) -> bool:
    look = facts.look
    if look is None or look.symbols is not None or not look.prose:
        return False
    distinct = facts.distinct or 0
    return facts.nearly_unique or (distinct > MOST_CATEGORIES and distinct >= facts.filled / 2)


def _identify_number(column: Column, facts: ColumnFacts) -> str:
    word = names_a_number(column.name)
    if not word or facts.digits < _LEAST_DIGITS or not facts.nearly_unique:
        return ""
    return f"its name says {word!r}, nearly every value is unique and all have {facts.digits} digits"
