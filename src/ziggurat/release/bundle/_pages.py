"""The two pages of a bundle: one for everybody, one for the steward. One HTML file each, and no request to anywhere."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from ziggurat.ledger import fingerprint
from ziggurat.privacy import in_words
from ziggurat.release.bundle._facts import Laid, in_text, tables

if TYPE_CHECKING:
    from jinja2 import Environment

_KINDS = {
    "question": "An answer to a question",
    "workload": "Answers to a workload of questions",
    "labels": "Labels by teachers",
    "model": "A model",
    "anonymised": "An anonymised table",
    "masked": "A masked table",
    "synthetic": "A synthetic table",
    "collection": "Collected reports",
}


def public_page(certificate: Mapping[str, Any], public_key: str, rehearsal: bool) -> str:
    """The page that goes out: made of the certificate alone, and of the key that signs it."""
    signer = fingerprint(public_key) if public_key else ""
    return _drawn("public.html", _common(certificate, rehearsal), signer=signer)


def stewards_page(
    certificate: Mapping[str, Any],
    evidence: Mapping[str, Any],
    verdict: Mapping[str, Any],
    charts: Mapping[str, str],
    rehearsal: bool,
) -> str:
    """The page that stays: the decision, what it rests on, and what to do next."""
    known = _common(certificate, rehearsal)
    return _drawn(
        "steward.html",
        known,
        verdict=verdict,
        weighed=[*_weighed(verdict, "stopped"), *_weighed(verdict, "passed")],
        unjudged=_mapping(verdict.get("no_verdict")),
        findings=_findings(_mapping(evidence.get("made"))),
        skipped=_mapping(evidence.get("skipped")),
        measured=list(tables(_mapping(evidence.get("facts")))),
        charts={title: _data_uri(svg) for title, svg in charts.items()},
    )


def _common(certificate: Mapping[str, Any], rehearsal: bool) -> dict[str, Any]:
    """What both pages show of a certificate."""
    kind = certificate.get("kind")
    promise = certificate.get("promise")
    return {
        "certificate": certificate,
        "title": _KINDS.get(str(kind), f"A release: {kind}"),
        "rehearsal": rehearsal,
        "promise": promise if isinstance(promise, Mapping) else None,
        "amounts": _amounts(promise),
        "guess": _guess(promise),
        "unit": _unit(promise),
        "decision": certificate.get("decision"),
        "not_protected": certificate.get("not_protected") or (),
        "artefacts": certificate.get("artefacts") or (),
        "versions": _mapping(certificate.get("versions")),
        "recorded": _mapping(certificate.get("recorded")),
        "shown": {name: _json(certificate[name]) for name in ("details", "config") if certificate.get(name)},
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


def _weighed(verdict: Mapping[str, Any], outcome: str) -> list[dict[str, Any]]:
    """What the gate compared with which threshold, amounts in words."""
    return [
        {**each, "stopped": outcome == "stopped", **{name: _amount(each.get(name)) for name in ("threshold", "level")}}
        for each in map(_mapping, verdict.get(outcome) or ())
    ]


def _amount(said: Any) -> str:
    try:
        return in_words(Fraction(said))
    except (TypeError, ValueError, ZeroDivisionError):
        return in_text(said)


def _findings(made: Mapping[str, Any]) -> list[tuple[str, str, list[Laid]]]:
    """Every attack: its name, its sentence, and its figures."""
    found = {name: _mapping(each) for name, each in made.items()}
    return [(name, each.get("sentence", ""), list(tables({**each, "sentence": None}))) for name, each in found.items()]


def _mapping(said: Any) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)


def _data_uri(svg: str) -> str:
    """A picture as an image: whatever stands in it cannot run, and cannot ask for anything."""
    return "data:image/svg+xml;base64," + b64encode(svg.encode("utf-8", "replace")).decode()


def _drawn(template: str, known: Mapping[str, Any], **more: Any) -> str:
    text = _environment().get_template(template).render(**known, **more)
    # Halves of characters, which no file can hold, are written as escapes.
    return text.encode("utf-8", "backslashreplace").decode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader

    made = Environment(
        loader=PackageLoader("ziggurat.release.bundle"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["written"] = in_text
    return made
