"""The folder of a served model: a private model, its noise and a seal, a public promise, and a count of answers."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import ArtefactError, DataError
from ziggurat.files import create, sync, write_text

if TYPE_CHECKING:
    from ziggurat.learn import StoredModel

FORMAT = "ziggurat/served/1"
MODEL, NOISE, SEAL, COUNT, PROMISE = "model.npz", "noise.path", "seal", "answers", "promise.json"
_PRIVATE = (MODEL, NOISE, SEAL, COUNT)
_DIGITS = 20
_SEAL = 32


class Folder:
    """Where a served model is kept. The promise is written last: a folder without one holds no model."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    @property
    def noise(self) -> Path:
        """Where the path of noise is, if the model walks one."""
        return self.path / NOISE

    @classmethod
    def claim(cls, path: str | Path) -> Folder:
        """Take a new or empty folder for its owner alone, before anything is paid for."""
        made = cls(path)
        if made.path.exists() and (not made.path.is_dir() or any(made.path.iterdir())):
            raise DataError(f"{str(path)!r} is there already; name another folder.")
        try:
            made.path.mkdir(mode=0o700, exist_ok=True)
            made.path.chmod(0o700)
            create(made.path / SEAL, secrets.token_bytes(_SEAL))
            create(made.path / COUNT, _count(0))
        except OSError:
            raise DataError(f"The folder {str(path)!r} cannot be written; name one of yours.") from None
        return made

    def clear(self) -> None:
        """Take away what was written, because nothing may be asked of it."""
        for name in (PROMISE, *_PRIVATE):
            (self.path / name).unlink(missing_ok=True)
        if self.path.is_dir() and not any(self.path.iterdir()):
            self.path.rmdir()

    def keep(self, model: StoredModel, facts: Mapping[str, Any]) -> str:
        """Save the model, readable for its owner alone, and give the digest of it and of the facts."""
        model.save(self.path / MODEL)
        return self.digest(facts)

    def finish(self, promise: Mapping[str, Any]) -> None:
        """Write the promise, which makes the folder one of a served model."""
        write_text(self.path / PROMISE, json.dumps(promise, indent=1))

    def digest(self, facts: Mapping[str, Any]) -> str:
        """What the ledger keeps of the model; keyed by the seal, because a plain hash would let rows be guessed."""
        try:
            seal, model = (self.path / SEAL).read_bytes(), (self.path / MODEL).read_bytes()
        except OSError:
            raise self._damage_error() from None
        told = json.dumps(facts, sort_keys=True).encode()
        return hmac.new(seal, len(told).to_bytes(8, "big") + told + model, hashlib.sha256).hexdigest()

    def promise(self) -> dict[str, Any]:
        """Read the promise, and refuse it unless it is that of the model beside it."""
        held = _read_promise(self.path)
        if held.get("format") != FORMAT or not isinstance(held.get("facts"), dict):
            raise ArtefactError(
                f"There is no served model in {str(self.path)!r}; make one with 'ziggurat model serve'."
            )
        if not hmac.compare_digest(self.digest(held["facts"]), str(held.get("digest"))):
            raise self._damage_error()
        return held

    def require_secret(self) -> None:
        """Refuse private files that others than their owner may read."""
        if any((self.path / name).stat().st_mode & 0o077 for name in _PRIVATE if (self.path / name).exists()):
            raise ArtefactError(
                f"Others may read the private files in {str(self.path)!r}; take their leave away with chmod go-rwx."
            )

    def count(self, more: int = 0) -> int:
        """How many answers were given, after counting so many more; they are counted before they leave."""
        try:
            with (self.path / COUNT).open("r+b" if more else "rb", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX if more else fcntl.LOCK_SH)
                total = int(file.read(_DIGITS + 1)) + more
                if more:
                    os.pwrite(file.fileno(), _count(total), 0)
                    sync(file.fileno())
        except (OSError, ValueError):
            raise ArtefactError(
                f"The count of answers in {str(self.path)!r} cannot be read and written; no answer is given without it."
            ) from None
        return total

    def _damage_error(self) -> ArtefactError:
        return ArtefactError(
            f"The files in {str(self.path)!r} do not belong together or were changed; restore a copy that is not older."
        )


def is_served(path: str | Path) -> bool:
    """Whether a folder says that it holds a served model."""
    return _read_promise(Path(path)).get("format") == FORMAT


def _read_promise(folder: Path) -> dict[str, Any]:
    try:
        held = json.loads((folder / PROMISE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        held = None
    return held if isinstance(held, dict) else {}


def _count(total: int) -> bytes:
    return f"{total:0{_DIGITS}d}\n".encode()
