"""The Python reference is whole: a page for every public door, and on it every name that the door gives.

The pages are made from the source without running it; this reads it in the same way, without drawing the pages.
"""

import sys
from pathlib import Path

import griffe
import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs/reference/python"
sys.path.insert(0, str(ROOT / "bench"))

from house import House  # noqa: E402

PUBLIC = House(ROOT).public()


@pytest.fixture(scope="module")
def product() -> griffe.Module:
    """The product as the pages see it."""
    extensions = griffe.load_extensions(ROOT / "docs/making/assembled.py")
    loaded = griffe.load("ziggurat", search_paths=[ROOT / "src"], extensions=extensions, docstring_parser="numpy")
    assert isinstance(loaded, griffe.Module)
    return loaded


def find(product: griffe.Module, door: str, name: str) -> griffe.Object | griffe.Alias:
    """Find a name as a page about its door does."""
    return product[f"{door}.{name}".removeprefix("ziggurat.")]


def test_every_public_door_has_a_page_and_no_other_page_is_there():
    pages = {file.stem: file.read_text() for file in PAGES.glob("*.md") if file.stem != "index"}
    assert pages == {door.removeprefix("ziggurat."): f"# {door}\n\n::: {door}\n" for door in PUBLIC}


def test_the_list_of_packages_names_every_page():
    listed = (PAGES / "index.md").read_text()
    assert [door for door in PUBLIC if f"| [`{door}`]({door.removeprefix('ziggurat.')}.md) |" not in listed] == []


@pytest.mark.parametrize("door", PUBLIC)
def test_every_name_of_a_public_door_is_shown_with_its_docstring(product, door):
    silent = [name for name in PUBLIC[door] if name != "__version__" and not find(product, door, name).has_docstring]
    assert silent == [], f"{door}: say in a docstring what these are"


def test_a_name_without_a_docstring_is_found(tmp_path):
    (tmp_path / "invented.py").write_text('"""A module."""\n\ndef bare(): ...\n\ndef told():\n    """Told."""\n')
    module = griffe.load("invented", search_paths=[tmp_path])
    assert [name for name in ("bare", "told") if not module[name].has_docstring] == ["bare"]


def test_a_docstring_that_is_put_together_is_shown_as_one(product):
    text = find(product, "ziggurat.learn", "Ridge").docstring.value
    assert text.startswith("Least squares with a penalty")
    assert "Parameters" in text
