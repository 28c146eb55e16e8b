"""The notebook of the guides runs from a messy workbook to a release, and shows no cell on its way."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

for needed in ("nbclient", "ipykernel"):
    pytest.importorskip(needed, reason=f"The notebook is executed with nbclient and ipykernel; {needed} is missing.")

ROOT = Path(__file__).parents[2]
NOTE, NUMBER = "unter dem Blumentopf", re.compile(r"P-\d{4}")
RAW = "table.raw.rows(['Patienten-Nr.', 'Bemerkung']).to_pylist()"
PAGE = "print(page.read_text())"
LEARNED = "(bounds := schema['Gewicht [kg]'].bounds).lower, bounds.upper"


@pytest.fixture(scope="module")
def executed():
    """The cells of the notebook with their outputs, and three more: raw rows, the page, what only the steward knows."""
    spec = importlib.util.spec_from_file_location("own_data", ROOT / "docs/making/own_data.py")
    making = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(making)
    cells = [cell for cell in making.execute([RAW, PAGE, LEARNED]).cells if cell.cell_type == "code"]
    return cells[:-3], *map(tell, cells[-3:])


def tell(*cells):
    """All that cells gave, as text."""
    return json.dumps([cell.outputs for cell in cells], ensure_ascii=False)


def count(cells, kind):
    return sum(kind in output.get("data", {}) for cell in cells for output in cell.outputs)


def select(cells, tag):
    return [cell for cell in cells if tag in cell.metadata.get("tags", ())]


def test_it_runs_to_its_end_with_cards_and_pictures(executed):
    cells = executed[0]
    assert {each.output_type for cell in cells for each in cell.outputs} == {"execute_result", "display_data"}
    assert count(cells, "image/png") == 2
    assert count(cells, "text/html") >= 7


def test_no_cell_shows_a_note_or_the_number_of_a_patient(executed):
    cells, raw, page, _ = executed
    assert NOTE in raw, "the search must find what is shown"
    assert NUMBER.search(raw), "the search must find what is shown"
    for shown in (tell(*cells), page):
        assert NOTE not in shown
        assert not NUMBER.search(shown)


def test_the_analyst_does_not_see_what_was_learned(executed):
    cells, _, page, learned = executed
    ends = re.findall(r"\d+\.\d+", learned)
    assert len(ends) == 2
    assert all(each in tell(*select(cells, "steward")) for each in ends)
    assert not any(each in shown for each in ends for shown in (tell(*select(cells, "analyst")), page))


def test_everything_after_the_stewards_part_is_for_the_analyst(executed):
    tags = [cell.metadata["tags"] for cell in executed[0]]
    assert tags == sorted(tags, reverse=True)
    assert tags[0] == ["steward"]
    assert tags[-1] == ["analyst"]


def test_the_release_has_a_page_that_says_rehearsal(executed):
    cells, _, page, _ = executed
    assert "kosten/public/index.html" in tell(*cells)
    assert "<html" in page
    assert "REHEARSAL" in page.upper()


def test_it_is_kept_without_outputs():
    kept = json.loads((ROOT / "docs/guides/own-data.ipynb").read_text())
    code = [cell for cell in kept["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
