"""A bundle of an answer, as a folder and as a zip, in a place of the test's own."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ziggurat.ledger import generate_key
from ziggurat.release.bundle import Contents, write_bundle

SENTENCE = "No output becomes more than 1.23 times as likely by adding or removing one person (column patient_id)."
ROWS = b"age_group,people\n0-17,120\n18-64,4021\n"


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    generate_key(tmp_path / "steward.key")
    return tmp_path / "steward.key"


@pytest.fixture
def public_key(key: Path) -> Path:
    return Path(f"{key}.pub")


_SEALED = {"sha256": sha256(ROWS).hexdigest(), "bytes": len(ROWS)}


def certificate(**changed: Any) -> dict[str, Any]:
    promise = {
        "sentence": SENTENCE,
        "unit": "one person (column patient_id)",
        "relation": "add-or-remove-one",
        "event": {"kind": "pure"},
        "epsilon": "1/5",
        "delta": "0",
        "account": "pure",
    }
    return {
        "format": "ziggurat/certificate/2",
        "kind": "question",
        "what": "SELECT age_group, COUNT(*) AS people FROM clinic GROUP BY age_group",
        "made": "2026-11-16",
        "promise": promise,
        "sentence": SENTENCE,
        "not_protected": ["What other releases tell."],
        "randomness": "secure",
        "rehearsal": False,
        "population": "clinic",
        "budget": "clinic",
        "analyst": "ana",
        "recorded": {"ledger": "l", "budget": "clinic", "analyst": "ana", "seq": 14, "hash": "ab" * 32},
        "artefacts": [{"name": "answer.csv", **_SEALED}],
        "decision": None,
        "versions": {"ziggurat": "0.3.0", "python": "3.11.2"},
        "config": None,
        "details": {"noise": "discrete Laplace"},
    } | changed


EVIDENCE = {
    "made": {"singling out": {"sentence": "3 of 1,000 guesses single somebody out.", "rate": 0.003}},
    "skipped": {"linking": "Nothing is left to link."},
    "alarms": [],
    "facts": {"risk": {"before": {"highest": 1.0}, "after": {"highest": 0.2}}},
}
VERDICT = {
    "stopped": [],
    "passed": [
        {
            "attack": "singling out",
            "figure": 0.003,
            "means": "more guesses than chance",
            "threshold": "1/5",
            "chance": 0.31,
            "level": "1/40",
            "claimed": False,
            "sentence": "singling out: 0.003",
        }
    ],
    "no_verdict": {"homogeneity": "It has no threshold."},
    "skipped": {},
    "level": "1/20",
    "guaranteed": True,
    "refuted": False,
    "sentence": "The gate lets it go.",
}


@pytest.fixture
def contents(tmp_path: Path) -> Callable[..., Contents]:
    """Makes contents of a certificate with some fields changed; the rest by keywords that `Contents` knows."""
    (tmp_path / "rows.csv").write_bytes(ROWS)

    def make(**changed: Any) -> Contents:
        parts = {"evidence": EVIDENCE, "verdict": VERDICT, "artefacts": {"answer.csv": tmp_path / "rows.csv"}}
        own = {name: changed.pop(name) for name in ("evidence", "verdict", "charts") if name in changed}
        names = changed.pop("names", None)
        if names is not None:
            parts["artefacts"] = dict.fromkeys(names, tmp_path / "rows.csv")
            changed["artefacts"] = [{"name": name, **_SEALED} for name in names]
        return Contents(certificate(**changed), **(parts | own))

    return make


@pytest.fixture
def bundle(tmp_path: Path, contents: Callable[..., Contents], key: Path) -> Path:
    return write_bundle(tmp_path / "answer", contents(), key)


@pytest.fixture
def zipped(tmp_path: Path, contents: Callable[..., Contents], key: Path) -> Path:
    return write_bundle(tmp_path / "answer.zip", contents(), key)
