"""What `ziggurat release` and `ziggurat model` do on a server: jobs that are waited for, bundles that are fetched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.cli.server._reach import open_server, refuse_local
from ziggurat.cli.terminal import show_steps
from ziggurat.errors import ParameterError, ZigguratError

if TYPE_CHECKING:
    from ziggurat.client import ServedJob, ServedOutlook, Server

_TELL_SECONDS = 5.0  # `wait` looks rarer and rarer within them, and anew after them


def plan_release(url: str, file: str, group_size: int) -> ServedOutlook:
    """Price a release on a server, or measure there, as a job, what nothing bounds and so has no price."""
    refuse_local("file", "group_size")
    with open_server(url) as server:
        try:
            return server.plan_release(file, group_size)
        except ParameterError as unpriced:
            with show_steps() as tell:
                tell("making and attacking it on the server")
                return _measure(server, file, unpriced, tell)


def _measure(server: Server, file: str, unpriced: ParameterError, tell: Callable[[str], None]) -> ServedOutlook:
    try:
        job = server.try_release(file)
    except ZigguratError:  # it has a price, or is not this one's to measure: what was wrong with it was said first
        raise unpriced from None
    done = _wait(server, job, tell)
    done.require_done()
    facts = dict(done.result or {})
    from ziggurat.client import ServedOutlook

    return ServedOutlook(tuple(facts.get("sentences", ())), bool(facts.get("fits", True)), facts)


def run_release(url: str, file: str, go_on: str) -> tuple[dict[str, Any], Path | None]:
    """Run a release on a server, wait for it, and fetch its bundle beside its file; none of an analyst's rehearsal.

    Gives what came of the job, and where the bundle is.
    """
    from ziggurat.files import check_output

    refuse_local("file", "go_on")
    out = Path(file).with_suffix(".zip")
    check_output(str(out), force=False)
    with open_server(url) as server, show_steps() as tell:
        tell("sending the release")
        done = _wait(server, server.run_release(file), tell)
        if done.state == "stopped" and go_on:
            done = _wait(server, server.go_on(done.id, go_on), tell)
        done.require_done()
        made, steward = dict(done.result or {}), server.me().role == "steward"
        if made.get("rehearsal") and not steward:
            return made, None
        return made, server.download(done.id, out, "bundle" if steward else "public")


def predict(url: str, model: str, rows: Any) -> list[Any]:
    """Predict by a published model of a server."""
    refuse_local("model", "data", "out")
    with open_server(url) as server:
        return server.predict(model, rows)


def _wait(server: Server, job: ServedJob, tell: Callable[[str], None]) -> ServedJob:
    """Wait until a job has ended, and tell its steps: stewards see them, an analyst that it waits or runs."""
    while not job.over:
        tell(f"{job.step or job.state} on the server")
        job = server.wait(job, _TELL_SECONDS)
    return job
