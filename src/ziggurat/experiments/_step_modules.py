"""The modules that a user names for steps of their own; nothing in an experiment file can name one.

A file names steps, a registry knows them, and only a person puts modules into it: a file that came from elsewhere can
ask for nothing that was not registered to be asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step_names

_files: dict[str, str] = {}


def take_steps(modules: Iterable[str | Path]) -> None:
    """Import modules, so that experiments may name the functions which they register with `step`.

    Parameters
    ----------
    modules
        Each a Python file (the folder it lies in can be imported from while it is loaded, and not afterwards), or the
        name of an installed module.

    Raises
    ------
    ExperimentError
        If one cannot be imported, or registers a name that is taken.
    """
    step_names()  # the shipped steps first: whoever takes one of their names is refused, and not they
    for each in modules:
        named = str(each)
        if named.endswith(".py"):
            _take_file(Path(named).resolve())
        else:
            _take_installed(named)


def files_of(functions: Iterable[Callable[..., Any]]) -> list[str]:
    """Return the files among those taken that define the functions: whoever unpacks these takes them first."""
    return sorted({_files[each.__module__] for each in functions if each.__module__ in _files})


def _take_installed(name: str) -> None:
    if not all(part.isidentifier() for part in name.split(".")):
        raise ExperimentError(f"{name!r} names no module; write a Python file such as 'mine.py', or 'package.module'.")
    _guard(name, lambda: import_module(name))


def _take_file(file: Path) -> None:
    if not file.stem.isidentifier():
        raise ExperimentError(f"{file.stem!r} cannot be the name of a module; rename {str(file)!r}.")
    if not file.is_file():
        raise ExperimentError(f"There is no file {str(file)!r} to take steps from.")
    known = sys.modules.get(file.stem) or find_spec(file.stem)
    if known is not None and not _is_from(known, file):
        raise ExperimentError(f"Another module is called {file.stem!r}; rename the file {str(file)!r}.")
    if file.stem not in sys.modules:
        _guard(file.stem, lambda: _load(file))
    _files[file.stem] = str(file)


def _is_from(known: Any, file: Path) -> bool:
    """Whether a module, or the description of one that could be imported, is that of a file."""
    origin = getattr(known, "__file__", None) or getattr(known, "origin", None)
    return origin is not None and Path(origin).resolve() == file


def _load(file: Path) -> None:
    spec = spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise ImportError
    module = sys.modules[file.stem] = module_from_spec(spec)
    try:
        with _neighbours(file.parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[file.stem]
        raise


@contextmanager
def _neighbours(folder: Path) -> Iterator[None]:
    """Last, so that no file there takes the place of an installed module; and not for longer than is needed."""
    path = list(sys.path)
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path[:] = path


def _guard(name: str, load: Callable[[], object]) -> None:
    try:
        load()
        return
    except ExperimentError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever a foreign module does while it loads)
        kind = type(error).__name__
    raise ExperimentError(f"Module {name!r} cannot be imported ({kind}); correct its name, install it or repair it.")
