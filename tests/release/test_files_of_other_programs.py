"""Tables leave as workbooks and files of statistics programs, too, and are verified as they left."""

from pathlib import Path

import pyarrow as pa
import pytest

from ziggurat.anonymize import KAnonymity, Redact, anonymize, mask
from ziggurat.data import Column, Kind, Role, Schema, Unit, read
from ziggurat.data.writing import TABLE_ENDINGS
from ziggurat.errors import DataError
from ziggurat.ledger import Ledger
from ziggurat.release import release_anonymized
from ziggurat.release.tables import release_masked

ROWS = 60


def people(sensitive: str = "illness") -> pa.Table:
    return pa.table(
        {
            "age": [20 + i * 7 % 41 for i in range(ROWS)],
            "postcode": [f"0{1100 + i * 3 % 20}" for i in range(ROWS)],
            sensitive: [("flu", "gout", "=cold")[i % 3] for i in range(ROWS)],
        }
    )


def described(sensitive: str = "illness") -> Schema:
    columns = (
        Column("age", Kind.INTEGER, Role.QUASI_IDENTIFIER),
        Column("postcode", Kind.TEXT, Role.QUASI_IDENTIFIER),
        Column(sensitive, Kind.TEXT, Role.SENSITIVE),
    )
    return Schema(columns, unit=Unit.row())


@pytest.mark.parametrize("ending", TABLE_ENDINGS)
def test_an_anonymised_table_is_verified_in_every_format(ending: str, tmp_path: Path) -> None:
    made = anonymize(read(people(), described()), [KAnonymity(5)])
    released = release_anonymized(made, tmp_path / f"out{ending}")
    assert released.verified
    assert (tmp_path / f"out{ending}.certificate.json").exists()
    rows = read(tmp_path / f"out{ending}").raw.rows().to_pylist()
    assert sorted(map(str, rows)) == sorted(map(str, read(made.publication.table()).raw.rows().to_pylist()))


def test_a_name_that_the_program_refuses_leaves_no_file_and_no_entry(tmp_path: Path) -> None:
    table = read(people("Diagnose 1"), described("Diagnose 1"))
    book = Ledger.open(tmp_path / "book.db")
    before = len(book.history())
    with pytest.raises(DataError, match="Stata does not allow the name 'Diagnose 1'"):
        release_masked(mask(table, {"postcode": Redact()}), tmp_path / "out.dta", ledger=book, budget="b")
    assert len(book.history()) == before
    assert not (tmp_path / "out.dta").exists()
