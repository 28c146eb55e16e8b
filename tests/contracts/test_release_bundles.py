"""The bundle of every kind verifies, names what was altered, and tells of private rows only what was paid for."""

import copy
import json
import random
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from release_kinds import KINDS, Bench, ReleaseKind, one_added, one_changed, one_removed, people, prepare

from ziggurat.ledger import generate_key, load_private_key, public_hex
from ziggurat.privacy import Relation
from ziggurat.release import Plan
from ziggurat.release.bundle import hand_out, verify_bundle
from ziggurat.release.bundle._manifest import Manifest, Sealed, by_line, field_digests

GUARANTEED = [each for each in KINDS if each.guaranteed]
FLIPS = 3
each_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[ReleaseKind], Path]:
    """Gives the folder with the bundle of a kind, as a folder and as a zip, and the key that signed it; made once."""

    @cache
    def make(kind: ReleaseKind) -> Path:
        folder = tmp_path_factory.mktemp("made")
        generate_key(folder / "steward.key")
        with Bench(kind, prepare(kind, folder / "place")) as bench:
            release = bench.purse.release(bench.plan())
            for name in ("out", "out.zip"):
                release.bundle(folder / name, folder / "steward.key")
        return folder

    return make


@pytest.fixture
def bundle(kind: ReleaseKind, tmp_path: Path, made: Callable[[ReleaseKind], Path]) -> Path:
    """A bundle as a folder, and beside it as a zip."""
    shutil.copytree(made(kind), tmp_path, dirs_exist_ok=True)
    return tmp_path / "out"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    if not (tmp_path / "steward.key").exists():
        generate_key(tmp_path / "steward.key")
    return tmp_path / "steward.key"


def flip(file: Path, place: int) -> None:
    """Change one bit of one byte."""
    with file.open("r+b") as data:
        data.seek(place)
        (old,) = data.read(1)
        data.seek(place)
        data.write(bytes([old ^ 1]))


@each_kind
def test_a_bundle_verifies_and_one_flipped_byte_is_named(kind: ReleaseKind, bundle: Path, key: Path) -> None:
    whose, draw = Path(f"{key}.pub"), random.Random(16)
    checked = verify_bundle(bundle, whose)
    assert checked.sound
    assert checked.signer_checked
    for file in sorted(each for each in bundle.rglob("*") if each.is_file()):
        name = file.relative_to(bundle).as_posix()
        for _ in range(FLIPS):
            place = draw.randrange(file.stat().st_size)
            flip(file, place)
            assert name in {each.file for each in verify_bundle(bundle, whose).problems}, (name, place)
            flip(file, place)
    assert verify_bundle(bundle, whose).sound


@each_kind
def test_of_a_certificate_the_altered_field_is_named(kind: ReleaseKind, bundle: Path, key: Path) -> None:
    file, draw = bundle / "public" / "certificate.json", random.Random(16)
    start = 2
    for line in file.read_bytes().splitlines()[1:-1]:
        name = json.loads(b"{" + line.removesuffix(b",") + b"}").popitem()[0]
        first = start + len(name) + 3  # behind the name, its quotes and the colon
        place = draw.randrange(first, start + len(line.removesuffix(b",")))
        flip(file, place)
        problems = verify_bundle(bundle, f"{key}.pub").problems
        assert {each.field for each in problems if each.file == "public/certificate.json"} == {name}
        flip(file, place)
        start += len(line) + 1


@each_kind
def test_a_zip_verifies_and_one_flipped_byte_is_named(kind: ReleaseKind, bundle: Path, key: Path) -> None:
    whose, draw, packed = f"{key}.pub", random.Random(16), bundle.with_suffix(".zip")
    assert verify_bundle(packed, whose).sound
    with zipfile.ZipFile(packed) as archive:
        members = archive.infolist()
    for each in members:
        place = each.header_offset + 30 + len(each.filename) + draw.randrange(each.file_size)
        flip(packed, place)
        assert each.filename in {problem.file for problem in verify_bundle(packed, whose).problems}
        flip(packed, place)
    for place in (draw.randrange(packed.stat().st_size) for _ in range(FLIPS)):
        flip(packed, place)
        assert not verify_bundle(packed, whose).sound
        flip(packed, place)
    assert verify_bundle(packed, whose).sound


@each_kind
def test_the_public_part_verifies_alone(kind: ReleaseKind, bundle: Path, key: Path) -> None:
    given = hand_out(bundle, bundle.with_name("given.zip"))
    checked = verify_bundle(given, f"{key}.pub")
    assert checked.sound
    assert checked.parts == ("public",)
    assert b"steward" not in (bundle / "public" / "manifest.json").read_bytes()


def forged(folder: Path, stranger: Path | None) -> None:
    """Say of a rehearsal that it is none, with every hash put right, signed by somebody else or by nobody."""
    public = folder / "public"
    said = {**json.loads((public / "certificate.json").read_bytes()), "rehearsal": False, "randomness": "secure"}
    data = by_line(said)
    (public / "certificate.json").write_bytes(data)
    old = Manifest.read((public / "manifest.json").read_bytes())
    files = {**old.files, "certificate.json": Sealed(sha256(data).hexdigest(), len(data))}
    made = replace(old, rehearsal=False, files=files, fields=field_digests(said))
    signed = made if stranger is None else made.sign(stranger)
    (public / "manifest.json").write_bytes(signed.to_bytes())
    shutil.rmtree(folder / "steward")


@each_kind
def test_no_edit_makes_a_release_of_a_rehearsal(kind: ReleaseKind, bundle: Path, tmp_path: Path, key: Path) -> None:
    generate_key(tmp_path / "stranger.key")
    with Bench(kind, tmp_path / "place", seed=1) as bench:
        made = bench.purse.release(bench.plan()).bundle(tmp_path / "rehearsal", key)
    whose = public_hex(load_private_key(key).public_key())
    assert whose.encode() not in b"".join(each.read_bytes() for each in made.rglob("*") if each.is_file())
    edits: dict[str, Callable[[Path], Any]] = {
        "nothing": lambda folder: None,
        "no word of a rehearsal": lambda folder: forged(folder, None),
        "somebody else's signature": lambda folder: forged(folder, tmp_path / "stranger.key"),
        "the manifest of a release": lambda folder: shutil.copy(bundle / "public" / "manifest.json", folder / "public"),
        "no manifest": lambda folder: (folder / "public" / "manifest.json").unlink(),
    }
    for name, edit in edits.items():
        shutil.copytree(made, tmp_path / name)
        edit(tmp_path / name)
        assert not verify_bundle(tmp_path / name, f"{key}.pub").sound, name


MOMENT = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers have the same name, and no time passes."""
    names = SimpleNamespace(token_hex=lambda count: "5a" * count)
    monkeypatch.setattr("ziggurat.ledger._arguments.secrets", names)
    for module in ("_arguments", "_journal", "_ledger"):
        monkeypatch.setattr(f"ziggurat.ledger.{module}.now", lambda: MOMENT)


def with_methods(plan: Plan[Any], **methods: Callable[..., Any]) -> Plan[Any]:
    """The same plan, of which some methods are others."""
    made, kind = copy.copy(plan), type(plan)
    object.__setattr__(made, "__class__", type(kind.__name__, (kind,), methods))
    return made


def public_part(
    kind: ReleaseKind,
    folder: Path,
    key: Path,
    paid: list[Any],
    details: Callable[[Bench], dict[str, Any]] | None = None,
) -> dict[str, bytes]:
    """Release what a table gives, with the output that was paid for first, whatever the table; every public byte."""

    def run(self: Plan[Any], source: Any, progress: Any) -> Any:
        made = super(type(self), self).run(source, progress)
        paid.append(made)
        return made if len(paid) == 1 else kind.swap(paid[0], made)

    with Bench(kind, folder) as bench:
        leak = {} if details is None else {"details": lambda *_: details(bench)}
        plan = with_methods(bench.plan(), run=run, **leak)
        if hasattr(plan, "question"):  # keyed by salts that never leave, which is all that tells them from chance
            keyed = dict.fromkeys(("manifest", "teachers"), "ab" * 32)
            plan = replace(plan, question={**plan.question, **keyed})
        made = replace(bench.purse.release(plan), made=date(2026, 11, 16))
        public = made.bundle(folder / "out", key) / "public"
    return {each.relative_to(public).as_posix(): each.read_bytes() for each in public.rglob("*") if each.is_file()}


NEIGHBOURS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "changed": one_changed,
    "added": one_added,
    "removed": one_removed,
}
PAIRS = [
    (kind, name)
    for kind in GUARANTEED
    for name in NEIGHBOURS
    if name == "changed" or kind.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
]


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize(("kind", "neighbour"), PAIRS, ids=str)
def test_the_public_part_tells_of_private_rows_only_what_was_paid_for(
    kind: ReleaseKind, neighbour: str, tmp_path: Path, key: Path
) -> None:
    paid: list[Any] = []
    one = public_part(kind, prepare(kind, tmp_path / "one"), key, paid)
    rows = NEIGHBOURS[neighbour](people())
    other = public_part(kind, prepare(kind, tmp_path / "other", rows), key, paid)
    assert len(paid) == 2
    assert {name for name in {*one, *other} if one.get(name) != other.get(name)} == set()


@pytest.mark.usefixtures("still")
@pytest.mark.parametrize("kind", GUARANTEED[:1], ids=repr)
def test_a_count_of_private_rows_in_the_details_would_be_found(kind: ReleaseKind, tmp_path: Path, key: Path) -> None:
    def leak(bench: Bench) -> dict[str, Any]:
        return {"rows": bench.table.raw.count_rows()}

    paid: list[Any] = []
    one = public_part(kind, prepare(kind, tmp_path / "one"), key, paid, leak)
    other = public_part(kind, prepare(kind, tmp_path / "other", one_added(people())), key, paid, leak)
    assert {name for name in one if one[name] != other[name]} >= {"certificate.json", "manifest.json"}
