"""Run the release that a folder describes, or measure it for the steward."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ziggurat.errors import DataError, GateError, ReleaseStoppedError
from ziggurat.release.bundle import HeldBundle, hand_out, release_key, verify_bundle
from ziggurat.release.config import ReleaseJournal, describe_release, run_config
from ziggurat.service.work._folders import JobFolder

Tell = Callable[[str], None]
Asked = Callable[[], bool]


def make_release(job: JobFolder, task: dict[str, Any], tell: Tell, cancelled: Asked) -> dict[str, Any]:
    """Run a release into its bundle; a run that was killed goes on, and nothing is paid a second time."""
    try:
        run_config(
            job.description, key=release_key(create=True).file, go_on=task["go_on"], progress=tell,
            journal=job.journal, cancelled=cancelled,
        )  # fmt: skip
    except GateError as error:
        return {"state": "stopped", "result": _describe_stop(job, error)}
    except ReleaseStoppedError:
        return {"state": "cancelled", "result": {"spent": spent_by(job)}}
    verified = verify_bundle(job.bundle)
    if not (verified.rehearsal or job.public.exists()):
        hand_out(job.bundle, job.public)
    certificate = dict(verified.certificate)
    return {
        "state": "done",
        "result": {
            "certificate": certificate, "sentence": certificate["sentence"], "rehearsal": verified.rehearsal,
            "signer": verified.signer,
        },
        "made": {"kind": certificate["kind"], "what": certificate["what"], "bundle": f"jobs/{job.id}"},
    }  # fmt: skip


def try_release(job: JobFolder, task: dict[str, Any], tell: Tell, cancelled: Asked) -> dict[str, Any]:  # noqa: ARG001
    """Measure what a release would be, for the steward; nothing leaves, and nothing is written down."""
    tell("making and attacking it")
    found = describe_release(job.description)
    said = {name: value for name, value in found.to_dict().items() if name != "bundle"}
    return {"state": "done", "result": {**said, "sentences": found.sentences[:-1]}}


def spent_by(job: JobFolder) -> str:
    """What a job has cost that did not come to its end, in words."""
    with suppress(DataError):
        reservation = ReleaseJournal(job.journal).reservation
        if reservation:
            return f"What reservation {reservation} cost stays spent."
    return "Nothing was spent."


def _describe_stop(job: JobFolder, error: GateError) -> dict[str, Any]:
    """What the gate made of it, for the steward."""
    verdict = evidence = None
    with suppress(DataError):
        waiting = HeldBundle.open(job.held)
        verdict, evidence = waiting.verdict.to_dict(), waiting.evidence
    held: Any = error.held
    if verdict is None and held is not None:
        verdict, evidence = held.verdict.to_dict(), held.evidence.to_dict()
    return {"verdict": verdict, "evidence": evidence, "spent": spent_by(job)}
