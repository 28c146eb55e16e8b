"""Long work of a server: releases that a description asks for, jobs that are watched, bundles fetched and verified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ziggurat.cards import Card, Shown
from ziggurat.client._calls import ServerCalls, in_path
from ziggurat.client._effects import Pause, Steps, WireRequest
from ziggurat.client._exchange import exchange, once
from ziggurat.client._facts import ServedJob, ServedOutlook, ServedRelease
from ziggurat.client._operation import operation
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import check_output, replacing
from ziggurat.plain import from_plain, to_plain
from ziggurat.wording import count_noun

_LOOK_SECONDS, _LONGEST_LOOK = 0.2, 5.0

Described = Mapping[str, Any] | str | Path
"""A release as its file says it, with the server's names for tables and uploads; or that file."""


@dataclass(frozen=True)
class BundleCheck(Shown):
    """What a server found when it verified a bundle.

    Attributes
    ----------
    sound
        Whether every file is as it was signed, and it is no rehearsal.
    problems
        What is wrong: each with `file`, `what` and `field`.
    rehearsal, signer, ours
        Whether it is a rehearsal, whose key signed it, by its fingerprint, and whether that is the server's own.
    parts, files, bytes
        Which parts there were, and how much was compared with its hashes.
    certificate
        What was promised, as it was signed.
    """

    sound: bool
    problems: tuple[Mapping[str, Any], ...]
    rehearsal: bool
    signer: str
    ours: bool
    parts: tuple[str, ...]
    files: int
    bytes: int
    certificate: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def _card(self) -> Card:
        whose = "signed by this server" if self.ours else f"signed by {self.signer or 'nobody'}"
        found = "sound" if self.sound else count_noun(len(self.problems), "problem")
        return Card("BundleCheck", f"{found}, {whose}")


class JobSteps(ServerCalls):
    """Releases, jobs, and deciding whether there should be one."""

    @operation
    def plan_release(self, description: Described, group_size: int = 1_000) -> Steps[ServedOutlook]:
        """Price a release with a guarantee, and say how exact it would be; no row is read, and nothing is spent.

        Parameters
        ----------
        description
            As a release file says it, or that file; a table is one of the server, another file an upload.
        group_size
            For groups of how many errors are told.
        """
        body = {"description": read_description(description), "group_size": group_size}
        request = WireRequest("POST", "/v1/releases/plan", body=body, harmless=True)
        told = yield from exchange(request, self._patience)
        return ServedOutlook(tuple(told["sentences"]), bool(told.get("fits", True)), told)

    @operation
    def try_release(self, description: Described) -> Steps[ServedJob]:
        """Measure a release that nothing bounds, as a job, for the stewards of its table; nothing leaves."""
        return (yield from self._begin("/v1/releases/try", {"description": read_description(description)}))

    @operation
    def run_release(self, description: Described, open_to_all: bool | None = None) -> Steps[ServedJob]:
        """Run a release as a job: paid once, also if this is sent again; `wait` tells how it ended.

        Parameters
        ----------
        description
            As for `plan_release`.
        open_to_all
            Whether everybody who may see the table may have the public part; stewards' are by default.
        """
        body = {"description": read_description(description), "open": open_to_all}
        return (yield from self._begin("/v1/releases", body))

    @operation
    def measure_risk(
        self, table: str, quasi_identifiers: Sequence[str] = (), sensitive: Sequence[str] = (), threshold: float = 0.2
    ) -> Steps[ServedJob]:
        """Measure how exposed the people in a table are, as a job; the figures are exact, and for its stewards."""
        said = {"kind": "risk", "table": table, "threshold": threshold}
        said |= {"quasi_identifiers": list(quasi_identifiers), "sensitive": list(sensitive)}
        return (yield from self._begin("/v1/jobs", {"job": said}))

    @operation
    def jobs(self) -> Steps[list[ServedJob]]:
        """List the newest jobs of whoever asks, and those about tables that they look after."""
        return [_read_job(each) for each in (yield from self._get("/v1/jobs"))["jobs"]]

    @operation
    def job(self, job: str) -> Steps[ServedJob]:
        """Say how far a job is, and what came of it."""
        return _read_job((yield from self._get(f"/v1/jobs/{in_path(job)}")))

    @operation
    def wait(self, job: ServedJob | str, seconds: float = 3_600) -> Steps[ServedJob]:
        """Wait until a job has ended; gives how, and `require_done` raises what it failed with.

        Parameters
        ----------
        job
            The job, or its id.
        seconds
            For how long to wait at most; then the job is given as it is, and goes on.
        """
        path = f"/v1/jobs/{in_path(job if isinstance(job, str) else job.id)}"
        found, waited, pause = _read_job((yield from self._get(path))), 0.0, _LOOK_SECONDS
        while not found.over and waited < seconds:
            yield Pause(pause)
            waited, pause = waited + pause, min(pause * 1.5, _LONGEST_LOOK)
            found = _read_job((yield from self._get(path)))
        return found

    @operation
    def cancel(self, job: str) -> Steps[ServedJob]:
        """End a job; what was reserved for it stays spent."""
        return _read_job((yield from self._send("POST", f"/v1/jobs/{in_path(job)}/cancel")))

    @operation
    def go_on(self, job: str, reason: str) -> Steps[ServedJob]:
        """Let a release go on that a gate stopped, with a reason that stays for ever; for the table's stewards."""
        return _read_job((yield from self._send("POST", f"/v1/jobs/{in_path(job)}/go-on", {"reason": reason})))

    @operation
    def releases(self, table: str = "") -> Steps[list[ServedRelease]]:
        """List what has left and whoever asks may have, newest first."""
        told = yield from self._get("/v1/releases", table=table or None)
        return [from_plain(ServedRelease, each) for each in told["releases"]]

    @operation
    def download(
        self, release: str, out: str | Path, part: Literal["public", "bundle"] = "public", *, force: bool = False
    ) -> Steps[Path]:
        """Fetch the bundle of a release, or its public part, which `ziggurat verify` checks; whole or not at all.

        Parameters
        ----------
        release
            Its id, which is that of its job.
        out
            The .zip file to be written.
        part
            public, or for the stewards of its table bundle: with the evidence.
        force
            Whether a file that is there may be replaced.
        """
        if part not in ("public", "bundle"):
            raise ParameterError("What is fetched is 'public' or 'bundle'.")
        check_output(str(out), force=force)
        with replacing(out, mode=0o600 if part == "bundle" else None) as draft:
            request = WireRequest("GET", f"/v1/releases/{in_path(release)}/{part}", into=draft)
            yield from exchange(request, self._patience)
        return Path(out)

    @operation
    def certificate(self, release: str) -> Steps[dict[str, Any]]:
        """Give what is known of a release: its certificate, and for stewards also what attacks found."""
        found: dict[str, Any] = yield from self._get(f"/v1/releases/{in_path(release)}")
        return found

    @operation
    def open_release(self, release: str, open_to_all: bool) -> Steps[ServedRelease]:
        """Let everybody who may see the table have the public part, or nobody; for the table's stewards."""
        told = yield from self._send("PATCH", f"/v1/releases/{in_path(release)}", {"open": open_to_all})
        made: ServedRelease = from_plain(ServedRelease, told)
        return made

    @operation
    def verify_release(self, bundle: str | Path) -> Steps[BundleCheck]:
        """Have a bundle verified, a .zip that is sent there and not kept; who trusts the server less does it here.

        Parameters
        ----------
        bundle
            The file: a bundle, or one of its parts.
        """
        if not Path(bundle).is_file():
            raise DataError(f"There is no bundle {str(bundle)!r} in one file; a server verifies a .zip.")
        request = WireRequest("POST", "/v1/releases/verify", file=Path(bundle), harmless=True)
        return _read_check((yield from exchange(request, self._patience)))

    @operation
    def release_key(self) -> Steps[dict[str, str]]:
        """Give the public key that signs the releases of the server: `text` is what `ziggurat verify --key` reads."""
        found: dict[str, str] = yield from self._get("/v1/releases/key")
        return found

    @operation
    def release_schema(self) -> Steps[dict[str, Any]]:
        """Give the JSON schema of descriptions of releases, as the server knows them."""
        found: dict[str, Any] = yield from self._get("/v1/releases/schema")
        return found

    @operation
    def decide(self, asked: Mapping[str, Any]) -> Steps[dict[str, Any]]:
        """For each epsilon: error, confidence, money, and what attackers may believe; no data is read.

        Parameters
        ----------
        asked
            What is released, with which noise, and what is wanted of it: {"query": "count", "error": "10"}.
        """
        request = WireRequest("POST", "/v1/decide", body=to_plain(dict(asked)), harmless=True)
        found: dict[str, Any] = yield from exchange(request, self._patience)
        return found

    def _begin(self, path: str, body: Mapping[str, Any]) -> Steps[ServedJob]:
        return _read_job((yield from exchange(once(WireRequest("POST", path, body=body)), self._patience)))


def read_description(description: Described) -> dict[str, Any]:
    """Read what a release file says, without looking for what it names: that is the server's to find."""
    if isinstance(description, Mapping):
        found: Any = dict(description)
    else:
        import yaml

        try:
            found = yaml.safe_load(Path(description).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            raise DataError(f"The release file {str(description)!r} cannot be read; check its name.") from None
    if not isinstance(found, dict):
        raise DataError("A description of a release is a mapping, such as {format: …, table: …, release: …}.")
    plain: dict[str, Any] = to_plain(found)
    return plain


def _read_job(told: Mapping[str, Any]) -> ServedJob:
    made: ServedJob = from_plain(ServedJob, told)
    return made


def _read_check(told: Mapping[str, Any]) -> BundleCheck:
    made: BundleCheck = from_plain(BundleCheck, told)
    return made
