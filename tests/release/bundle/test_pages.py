"""The two pages: for people, without a request to anywhere, and whatever stands in a certificate stays text."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ziggurat.release.bundle import Contents, verify_bundle, write_bundle

Make = Callable[..., Contents]


class Reader(HTMLParser):
    """Collects the tags and attributes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


HOSTILE = "</style></p><script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{ 7*7 }}{% raw %}\ud800\u202e\x1b[31m"


def hostile(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: hostile(each) for key, each in value.items()} | {HOSTILE: HOSTILE}
    if isinstance(value, list):
        return [*map(hostile, value), HOSTILE]
    return HOSTILE


def test_hostile_texts_in_every_field_stay_texts(tmp_path: Path, contents: Make, key: Path) -> None:
    kept = ("format", "made", "artefacts", "randomness", "rehearsal")
    plain = contents()
    made = {name: value if name in kept else hostile(value) for name, value in plain.certificate.items()}
    made["decision"] = {"stopped": [HOSTILE], "reason": HOSTILE}
    given = contents(
        **made,
        evidence=hostile(plain.evidence),
        verdict={"sentence": HOSTILE, "stopped": [hostile(plain.verdict["passed"][0])], "no_verdict": hostile({})},
        charts={HOSTILE: HOSTILE},
    )
    folder = write_bundle(tmp_path / "answer", given, key)
    for page in ("public/index.html", "steward/report.html"):
        text = (folder / page).read_text()
        read = Reader()
        read.feed(text)
        assert not {"script", "iframe", "object", "link", "base", "form", "a"} & set(read.tags), page
        assert not [name for name, _ in read.attributes if name.startswith("on")]
        assert "{{ 7*7 }}" in text  # as it was written, not as a template would read it
    assert verify_bundle(folder).sound


@pytest.mark.parametrize("page", ["public/index.html", "steward/report.html"])
def test_a_page_asks_nobody_for_anything(tmp_path: Path, contents: Make, key: Path, page: str) -> None:
    folder = write_bundle(tmp_path / "answer", contents(charts={"Risk": "<svg/>"}), key)
    text = (folder / page).read_text()
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    read = Reader()
    read.feed(text)
    outside = [value for name, value in read.attributes if name in ("src", "href") and not value.startswith("data:")]
    assert outside == []
    assert not re.search(r"url\(|@import|https?:", text)
    assert "@media print" in text
    assert "width=device-width" in text


def test_the_public_page_says_what_left_what_it_promises_and_how_to_check_it(bundle: Path, key: Path) -> None:
    text = (bundle / "public" / "index.html").read_text()
    for words in (
        "SELECT age_group, COUNT(*) AS people",
        "Privacy is promised",
        "No output becomes more than 1.23 times as likely by adding or removing one person",
        "<strong>55</strong> times in 100",
        "What other releases tell.",
        "ziggurat verify public --key release.pub",
        verify_bundle(bundle).certificate["artefacts"][0]["sha256"],
        verify_bundle(bundle).signer,
        "0.3.0",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("epsilon", "delta", "right"),
    [("1/5", "0", "55"), ("1", "0", "73.2"), ("1", "1/10", "75.8"), ("5", "1/100000", "99.4")],
)
def test_how_often_a_guess_is_right_is_the_exact_bound_rounded_up(
    tmp_path: Path, contents: Make, key: Path, epsilon: str, delta: str, right: str
) -> None:
    """(e^epsilon + delta) / (e^epsilon + 1); 0.54983, 0.73106, 0.75795 and 0.99331 in full."""
    promise = contents().certificate["promise"] | {"epsilon": epsilon, "delta": delta}
    folder = write_bundle(tmp_path / "answer", contents(promise=promise), key)
    assert f"<strong>{right}</strong> times in 100" in (folder / "public" / "index.html").read_text()


def test_an_unbounded_release_says_so_first(tmp_path: Path, contents: Make, key: Path) -> None:
    made = contents(promise=None, sentence="Nothing bounds what this tells.")
    folder = write_bundle(tmp_path / "answer", made, key)
    text = (folder / "public" / "index.html").read_text()
    assert "There is no privacy promise" in text
    assert text.index("There is no privacy promise") < text.index("<h2>")
    assert "Privacy is promised" not in text
    assert "Decision: released, without a promise" in (folder / "steward" / "report.html").read_text()


def test_the_stewards_page_has_the_decision_first_and_what_to_do_last(bundle: Path) -> None:
    text = (bundle / "steward" / "report.html").read_text()
    order = [
        "Decision: released, with a promise",
        "What was promised",
        "What the gate said",
        "The gate lets it go.",
        "more guesses than chance",
        "It has no threshold.",
        "Attack by attack",
        "3 of 1,000 guesses single somebody out.",
        "Nothing is left to link.",
        "Risk and loss",
        "What to do next",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert re.search(r"highest</th><td class=\"number\">1</td><td class=\"number\">0.2<", text)
