"""`ziggurat verify`: the one way to check what somebody handed you, a bundle, a ledger or a receipt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ziggurat.cli._options import AsJson
from ziggurat.cli._outputs import print_json
from ziggurat.cli.server import OnServerIfSaid, open_server, refuse_local
from ziggurat.errors import DataError, LedgerCorruptError, LedgerError, ParameterError

if TYPE_CHECKING:
    from ziggurat.client import Server
    from ziggurat.ledger import Receipt, Verification
    from ziggurat.release.bundle import BundleVerification

Kind = Literal["bundle", "ledger", "receipt"]

_SQLITE, _ZIP = b"SQLite format 3\0", b"PK"
_OWN_NAMES = ("manifest.json", "certificate.json", "evidence.json", "index.html", "report.html")


def verify(
    thing: Annotated[
        str,
        typer.Argument(help="A bundle (folder, .zip, or one part), a ledger (file or postgresql://…), or a receipt."),
    ],
    key: Annotated[
        str, typer.Option(help="Whose signature it must bear: a .pub file; for bundles and receipts also a folder.")
    ] = "",
    receipt: Annotated[str, typer.Option(help="Of a ledger: a receipt that was kept elsewhere.")] = "",
    ledger: Annotated[str, typer.Option(help="Of a receipt: the ledger to compare it with.")] = "",
    as_json: AsJson = False,
    server: OnServerIfSaid = "",
) -> None:
    """Check a bundle, a ledger or a receipt, offline, and name what was altered.

    Exit code 0: sound. 1: broken, or not what it claims to be (a rehearsal is no release). 2, 6: it cannot be checked.

    ziggurat verify answer.zip --key release.pub

    With --server, which is never taken from the environment here, a server verifies a bundle in one file, or compares a
    receipt with its ledger; whoever trusts it less does it here.
    """
    kind = _find_kind(thing)
    _require_sense(kind, receipt, ledger)
    if server:
        said = _verify_on(server, kind, thing)
        _print(said, as_json)
        raise typer.Exit(0 if said["sound"] else 1)
    if kind == "bundle":
        said = _verify_bundle(thing, key)
    elif kind == "ledger":
        said = _verify_ledger(thing, key, _read_receipt(receipt) if receipt else None)
    else:
        said = _verify_ledger(ledger, key, _read_receipt(thing)) if ledger else _verify_receipt(thing, key)
    _print(said, as_json)
    raise typer.Exit(0 if said["sound"] else 1)


def _verify_on(url: str, kind: Kind, thing: str) -> dict[str, Any]:
    """Have a server verify a bundle, or find the entry of a receipt in its ledger."""
    refuse_local("thing", "file")
    if kind == "ledger":
        raise ParameterError("A server verifies its own ledger: 'ziggurat ledger verify --server URL'.")
    with open_server(url) as server:
        if kind == "receipt":
            return _compare_on(server, _read_receipt(thing))
        found = server.verify_release(thing)
    problems = [f"{each['file'] or 'The bundle'}: {each['what']}." for each in found.problems]
    whose = "this server's own" if found.ours else f"not this server's, but {found.signer}"
    good = [f"{found.files} files of {found.bytes:,} bytes are as they were signed; the key is {whose}."]
    return {**_describe("bundle", problems, [] if problems else good), "ours": found.ours, "signer": found.signer}


def _compare_on(server: Server, kept: Receipt) -> dict[str, Any]:
    """Compare a receipt with the entry of its number in the ledger of a server."""
    there = [each for each in server.entries(1, kept.seq + 1) if each.seq == kept.seq]
    if not there:
        return _describe("receipt", [f"The ledger of the server has no entry {kept.seq}."], [])
    if there[0].hash != kept.hash:
        return _describe("receipt", [f"Entry {kept.seq} of the ledger of the server has another hash."], [])
    return _describe("receipt", [], [f"Entry {kept.seq} of the ledger of the server is what was signed."])


def _find_kind(thing: str) -> Kind:
    """Find out what something is: by what it holds, or else by its name, where that was damaged."""
    if "://" in thing:
        return "ledger"
    path = Path(thing)
    if path.is_dir():
        return "bundle"
    if not path.is_file():
        raise DataError(f"There is nothing at {thing!r}; give a bundle, a ledger or a receipt.")
    if path.suffix in (".db", ".sqlite"):
        return "ledger"  # not looked into: closing it would take the locks of a ledger that this process has open
    with path.open("rb") as file:
        begins = file.read(len(_SQLITE))
    if path.name in _OWN_NAMES:
        raise DataError(f"{thing!r} is a file of a bundle; give the folder that it lies in.")
    if begins == _SQLITE:
        return "ledger"
    if begins.startswith(_ZIP) or path.suffix.lower() == ".zip":
        return "bundle"
    if begins.lstrip().startswith(b"{") or path.suffix == ".json":
        return "receipt"
    raise DataError(f"{thing!r} is neither a bundle nor a ledger nor a receipt.")


def _require_sense(kind: Kind, receipt: str, ledger: str) -> None:
    if receipt and kind != "ledger":
        raise ParameterError(f"A {kind} is not compared with a receipt; only a ledger is.")
    if ledger and kind != "receipt":
        raise ParameterError(f"A {kind} is not compared with a ledger; only a receipt is.")


def _verify_bundle(thing: str, key: str) -> dict[str, Any]:
    from ziggurat.release.bundle import verify_bundle

    found: BundleVerification = verify_bundle(thing, key or None)
    return {**found.to_dict(), "sentences": found.sentences()}


def _verify_ledger(where: str, key: str, receipt: Receipt | None) -> dict[str, Any]:
    """Verify a ledger, and a receipt with it."""
    from ziggurat.cli._books import sum_up
    from ziggurat.ledger import verify_ledger

    try:
        found: Verification = verify_ledger(where, _one_key(key, receipt), receipt)
    except LedgerCorruptError as error:
        return _describe("ledger", [str(error)], [])
    except LedgerError as error:  # out of reach, or no ledger at all: that is no verdict
        raise DataError(str(error)) from None
    problems = [str(each) for each in found.problems]
    good = [] if problems else [sum_up(found)]
    return {**_describe("ledger", problems, good), "entries": found.entries, "notes": found.notes}


def _one_key(key: str, receipt: Receipt | None) -> str | None:
    """The key that a receipt must bear: of a folder the one that it names, so that keys can be rotated."""
    if not key or not Path(key).is_dir():
        return key or None
    if receipt is None:
        raise ParameterError("A folder of keys is for bundles and receipts; give the one .pub file for this ledger.")
    from ziggurat.ledger import load_public_key, public_hex

    files = sorted(Path(key).glob("*.pub"))
    if not files:
        raise DataError(f"The folder {key!r} holds no public key; these end in '.pub'.")
    named = [file for file in files if public_hex(load_public_key(file)) == receipt.public_key]
    return str([*named, files[0]][0])


def _read_receipt(file: str) -> Receipt:
    from ziggurat.cli._books import read_text
    from ziggurat.ledger import Receipt

    return Receipt.from_json(read_text(file))


def _verify_receipt(file: str, key: str) -> dict[str, Any]:
    from ziggurat.ledger import fingerprint

    kept = _read_receipt(file)
    wrong = kept.problem(_one_key(key, kept))
    if wrong:
        return _describe("receipt", [wrong[:1].upper() + wrong[1:] + "."], [])
    whose = "which is the one given" if key else "and nobody checked whose that is; give --key"
    return _describe(
        "receipt",
        [],
        [
            f"Entry {kept.seq} of the ledger {kept.ledger} was signed on {kept.time}; its hash is {kept.hash}.",
            f"Signed with the key {fingerprint(kept.public_key)}, {whose}.",
            "Whether the ledger still agrees is seen with --ledger.",
        ],
    )


def _describe(what: str, problems: list[str], good: list[str]) -> dict[str, Any]:
    verdict = f"BROKEN. This {what} does not verify." if problems else f"SOUND. This {what} verifies."
    sentences = [verdict, *problems, *good]
    return {"what": what, "sound": not problems, "problems": problems, "sentences": sentences}


def _print(said: dict[str, Any], as_json: bool) -> None:
    from ziggurat.wording import printable

    if as_json:
        print_json(said)
        return
    for sentence in said["sentences"]:
        typer.echo(printable(sentence))
