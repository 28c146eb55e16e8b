"""The tables of a server: brought as files, described, previewed, and who may do what with them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from ziggurat.client._calls import ServerCalls, in_path
from ziggurat.client._effects import Steps, WireRequest
from ziggurat.client._exchange import exchange
from ziggurat.client._facts import ServedTable
from ziggurat.client._operation import operation
from ziggurat.client._sessions import read_table
from ziggurat.data import Schema, TablePreview, TableView
from ziggurat.data.reading import Suggestion
from ziggurat.errors import DataError, ParameterError
from ziggurat.plain import from_plain

ADDRESSES = ("upload", "invented", "open", "postgresql", "postgres", "spark")
"""What the address of a table begins with that the server finds by itself."""


class TableSteps(ServerCalls):
    """Tables: bring, propose, register, look, share, forget."""

    @operation
    def tables(self) -> Steps[list[ServedTable]]:
        """List the tables that whoever asks may ask about, or looks after."""
        return [_read_table(each) for each in (yield from self._get("/v1/tables"))["tables"]]

    @operation
    def view(self, name: str) -> Steps[TableView]:
        """Show what is publicly known of a table: columns, kinds, bounds and categories; no cell."""
        return read_table(name, (yield from self._get(f"/v1/tables/{in_path(name)}")))[0]

    @operation
    def declared(self, name: str) -> Steps[Schema]:
        """What is publicly known of a table as a schema."""
        return read_table(name, (yield from self._get(f"/v1/tables/{in_path(name)}")))[1]

    @operation
    def upload(self, data: Any) -> Steps[str]:
        """Send a file, or a frame, and give the address by which it is registered; for stewards."""
        return (yield from self._upload(data))

    @operation
    def propose(self, data: Any) -> Steps[Suggestion]:
        """Have a schema proposed for a file, a frame, or what was uploaded; it is for the steward's eyes."""
        address = yield from self._bring(data)
        kind, _, name = address.partition(":")
        if kind != "upload":
            raise ParameterError("A schema is proposed for what is sent: give a file, a frame or an upload.")
        told = yield from self._send("POST", f"/v1/uploads/{in_path(name)}/proposal")
        return Suggestion(Schema.from_yaml(told["schema"] + "\n"), told["reasons"])

    @operation
    def register(
        self,
        name: str,
        data: Any,
        schema: Schema | str | Path,
        *,
        inside: str = "",
        population: str = "",
        public: bool = False,
        slot: float | None = None,
    ) -> Steps[ServedTable]:
        """Register a table, once every cell was checked against its schema; a name stands for one table for ever.

        Parameters
        ----------
        name
            What questions call it.
        data
            A file, a frame, or an address that the server finds: upload:…, invented:clinic, postgresql://….
        schema
            What is publicly known of it, or the file that says so.
        inside
            The table of a database.
        population
            Whose account pays; by default one of the table's own name.
        public
            That it is no secret, and can be joined for nothing.
        slot
            After how many seconds answers about it leave.
        """
        text = read_schema_text(schema)
        address = yield from self._bring(data)
        body = {"name": name, "schema": text, "address": address, "inside": inside, "public": public}
        given = {"population": population or None, "slot": slot}
        body |= {each: value for each, value in given.items() if value is not None}
        return _read_table({**(yield from self._send("POST", "/v1/tables", body)), "may": "steward"})

    @operation
    def preview(self, name: str) -> Steps[TablePreview]:
        """Show a steward what the columns hold: exact counts, which are private."""
        path = f"/v1/tables/{in_path(name)}"
        told = yield from self._get(f"{path}/preview")
        unit = read_table(name, (yield from self._get(path)))[0].unit
        return TablePreview(name, unit, told["rows"], told["columns"], tuple(told["notes"]))

    @operation
    def remove_table(self, name: str) -> Steps[None]:
        """Forget a table; its account in the ledger stays."""
        yield from self._send("DELETE", f"/v1/tables/{in_path(name)}")

    @operation
    def rights(self, table: str) -> Steps[dict[str, str]]:
        """List who may do what with a table; for its stewards."""
        found: dict[str, str] = (yield from self._get(f"/v1/tables/{in_path(table)}/rights"))["rights"]
        return found

    @operation
    def give_right(self, table: str, person: str, may: Literal["ask", "steward"] = "ask") -> Steps[None]:
        """Let somebody ask about a table, or look after it; for its stewards."""
        yield from self._send("PUT", f"/v1/tables/{in_path(table)}/rights/{in_path(person)}", {"may": may})

    @operation
    def take_right(self, table: str, person: str) -> Steps[None]:
        """Take away whatever somebody may do with a table; for its stewards."""
        yield from self._send("DELETE", f"/v1/tables/{in_path(table)}/rights/{in_path(person)}")

    def _bring(self, data: Any) -> Steps[str]:
        if isinstance(data, str) and data.partition(":")[0] in ADDRESSES and not Path(data).exists():
            return data
        return (yield from self._upload(data))

    def _upload(self, data: Any) -> Steps[str]:
        with _as_file(data) as file:
            request = WireRequest("POST", "/v1/uploads", {"filename": f"table{file.suffix}"}, file=file)
            told = yield from exchange(request, self._patience)
        return f"upload:{told['upload']}"


@contextmanager
def _as_file(data: Any) -> Iterator[Path]:
    """Give the file that is to be sent; a frame is written to one that is removed again."""
    if isinstance(data, str | Path):
        if not Path(data).is_file():
            raise DataError(f"There is no file {str(data)!r}.")
        yield Path(data)
        return
    import narwhals as nw

    from ziggurat.data.writing import write_table

    try:
        table = nw.from_native(data).lazy().collect("pyarrow").to_native()
    except TypeError:
        raise ParameterError("Give a file, a frame (pandas, Polars, Arrow), or an address of the server.") from None
    with tempfile.TemporaryDirectory(prefix="ziggurat-upload-") as folder:
        write_table(table, str(Path(folder) / "table.parquet"))
        yield Path(folder) / "table.parquet"


def read_schema_text(schema: Schema | str | Path) -> str:
    """Give the text of a schema, or of the file that holds it."""
    if isinstance(schema, Schema):
        return schema.to_yaml()
    if isinstance(schema, str) and "\n" in schema:
        return schema
    try:
        return Path(schema).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"The schema {str(schema)!r} cannot be read; check its name.") from None


def _read_table(told: Mapping[str, Any]) -> ServedTable:
    made: ServedTable = from_plain(ServedTable, told)
    return made
