"""Modules that load when they are first used, so that starting stays quick."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def lazy(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the `__getattr__` and `__dir__` of a package from its modules and the names that each gives, in one text.

    A type checker must see ordinary imports instead, and `__all__` lists the same names.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return find, lambda: sorted(sys.modules[package].__all__)


class _Deferred(ModuleType):
    def __getattr__(self, name: str) -> Any:
        # Whoever merely looks at what a module holds asks for names like __wrapped__ and must not load it.
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has not been used yet")
        return getattr(import_module(self.__name__), name)


def deferred(module: str) -> ModuleType:
    """Stand for a module that most callers never need; a type checker must see an ordinary import instead."""
    return _Deferred(module)
