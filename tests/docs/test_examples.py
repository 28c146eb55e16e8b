"""Every example in the README, the guides and the docstrings runs, and prints what it says."""

from doctest import NORMALIZE_WHITESPACE
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MODULES = [path for path in sorted((ROOT / "src").rglob("*.py")) if ">>> " in path.read_text()]

MARKDOWN = Sybil(parsers=[PythonCodeBlockParser()], path=str(ROOT), patterns=["*.md"])
DOCSTRINGS = Sybil(
    parsers=[DocTestParser(optionflags=NORMALIZE_WHITESPACE)],
    path=str(ROOT),
    patterns=["*.py"],
    document_types={".py": PythonDocStringDocument},
)


def run(sybil: Sybil, path: Path) -> int:
    examples = list(sybil.parse(path).examples())
    for example in examples:
        example.evaluate()
    return len(examples)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_example_of_a_page_prints_what_it_says(page):
    assert (run(MARKDOWN, page) > 0) == (">>> " in page.read_text())


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_every_example_in_a_docstring_prints_what_it_says(module):
    assert run(DOCSTRINGS, module) > 0
