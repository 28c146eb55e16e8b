"""The vault: a file of the steward's that remembers which token stands for which value."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from ziggurat.errors import DataError, ParameterError

_APPLICATION = 0x5A475456  # "ZGTV"
_TABLES = """
CREATE TABLE IF NOT EXISTS token (
    domain TEXT NOT NULL, original TEXT NOT NULL, token TEXT NOT NULL,
    PRIMARY KEY (domain, original), UNIQUE (domain, token)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS filled (origin TEXT NOT NULL);
"""


class Vault:
    """Which token stands for which value: a SQLite file that only its owner can read and write.

    Tokens of one domain never coincide (the file itself forbids it), and a value keeps its token for as long as the
    vault exists, so releases made with the same vault can be linked through it. Changes are transactions: a crash
    leaves the file as it was before. It holds the original values in clear: whoever has it has undone the masking, so
    keep it from those who see the output, and delete it when nobody may go back any more.

    Parameters
    ----------
    path
        The file; it is made with mode 0600 if it is not there. One that others can read is refused.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.exists():
            self._make()
        if self.path.stat().st_mode & 0o077:
            raise DataError(f"Others can read the vault {str(self.path)!r}; take that away with chmod 600.")
        if self.path.stat().st_size == 0:
            self._lay_out()
        with self._opened() as connection:
            if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
                raise DataError(f"The file {str(self.path)!r} is not a vault.")

    def count(self, domain: str) -> int:
        """Return how many values of a domain have a token."""
        with self._opened() as connection:
            asked = connection.execute("SELECT count(*) FROM token WHERE domain = ?", (domain,))
            return int(asked.fetchone()[0])

    def reveal(self, tokens: Iterable[str | None], domain: str) -> list[str | None]:
        """Return the values that tokens stand for, as text; for the steward only.

        Missing tokens stay missing. A token that this vault never gave raises DataError with the number of such.
        """
        wanted = list(tokens)
        given = sorted({token for token in wanted if token is not None})
        with self._opened() as connection:
            known = dict(_match(connection, domain, given, "token", "original"))
        strange = len(given) - len(known)
        if strange:
            raise DataError(
                f"{strange} of these tokens {'was' if strange == 1 else 'were'} not given by this vault in that domain."
            )
        return [None if token is None else known[token] for token in wanted]

    @contextlib.contextmanager
    def changing(self, origin: str) -> Iterator[VaultTransaction]:
        """Open the vault for more tokens; all of them are kept, or none if anything fails."""
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _check_origin(connection, origin)
                yield VaultTransaction(connection)
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def _make(self) -> None:
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else "unknown reason"
            raise DataError(f"The vault {str(self.path)!r} could not be made ({reason}).") from None

    def _lay_out(self) -> None:
        with self._opened() as connection:
            connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id = {_APPLICATION}; COMMIT;")

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
        except sqlite3.Error:
            raise DataError(f"The vault {str(self.path)!r} cannot be opened.") from None
        try:
            # What was withdrawn by a crash is overwritten and does not linger in free pages.
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute("PRAGMA cache_size = -65536")  # KiB: tokens are in no order, so they touch every page
            yield connection
        except sqlite3.Error:
            raise DataError(
                f"The vault {str(self.path)!r} cannot be read or written; is it a vault, and free?"
            ) from None
        finally:
            connection.close()

    def __repr__(self) -> str:
        return f"Vault({str(self.path)!r})"


class VaultTransaction:
    """An open transaction on a vault."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self, domain: str, originals: list[str]) -> dict[str, str]:
        """Return the tokens that some of these values already have."""
        if self.count(domain) == 0:
            return {}
        return dict(_match(self._connection, domain, originals, "original", "token"))

    def find_taken(self, domain: str, candidates: list[str]) -> set[str]:
        """Return those of the candidates that are a token or a value of the domain already."""
        if self.count(domain) == 0:
            return set()
        _want(self._connection, candidates)
        query = "SELECT text FROM wanted WHERE EXISTS (SELECT 1 FROM token WHERE domain = ?1 AND token = text)"
        other = query.replace("token = text", "original = text")
        return {text for (text,) in self._connection.execute(f"{query} UNION {other}", (domain,))}

    def alike(self, domain: str, pattern: str) -> int:
        """Return how many tokens of the domain have a format, given as a GLOB pattern."""
        asked = self._connection.execute(
            "SELECT count(*) FROM token WHERE domain = ? AND token GLOB ?", (domain, pattern)
        )
        return int(asked.fetchone()[0])

    def count(self, domain: str) -> int:
        """Return how many values of the domain have a token."""
        asked = self._connection.execute("SELECT count(*) FROM token WHERE domain = ?", (domain,))
        return int(asked.fetchone()[0])

    def add(self, domain: str, tokens: dict[str, str]) -> None:
        """Keep the tokens of these values."""
        rows = ((domain, original, token) for original, token in sorted(tokens.items()))
        self._connection.executemany("INSERT INTO token VALUES (?, ?, ?)", rows)


def _match(
    connection: sqlite3.Connection, domain: str, texts: list[str], by: str, shown: str
) -> Iterator[tuple[str, str]]:
    """Yield those of `texts` that are in the column `by`, each with what the column `shown` holds beside it."""
    _want(connection, texts)
    query = f"SELECT text, {shown} FROM wanted CROSS JOIN token ON domain = ? AND {by} = text"  # noqa: S608
    yield from connection.execute(query, (domain,))


def _want(connection: sqlite3.Connection, texts: list[str]) -> None:
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (text TEXT)")
    connection.execute("DELETE FROM wanted")
    # In order, so that the pages of the file are met one after the other.
    connection.executemany("INSERT INTO wanted VALUES (?)", ((text,) for text in sorted(texts)))


def _check_origin(connection: sqlite3.Connection, origin: str) -> None:
    """Keep rehearsed tokens, which anybody who knows the seed can draw again, out of a vault for releases."""
    first = connection.execute("SELECT origin FROM filled").fetchone()
    if first is None:
        connection.execute("INSERT INTO filled VALUES (?)", (origin,))
    elif first[0] != origin:
        raise ParameterError(
            "A vault holds the tokens of releases or of rehearsals, never of both; use another file for the other."
        )
