"""Text files in encodings and wrappings that are not plain UTF-8."""

import gzip
import io
import zipfile

from messy_file import MessyFile, as_rows, write_bytes, write_text

PLAIN = "id,age\n1,34\n2,71\n"
PLAIN_ROWS = as_rows("id age", (1, 34), (2, 71))
WARD = "name;alter;gewicht\r\nMüller;34;86,8\r\nGroß;71;61,25\r\nÖztürk;58;102\r\n"
WARD_ROWS = as_rows("name alter gewicht", ("Müller", 34, 86.8), ("Groß", 71, 61.25), ("Öztürk", 58, 102.0))
WARD_KINDS = {"name": "text", "alter": "integer", "gewicht": "real"}
POLES = "imię;wiek\nŁukasz;34\nMałgorzata;71\nŚwiętosława;58\n"
POLES_ROWS = as_rows("imię wiek", ("Łukasz", 34), ("Małgorzata", 71), ("Świętosława", 58))
_FAR = 2_300
_MANY = [("Renée" if place == _FAR else f"n{place % 40}", place % 90) for place in range(2_500)]


def pack(members: dict[str, bytes]) -> bytes:
    """Return a zip file of these members, with dates that do not change."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return packed.getvalue()


FILES = (
    MessyFile(
        "german_excel.csv",
        "A German Excel saves CSV with semicolons, decimal commas and Windows-1252.",
        write_text(WARD, "cp1252"),
        rows=WARD_ROWS,
        kinds=WARD_KINDS,
        notes="(?i)windows-1252|cp1252",
    ),
    MessyFile(
        "euro_in_header.csv",
        "Windows-1252 has a euro sign where Latin-1 has none, here in the name of a column.",
        write_text("fall;Kosten €\nA-1;1.250,00\nA-2;980,50\n", "cp1252"),
        rows=as_rows(["fall", "Kosten €"], ("A-1", 1250.0), ("A-2", 980.5)),
        kinds={"Kosten €": "real"},
    ),
    MessyFile(
        "utf8_with_mark.csv",
        "Excel's 'CSV UTF-8' begins with a byte order mark.",
        write_text("name;alter\r\nMüller;34\r\nGroß;71\r\n", "utf-8-sig"),
        rows=as_rows("name alter", ("Müller", 34), ("Groß", 71)),
    ),
    MessyFile(
        "mark_before_quote.csv",
        "Power BI writes a byte order mark and then quotes around every name.",
        write_text('"name","age"\r\n"Zoë","34"\r\n"Ann","71"\r\n', "utf-8-sig"),
        rows=as_rows("name age", ("Zoë", 34), ("Ann", 71)),
    ),
    MessyFile(
        "unicode_text.txt",
        "Excel's 'Unicode text' is UTF-16 with tabs.",
        write_bytes(b"\xff\xfe" + WARD.replace(";", "\t").encode("utf-16-le")),
        rows=WARD_ROWS,
        kinds=WARD_KINDS,
        notes="(?i)utf-?16",
    ),
    MessyFile(
        "big_end_first.csv",
        "An old server writes UTF-16 with the big end first.",
        write_bytes(b"\xfe\xff" + POLES.encode("utf-16-be")),
        rows=POLES_ROWS,
        notes="(?i)utf-?16",
    ),
    MessyFile(
        "bcp_wide.csv",
        "SQL Server's bcp -w writes UTF-16 without a mark.",
        write_text(WARD, "utf-16-le"),
        rows=WARD_ROWS,
        notes="(?i)utf-?16",
    ),
    MessyFile(
        "accent_far_below.csv",
        "One Windows-1252 accent in row 2,301 of a file that looks like plain ASCII until then.",
        write_text("name,visits\n" + "".join(f"{name},{visits}\n" for name, visits in _MANY), "cp1252"),
        rows=as_rows("name visits", *_MANY),
        notes="(?i)windows-1252|cp1252",
    ),
    MessyFile(
        "polish_windows.csv",
        "A Polish Windows writes code page 1250, which only the steward can know.",
        write_text(POLES, "cp1250"),
        {"encoding": "cp1250"},
        rows=POLES_ROWS,
    ),
    MessyFile(
        "dos_program.csv",
        "A laboratory's DOS program still writes code page 850, and ends the file with Ctrl-Z.",
        write_text("Name;Größe\r\nJörg;181\r\nÄnne;165\r\n\x1a", "cp850"),
        {"encoding": "cp850", "skip_last": 1},
        rows=as_rows("Name Größe", ("Jörg", 181), ("Änne", 165)),
        kinds={"Größe": "integer"},
    ),
    MessyFile(
        "encoding_nobody_knows.csv",
        "Somebody names an encoding that does not exist.",
        write_text(PLAIN),
        {"encoding": "utf-8-excel"},
        refused="(?i)encoding.*(utf-8|cp1252)",
    ),
    MessyFile(
        "not_the_encoding_told.csv",
        "Told to be UTF-8, but it is not.",
        write_text("name;alter\nAnna;34\nMüller;71\n", "cp1252"),
        {"encoding": "utf-8"},
        refused="(?i)(?=.*line 3)(?=.*encoding)",
        unlike=("Anna", "Müller", "xfcller"),
    ),
    MessyFile(
        "two_encodings.csv",
        "Two exports pasted together, the first in UTF-8 and the second in Windows-1252: no encoding fits both.",
        write_bytes("name,age\nÁngel,34\n".encode() + "Peña,71\n".encode("cp1252")),
        refused="(?i)encoding",
        unlike=("ngel", "Peña", "xf1a"),
    ),
    MessyFile(
        "two_encodings_that_fit.csv",
        "Two exports pasted together, and every byte of both is a character of Windows-1252: names would be garbled.",
        write_bytes("name;alter\nJörg;34\n".encode() + "Müller;71\n".encode("cp1252")),
        refused="(?i)in part UTF-8.*--encoding cp1252",
        unlike=("Jörg", "rg;34", "Müller"),
    ),
    MessyFile(
        "two_encodings_told.csv",
        "The same, told to be Windows-1252: it is read as it stands.",
        write_bytes("name;alter\nJörg;34\n".encode() + "Müller;71\n".encode("cp1252")),
        {"encoding": "cp1252"},
        rows=as_rows("name alter", ("JÃ¶rg", 34), ("Müller", 71)),
    ),
    MessyFile(
        "converted_twice.csv",
        "A database was converted to UTF-8 twice; what stands there is read as it stands.",
        write_text("name,age\nMÃ¼ller,34\nGroÃŸ,71\n"),
        rows=as_rows("name age", ("MÃ¼ller", 34), ("GroÃŸ", 71)),
    ),
    MessyFile(
        "packed.csv.gz",
        "A nightly job packs its CSV with gzip.",
        write_bytes(gzip.compress(WARD.encode("cp1252"), mtime=0)),
        rows=WARD_ROWS,
        notes="(?i)windows-1252|cp1252",
    ),
    MessyFile(
        "packed.csv.zip",
        "A portal offers every download as a zip file with one member.",
        write_bytes(pack({"export/patienten.csv": WARD.encode()})),
        rows=WARD_ROWS,
    ),
    MessyFile(
        "packed_on_a_mac.csv.zip",
        "macOS adds a shadow member to every zip file.",
        write_bytes(pack({"people.csv": PLAIN.encode(), "__MACOSX/._people.csv": b"\0\5\x16\7" + bytes(30)})),
        rows=PLAIN_ROWS,
    ),
    MessyFile(
        "two_in_one.csv.zip",
        "A zip file holds two tables.",
        write_bytes(pack({"patients.csv": PLAIN.encode(), "visits.csv": PLAIN.encode()})),
        refused="(?i)unpack|extract",
    ),
    MessyFile(
        "download.zip",
        "A portal's zip file does not say by its name what is in it.",
        write_bytes(pack({"people.csv": PLAIN.encode()})),
        refused=r"call it '.*download\.csv\.zip'",
    ),
    MessyFile(
        "half_a_download.csv.gz",
        "A download was cut off in the middle of a gzip file.",
        write_bytes(gzip.compress("".join(f"{n},{n * n}\n" for n in range(3_000)).encode(), mtime=0)[:900]),
        refused="(?i)not a complete gzip file",
    ),
    MessyFile(
        "gzip_without_saying.csv",
        "A gzip file was renamed to .csv.",
        write_bytes(gzip.compress(PLAIN.encode(), mtime=0)),
        refused=r"(?i)gzip|\.gz",
    ),
    MessyFile(
        "disk_crash.csv",
        "A crash left a block of zero bytes in the file.",
        write_bytes(b"name,age\nAnna,34\n" + bytes(16) + b"\nBernd,71\n"),
        refused="(?i)line 3 .*zero byte",
        unlike=("Anna", "Bernd"),
    ),
    MessyFile("empty.csv", "The export failed and left an empty file.", write_bytes(b""), refused="(?i)is empty"),
    MessyFile(
        "header_only.csv",
        "The export found nobody: a header and no row.",
        write_text("id;name;alter\r\n"),
        rows=[],
    ),
)
