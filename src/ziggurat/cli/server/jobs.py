"""Releases on a server: jobs that are waited for, bundles that are fetched, files that are taken out of them."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ziggurat.cli._outputs import end_with_quote, print_json
from ziggurat.cli.server._reach import open_server, refuse_local
from ziggurat.cli.terminal import show_steps
from ziggurat.errors import DataError, ParameterError, ZigguratError
from ziggurat.files import check_output, write_bytes

if TYPE_CHECKING:
    from ziggurat.client import ServedJob, ServedOutlook, Server

_PATIENCE = 5.0  # seconds between two looks at which step is being done


@dataclass(frozen=True)
class LeftServer:
    """What left a server.

    Attributes
    ----------
    id
        What the release is called there, as its job.
    made
        What came of the job: its certificate, and for stewards what the gate said.
    bundle
        Where the bundle is here; none of an analyst's rehearsal.
    """

    id: str
    made: Mapping[str, Any]
    bundle: Path | None

    @property
    def certificate(self) -> dict[str, Any]:
        """What it promises, and what it cost."""
        return dict(self.made["certificate"])

    def take(self, files: Mapping[str, str], *, force: bool = False) -> None:
        """Take files out of the public part, each to its place; what is not as the certificate says is refused."""
        if self.bundle is None:
            return
        said = {each["name"]: each["sha256"] for each in self.certificate["artefacts"]}
        with zipfile.ZipFile(self.bundle) as held:
            found = {name.rpartition("public/")[2]: name for name in held.namelist()}
            for name, place in files.items():
                content = held.read(found[name]) if name in found else b""
                if hashlib.sha256(content).hexdigest() != said.get(name):
                    raise DataError(f"{str(self.bundle)!r} is not what the server certified; fetch it again.")
                check_output(place, force=force)
                write_bytes(place, content)

    def say(self, *files: str, as_json: bool) -> None:
        """Print what left, what is promised, what the gate said, and where the files are."""
        bundle = None if self.bundle is None else str(self.bundle)
        if as_json:
            taken = {"files": list(files)} if files else {}
            print_json({"release": self.id, **taken, "bundle": bundle, "certificate": self.certificate})
            return
        typer.echo("\n".join(self._sentences()))
        if bundle is None:
            typer.echo("It is a rehearsal, of which the server hands nothing out.")
            return
        if files:
            typer.echo(f"What left is in {', '.join(map(repr, files))}.")
        typer.echo(f"The bundle is in {bundle!r}; 'ziggurat verify' checks it.")

    def _sentences(self) -> list[str]:
        said, told = self.certificate, self.made.get("verdict") or {}
        judged = [str(told["sentence"])] if told.get("sentence") else []
        return [said["what"], said["sentence"], *judged, say_recorded(said)]


def say_recorded(certificate: Mapping[str, Any]) -> str:
    """Say which entry of a ledger remembers a release."""
    entry = certificate["recorded"]
    if entry is None:
        return "No ledger remembers it."
    return f"Entry {entry['seq']} of the ledger {entry['ledger']} says so for ever (budget {entry['budget']!r})."


def plan_release(url: str, file: str, group_size: int) -> ServedOutlook:
    """Price a release on a server, or measure there, as a job, what nothing bounds and so has no price."""
    refuse_local("file", "group_size")
    with open_server(url) as server:
        try:
            return server.plan_release(file, group_size)
        except ParameterError as unpriced:
            return _measure(server, file, unpriced)


def try_described(server: Server, description: Mapping[str, Any] | str) -> ServedOutlook:
    """Measure on a server, as a job, a release that nothing bounds; nothing leaves."""
    from ziggurat.client import ServedOutlook

    with show_steps() as tell:
        tell("making and attacking it on the server")
        done = _wait(server, server.try_release(description), tell)
    done.require_done()
    facts = dict(done.result or {})
    return ServedOutlook(tuple(facts.get("sentences", ())), bool(facts.get("fits", True)), facts)


def _measure(server: Server, file: str, unpriced: ParameterError) -> ServedOutlook:
    try:
        return try_described(server, file)
    except ZigguratError as error:
        if error.exit_code in (ParameterError.exit_code, 8):  # it has a price, or is not this one's to measure
            raise unpriced from None
        raise


def run_release(url: str, file: str, go_on: str) -> LeftServer:
    """Run a release on a server, wait for it, and fetch its bundle beside its file."""
    refuse_local("file", "go_on")
    with open_server(url) as server:
        return run_described(server, file, Path(file).with_suffix(".zip"), go_on)


def run_described(
    server: Server, description: Mapping[str, Any] | str, bundle: Path, go_on: str = "", *, force: bool = False
) -> LeftServer:
    """Run what a description says, wait for it, and fetch its bundle; none of an analyst's rehearsal.

    Parameters
    ----------
    server
        Where.
    description
        As a release file says it, or that file.
    bundle
        The .zip file to be written.
    go_on
        Why it shall leave although the gate stops it.
    force
        Whether a file that is there may be replaced.
    """
    check_output(str(bundle), force=force)
    with show_steps() as tell:
        tell("sending the release")
        done = _wait(server, server.run_release(description), tell)
        if done.state == "stopped" and go_on:
            done = _wait(server, server.go_on(done.id, go_on), tell)
        return _fetch(server, done, bundle, force=force)


def let_go_on(url: str, job: str, go_on: str, out: str, *, kind: str = "", force: bool = False) -> LeftServer:
    """Let a release leave that the gate of a server stopped, with a reason, and fetch its bundle.

    Parameters
    ----------
    url, job, go_on
        Where, which job, and why.
    out
        The place beside which its bundle goes.
    kind
        What it must be a release of; else it stays where it is.
    force
        Whether a file that is there may be replaced.
    """
    bundle = bundle_beside(out)
    check_output(str(bundle), force=force)
    with open_server(url) as server, show_steps() as tell:
        asked = server.job(job).request.get("description", {}).get("release", {})
        if kind and asked.get("kind") != kind:
            raise ParameterError(f"The job {job} releases no {kind}; 'ziggurat server go-on' lets other releases go.")
        return _fetch(server, _wait(server, server.go_on(job, go_on), tell), bundle, force=force)


def price_described(server: Server, description: Mapping[str, Any], *, as_json: bool) -> NoReturn:
    """Say what a release with a guarantee would cost on a server, and stop."""
    found = server.plan_release(description)
    end_with_quote("\n".join(found.sentences), found.facts, fits=found.fits, as_json=as_json)


def bundle_beside(out: str) -> Path:
    """Where the bundle goes whose files are taken out to a place: NAME.zip beside it."""
    path = Path(out)
    return path.with_name(f"{path.stem}.zip")


def wait_for(server: Server, job: ServedJob, words: str) -> ServedJob:
    """Wait for a job, tell its steps, and give how it ended; raises what it failed with."""
    with show_steps() as tell:
        tell(words)
        done = _wait(server, job, tell)
    done.require_done()
    return done


def _fetch(server: Server, done: ServedJob, bundle: Path, *, force: bool = False) -> LeftServer:
    if done.state == "stopped":
        raise _stopped(done)
    done.require_done()
    made, steward = dict(done.result or {}), server.me().role == "steward"
    if made.get("rehearsal") and not steward:
        return LeftServer(done.id, made, None)
    fetched = server.download(done.id, bundle, "bundle" if steward else "public", force=force)
    return LeftServer(done.id, made, fetched)


def _stopped(job: ServedJob) -> ZigguratError:
    from ziggurat.errors import GateError

    said = str(((job.result or {}).get("verdict") or {}).get("sentence") or "The gate stopped it.")
    return GateError(
        f"{said} A steward of the table lets it go on with a reason: 'ziggurat server go-on {job.id} --reason …'."
    )


def _wait(server: Server, job: ServedJob, tell: Any) -> ServedJob:
    try:
        while not job.over:
            tell(f"{job.step or job.state} on the server")  # stewards see steps, an analyst that it waits or runs
            job = server.wait(job, _PATIENCE)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"Stopped waiting; the job {job.id} goes on: 'ziggurat server job {job.id}' says how far it is, and "
            f"'ziggurat server cancel {job.id}' ends it."
        ) from None
    return job
