"""The page on which somebody answers a survey in a browser: one file that asks only the service it came from."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class SurveyPage:
    """A page, and the policy under which a browser may show it.

    Attributes
    ----------
    text
        HTML, the same for every survey; which one it is about says its address.
    policy
        Its Content-Security-Policy: this script and this style by their hashes, requests to this service only.
    """

    text: str
    policy: str


@cache
def make_survey_page() -> SurveyPage:
    """Put the page together; its script runs under its hash alone, so that nothing that is added to it would."""
    style, script = _part("page.css"), _part("draw.js") + _part("page.js")
    text = _part("page.html").replace("/*STYLE*/", style).replace("/*SCRIPT*/", script)
    policy = (
        f"default-src 'none'; script-src 'sha256-{_digest(script)}'; style-src 'sha256-{_digest(style)}'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return SurveyPage(text, policy)


def _part(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()
