"""What requests say, and how amounts are written: exact, as text."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ziggurat.privacy import exact


def _as_amount(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("an amount is a number, or a text such as '1/3'")
    text = str(value)
    if len(text) > 60:
        raise ValueError("an amount has at most 60 characters")
    exact(text, "amount")
    return text


ExactAmount = Annotated[str, BeforeValidator(_as_amount, json_schema_input_type=str | int | float)]
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
TableName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


_DEEPEST = 32


class Body(BaseModel):
    """A body: nothing but what is known, no character that no database keeps, nothing nested without end."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _require_plain(cls, given: Any) -> Any:
        require_plain(given)
        return given


def require_plain(given: object) -> None:
    """Refuse texts that cannot be kept as they are, and what is nested too deeply to be meant; ValueError."""
    level = [given]
    for _ in range(_DEEPEST):
        for text in (each for each in level if isinstance(each, str)):
            if "\x00" in text or not _is_whole(text):
                raise ValueError("a text holds a character that cannot be kept, such as NUL or half of a pair")
        level = [part for each in level for part in _parts(each)]
        if not level:
            return
    raise ValueError(f"it is nested more than {_DEEPEST} deep")


def _parts(value: object) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return list(value) if isinstance(value, list | tuple) else []


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
