"""Methods by name, and how their settings are written down."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from importlib import import_module
from typing import Any, cast

from ziggurat.errors import ParameterError
from ziggurat.synthesize._method import Method

_HOMES = {
    "sample": ("_sampling", "Sample"),
    "linear": ("_linear", "Linear"),
    "cart": ("_trees", "Cart"),
    "forest": ("_trees", "Forest"),
    "network": ("_network", "SmallNetwork"),
}
METHOD_NAMES = tuple(_HOMES)


def method_of(given: object) -> Method:
    """Return the method that a name stands for, with its usual settings; a method stands for itself."""
    if isinstance(given, str):
        if given not in _HOMES:
            raise ParameterError(f"{given!r} is no method of synthesis; choose one of {', '.join(METHOD_NAMES)}.")
        home, name = _HOMES[given]
        return cast(Method, getattr(import_module(f"ziggurat.synthesize.learners.{home}"), name)())
    if not (is_dataclass(given) and hasattr(given, "fit") and hasattr(given, "restored")):
        raise ParameterError(f"A method of synthesis is one of {', '.join(METHOD_NAMES)}, or an object such as Cart().")
    return cast(Method, given)


def name_of(method: Method) -> str:
    """Return the name of a method of ours; its class for any other."""
    known = {each: name for name, (_, each) in _HOMES.items()}
    return known.get(type(method).__name__, type(method).__name__)


def describe_method(method: Method) -> dict[str, Any]:
    """Return a method as values that JSON can hold."""
    return {"name": name_of(method), "settings": asdict(cast(Any, method))}


def restore_method(facts: dict[str, Any]) -> Method:
    """Return the method that `describe_method` described."""
    if facts["name"] not in _HOMES:
        raise ParameterError("A stored synthesiser with methods of your own cannot be opened here; fit it again.")
    home, name = _HOMES[facts["name"]]
    settings = {key: tuple(value) if isinstance(value, list) else value for key, value in facts["settings"].items()}
    return cast(Method, getattr(import_module(f"ziggurat.synthesize.learners.{home}"), name)(**settings))
