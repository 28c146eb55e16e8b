"""Places that pages name are there: modules in the picture of the ways, places for newcomers, words of the glossary."""

import ast
import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from house import House  # noqa: E402

HOUSE = House(ROOT)
WHERE = (ROOT / "docs/where.md").read_text()
PLACES = re.findall(r"^\| .*\? \| `(ziggurat[\w.]*)` \| `([\w.]+)` \|$", WHERE, re.MULTILINE)
FILES = re.findall(r"^\| .*\? \| `([\w./-]+)` \|$", WHERE, re.MULTILINE)


def load_ways():
    """The script that draws the ways through the house."""
    spec = importlib.util.spec_from_file_location("ways", ROOT / "docs/making/ways.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_there(module: str, name: str) -> bool:
    """Whether a module defines a name, or a class in it a method."""
    name, _, inner = name.partition(".")
    found = HOUSE.definition(module, name)
    if found is None or not inner:
        return found is not None
    return isinstance(found[0], ast.ClassDef) and any(
        inner in ([node.name] if hasattr(node, "name") else re.findall(r"^\w+", ast.unparse(node)))
        for node in found[0].body
    )


def test_a_newcomer_finds_at_least_twenty_places():
    assert len(PLACES) >= 20
    assert len(PLACES) + len(FILES) == WHERE.count("? | `"), "a row is not written as the others are"


@pytest.mark.parametrize(("module", "name"), PLACES)
def test_every_place_for_newcomers_is_there(module, name):
    assert module in HOUSE.modules, f"docs/where.md: {module} is gone"
    assert is_there(module, name), f"docs/where.md: {module} has no {name}"


@pytest.mark.parametrize("file", FILES)
def test_every_file_for_newcomers_is_there(file):
    assert (ROOT / file).is_file()


def test_a_place_that_is_not_there_is_noticed():
    assert not is_there("ziggurat.release._purse", "Wallet")
    assert not is_there("ziggurat.release._purse", "Purse.lend")
    assert not is_there("ziggurat.nowhere", "anything")


def test_every_module_in_the_picture_of_the_ways_exists():
    assert [name for name in load_ways().name_modules() if f"ziggurat.{name}" not in HOUSE.modules] == []


def test_the_picture_of_the_ways_is_what_is_drawn():
    ways = load_ways()
    assert ways.PICTURE.read_text() == ways.draw(), "python docs/making/ways.py"


@pytest.mark.parametrize("page", ["how-it-works.md", "index.md", "glossary.md"])
def test_every_module_that_a_page_names_exists(page):
    named = re.findall(r"`(ziggurat\.[a-z_.]+)`", (ROOT / "docs" / page).read_text())
    assert [name for name in named if name not in HOUSE.modules] == []
