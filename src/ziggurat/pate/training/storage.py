"""Trained models in a folder, and the seeds of a run that may be killed: JSON, safetensors and skops, no pickle."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ziggurat.errors import ArtefactError, DataError
from ziggurat.files import write_text
from ziggurat.pate.training import _checkpoints, _networks
from ziggurat.pate.training._classifiers import Classifiers, read_classifier, write_classifier
from ziggurat.pate.training._content import UnknownContentError, digest_content
from ziggurat.randomness import Source, secure

_RUN = "run.json"


@dataclass(frozen=True)
class FolderFormat:
    """What a folder keeps: the name of its index, its format, how other files begin, and how to say it is absent."""

    index: str
    format: str
    prefix: str
    absent: str


TEACHERS = FolderFormat("teachers.json", "ziggurat/pate/teachers/2", "part", "There are no readable teachers")
STUDENT = FolderFormat("student.json", "ziggurat/pate/student/1", "student", "There is no readable student")


def seeds(folder: Path | None, source: Source, teachers: int) -> tuple[int, ...]:
    """Return a seed for the search and one for every teacher; a run with checkpoints notes them and finds them again.

    A secure source never repeats itself, so without the note a run that was killed could not go on.
    """
    drawn = [_seed(source, "search", 0), *(_seed(source, "teacher", number) for number in range(teachers))]
    if folder is None:
        return tuple(drawn)
    path = folder / _RUN
    if path.exists():
        return _read_seeds(path, drawn, source)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({"origin": source.origin, "seeds": drawn}), mode=0o600)
    return tuple(drawn)


def fingerprint(model: Any, manifest: dict[str, Any]) -> str:
    """Return a digest of what teachers learned, keyed with the salts of their manifest.

    A plain digest would let anybody who guesses the rows train on them and compare; the salts stay with the curator.
    """
    key = "".join(entry["salt"] for entry in manifest["teachers"]).encode()
    digest = hmac.new(key, model.seen.tobytes(), "sha256")
    for part in _digest_learned(model):
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()


def _digest_learned(model: Any) -> list[bytes]:
    if isinstance(model, Classifiers):
        return [_content(one) for one in model.fitted]
    return [
        part
        for group in model.groups
        for part in (
            json.dumps([_networks.to_dict(group.network), group.members.tolist()]).encode(),
            _checkpoints.pack(group.trained.tensors(), {}),
        )
    ]


def _content(classifier: Any) -> bytes:
    """A digest of a fitted classifier; one that does not tell what it holds is like no other."""
    try:
        return digest_content(classifier)
    except UnknownContentError:
        return secure().words(4).tobytes()


def save(folder: Path, facts: dict[str, Any], model: Any, kept: FolderFormat = TEACHERS) -> None:
    """Write an ensemble or a student; until the index is replaced, which is done last, a reader finds the old one."""
    folder.mkdir(parents=True, exist_ok=True)
    saved = _save_classifiers if isinstance(model, Classifiers) else _save_groups
    parts = saved(folder, model, kept.prefix)
    index = {"format": kept.format, **facts, "seen": model.seen.astype(int).tolist(), **parts}
    write_text(folder / kept.index, json.dumps(index), mode=0o600)
    used = {part["file"] for part in parts["parts"]}
    for path in folder.glob(f"{kept.prefix}-{'[0-9a-f]' * 24}.*"):
        if path.name not in used:
            path.unlink()


def load(
    folder: Path, network: _networks.Network | None, device: str, kept: FolderFormat = TEACHERS
) -> tuple[dict[str, Any], Any]:
    """Read the facts and the trained models."""
    try:
        index = json.loads((folder / kept.index).read_text(encoding="utf-8"))
        known = index["format"] == kept.format
    except (OSError, ValueError, KeyError, TypeError):
        raise ArtefactError(f"{kept.absent} in {str(folder)!r}.") from None
    if not known:
        raise ArtefactError(f"What is in {str(folder)!r} was saved by another version of Ziggurat.")
    for part in index["parts"]:
        _require_whole(folder / part["file"], part["digest"])
    return index, _load(folder, index, network, device)


def describe_network(network: _networks.Network) -> dict[str, Any]:
    """Give an architecture as JSON; one of the user's own by its shape alone, because a file holds no code."""
    return _networks.to_dict(network)


def network_from(facts: Any, own: _networks.Network | None = None) -> _networks.Network:
    """Make the architecture that `describe_network` told; one of the user's own has to be given again."""
    try:
        return _networks.from_dict(facts, own)
    except (KeyError, TypeError, AttributeError):
        raise ArtefactError("This describes no architecture; give the network that the weights are of.") from None


def _load(folder: Path, index: dict[str, Any], network: _networks.Network | None, device: str) -> Any:
    seen = np.array(index["seen"], dtype=bool)
    if index["kind"] == "classifiers":
        fitted: list[Any | None] = [None] * len(seen)
        for part in index["parts"]:
            fitted[part["teacher"]] = read_classifier(folder / part["file"])
        return Classifiers(fitted, seen)
    _networks.require_torch()
    from ziggurat.pate.training._answers import Networks, TeacherGroup
    from ziggurat.pate.training._chunk import TrainedChunk

    groups = [
        TeacherGroup(
            _networks.from_dict(part["network"], network),
            np.array(part["members"]),
            TrainedChunk.of(_checkpoints.load(folder / part["file"]).tensors),
        )
        for part in index["parts"]
    ]
    return Networks(groups, seen, device)


def _save_groups(folder: Path, model: Any, prefix: str) -> dict[str, Any]:
    parts = []
    for group in model.groups:
        content = _checkpoints.pack(group.trained.tensors(), {})
        named = _write_content(folder, content, prefix, ".safetensors")
        parts.append({**named, "network": _networks.to_dict(group.network), "members": group.members.tolist()})
    return {"kind": "networks", "parts": parts}


def _save_classifiers(folder: Path, model: Classifiers, prefix: str) -> dict[str, Any]:
    parts = []
    for teacher, fitted in enumerate(model.fitted):
        if fitted is not None:
            parts.append({**_write_content(folder, write_classifier(fitted), prefix, ".skops"), "teacher": teacher})
    return {"kind": "classifiers", "parts": parts}


def _write_content(folder: Path, content: bytes, prefix: str, ending: str) -> dict[str, str]:
    """Write under a name made of the content: files of another ensemble are never overwritten."""
    digest = hashlib.sha256(content).hexdigest()
    name = f"{prefix}-{digest[:24]}{ending}"
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


def _read_seeds(path: Path, drawn: list[int], source: Source) -> tuple[int, ...]:
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
