"""Lets the reference show docstrings that are put together when a class is made."""

from importlib import import_module
from inspect import getdoc
from typing import Any

from griffe import Class, Docstring, Extension


class Assembled(Extension):  # type: ignore[misc]
    """Asks the class itself, where its text says `__doc__ = …` and cannot be read as it stands."""

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Give the class the docstring that it has once it is imported."""
        if cls.docstring is None and "__doc__" in cls.members:
            text = getdoc(getattr(import_module(cls.module.path), cls.name))
            cls.docstring = Docstring(text or "", parent=cls, parser="numpy")
