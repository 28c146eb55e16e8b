"""Bodies that are too long, packed, nested or ill-formed: refused early, in our shape, in a bounded time."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
import zipfile

import pytest

from ziggurat.service import ServiceSettings
from ziggurat.service._house import ServiceHouse

PIECE = 1 << 16
HUNDRED_MEGABYTES = 100 << 20


class CountedPieces:
    """A body of 100 MB that is made while it is sent; counts what was taken of it."""

    def __init__(self, first: bytes = b'{"name": "') -> None:
        self.taken, self._first = 0, first

    def __iter__(self):
        yield self._first
        while self.taken < HUNDRED_MEGABYTES:
            self.taken += PIECE
            yield b"a" * PIECE


def bodies_of(served):
    """Every route that takes a body, but the one that takes a bundle, as long as an upload may be."""
    paths = served.client.get("/openapi.json").json()["paths"]
    taking = [(v.upper(), p) for p, verbs in paths.items() for v, said in verbs.items() if "requestBody" in said]
    found = [each for each in taking if each[1] != "/v1/releases/verify"]
    assert len(found) >= 9
    return found


def told_too_large(told):
    assert told.status_code == 413, told.text
    assert told.json()["error"]["kind"] == "TooLargeError"
    assert set(told.json()["error"]) == {"kind", "message", "status"}
    assert told.headers["X-Content-Type-Options"] == "nosniff"


def drive(app, method, path, headers, pieces):
    """Send a request to an application itself, piece by piece; gives status, body and how many bytes were taken."""
    import anyio

    sent, taken = [], 0
    messages = iter(pieces)

    async def receive():
        nonlocal taken
        piece = next(messages, None)
        if piece is None:
            return {"type": "http.request", "body": b"", "more_body": False}
        taken += len(piece)
        return {"type": "http.request", "body": piece, "more_body": True}

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
        "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http", "headers": headers,
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 2),
    }  # fmt: skip
    anyio.run(app, scope, receive, send)
    starts = [each for each in sent if each["type"] == "http.response.start"]
    assert len(starts) == 1
    body = b"".join(each.get("body", b"") for each in sent if each["type"] == "http.response.body")
    return starts[0]["status"], json.loads(body), taken


@pytest.mark.parametrize("length", ["said", "not said", "said wrong", "a lie"])
def test_a_body_of_100_megabytes_is_refused_with_413_before_it_is_in_memory(shared, length):
    longest = shared.house.settings.longest_body
    key = f"Bearer {shared.keys['chief']}".encode()
    said = {"said": b"104857600", "said wrong": b"many", "a lie": b"10"}.get(length)
    for method, path in bodies_of(shared):
        path = path.replace("{", "").replace("}", "")
        for kind in (b"application/json", b"text/plain"):
            headers = [(b"authorization", key), (b"content-type", kind)]
            headers += [] if said is None else [(b"content-length", said)]
            status, told, taken = drive(shared.client.app, method, path, headers, CountedPieces())
            assert (status, told["error"]["kind"], told["error"]["status"]) == (413, "TooLargeError", 413)
            assert taken <= (0 if length == "said" else longest + 2 * PIECE)


def test_a_body_that_is_just_short_enough_is_read(served):
    """The control."""
    longest = served.house.settings.longest_body
    for size, status in ((longest - 60, 422), (longest + 1, 413)):
        body = json.dumps({"name": "a" * size, "role": "analyst"}).encode()
        headers = {"Authorization": f"Bearer {served.keys['chief']}", "Content-Type": "application/json"}
        assert served.client.post("/v1/people", content=body, headers=headers).status_code == status


@pytest.fixture
def small(served, tmp_path):
    """The same service, which takes uploads of 100,000 bytes."""
    served.house.uploads._longest = 100_000
    return served


def left_behind(served):
    return [each for each in served.house.uploads.folder.rglob("*") if each.is_file()]


def test_an_upload_that_is_too_long_is_refused_and_nothing_of_it_stays(small):
    pieces = CountedPieces(b"age\n")
    told_too_large(small("chief", "POST", "/v1/uploads?filename=a.csv", content=iter(pieces)))
    assert left_behind(small) == []


def test_an_upload_that_says_that_it_is_too_long_is_not_read(served):
    key = f"Bearer {served.keys['chief']}".encode()
    headers = [(b"authorization", key), (b"content-length", str(1 << 40).encode())]
    status, told, taken = drive(served.client.app, "POST", "/v1/uploads", headers, CountedPieces())
    assert (status, told["error"]["kind"], taken) == (413, "TooLargeError", 0)


def zipped(parts, lie=False):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, size in parts:
            with packed.open(name, "w") as part:
                for _ in range(size // PIECE):
                    part.write(b"\0" * PIECE)
    content = bytearray(made.getvalue())
    if lie:  # every part says that it unpacks to ten bytes
        at = 0
        while (at := content.find(b"PK\x01\x02", at)) >= 0:
            content[at + 24 : at + 28] = struct.pack("<I", 10)
            at += 4
        content[22:26] = struct.pack("<I", 10)
    return bytes(content)


def overlapping(copies):
    """A zip whose directory names the same packed bytes again and again."""
    one = zipped([("xl/workbook.xml", 8 << 20)])
    start = one.index(b"PK\x01\x02")
    end = one.index(b"PK\x05\x06")
    directory = one[start:end] * copies
    ending = bytearray(one[end:])
    ending[8:10] = ending[10:12] = struct.pack("<H", copies)
    ending[12:16] = struct.pack("<I", len(directory))
    return one[:start] + directory + bytes(ending)


BOMB = 256 << 20
BOMBS = {
    "a workbook": ("xlsx", lambda: zipped([("xl/worksheets/sheet1.xml", BOMB)])),
    "an ods": ("ods", lambda: zipped([("content.xml", BOMB)])),
    "of many parts": ("xlsx", lambda: zipped([(f"xl/{each}.xml", 8 << 20) for each in range(32)])),
    "that lies about its length": ("xlsx", lambda: zipped([("xl/worksheets/sheet1.xml", BOMB)], lie=True)),
    "that overlaps": ("xlsx", lambda: overlapping(40)),
    "of R, gzip": ("rds", lambda: gzip.compress(b"X\n" + b"\0" * BOMB)),
    "of R, bzip2": ("rdata", lambda: bz2.compress(b"RDX3\n" + b"\0" * BOMB)),
    "of R, xz": ("rds", lambda: lzma.compress(b"X\n" + b"\0" * BOMB, preset=1)),
}


@pytest.mark.parametrize("which", BOMBS)
@pytest.mark.slow
def test_a_file_that_unpacks_to_far_more_than_it_is_is_refused_and_does_not_stay(served, which):
    ending, make = BOMBS[which]
    content = make()
    assert len(content) < 2 << 20
    told_too_large(served("chief", "POST", f"/v1/uploads?filename=a.{ending}", content=content))
    assert left_behind(served) == []


@pytest.mark.slow
def test_a_parquet_file_of_700_million_rows_in_a_few_megabytes_is_refused(served):
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = io.BytesIO()
    column = pa.array([1] * (1 << 20), pa.int8())
    with pq.ParquetWriter(made, pa.schema([("n", pa.int8())]), compression="zstd") as writer:
        for _ in range(700):
            writer.write_table(pa.table({"n": column}), row_group_size=1 << 20)
    assert len(made.getvalue()) < 4 << 20
    told_too_large(served("chief", "POST", "/v1/uploads?filename=a.parquet", content=made.getvalue()))


def arrow(rows, streamed=False):
    import pyarrow as pa

    made = io.BytesIO()
    table = pa.table({"age": pa.Array.from_buffers(pa.int64(), rows, [None, pa.py_buffer(bytes(8 * rows))])})
    open_one = pa.ipc.new_stream if streamed else pa.ipc.new_file
    with open_one(made, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return made.getvalue()


@pytest.mark.parametrize(("ending", "streamed"), [("arrow", False), ("feather", True)])
def test_an_arrow_file_that_unpacks_to_far_more_than_it_is_is_refused(served, ending, streamed):
    address = f"/v1/uploads?filename=a.{ending}"
    content = arrow(16 << 20, streamed)
    assert len(content) < 1 << 20
    told_too_large(served("chief", "POST", address, content=content))
    assert left_behind(served) == []
    assert served("chief", "POST", address, content=arrow(2_000, streamed)).status_code == 201  # the control


def test_a_plain_workbook_is_taken(served):
    """The control of the bombs."""
    import openpyxl

    book = openpyxl.Workbook()
    for row in [("age",), *((each % 90,) for each in range(2_000))]:
        book.active.append(row)
    made = io.BytesIO()
    book.save(made)
    assert served("chief", "POST", "/v1/uploads?filename=a.xlsx", content=made.getvalue()).status_code == 201


ENDINGS = ("csv", "tsv", "txt", "parquet", "arrow", "feather", "jsonl", "ndjson", "xlsx", "xls", "ods", "dta", "sav",
           "sas7bdat", "xpt", "rds", "rdata", "yaml", "skops")  # fmt: skip
GARBAGE = {
    "nothing": b"", "zeros": b"\0" * 2000, "noise": bytes(range(256)) * 20, "text": b"planted-cell\n" * 50,
    "PK": b"PK\x03\x04" + b"x" * 100, "PAR1": b"PAR1" + b"\xff" * 100 + b"PAR1", "gzip": b"\x1f\x8b\x08" + b"x" * 50,
}  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_garbage_of_every_kind_is_refused_in_a_sentence_that_quotes_nothing(shared, ending):
    for what, content in GARBAGE.items():
        sent = shared("chief", "POST", f"/v1/uploads?filename=a.{ending}", content=content)
        assert sent.status_code in (201, 413, 422), (ending, what, sent.text)
        if sent.status_code == 201:
            name = sent.json()["upload"]
            proposed = shared("chief", "POST", f"/v1/uploads/{name}/proposal")
            assert proposed.status_code in (200, 422), (ending, what, proposed.text)
            schema = "columns:\n  age: {kind: integer, bounds: [0, 120]}\n"
            body = {"name": "t", "schema": schema, "address": f"upload:{name}"}
            told = shared("chief", "POST", "/v1/tables", body)
            assert told.status_code == 422, (ending, what, told.text)
            assert str(shared.house.uploads.folder) not in told.text
            if what != "text":
                assert "planted" not in told.text


DEEP = 20_000
JSON = {
    "deep lists": b'{"name": ' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"name":' * 20_000 + b"1" + b"}" * 20_000,
    "somewhat deep": b'{"name": ' + b"[" * 500 + b"]" * 500 + b"}",
    "NaN": b'{"name": NaN, "role": "analyst"}',
    "Infinity": b'{"name": "x", "role": "analyst", "chief": Infinity}',
    "a number of a million digits": b'{"name": ' + b"1" * 900_000 + b"}",
    "half of a pair": b'{"name": "\\ud800", "role": "analyst"}',
    "half of a pair as a key": b'{"\\ud800": 1, "name": "x", "role": "analyst"}',
    "NUL": b'{"name": "a\\u0000b", "role": "analyst"}',
    "no UTF-8": b'{"name": "\xff\xfe", "role": "analyst"}',
    "UTF-16": '{"name": "1", "role": "analyst"}'.encode("utf-16"),
    "cut off": b'{"name": "x"',
    "nothing": b"", "a text": b'"x"', "a list": b"[]", "null": b"null", "a number": b"1e999999",
    "many keys": b"{" + b",".join(b'"k%d": 1' % each for each in range(10_000)) + b"}",
    "not JSON": b"<xml/>", "a role of HTML": b'{"name": "x", "role": "<script>alert(1)</script>"}',
}  # fmt: skip


@pytest.mark.parametrize("what", JSON)
def test_json_that_is_none_or_a_bomb_is_refused_in_our_shape(shared, what):
    for path in ("/v1/people", "/v1/sign-in", "/v1/ask", "/v1/tables", "/v1/grants"):
        headers = {"Authorization": f"Bearer {shared.keys['chief']}", "Content-Type": "application/json"}
        told = shared.client.post(path, content=JSON[what], headers=headers)
        assert told.status_code in (400, 422), (path, told.text)
        assert set(told.json()["error"]) == {"kind", "message", "status"}
        assert len(told.text) < 2_000
        assert told.headers["Content-Type"] == "application/json"
    assert {each.name for each in shared.house.people.all()} == {"chief", "ana", "ben", "audrey"}


def test_of_a_key_that_is_given_twice_the_last_one_counts_for_all(served):
    """Nothing reads the first one: not what is checked, not what is done."""
    body = b'{"name": "first", "role": "steward", "name": "second", "role": "analyst"}'
    headers = {"Authorization": f"Bearer {served.keys['chief']}", "Content-Type": "application/json"}
    told = served.client.post("/v1/people", content=body, headers=headers)
    assert (told.json()["name"], told.json()["role"]) == ("second", "analyst")


AMOUNTS = (
    "1e999999", "1e999999999999", "1e-999999999", "-1e999999", "1/0", "0", "-1", "nan", "inf", "-inf", "1" * 61, "",
    " ",
    "1/1e9", "0x10", "1_0_", "9" * 59, "1e400", float("1e308"), 10**60, 10**4000, True, None, [], {}, "1\x00",
)  # fmt: skip


@pytest.mark.parametrize("amount", AMOUNTS, ids=lambda each: str(each)[:12] or "nothing")
def test_amounts_that_cannot_be_meant_are_refused_at_once(shared, amount):
    clinic = shared
    before = clinic.house.ledger.head()
    calls = (
        ("ana", "/v1/ask", {"tables": ["clinic"], "question": {**clinic.count, "epsilon": amount}}),
        ("ana", "/v1/quote", {"tables": ["clinic"], "question": {**clinic.count, "epsilon": amount}}),
        ("ana", "/v1/ask", {"tables": ["clinic"], "question": {**clinic.count, "shares": {"age": amount}}}),
        ("ana", "/v1/ask", {"tables": ["clinic"], "question": {**clinic.count, "confidence": amount}}),
        ("ana", "/v1/ask", {"tables": ["clinic"], "question": {**clinic.count, "delta": amount}}),
        ("chief", "/v1/budgets", {"table": "clinic", "name": "other", "epsilon": amount, "delta": "2"}),
        ("chief", "/v1/grants", {"budget": "clinic", "analyst": "ben", "epsilon": amount, "delta": "2"}),
    )
    for who, path, body in calls:
        told = clinic(who, "POST", path, body)
        delta_may_be_nothing = amount == "0" and "delta" in body.get("question", {})
        may = (402, 409, 413, 422) if not delta_may_be_nothing else (200,)
        priced = path == "/v1/quote" and told.status_code == 200  # which says that it does not fit
        assert told.status_code in may or priced, (path, body, told.text)
    if amount != "0":
        assert clinic.house.ledger.head() == before


@pytest.mark.parametrize("number", [10**4000, -1, 0, 2**63, 10**18, 1.5, True, "1"], ids=lambda each: str(each)[:8])
def test_numbers_that_cannot_be_meant_are_refused(shared, number):
    clinic = shared
    for name in ("rows_per_unit", "groups_per_unit"):
        told = clinic.ask("ana", {**clinic.count, name: number, "epsilon": "0.001"})
        large = isinstance(number, int) and number > 10**17  # which only says that nobody has as many
        assert told.status_code in (402, 422) or (large and told.status_code == 200), told.text


SCHEMAS = {
    "nested 20,000 deep": "columns: " + "[" * DEEP + "]" * DEEP,
    "nested by indentation": "\n".join(" " * depth + "a:" for depth in range(700)),
    "maps nested 20,000 deep": "columns: " + "{a: " * DEEP + "1" + "}" * DEEP,
    "laughs": "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ncolumns: *c\n",
    "a number of 100,000 digits": "columns:\n  a: {kind: integer, bounds: [0, " + "9" * 100_000 + "]}\n",
    "a huge exponent": "columns:\n  a: {kind: number, bounds: [0, 1e999999]}\n",
    "a tag of Python": "columns: !!python/object/apply:os.system ['true']\n",
    "many columns": "columns:\n" + "".join(f"  c{each}: {{kind: text}}\n" for each in range(8_000)),
    "NUL": "columns:\n  a: {kind: text}\n\x00",
}


@pytest.mark.parametrize("what", SCHEMAS)
def test_schemas_that_are_bombs_are_refused(shared, what):
    body = {"name": "t", "schema": SCHEMAS[what], "address": "invented:clinic"}
    told = shared("chief", "POST", "/v1/tables", body)
    assert told.status_code == 422, told.text[:300]
    assert len(told.text) < 3_000


HTML = "<script>alert(1)</script>"


def test_html_in_values_and_names_comes_back_as_json_and_nothing_else(served):
    """In a description, a category, a column, a file and a label: a browser gets JSON and must not guess."""
    schema = (
        f"description: '{HTML}'\nunit: row\ncolumns:\n  '{HTML}':\n    kind: category\n    categories: ['{HTML}', b]\n"
        f"    description: '{HTML}'\n"
    )
    sent = served("chief", "POST", "/v1/uploads?filename=a.csv", content=f"{HTML}\n{HTML}\nb\n".encode())
    name = sent.json()["upload"]
    told = [
        sent, served("chief", "POST", f"/v1/uploads/{name}/proposal"),
        served("chief", "POST", "/v1/tables", {"name": "t", "schema": schema, "address": f"upload:{name}"}),
        served("chief", "GET", "/v1/tables/t"), served("chief", "GET", "/v1/tables/t/preview"),
        served("chief", "POST", "/v1/people/chief/keys", {"label": HTML}),
        served("chief", "GET", "/v1/people/chief/keys"), served("chief", "GET", f"/v1/{HTML}"),
        served("chief", "GET", f"/v1/tables/{HTML}"),
        served("chief", "POST", "/v1/people", {"name": HTML, "role": HTML}),
        served("chief", "POST", f"/v1/uploads?filename={HTML}"),
    ]  # fmt: skip
    assert sum(HTML in each.text for each in told) >= 4
    for each in told:
        assert each.headers["Content-Type"] == "application/json"
        assert each.headers["X-Content-Type-Options"] == "nosniff"
        assert each.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nSet-Cookie: x=y", "\r\n\r\n<html>"])
def test_no_header_is_made_of_what_is_sent(shared, value):
    from urllib.parse import quote

    for told in (
        shared.client.get("/v1/me", headers={"Authorization": f"Bearer {quote(value)}"}),
        shared("ana", "GET", f"/v1/tables/{quote(value)}"),
        shared("chief", "POST", f"/v1/uploads?filename={quote(value)}.csv", content=b"a\n1\n"),
        shared.client.get(f"/{quote(value)}/", headers={"Host": "evil.example"}),
        shared.client.get("/v1/tables/", headers={"Host": "evil.example"}),
    ):
        assert "X-Evil" not in told.headers
        assert "Set-Cookie" not in told.headers
        assert "evil.example" not in str(told.headers)
        assert told.status_code not in (301, 302, 307, 308)


def test_more_requests_at_once_than_are_taken_are_sent_away_before_they_are_read(tmp_path):
    import anyio

    from ziggurat.service import make_app

    house = ServiceHouse(ServiceSettings.read({"folder": tmp_path / "s", "waiting": 1}, {}))
    app = make_app(house=house)
    told, begun, go = [], [], None

    async def one(path):
        async def receive():
            begun.append(path)
            await go.wait()
            return {"type": "http.request", "body": b"{}", "more_body": False}

        async def send(message):
            if message["type"] == "http.response.start":
                told.append((message["status"], dict(message["headers"]).get(b"retry-after")))

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": path,
            "raw_path": path.encode(), "query_string": b"", "root_path": "", "scheme": "http",
            "headers": [(b"content-type", b"application/json")],
        }  # fmt: skip
        app.state.house = house
        await app(scope, receive, send)

    async def run():
        nonlocal go
        go = anyio.Event()
        async with anyio.create_task_group() as group:
            for _ in range(102):
                group.start_soon(one, "/v1/sign-in")
            while len(begun) < 102:
                await anyio.sleep(0)
            await one("/v1/sign-in")
            assert told == [(429, b"5")]
            assert len(begun) == 102
            await one("/health")
            assert told[1][0] == 405  # which is asked otherwise, and heard all the same
            go.set()

    anyio.run(run)
    house.close()
    assert len(told) == 104
