"""Releases as their files say them, made of the options of commands, with what a server needs of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli._options import rehearsal_seed
from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.client import Server
    from ziggurat.data import Schema

_TABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_NOTHING: tuple[Any, ...] = (None, "", [], (), {})


def make_description(
    table: str, release: Mapping[str, Any], *, note: str = "", analyst: str = "", rehearse: str = ""
) -> dict[str, Any]:
    """Describe a release; what was not said is left out, so that the server's own words for it count.

    Parameters
    ----------
    table
        What the server calls it.
    release
        What is released, with its kind.
    note, analyst, rehearse
        What it is for, who pays, and the seed of a rehearsal.
    """
    said = {"table": table, "note": note, "analyst": analyst, "rehearse": rehearsal_seed(rehearse)}
    return leave_out_nothing({**said, "release": leave_out_nothing(release)})


def leave_out_nothing(said: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing."""
    return {name: each for name, each in said.items() if each not in _NOTHING}


def find_declared(server: Server, table: str) -> Schema:
    """Find what is publicly known of a table of a server; the name of a file is none of a table."""
    if not _TABLE.fullmatch(table):
        raise ParameterError(
            f"{table!r} is no name of a table of a server, which 'ziggurat server tables' lists; for a file of this "
            "machine leave out --server (and ZIGGURAT_SERVER)."
        )
    return server.declared(table)


def send_file(server: Server, file: str | Path) -> str:
    """Send a file that a description names; gives what it is called there."""
    if not Path(file).is_file():
        raise DataError(f"There is no file {str(file)!r}.")
    return server.upload(str(file)).partition(":")[2]


def send_if_file(server: Server, named: str) -> str:
    """Send a file of this machine; what is none is a table of the server."""
    return send_file(server, named) if Path(named).is_file() else named


def read_share(text: str) -> float:
    """Read a share of people who are kept back: a server keeps back its own."""
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"--holdout is a share such as 0.1 on a server, not {text!r}.") from None


def table_file(out: str) -> str:
    """What the table of a release is called in its bundle: as the file that it is taken out to."""
    if out.endswith("/"):
        raise ParameterError("A server writes one file; name it without a slash at its end.")
    return Path(out).name


def read_rows(data: str, columns: Sequence[str] = ()) -> pa.Table:
    """Read the rows of a table of this machine, to be sent: of those columns that are asked for."""
    from ziggurat.cli._tables import open_table

    table = open_table(data)
    asked = [name for name in columns if name in table.schema]
    return table.raw.rows(asked or None)
