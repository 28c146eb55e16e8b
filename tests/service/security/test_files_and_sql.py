"""No file of the server is read by what is sent, no address leads to one, and SQL is a question or nothing."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from ziggurat.data.generators import clinic_patients_schema
from ziggurat.errors import EngineError, SchemaError
from ziggurat.service.catalogue import read_schema

CLINIC = clinic_patients_schema().to_yaml()
PLANTED = "planted-cell-7f3a"


@pytest.fixture
def secret(tmp_path):
    """A file of the machine that nobody sent."""
    path = tmp_path / "secret.csv"
    path.write_text(f"value;label\n{PLANTED};{PLANTED}\n")
    (tmp_path / "secret.yaml").write_text(f"columns:\n  {PLANTED}: {{kind: text}}\n")
    return path


@contextmanager
def watched(monkeypatch):
    """Notes which files are opened for reading, by whichever way of Python."""
    import builtins
    import io

    opened: list[str] = []

    def note(function):
        def noting(path, *rest, **more):
            if isinstance(path, str | os.PathLike):
                opened.append(os.fspath(path))
            return function(path, *rest, **more)

        return noting

    with monkeypatch.context() as patched:
        for module, name in ((builtins, "open"), (io, "open"), (os, "open")):
            patched.setattr(module, name, note(getattr(module, name)))
        yield opened


def of_column(line: str) -> str:
    return f"columns:\n  age:\n    kind: category\n    categories: [a, b]\n    {line}\n"


def naming(path: Path) -> list[str]:
    """Schemas that name a file in every way we could think of."""
    return [
        str(path), str(path.with_suffix(".yaml")), path.as_uri(), f"{path}\n", f"file: {path}", f"path: {path}\n",
        f"!!python/object/apply:builtins.open [{path}]\nx: 1", f"!include {path}\nx: 1",
        of_column(f"hierarchy: {{file: {path}}}"), of_column(f"hierarchy: {path}"),
        of_column(f"hierarchy: {{file: {path}, column: age}}"), of_column(f"labels: {{file: {path}}}"),
        of_column(f"labels: {path}"), of_column(f"categories_from: {path}"), of_column(f"description: !include {path}"),
        of_column(f"sequence: {{file: {path}}}"), of_column(f"written: {{file: {path}}}"),
        f"file: {{name: {path}}}\n" + of_column("missing: []"), f"file: {{sheet: {path}}}\n" + of_column("missing: []"),
        f"<<: *{path}\nx: 1", f"schema: {{$ref: {path}}}\n", f"unit: {path}\n" + of_column("missing: []"),
    ]  # fmt: skip


def test_no_posted_schema_reads_a_file_of_the_server(served, secret, monkeypatch):
    """The control reads one: the same words in a file of one's own do."""
    from ziggurat.data import Schema

    for number, text in enumerate(naming(secret)):
        with watched(monkeypatch) as opened:
            body = {"name": f"t{number}", "schema": text, "address": "invented:clinic"}
            told = served("chief", "POST", "/v1/tables", body)
        # Where the path is only a word, such as the label of a value or the name of a sheet, it is one.
        assert told.status_code in (201, 422), text
        assert PLANTED not in told.text
        assert [each for each in opened if "secret" in each] == [], text
    own = secret.with_name("own.yaml")
    own.write_text(of_column(f"hierarchy: {{file: {secret}}}"))
    with watched(monkeypatch) as opened, pytest.raises(SchemaError):
        Schema.from_yaml(own)
    assert any("secret" in each for each in opened)


@pytest.mark.parametrize("text", ["secret.yaml", "/etc/passwd", "", "\n", "columns", "a\nb"])
def test_a_schema_that_is_a_name_is_refused(text):
    with pytest.raises(SchemaError):
        read_schema(text)


ADDRESSES = (
    "/etc/passwd", "./a.csv", "../a.csv", "file:///etc/passwd", "file:/etc/passwd", "duckdb:/tmp/x.db",
    "sqlite:/tmp/x.db", "sqlite:///tmp/x.db", "http://127.0.0.1/x", "https://example.org/x.parquet", "s3://bucket/x",
    "upload:../../ledger.db",
    "upload:/etc/passwd", "upload:..", "upload:", "upload:%2e%2e", "upload:service.db", "invented:../x", "invented:",
    "open:../../etc/passwd", "open:/etc/passwd", "mysql://x/y", "postgresql+psycopg://x/y", " postgresql://x/y",
    "spark:/etc/passwd", "spark:file:/etc/passwd", "spark:file:///etc", "spark:../x", "spark:relative.csv",
    "spark://cluster", "md:x", "a", "", ":", "UPLOAD:x", "Invented:clinic",
)  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_address_leads_to_a_file_of_the_server(shared, address, monkeypatch):
    with watched(monkeypatch) as opened:
        told = shared("chief", "POST", "/v1/tables", {"name": "t", "schema": CLINIC, "address": address})
    assert told.status_code in (404, 422), told.text
    assert [each for each in opened if "passwd" in each or each.endswith("x.db")] == []
    assert [each["name"] for each in shared("chief", "GET", "/v1/tables").json()["tables"]] == ["clinic"]


@pytest.mark.parametrize("address", ["postgresql://u:pw@127.0.0.1:1/x", "postgres://u:pw@127.0.0.1:1/x", "spark:"])
def test_databases_are_registered_by_chiefs_alone(served, address):
    served.add("keeper", "steward")
    told = served("keeper", "POST", "/v1/tables", {"name": "t", "schema": CLINIC, "address": address, "inside": "x"})
    assert (told.status_code, told.json()["error"]["kind"]) == (403, "AccessError")


@pytest.mark.parametrize("inside", ["csv.`/etc/passwd`", "a.b.c.d", "x; DROP TABLE y", "(SELECT 1)", "../x", 'a"b'])
def test_the_table_of_a_database_is_a_name(shared, inside):
    body = {"name": "t", "schema": CLINIC, "address": "postgresql://u:pw@127.0.0.1:1/x", "inside": inside}
    told = shared("chief", "POST", "/v1/tables", body)
    assert (told.status_code, told.json()["error"]["kind"]) == (422, "ParameterError")


def test_the_secret_of_an_address_is_not_shown_again(served, monkeypatch):
    from ziggurat.data import read
    from ziggurat.data.generators import invent
    from ziggurat.service.catalogue import _shelf

    body = {
        "name": "t",
        "schema": CLINIC,
        "address": "postgresql://u:pw-4711@127.0.0.1:1/x?sslpassword=pw-4712",
        "inside": "x",
    }
    failed = served("chief", "POST", "/v1/tables", body)
    assert (failed.status_code, "pw-471" in failed.text) == (503, False)
    clinic = invent("clinic", 50, 0)[0]
    monkeypatch.setattr(_shelf, "read", lambda _data, schema, **_rest: read(clinic, schema))
    assert served("chief", "POST", "/v1/tables", body).status_code == 201
    for path in ("/v1/tables", "/v1/tables/t", "/v1/tables/t/preview", "/v1/tables/t/rights", "/v1/budgets", "/v1/me"):
        told = served("chief", "GET", path)
        assert (told.status_code, "pw-471" in told.text, "127.0.0.1" in told.text) == (200, False, False)


SQL = (
    "SELECT * FROM read_csv('/etc/passwd')", "SELECT COUNT(*) AS n FROM read_text('/etc/passwd')",
    "SELECT COUNT(*) AS n FROM '/etc/passwd'", 'SELECT COUNT(*) AS n FROM "/etc/passwd"',
    "SELECT COUNT(*) AS n FROM glob('/*')", "COPY clinic TO '/tmp/stolen.csv'", "COPY (SELECT 1) TO '/tmp/stolen.csv'",
    "ATTACH '/tmp/stolen.db'", "ATTACH 'ledger.db' AS l", "PRAGMA database_list", "INSTALL httpfs", "LOAD httpfs",
    "SET memory_limit = '1TB'", "SELECT COUNT(*) AS n FROM clinic; DROP TABLE clinic", "DROP TABLE clinic",
    "SELECT COUNT(*) AS n FROM clinic UNION SELECT 1", "SELECT * FROM clinic", "SELECT age FROM clinic",
    "SELECT COUNT(*) AS n FROM duckdb_settings()", "SELECT COUNT(*) AS n FROM information_schema.tables",
    "SELECT COUNT(*) AS n FROM ziggurat_1", "SELECT COUNT(*) AS n FROM clinic, read_csv('/etc/passwd')",
    "SELECT COUNT(*) AS n FROM clinic WHERE age > (SELECT MAX(age) FROM clinic)",
    "SELECT getenv('HOME') AS n FROM clinic",
    "SELECT COUNT(*) AS n FROM clinic WHERE getenv('HOME') = 'x'", "SELECT SUM(ziggurat_1.age) AS n FROM clinic",
    "EXPORT DATABASE '/tmp/stolen'", "CALL pragma_version()", "SELECT COUNT(*) AS n FROM sniff_csv('/etc/passwd')",
    "VACUUM", "EXPLAIN SELECT COUNT(*) AS n FROM clinic", "", ";", "\u202e", "SELECT",
    "(" * 5000, "SELECT " + "-" * 9000,
    "SELECT COUNT(*) AS n FROM clinic WHERE " + " OR ".join(["age > 1"] * 20000),
    "SELECT COUNT(*) AS n FROM clinic -- x",
)  # fmt: skip


@pytest.mark.parametrize("sql", SQL)
def test_sql_that_is_no_question_is_refused_and_costs_nothing(shared, sql, monkeypatch):
    clinic = shared
    before = clinic.house.ledger.head()
    with watched(monkeypatch) as opened:
        told = clinic.ask("ana", {**clinic.count, "sql": sql})
    if "-- x" in sql:  # a comment changes no question: the control
        assert told.status_code == 200
        return
    assert told.status_code == 422, told.text
    assert clinic.house.ledger.head() == before
    assert [each for each in opened if "passwd" in each or "stolen" in each] == []
    assert not list(Path("/tmp").glob("stolen*"))


NAMES = (
    'x"; DROP TABLE clinic; --', "clinic'--", "../clinic", "clinic/../x", "cl\x00inic", "clinic\r\nX-Evil: 1",
    "\u202eclinic", "cli nic", "a" * 65, "", "1clinic", "clinic%00", "\ud800",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_no_names_are_refused_everywhere(shared, name):
    clinic = shared
    bodies = {
        "/v1/tables": {"name": name, "schema": CLINIC, "address": "invented:clinic"},
        "/v1/people": {"name": name, "role": "analyst"},
        "/v1/grants": {"budget": name, "analyst": "ana", "epsilon": "1"},
        "/v1/budgets": {"table": name, "epsilon": "1"},
        "/v1/ask": {"tables": [name], "question": clinic.count},
        "/v1/quote": {"tables": [name], "question": clinic.count},
    }
    for path, body in bodies.items():
        headers = {"Authorization": f"Bearer {clinic.keys['chief']}", "Content-Type": "application/json"}
        told = clinic.client.post(path, content=json.dumps(body).encode(), headers=headers)
        assert told.status_code == (404 if name == "1clinic" and path == "/v1/grants" else 422), (path, told.text)
        assert set(told.json()["error"]) == {"kind", "message", "status"}
        assert "X-Evil" not in told.headers
    told = clinic("chief", "GET", "/v1/tables/" + "%2F..%2F")
    assert told.status_code in (404, 422)


def test_columns_with_names_of_sql_are_only_names(served):
    """A column is quoted everywhere: what it is called is never run."""
    evil = 'n"; DROP TABLE people; --'
    schema = f"unit: row\ncolumns:\n  {evil!r}:\n    kind: integer\n    bounds: [0, 10]\n"
    content = b'"n""; DROP TABLE people; --"\n1\n2\n3\n'
    sent = served("chief", "POST", "/v1/uploads?filename=a.csv", content=content).json()
    made = served("chief", "POST", "/v1/tables", {"name": "t", "schema": schema, "address": f"upload:{sent['upload']}"})
    assert made.status_code == 201, made.text
    assert served("chief", "GET", "/v1/tables/t/preview").json()["rows"] == 3


@pytest.mark.parametrize(
    "filename", ["../../x.csv", "/etc/cron.d/x.csv", "..\\..\\x.csv", "a\x00.csv", "\u202e.csv", "." * 200 + ".csv"]
)
def test_an_upload_lies_where_we_say(served, filename):
    from urllib.parse import quote

    told = served("chief", "POST", f"/v1/uploads?filename={quote(filename)}", content=b"a\n1\n")
    assert told.status_code == 201
    folder = served.house.uploads.folder
    chief = served.house.people.named("chief").id
    assert [each.relative_to(folder).parts for each in folder.rglob("*") if each.is_file()] == [
        (chief, told.json()["upload"])
    ]


@pytest.mark.parametrize(
    "filename", ["", "x", ".csv.exe", "x.py", "x.db", "x.duckdb", "x.gz", "x.zip", "x.csv.gz", "x.pickle"]
)
def test_an_upload_of_another_kind_is_refused(shared, filename):
    assert shared("chief", "POST", f"/v1/uploads?filename={filename}", content=b"a\n1\n").status_code == 422


def test_an_upload_of_another_is_nobody_elses(served):
    for who in ("keeper", "stranger"):
        served.add(who, "steward")
    sent = served("keeper", "POST", "/v1/uploads?filename=a.csv", content=b"age\n1\n").json()["upload"]
    body = {"name": "t", "schema": "columns:\n  age: {kind: integer, bounds: [0, 9]}\n", "address": f"upload:{sent}"}
    for who in ("stranger", "chief"):
        assert served(who, "POST", "/v1/tables", body).status_code == 404
        assert served(who, "POST", f"/v1/uploads/{sent}/proposal").status_code == 404
    assert served("keeper", "POST", "/v1/tables", body).status_code == 201


def test_the_engine_of_the_service_opens_no_file_but_uploads(served, tmp_path):
    """Also if SQL of somebody came through: the engine itself is confined. The control reads an upload."""
    outside = tmp_path / "outside.csv"
    outside.write_text("a\n1\n")
    engine = served.house.shelf._engine
    for statement in (
        f"SELECT * FROM read_csv('{outside}')", "SELECT * FROM read_text('/etc/passwd')",
        f"SELECT * FROM read_text('{served.house.uploads.folder}/../service.db')",
        f"COPY (SELECT 1 AS a) TO '{tmp_path / 'out.csv'}'", f"ATTACH '{tmp_path / 'x.db'}'",
        "SET enable_external_access = true", "SET memory_limit = '1TB'", "INSTALL httpfs",
    ):  # fmt: skip
        with pytest.raises(EngineError):
            engine._withheld(lambda statement=statement: engine._fetch(statement), "Trying")
    inside = served.house.uploads.folder / "inside.csv"
    inside.parent.mkdir(parents=True, exist_ok=True)
    inside.write_text("a\n1\n")
    assert engine._fetch(f"SELECT a FROM read_csv('{inside}')").num_rows == 1
