"""Models that were paid for and that the gate stopped: kept for the steward until somebody decides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError, GateError, ZigguratError
from ziggurat.release.bundle import HeldBundle

if TYPE_CHECKING:
    from ziggurat.release._release import Release


def held_model_folder(folder: str | Path) -> Path:
    """Where a model waits that the gate stopped, if it would have been released to this folder."""
    path = Path(folder)
    return path.with_name(f"{path.name}.held")


def require_unheld(aside: str | Path) -> None:
    """Refuse a folder in which a stopped model could not be kept, before anything is paid."""
    path = Path(aside)
    if path.exists():
        raise DataError(
            f"Something waits in {str(aside)!r} already; let it go with a reason (ziggurat model let-go), or delete it."
        )
    if not path.absolute().parent.is_dir():
        raise DataError(f"The folder of {str(aside)!r} does not exist; create it first.")


def put_aside(error: GateError, aside: str | Path, beside: Mapping[str, str] | None = None) -> GateError:
    """Keep the model of a stopped release, whole or not at all, and give the error that says where it is.

    If it cannot be written, the error says so and has the release still: whoever catches it can keep it elsewhere.
    """
    held: Any = error.held
    release: Release[Any] = held
    try:
        HeldBundle.keep(release, aside, beside=beside)
        kept = f"It was paid for and is kept in {str(aside)!r}, for its owner alone: let it go with a written reason "
        kept += f"(ziggurat model let-go {aside} --go-on WHY), which costs nothing, or delete that folder."
    except ZigguratError as failed:
        kept = f"It was paid for and could not be kept: {failed}"
    made = GateError(f"{error} {kept}")
    made.held, made.place = release, str(aside) if Path(aside).is_dir() else ""
    return made
