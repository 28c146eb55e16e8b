"""`ziggurat release`: a file describes what leaves; price or measure it, run it into a signed bundle, verify that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, GoOn, out_option
from ziggurat.cli._outputs import print_json
from ziggurat.cli.server import OnServer, OnServerIfSaid, jobs, open_server, refuse_local
from ziggurat.errors import DataError, ZigguratError

if TYPE_CHECKING:
    from ziggurat.release import Verdict

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Releases that a file describes: plan, run into a signed bundle, verify.",
    help="The one way out: a YAML file describes what leaves, from which table and to whose account; the result is a "
    "bundle with a public part, the steward's part and signed manifests.\n\n"
    "  ziggurat release plan answer.yaml      what it would cost or tell; nothing leaves\n\n"
    "  ziggurat release run answer.yaml       pay, make, attack, judge, sign\n\n"
    "  ziggurat release verify answer.yaml    check the bundle that it wrote\n\n"
    "A question, for instance:\n\n"
    "  format: ziggurat/release/1\n\n"
    "  table: patients.csv\n\n"
    "  analyst: ada\n\n"
    "  release: {kind: question, sql: SELECT COUNT(*) AS n FROM patients, epsilon: 0.5, rows_per_unit: 1}",
)

File = Annotated[str, typer.Argument(metavar="FILE", help="The YAML file that describes the release.")]
Key = Annotated[str, typer.Option(help="The private key that signs; by default this user's release key.")]


@app.command()
def plan(
    file: File,
    group_size: Annotated[int, typer.Option(help="For groups of how many the error of means is told.", min=1)] = 1_000,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Say what a release would cost, or tell, and what it would write; nothing leaves.

    With a guarantee: price and expected error from public facts, and no row is read. Without one (anonymised, masked,
    synthetic by trees): it is made and attacked where nobody sees it, for the steward; nothing is recorded. Exit code 3
    if it does not fit what is left, 5 if the gate would stop it. On a server the file names a table as it is called
    there, and what it writes is fetched by 'run'.
    """
    if server:
        outlook = jobs.plan_release(server, file, group_size)
        print_json(outlook.facts) if as_json else typer.echo("\n".join(outlook.sentences))
        refused = 3 if outlook.facts.get("quotation") else 5
        raise typer.Exit(0 if outlook.fits else refused)
    from ziggurat.cli.terminal import show_steps
    from ziggurat.release.config import describe_release

    with show_steps() as tell:
        tell("planning")
        found = describe_release(file, group_size=group_size)
    print_json(found.to_dict()) if as_json else typer.echo("\n".join(found.sentences))
    if not found.fits:
        raise typer.Exit(3 if found.quotation is not None else 5)


@app.command()
def run(
    file: File,
    go_on: GoOn = "",
    key: Key = "",
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Pay, make, attack, judge, and write the signed bundle.

    What will be written is said first. What was paid for before is given again for nothing. A run that was killed is
    simply run again: it takes up what was paid for, by the journal beside the bundle. Exit code 3 if it costs more than
    is left, 5 if the gate stops it: then nothing has left, and what was paid for waits for a reason.

    On a server it is a job, which goes on whoever waits; the bundle, or its public part for who is no steward, is then
    fetched into a .zip file beside FILE, signed by the server.
    """
    if server:
        jobs.run_release(server, file, go_on).say(as_json=as_json)
        return
    from ziggurat.cli.terminal import show_steps
    from ziggurat.release import Release
    from ziggurat.release.config import ReleaseJournal, journal_of, run_config

    journal, said = ReleaseJournal(journal_of(file)), lambda words: typer.echo(words, err=True)
    try:
        with show_steps() as tell:
            made, bundle = run_config(
                file, key=key or None, go_on=go_on, progress=tell, told=said, journal=journal.folder
            )
    except ZigguratError:
        if journal.given_up:  # whoever reads this error may pay again
            journal.clear()
        raise
    journal.clear()
    certificate: dict[str, Any] = _read_certificate(bundle)
    if as_json:
        print_json({"bundle": str(bundle), "certificate": certificate})
        return
    if certificate["kind"] == "question" and isinstance(made, Release):
        typer.echo(f"{made.output}\n")
    typer.echo("\n".join(_list_sentences(made.verdict, certificate)))
    signed = "it is a rehearsal and not signed" if certificate["rehearsal"] else "signed"
    typer.echo(f"The bundle is in {str(bundle)!r} ({signed}): give away 'public', keep 'steward'.")


def _list_sentences(verdict: Verdict, certificate: Mapping[str, Any]) -> list[str]:
    """What left, what is promised, what the gate said, and where the ledger says so."""
    judged = [verdict.sentence] if verdict.stopped or verdict.passed else []
    return [certificate["what"], certificate["sentence"], *judged, jobs.say_recorded(certificate)]


@app.command()
def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file that describes the release, or its bundle.")],
    key: Annotated[str, typer.Option(help="Whose signature it must bear: a .pub file, or a folder of them.")] = "",
    as_json: AsJson = False,
    server: OnServerIfSaid = "",
) -> None:
    """Check the bundle that a file wrote; the same as 'ziggurat verify BUNDLE'."""
    from ziggurat.cli._verify import verify as check
    from ziggurat.release.config import bundle_of, read_config

    path = Path(file)
    described = path.is_file() and path.suffix.lower() in (".yaml", ".yml", ".json")
    bundle = bundle_of(read_config(path), path) if described else path
    if not bundle.exists():
        raise DataError(f"There is no bundle {str(bundle)!r} yet; 'ziggurat release run {file}' writes it.")
    check(str(bundle), key=key, receipt="", ledger="", as_json=as_json, server=server)


@app.command()
def schema(server: OnServer = "") -> None:
    """Print the JSON schema of the files, for editors and other programs."""
    if server:
        with open_server(server) as opened:
            typer.echo(json.dumps(opened.release_schema(), indent=2))
        return
    from ziggurat.release.config import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))


@app.command()
def hand_out(
    bundle: Annotated[str, typer.Argument(help="A bundle; on a server the id of a release.")],
    out: Annotated[str, out_option("a new folder or .zip file; from a server a .zip file.")],
    server: OnServer = "",
) -> None:
    """Write the public part of a bundle alone, to be given away."""
    if server:
        with open_server(server) as opened:
            fetched = opened.download(bundle, out)
        typer.echo(f"The public part is in {str(fetched)!r}; 'ziggurat verify' checks it.")
        return
    from ziggurat.release.bundle import hand_out as handed

    typer.echo(f"The public part is in {str(handed(bundle, out))!r}; 'ziggurat verify' checks it.")


@app.command()
def key(
    rotate: Annotated[bool, typer.Option("--rotate", help="Make a new key; the old public half is kept.")] = False,
    server: OnServer = "",
) -> None:
    """Show the key that signs this user's releases, and its fingerprint; make it if there is none.

    On a server the public key that signs its releases is printed as text, for 'ziggurat verify --key'.
    """
    if server:
        refuse_local()
        with open_server(server) as opened:
            found = opened.release_key()
        typer.echo(f"Its fingerprint is {found['fingerprint']}.", err=True)
        typer.echo(found["text"].rstrip())
        return
    from ziggurat.release.bundle import release_key, rotate_release_key

    made = rotate_release_key() if rotate else release_key(create=True)
    typer.echo(f"The key is {str(made.file)!r}; guard it. Whoever verifies needs {str(made.public_file)!r}.")
    typer.echo(f"Its fingerprint is {made.fingerprint}.")


def _read_certificate(bundle: Path) -> dict[str, Any]:
    from ziggurat.release.bundle import verify_bundle

    found: dict[str, Any] = dict(verify_bundle(bundle).certificate)
    return found
