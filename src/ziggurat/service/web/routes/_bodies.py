"""What requests say, and how amounts are written: exact, as text."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ziggurat.privacy import Amount, exact


def _as_amount(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("an amount is a number, or a text such as '1/3'")
    text = str(value)
    if len(text) > 60:
        raise ValueError("an amount has at most 60 characters")
    given: Amount = text
    exact(given, "amount")
    return text


ExactAmount = Annotated[str, BeforeValidator(_as_amount, json_schema_input_type=str | int | float)]
Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]*$")]
TableName = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]


class Body(BaseModel):
    """A body: nothing but what is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)
