"""The folders that `ziggurat model fit` writes: a model, how cells become its features, and what it promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli.model._options import MODEL, PROMISE
from ziggurat.cli.pate import read_task
from ziggurat.errors import ArtefactError

if TYPE_CHECKING:
    from ziggurat.release import Task


def read_promise(folder: str) -> dict[str, Any]:
    """What the file beside a model says of its promise; a model that the gate stopped has none."""
    if (Path(folder) / "held.json").is_file():
        raise ArtefactError(
            f"The gate stopped the model in {folder!r}, and it has not left; 'ziggurat model let-go {folder}' lets it."
        )
    try:
        held = json.loads((Path(folder) / PROMISE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        held = None
    if not isinstance(held, dict):
        raise ArtefactError(f"There is no readable model in {folder!r}.")
    return held


def load_model(folder: str) -> tuple[Task, Any]:
    """Read the task and the fitted model."""
    from ziggurat import learn
    from ziggurat.release.models import CLASSES, NUMBERS, is_served

    if is_served(folder):
        raise ArtefactError(f"The model in {folder!r} is served; ask it with 'ziggurat model answer {folder} TABLE'.")
    task = read_task(folder)
    try:
        kind = getattr(learn, (NUMBERS | CLASSES)[read_promise(folder)["model"]])
    except (KeyError, TypeError):
        raise ArtefactError(f"There is no readable model in {folder!r}.") from None
    return task, kind.load(Path(folder) / MODEL)
