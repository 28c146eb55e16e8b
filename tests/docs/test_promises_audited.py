"""The table of audits in the documentation is that of the catalogue."""

from pathlib import Path

from ziggurat.release.audits import list_audits

PAGE = (Path(__file__).parents[2] / "docs/promises-audited.md").read_text()


def test_every_audit_stands_in_the_table_with_its_fault_caught():
    lines = {line.split("`")[1]: line for line in PAGE.splitlines() if line.startswith("| `")}
    assert set(lines) == {case.name for case in list_audits()}
    for case in list_audits():
        assert f"| {case.pair} |" in lines[case.name]
        assert "times: caught" in lines[case.name]
        assert "REFUTED" not in lines[case.name]
