"""The two pages of a bundle: one for everybody, one for the steward. One HTML file each, and no request to anywhere."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from ziggurat.ledger import fingerprint
from ziggurat.pages import Grid, Picture, TableCell, render
from ziggurat.privacy import in_words
from ziggurat.release.bundle._facts import Laid, in_text, tables

_KINDS = {
    "question": "An answer to a question",
    "workload": "Answers to a workload of questions",
    "labels": "Labels by teachers",
    "model": "A model",
    "anonymized table": "An anonymised table",
    "anonymised table": "An anonymised table",
    "masked table": "A masked table",
    "synthetic table": "A synthetic table",
    "sequences": "Synthetic sequences",
    "trajectories": "Synthetic trajectories",
    "communities": "Communities by places and hours",
    "reports": "Collected reports",
}


_SHOWN = {"details": "Further details", "config": "The file that describes this release"}
_WEIGHED = [
    ("attack", "wide"),
    *((name, "number") for name in ("found", "threshold", "by chance", "allowed")),
    ("", ""),
]
_TEXTS = ("made", "what", "sentence", "population", "budget", "analyst", "randomness")


def public_page(certificate: Mapping[str, Any], public_key: str, rehearsal: bool) -> str:
    """The page that goes out: made of the certificate alone, and of the key that signs it."""
    signer = fingerprint(public_key) if public_key else ""
    return render("release/bundle/public.html", **_common(certificate, rehearsal), signer=signer)


def stewards_page(
    certificate: Mapping[str, Any],
    evidence: Mapping[str, Any],
    verdict: Mapping[str, Any],
    charts: Mapping[str, str],
    rehearsal: bool,
) -> str:
    """The page that stays: the decision, what it rests on, and what to do next."""
    rows = [_gate_row(each, outcome) for outcome in ("stopped", "passed") for each in verdict.get(outcome) or ()]
    return render(
        "release/bundle/steward.html",
        **_common(certificate, rehearsal),
        said=verdict.get("sentence"),
        stopped=verdict.get("stopped"),
        weighed=Grid("What the gate weighed", _WEIGHED, rows),
        unjudged=list(_mapping(verdict.get("no_verdict")).items()),
        findings=_findings(_mapping(evidence.get("made"))),
        skipped=list(_mapping(evidence.get("skipped")).items()),
        measured=_grids(tables(_mapping(evidence.get("facts")))),
        charts=[Picture(_image(svg), title, title) for title, svg in charts.items()],
    )


def _common(certificate: Mapping[str, Any], rehearsal: bool) -> dict[str, Any]:
    """What both pages show of a certificate."""
    kind, promise = certificate.get("kind"), certificate.get("promise")
    decision, told = _mapping(certificate.get("decision")), _mapping(promise)
    recorded = _mapping(certificate.get("recorded"))
    return {
        **{name: certificate.get(name) or "" for name in _TEXTS},
        "title": _KINDS.get(str(kind), f"A release: {kind}"),
        "rehearsal": rehearsal,
        "promised": bool(told),
        "relation": told.get("relation"),
        "account": told.get("account"),
        "amounts": _amounts(promise),
        "guess": _guess(promise),
        "unit": _unit(promise),
        "decision": {"stopped": (), "reason": "", "refuted": False, **decision} if decision else None,
        "not_protected": certificate.get("not_protected") or (),
        "audited": _mapping(certificate.get("audited")).get("sentence") or "",
        "artefacts": [
            (each["name"], in_text(each["bytes"]), each["sha256"]) for each in certificate.get("artefacts") or ()
        ],
        "versions": list(_mapping(certificate.get("versions")).items()),
        "recorded": {name: recorded.get(name) for name in ("ledger", "seq", "hash")},
        "shown": [(words, _json(certificate[name])) for name, words in _SHOWN.items() if certificate.get(name)],
    }


def _exact(promise: Any, name: str) -> Fraction | None:
    try:
        return Fraction(promise[name])
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def _amounts(promise: Any) -> str:
    epsilon, delta = _exact(promise, "epsilon"), _exact(promise, "delta")
    if epsilon is None:
        return ""
    return f"epsilon {in_words(epsilon)}" + (f", delta {in_words(delta)}" if delta else "")


def _guess(promise: Any) -> str:
    """How often somebody can be right about one person who was as likely in the table as not; rounded up.

    (e^epsilon + delta) / (e^epsilon + 1): the best test between two neighbours, each with probability one half, by
    P[S] <= e^epsilon Q[S] + delta in both directions (Kairouz, Oh, Viswanath 2015, Theorem 2.1).
    """
    epsilon, delta = _exact(promise, "epsilon"), _exact(promise, "delta")
    if epsilon is None or delta is None or not 0 <= epsilon <= 20 or not 0 <= delta < 1:
        return ""
    power = math.exp(epsilon)
    right = (power + float(delta)) / (power + 1)
    share = min(100.0, math.ceil(right * 1000 + 1e-9) / 10)
    return f"{share:g}"


def _unit(promise: Any) -> str:
    said = promise.get("unit") if isinstance(promise, Mapping) else None
    if isinstance(said, Mapping):
        said = said.get("name") or said.get("unit")
    return said.removeprefix("one ") if isinstance(said, str) else "row"


def _gate_row(said: Any, outcome: str) -> list[str | TableCell]:
    """What the gate compared with which threshold, amounts in words."""
    each = _mapping(said)
    refused = TableCell("✗ refuted" if each.get("claimed") else "✗ stops", look="bad")
    return [
        TableCell(in_text(each.get("attack")), in_text(each.get("means"))),
        in_text(each.get("figure")),
        _amount(each.get("threshold")),
        in_text(each.get("chance")),
        _amount(each.get("level")),
        refused if outcome == "stopped" else TableCell("✓ passes", look="good"),
    ]


def _amount(said: Any) -> str:
    try:
        return in_words(Fraction(said))
    except (TypeError, ValueError, ZeroDivisionError):
        return in_text(said)


def _findings(made: Mapping[str, Any]) -> list[tuple[str, str, list[Grid]]]:
    """Every attack: its name, its sentence, and its figures."""
    found = {name: _mapping(each) for name, each in made.items()}
    return [
        (name, each.get("sentence", ""), _grids(tables({**each, "sentence": None}))) for name, each in found.items()
    ]


def _grids(laid: Iterable[Laid]) -> list[Grid]:
    return [_grid(each) for each in laid]


def _grid(laid: Laid) -> Grid:
    heads = laid.heads or [""] * max((len(row) for row in laid.rows), default=0)
    more = f"{laid.left_out} more rows are in evidence.json." if laid.left_out else ""
    return Grid(laid.title, [(name, "number" if i else "wide") for i, name in enumerate(heads)], laid.rows, more)


def _mapping(said: Any) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _image(svg: str) -> Markup:
    """A picture as an image: whatever stands in it cannot run, and cannot ask for anything."""
    data = b64encode(svg.encode("utf-8", "replace")).decode()
    return Markup('<img src="data:image/svg+xml;base64,{}" alt="">').format(data)
