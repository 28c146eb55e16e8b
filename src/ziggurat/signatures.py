"""What `help` and completion show of functions that pass options on: the names that are understood, each by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, signature
from typing import Any, TypeVar

Told = TypeVar("Told", bound=Callable[..., Any])


def take_options_of(
    owner: Callable[..., Any], *, leave_out: Collection[str] = (), **more: Any
) -> Callable[[Told], Told]:
    """Show the options of `owner` as those of a function, in place of its `**options`.

    What the function does with them stays its own matter: it refuses what it does not know in a sentence.

    Parameters
    ----------
    owner
        To whom the options are passed on.
    leave_out
        Those that the function sets itself, or takes by name already.
    **more
        Options that the owner does not have, with their defaults.
    """
    passed = [each for each in signature(owner).parameters.values() if each.name not in leave_out]
    named = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in passed if each.kind is not Parameter.VAR_KEYWORD]
    added = [Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in more.items()]

    def tell(function: Told) -> Told:
        own = signature(function)
        kept = [each for each in own.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        known = {each.name for each in kept}
        shown = [*kept, *(each for each in (*named, *added) if each.name not in known)]
        function.__signature__ = own.replace(parameters=shown)  # type: ignore[attr-defined]
        return function

    return tell
