"""Runs are found again by what went into them; damage costs only time."""

import logging
import os
import socket
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ziggurat.errors import ArtefactError
from ziggurat.experiments import Cache, Gathered, Module, Node, Step
from ziggurat.experiments._types import NodeOutput
from ziggurat.experiments.running._cache import node_key

HOST = socket.gethostname()
STEP = Step("a:b", print, "1", takes_seed=True)
NODE = Node("m#0", Module("m", "a:b"), {"x": 1, "y": [1, 2]}, {}, {"m": 0}, 5, {"given": NodeOutput("s", "out")})


def file_of(cache: Cache) -> Path:
    (path,) = (each for each in cache.objects.folder.glob("*/*") if each.is_file())
    return path


def test_outputs_are_found_under_their_key_by_another_cache(cache: Cache) -> None:
    cache.store("k", {"a": np.arange(5000), "b": 0.5}, seconds=2.5)
    other = Cache(cache.folder)
    found = other.find("k")
    assert found is not None
    np.testing.assert_array_equal(other.load(found["a"]), np.arange(5000))
    assert other.load(found["b"]) == 0.5
    assert other.recall("k").seconds == 2.5  # type: ignore[union-attr]
    assert other.find("another") is None


def test_the_key_depends_on_all_that_the_outputs_depend_on() -> None:
    key = node_key(NODE, {"given": "d"}, STEP)
    assert key == node_key(
        replace(NODE, id="n", repeats={"m": 9}, parameters={"y": [1, 2], "x": 1}), {"given": "d"}, STEP
    )
    others = [
        node_key(NODE, {"given": "e"}, STEP),
        node_key(NODE, {"other": "d"}, STEP),
        node_key(replace(NODE, parameters={"x": 1.0, "y": [1, 2]}), {"given": "d"}, STEP),
        node_key(replace(NODE, seed=6), {"given": "d"}, STEP),
        node_key(NODE, {"given": "d"}, replace(STEP, version="2")),
        node_key(NODE, {"given": "d"}, replace(STEP, reference="a:c")),
    ]
    assert len({key, *others}) == 7


def test_the_seed_counts_only_for_steps_that_take_one() -> None:
    deaf = replace(STEP, takes_seed=False)
    assert node_key(NODE, {"given": "d"}, deaf) == node_key(replace(NODE, seed=6), {"given": "d"}, deaf)


def test_the_key_of_a_gathered_input_depends_on_what_is_told_about_its_runs() -> None:
    def key(epsilon: float) -> str:
        gathered = Gathered((NodeOutput("s", "out"),), ({"s.epsilon": epsilon},), ({"s": 0},))
        return node_key(replace(NODE, inputs={"given": gathered}), {"given": ["d"]}, STEP)

    assert key(1.0) == key(1.0)
    assert key(1.0) != key(2.0)


@pytest.mark.parametrize("damage", ["body = body || ' '", "hash = 'x'", "body = '{}'", "body = x'ff00'"])
def test_a_damaged_manifest_is_reported_removed_and_a_miss(
    cache: Cache, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    cache.store("k", {"a": 1})
    with sqlite3.connect(cache.folder / "manifests.db") as connection:
        connection.execute(f"UPDATE manifests SET {damage}")
    with caplog.at_level(logging.WARNING):
        assert cache.find("k") is None
    assert len(caplog.records) == 1
    cache.store("k", {"a": 1})
    assert cache.find("k") is not None


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"\0" * 5000])
def test_a_damaged_index_is_replaced(tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    Cache(tmp_path).close()
    (tmp_path / "manifests.db").write_bytes(content)
    with caplog.at_level(logging.WARNING):
        cache = Cache(tmp_path)
    assert "damaged" in caplog.text
    cache.store("k", {"a": 1})
    assert cache.find("k") is not None


def test_an_index_that_breaks_while_it_is_open_is_replaced(cache: Cache, caplog: pytest.LogCaptureFixture) -> None:
    cache.store("k", {"a": 1})
    cache.close()
    data = bytearray((cache.folder / "manifests.db").read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    (cache.folder / "manifests.db").write_bytes(data)
    again = Cache(cache.folder)
    with caplog.at_level(logging.WARNING):
        assert again.find("k") is None
    again.store("k", {"a": 1})
    assert again.find("k") is not None


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "manifests.db") as connection:
        connection.execute("CREATE TABLE precious (a)")
    with pytest.raises(ArtefactError, match="name another folder"):
        Cache(tmp_path)


def test_a_missing_file_is_a_miss_unless_it_is_not_needed(cache: Cache) -> None:
    cache.store("k", {"a": np.arange(5000), "b": 1})
    file_of(cache).unlink()
    assert cache.find("k") is None
    assert cache.find("k", needed=("b",)) is not None


def test_a_forgotten_output_leaves_its_digest_and_a_kept_one_stays(cache: Cache) -> None:
    stored = cache.store("k", {"a": np.arange(5000), "tree": [np.ones(3000), 1]})
    cache.keep([stored["tree"]])
    for each in stored.values():
        cache.forget(each)
    assert cache.find("k", needed=("tree",)) == stored
    np.testing.assert_array_equal(cache.load(stored["tree"])[0], np.ones(3000))
    with pytest.raises(ArtefactError, match="no longer in the cache"):
        cache.load(stored["a"])


def test_drafts_of_dead_writers_are_removed_and_those_of_others_stay(cache: Cache) -> None:
    drafts = cache.objects.folder / "tmp"
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead, alive, elsewhere = f"{ended.pid}.a.{HOST}", f"{os.getpid()}.b.{HOST}", f"{ended.pid}.c.elsewhere"
    for name in (dead, alive, elsewhere):
        (drafts / name).write_bytes(b"half")
    Cache(cache.folder)
    assert sorted(each.name for each in drafts.iterdir()) == sorted([alive, elsewhere])


def test_size_counts_files(cache: Cache) -> None:
    before = cache.size()
    cache.store("k", {"a": b"\0" * 50_000})
    assert cache.size() >= before + 50_000


def test_a_folder_that_cannot_be_made_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArtefactError, match="cannot be written"):
        Cache(tmp_path / "file" / "cache")


WRITER = """
import sys
from ziggurat.experiments.running._cache import Cache
cache = Cache(sys.argv[1])
for number in range(60):
    cache.store(f"shared {number}", {"a": bytes(5000 + number), "n": number})
    cache.store(f"{sys.argv[2]} {number}", {"a": bytes(5000 + number)})
"""


def test_processes_share_a_cache(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "cache")]
    writers = [subprocess.Popen([*command, str(number)]) for number in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    cache = Cache(tmp_path / "cache")
    for number in range(60):
        found = cache.find(f"shared {number}")
        assert found is not None
        assert cache.load(found["a"]) == bytes(5000 + number)
        assert all(cache.find(f"{writer} {number}") for writer in range(3))


def test_what_was_printed_is_kept_by_key(cache: Cache) -> None:
    cache.note("k", "straße \udcff" * 1000)
    assert cache.log("k").startswith("straße")
    assert cache.log("other") == ""
