"""What is being done, told on standard error where that is a terminal; nothing where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

Update = Callable[[str | None, float, float | None], None]


def show_status(words: str, *, silent: bool = False) -> AbstractContextManager[object]:
    """Show that something is being done."""
    if silent or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(words)


@contextmanager
def show_steps() -> Iterator[Callable[[str], None]]:
    """Show which step is being done; gives what is told of each."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status("Working …") as status:
        yield lambda step: status.update(f"{step[:1].upper()}{step[1:]} …")


@contextmanager
def show_bar(words: str, *, silent: bool = False) -> Iterator[Update | None]:
    """Show a bar; gives what takes new words or None, how much is done, and of how much; None where nobody looks."""
    if silent or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(words, total=None)
        yield lambda new, done, of: bar.update(task, description=new, completed=done, total=of)
