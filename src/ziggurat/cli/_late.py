"""Commands that are loaded when they are called, or when the help lists them: whoever calls one need not load all."""

from __future__ import annotations

from collections import UserDict
from importlib import import_module
from typing import Any

import typer
import typer.core
import typer.main

# Where each command stands, in the order of the help; a group is the `app` of its module.
_COMMANDS = {
    "ask": "ask._command",
    "quote": "ask._command",
    "collect": "_collect",
    "anonymize": "anonymize._command",
    "mask": "_mask",
    "synthesize": "synthesize._command",
    "risk": "risk._command",
    "compare": "compare._command",
    "decide": "decide._command",
    "verify": "_verify",
    "reproduce": "experiments._command",
}
_GROUPS = {
    "release": "_release",
    "ledger": "_ledger",
    "schema": "_schema",
    "data": "_data",
    "hierarchy": "hierarchy._command",
    "model": "model._command",
    "pate": "pate._command",
    "experiment": "experiments._command",
}


class LateGroup(typer.core.TyperGroup):
    """The root of all commands."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands = _Commands(dict(self.commands) | dict.fromkeys((*_COMMANDS, *_GROUPS)))


class _Commands(UserDict[str, Any]):
    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = _built(name)
        return self.data[name]


def _built(name: str) -> Any:
    module = import_module(f"ziggurat.cli.{_COMMANDS.get(name) or _GROUPS[name]}")
    alone = typer.Typer(rich_markup_mode=None)
    if name in _GROUPS:
        alone.add_typer(module.app, name=name)
    else:
        alone.command(name)(getattr(module, name))
    return typer.main.get_group(alone).commands[name]
