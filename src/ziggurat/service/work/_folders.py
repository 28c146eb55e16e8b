"""The folder of a job: what it needs, what it has written, and what came of each of its rounds.

Nobody but the service enters it. Names in it are ours: what somebody sent is a link of ours to a file of theirs.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any

from ziggurat.errors import DataError, UnknownNameError
from ziggurat.files import write_text

_ID = re.compile(r"[0-9a-f]{16}")
_OWNER_ONLY = 0o600
DESCRIPTION, BUNDLE, PUBLIC, JOURNAL = "release-said.yaml", "bundle.zip", "public.zip", "journal"  # no table's name
TASK, LOCK = "task.json", "lock"


class JobFolder:
    """Where a job lies.

    Parameters
    ----------
    folder
        Where the service keeps what no database keeps.
    identity
        What the job is called.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        if not _ID.fullmatch(identity):
            raise UnknownNameError("There is no such job.")
        self.id, self.path = identity, folder.absolute() / "jobs" / identity

    @classmethod
    def make(cls, folder: Path, texts: Mapping[str, str], links: Mapping[str, Path]) -> JobFolder:
        """Make a folder for a new job, with texts and links by their names, for the service alone."""
        made = cls(folder, token_hex(8))
        made.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        made.path.mkdir(mode=0o700)
        lay_out(made.path, texts, links)
        return made

    @property
    def description(self) -> Path:
        """What is released, in the words of release files."""
        return self.path / DESCRIPTION

    @property
    def bundle(self) -> Path:
        """What was released, both parts."""
        return self.path / BUNDLE

    @property
    def held(self) -> Path:
        """Where a release waits that was paid for and that the gate stopped."""
        return self.path / f"{BUNDLE}.held"

    @property
    def public(self) -> Path:
        """The public part, to be handed out."""
        return self.path / PUBLIC

    @property
    def journal(self) -> Path:
        """By what a run that was killed is gone on with."""
        return self.path / JOURNAL

    def outcome_file(self, number: int) -> Path:
        """Where it is written what came of a round."""
        return self.path / f"outcome-{number}.json"

    def outcome(self, number: int) -> dict[str, Any] | None:
        """What came of a round; None if it has not ended."""
        return self._read(self.outcome_file(number))

    def outcome_of_release(self) -> dict[str, Any]:
        """What came of the last round, of a job that has released something."""
        numbers = sorted(int(each.stem.partition("-")[2]) for each in self.path.glob("outcome-*.json"))
        found = self.outcome(numbers[-1]) if numbers else None
        return {} if found is None else dict(found.get("result") or {})

    def keep_outcome(self, number: int, outcome: Mapping[str, Any]) -> None:
        """Write down what came of a round, whole or not at all, before anybody is told."""
        write_text(self.outcome_file(number), json.dumps(outcome), mode=_OWNER_ONLY)

    def task(self) -> dict[str, Any]:
        """What is to be done now."""
        found = self._read(self.path / TASK)
        if found is None:
            raise DataError("The folder of the job is damaged; ask for the work anew.")
        return found

    def set_task(self, task: Mapping[str, Any]) -> None:
        """Say what is to be done now."""
        write_text(self.path / TASK, json.dumps(task), mode=_OWNER_ONLY)

    def remove(self) -> None:
        """Take the folder away: nothing was begun."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _read(self, file: Path) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found


def lay_out(place: Path, texts: Mapping[str, str], links: Mapping[str, Path]) -> None:
    """Write texts, and links to files that lie elsewhere, into a folder."""
    for name, text in texts.items():
        write_text(place / name, text, mode=_OWNER_ONLY)
    for name, target in links.items():
        (place / name).symlink_to(target)
