"""An ensemble in a folder, and the seeds of a run that may be killed: JSON, safetensors and skops, no pickle."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from ziggurat.data import write_text
from ziggurat.errors import ArtefactError, DataError
from ziggurat.pate import _checkpoints, _networks
from ziggurat.pate._classifiers import Classifiers, read_classifier, write_classifier
from ziggurat.randomness import Source

FORMAT = "ziggurat/pate/teachers/1"
_INDEX = "teachers.json"
_RUN = "run.json"


def seeds(folder: Path | None, source: Source, teachers: int) -> tuple[int, ...]:
    """Return a seed for the search and one for every teacher; a run with checkpoints notes them and finds them again.

    A secure source never repeats itself, so without the note a run that was killed could not go on.
    """
    drawn = [_seed(source, "search", 0), *(_seed(source, "teacher", number) for number in range(teachers))]
    if folder is None:
        return tuple(drawn)
    path = folder / _RUN
    if path.exists():
        return _noted(path, drawn, source)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({"origin": source.origin, "seeds": drawn}), mode=0o600)
    return tuple(drawn)


def save(folder: Path, facts: dict[str, Any], model: Any) -> None:
    """Write an ensemble; until the index is replaced, which is done last, a reader finds the old one."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = _saved_classifiers(folder, model) if isinstance(model, Classifiers) else _saved_groups(folder, model)
    index = {"format": FORMAT, **facts, "seen": model.seen.astype(int).tolist(), **parts}
    write_text(folder / _INDEX, json.dumps(index), mode=0o600)
    used = {part["file"] for part in parts["parts"]}
    for path in folder.glob("part-*"):
        if path.name not in used:
            path.unlink()


def load(folder: Path, network: _networks.Network | None, device: str) -> tuple[dict[str, Any], Any]:
    """Read the facts and the trained teachers."""
    try:
        index = json.loads((folder / _INDEX).read_text(encoding="utf-8"))
        known = index["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError):
        raise ArtefactError(f"There are no readable teachers in {str(folder)!r}.") from None
    if not known:
        raise ArtefactError(f"The teachers in {str(folder)!r} were saved by another version of Ziggurat.")
    for part in index["parts"]:
        _require_whole(folder / part["file"], part["digest"])
    return index, _loaded(folder, index, network, device)


def _loaded(folder: Path, index: dict[str, Any], network: _networks.Network | None, device: str) -> Any:
    seen = np.array(index["seen"], dtype=bool)
    if index["kind"] == "classifiers":
        fitted: list[Any | None] = [None] * len(seen)
        for part in index["parts"]:
            fitted[part["teacher"]] = read_classifier(folder / part["file"])
        return Classifiers(fitted, seen)
    _networks.require_torch()
    from ziggurat.pate._answers import Group, Networks
    from ziggurat.pate._training import Trained

    groups = [
        Group(
            _networks.from_dict(part["network"], network),
            np.array(part["members"]),
            Trained.of(_checkpoints.load(folder / part["file"]).tensors),
        )
        for part in index["parts"]
    ]
    return Networks(groups, seen, device)


def _saved_groups(folder: Path, model: Any) -> dict[str, Any]:
    parts = []
    for group in model.groups:
        content = _checkpoints.packed(group.trained.tensors(), {})
        named = _written(folder, content, ".safetensors")
        parts.append({**named, "network": _networks.to_dict(group.network), "members": group.members.tolist()})
    return {"kind": "networks", "parts": parts}


def _saved_classifiers(folder: Path, model: Classifiers) -> dict[str, Any]:
    parts = []
    for teacher, fitted in enumerate(model.fitted):
        if fitted is not None:
            parts.append({**_written(folder, write_classifier(fitted), ".skops"), "teacher": teacher})
    return {"kind": "classifiers", "parts": parts}


def _written(folder: Path, content: bytes, ending: str) -> dict[str, str]:
    """Write under a name made of the content: files of another ensemble are never overwritten."""
    digest = hashlib.sha256(content).hexdigest()
    name = f"part-{digest[:24]}{ending}"
    _checkpoints.write_bytes(folder / name, content)
    return {"file": name, "digest": digest}


def _require_whole(path: Path, digest: str) -> None:
    try:
        whole = hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        whole = False
    if not whole:
        raise ArtefactError(f"{str(path)!r} is missing or damaged; restore a copy, or train again.")


def _seed(source: Source, label: str, number: int) -> int:
    return int(source.child(label, number).words(1)[0] >> np.uint64(1))


def _noted(path: Path, drawn: list[int], source: Source) -> tuple[int, ...]:
    try:
        noted = json.loads(path.read_text(encoding="utf-8"))
        found = tuple(int(seed) for seed in noted["seeds"])
        same_origin = noted["origin"] == source.origin
    except (OSError, ValueError, KeyError, TypeError):
        raise ArtefactError(f"{str(path)!r} is damaged; choose an empty folder for checkpoints.") from None
    if not same_origin or len(found) != len(drawn) or not (source.secure or found == tuple(drawn)):
        raise DataError(
            f"The checkpoints in {str(path.parent)!r} are of another run (another seed, or number of teachers); "
            "choose an empty folder."
        )
    return found
