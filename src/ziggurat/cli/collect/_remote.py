"""Protect the rows of a table of a server one by one, as a release of it; estimate from the reports here."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli.server import descriptions, jobs, open_server, refuse_local
from ziggurat.errors import DataError

if TYPE_CHECKING:
    from ziggurat.local import Reports, WholeRecord

_SAID = (
    "file", "column", "epsilon", "out", "method", "missing", "confidence", "population", "rehearse", "quote", "analyst",
)  # fmt: skip
_REPORTS = "reports.csv"


@dataclass(frozen=True)
class RemoteCollection:
    """Where rows are protected, who pays, and where the reports go."""

    server: str
    table: str
    out: str
    analyst: str
    rehearse: str
    quote: bool
    force: bool
    as_json: bool

    def collect(
        self, columns: list[str], epsilon: str, method: str, missing: bool, intervals: tuple[str, bool]
    ) -> None:
        """Collect on the server, take the reports out of the bundle, and estimate from them."""
        from ziggurat.cli.collect._command import read_shares, show_estimates, write_reports

        refuse_local(*_SAID)
        with open_server(self.server) as server:
            schema = descriptions.find_declared(server, self.table)
            shares = {name: str(each) for name, each in read_shares(schema, columns, epsilon).items()}
            release = {"kind": "reports", "columns": shares, "method": method, "missing": missing}
            more = {"analyst": self.analyst, "rehearse": self.rehearse}
            said = descriptions.make_description(self.table, release, **more)
            if self.quote:
                jobs.price_described(server, said, as_json=self.as_json)
            left = jobs.run_described(server, said, jobs.bundle_beside(self.out), force=self.force)
        record, reports = _read_reports(left)
        write_reports(record, reports, self.out)
        named = {"reports": self.out, "bundle": str(left.bundle)}
        show_estimates(record, reports, *intervals, self.as_json, named)


def _read_reports(left: jobs.LeftServer) -> tuple[WholeRecord, Reports]:
    """Read the reports of a bundle, and how they were made, which its certificate says."""
    from ziggurat.cli.collect._command import read_reports_table
    from ziggurat.local import Reports, WholeRecord

    said: dict[str, Any] = left.certificate["details"]
    record = WholeRecord.from_dict(said)
    with tempfile.TemporaryDirectory(prefix="ziggurat-reports-") as folder:
        file = str(Path(folder) / _REPORTS)
        left.take({_REPORTS: file})
        value = read_reports_table(file, record)
    if value.num_rows != said["people"]:
        raise DataError("The reports do not fit their certificate; fetch the bundle again.")
    return record, Reports(value, record.event, said["origin"])
