"""Pages: what is filled in stays text, what is missing is an error, and every page is one file in one style."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import jinja2
import pytest

import ziggurat
from ziggurat import drawing
from ziggurat.pages import Grid, Picture, TableCell, _rendering, inline_svg, render, shapes

HOSTILE = "</style></p><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}{% raw %}${7*7}\ud800\x1b"
LOOKS = ("soft", "code", "none", "good", "bad")
ROOT = Path(ziggurat.__file__).parent
TEMPLATES = sorted(str(each.relative_to(ROOT)) for each in ROOT.rglob("*.html"))
APART = {"service/surveys/page.html": "no template: its script, allowed by its hash alone, draws the report"}
PAGES = [name for name in TEMPLATES if not name.startswith("pages/") and name not in APART]
STYLE = (ROOT / "pages" / "style.css").read_text()


class Tags(HTMLParser):
    """What a page holds: its tags, the attributes of them, and which are open."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def filled(words, without=""):
    """The report of an experiment with a text in every place of every part."""
    rows = [[words, TableCell(words, words), TableCell(words, words, look)] for look in LOOKS]
    grid = Grid(words, [(words, "wide"), ("", "number"), (words, "")], rows, words)
    drawn = shapes.svg(10, 10, [shapes.words(1, 1, words), shapes.rect(0, 0, 1, 1, "red", title=words)])
    picture = Picture(drawn, words, words, words, "small")
    values = {
        "title": words, "description": words, "origin": None, "verdict": ("good", words, [words]),
        "counts": [(words, words)], "compared": grid, "figures": [picture, words],
        "summaries": [(words, words, grid)], "failures": grid, "skipped": 2, "facts": [(words, words)],
        "again": words, "file": words,
    }  # fmt: skip
    values.pop(without, None)
    return render("experiments/showing/report.html", **values)


def test_hostile_texts_in_every_part_stay_texts():
    text, plain = filled(HOSTILE), Tags(filled("words"))
    found = Tags(text)
    assert found.tags == plain.tags  # not one more or less, whatever was written
    assert [name for name, _ in found.attributes] == [name for name, _ in plain.attributes]
    assert found.open == []
    assert "49" not in text
    assert "alert(1)" in text
    assert "\\ud800" in text
    shown = unescape(re.sub(r"<text[^>]*>([^<]*)</text>", "", text))
    assert HOSTILE.replace("\ud800", "\\ud800") in shown


def test_shapes_hold_nothing_that_xml_forbids():
    assert "\x1b" not in shapes.words(0, 0, HOSTILE) + shapes.rect(0, 0, 1, 1, "red", title=HOSTILE)


@pytest.mark.parametrize("name", ["title", "verdict", "facts", "file"])
def test_what_nobody_gave_is_an_error_and_no_gap(name):
    with pytest.raises(jinja2.UndefinedError, match=name):
        filled("words", without=name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_is_there_and_can_be_read(name):
    _rendering._environment().get_template(name)


@pytest.mark.parametrize("name", PAGES)
def test_every_page_stands_on_the_base_and_brings_neither_style_nor_script_nor_raw_text(name):
    text = (ROOT / name).read_text()
    assert text.startswith('{% extends "pages/base.html" %}')
    assert not re.search(r"<style|style=|<script|\|\s*safe|autoescape|\son\w+=", text)


def test_all_pages_are_known():
    assert PAGES == [
        "cli/attack/page.html", "cli/compare/page.html", "cli/risk/page.html", "experiments/showing/report.html",
        "release/bundle/public.html", "release/bundle/steward.html",
        "utility/mobility/before_and_after.html", "utility/mobility/synthetic.html",
    ]  # fmt: skip


def test_nobody_writes_html_by_hand():
    """A tag in a Python text is markup that no template escapes; shapes, one image and cards are all there is."""
    allowed = {"cards.py", "pages/_parts.py", "pages/shapes.py", "release/bundle/_pages.py", "queries/_answer.py"}
    by_hand = {
        str(file.relative_to(ROOT))
        for file in ROOT.rglob("*.py")
        if re.search(r"</(p|h[1-6]|div|span|td|th|tr|table|ul|li|html|svg|text)>", file.read_text())
    }
    assert by_hand <= allowed


def test_a_page_asks_nobody_and_says_so_to_the_browser():
    text = filled("words")
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'" in text
    assert not re.search(r"url\(|@import|https?:|src=|href=", text)
    assert filled("words") == text


def test_tables_and_pictures_have_names_for_those_who_do_not_see():
    found = Tags(text := filled("words"))
    assert found.tags.count("caption") == found.tags.count("table") > 0
    assert text.count('role="region" aria-label="words" tabindex="0"') == found.tags.count("table")
    assert text.count('role="img" aria-label="words"') == found.tags.count("figure")
    assert 'scope="col"' in text
    assert 'scope="row"' in text
    assert "width=device-width" in text


def test_identifiers_of_a_picture_get_a_prefix_and_words_do_not():
    shape, words = (
        '<path id="{0}a"/><use xlink:href="#{0}a" style="fill: url(#{0}a)"/>',
        '<text>x id="a" url(#a)</text>',
    )
    file = f'<?xml version="1.0"?>\n<svg>{shape.format("")}{words}</svg>\n'
    assert inline_svg(file.encode(), "p-") == f"<svg>{shape.format('p-')}{words}</svg>"


def schemes():
    """The colours by day and by night."""
    light, dark = (dict(re.findall(r"--([a-z-]+): ([^;]+);", part)) for part in STYLE.split("@media", 2)[:2])
    light |= {"ink": drawing.INK, "soft": drawing.SOFT}
    return {"light": light, "dark": light | dark}


def luminance(colour):
    digits = colour.removeprefix("#")
    digits = "".join(2 * each for each in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("front", "behind"),
    [
        ("ink", "paper"), ("ink", "tint"), ("ink", "none-tint"), ("soft", "paper"), ("soft", "none-tint"),
        ("blue", "paper"), ("bad", "paper"),
        ("good", "good-tint"), ("bad", "bad-tint"), ("ink", "good-tint"), ("ink", "bad-tint"), ("paper", "bad"),
    ],
)  # fmt: skip
def test_words_stand_out_by_day_and_by_night(scheme, front, behind):
    """WCAG 2.2, success criterion 1.4.3: a contrast of at least 4.5."""
    colours = schemes()[scheme]
    high, low = sorted((luminance(colours[front]), luminance(colours[behind])), reverse=True)
    assert (high + 0.05) / (low + 0.05) >= 4.5
