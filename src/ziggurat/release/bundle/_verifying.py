"""Verify a bundle: offline, with nothing but its files and a public key.

Nothing in a bundle is believed before it was compared: which files there are, how long, with which hash, in which form;
no link is followed, nothing is unpacked, and nothing is read that the manifest does not name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from ziggurat.errors import DataError
from ziggurat.ledger import PublicKey, fingerprint
from ziggurat.release.bundle._contents import CERTIFICATE_FORMAT, is_rehearsal, require_certified
from ziggurat.release.bundle._found import BundleFiles, find
from ziggurat.release.bundle._keys import accepted_keys
from ziggurat.release.bundle._manifest import Manifest, Sealed, field_digests, find_damaged_fields, read_by_line
from ziggurat.release.bundle._members import (
    CERTIFICATE,
    EVIDENCE,
    MANIFEST,
    PAGE,
    PUBLIC,
    REPORT,
    STEWARD,
    Member,
    fold_case,
)
from ziggurat.release.bundle._verified import BundleProblem, BundleVerification

_MOST_PROBLEMS = 100
_NEEDED = {PUBLIC: {PAGE, CERTIFICATE}, STEWARD: {REPORT, EVIDENCE}}


def verify_bundle(path: str | os.PathLike[str], public_key: PublicKey | None = None) -> BundleVerification:
    """Verify a bundle, or one part of it, and say what was altered.

    Parameters
    ----------
    path
        The folder or zip, or the folder of one part.
    public_key
        Whose signature it must bear: a `.pub` file, or a folder of them where keys were rotated. Without one the key
        in the manifest is taken, and nobody has checked whose that is.
    """
    accepted = None if public_key is None else accepted_keys(public_key)
    return _Examination(find(path), accepted).verdict()


class _Examination:
    """Walks through the parts of a bundle and writes down what is wrong."""

    def __init__(self, found: BundleFiles, accepted: frozenset[str] | None) -> None:
        self.found, self.accepted = found, accepted
        self.problems = list(found.problems)
        self.manifests: dict[str, tuple[Manifest, str]] = {}
        self.certificate: dict[str, Any] = {}
        self.files = self.bytes = 0

    def verdict(self) -> BundleVerification:
        """Check everything, and sum up."""
        for part, members in self.found.parts.items():
            self._check(part, members)
        self._check_together()
        self.problems += self.found.find_alterations({each.file for each in self.problems})
        made = [manifest for manifest, _ in self.manifests.values()]
        good = {each.public_key for each in made if each.holds}
        signer = good.pop() if len(good) == 1 and all(each.holds for each in made) else ""
        return BundleVerification(
            self._list(),
            tuple(self.found.parts),
            any(each.rehearsal for each in made),
            self.files,
            self.bytes,
            signer,
            self.accepted is not None and signer in self.accepted,
            self.certificate,
        )

    def _list(self) -> list[BundleProblem]:
        rest = len(self.problems) - _MOST_PROBLEMS
        more = [BundleProblem("", f"has {rest} more problems, which are not listed")] if rest > 0 else []
        return self.problems[:_MOST_PROBLEMS] + more

    def _report(self, part: str, name: str, what: str, field: str = "") -> None:
        self.problems.append(BundleProblem(self.found.name_of(part, name), what, field))

    def _check(self, part: str, members: Mapping[str, Member]) -> None:
        manifest = self._manifest(part, members.get(MANIFEST))
        if manifest is None:
            return
        self._check_signature(part, manifest)
        self._check_names(part, manifest, members)
        intact = {name for name in manifest.files if self._intact(part, name, manifest, members.get(name))}
        if part == PUBLIC and CERTIFICATE in intact:
            self._check_certificate(manifest, members[CERTIFICATE])

    def _manifest(self, part: str, member: Member | None) -> Manifest | None:
        if member is None:
            self._report(part, MANIFEST, "is missing, so that nothing of this part can be checked")
            return None
        try:
            data = member.read()
            manifest = Manifest.read(data)
        except ValueError as error:
            self._report(part, MANIFEST, f"{error}, so that nothing of this part can be checked")
            return None
        except OSError:
            self._report(part, MANIFEST, "cannot be read")
            return None
        if manifest.part != part:
            self._report(part, MANIFEST, f"is the one of the {manifest.part} part")
            return None
        self.manifests[part] = manifest, sha256(data).hexdigest()
        self.files += 1
        self.bytes += len(data)
        return manifest

    def _check_signature(self, part: str, manifest: Manifest) -> None:
        if manifest.rehearsal:
            forged = manifest.signature or manifest.public_key
            self._report(part, MANIFEST, "is of a rehearsal")
            if forged:
                self._report(part, MANIFEST, "bears a signature although it is of a rehearsal, which nobody signs")
        elif not manifest.signature:
            self._report(part, MANIFEST, "is not signed", "signature")
        elif not manifest.holds:
            self._report(part, MANIFEST, "was altered: its signature does not hold", "signature")
        elif self.accepted is not None and manifest.public_key not in self.accepted:
            who = fingerprint(manifest.public_key)
            self._report(part, MANIFEST, f"was signed with another key ({who}) than the one given", "public_key")

    def _check_names(self, part: str, manifest: Manifest, members: Mapping[str, Member]) -> None:
        alike = {fold_case(name): name for name in manifest.files if name not in members}
        for name in sorted(set(members) - set(manifest.files) - {MANIFEST}):
            meant = alike.get(fold_case(name))
            self._report(part, name, "was added: the manifest does not name it" + (f", but {meant!r}" if meant else ""))
        for name in sorted(_NEEDED[part] - set(manifest.files)):
            self._report(part, MANIFEST, f"does not name {name}, which every bundle has", "files")

    def _intact(self, part: str, name: str, manifest: Manifest, member: Member | None) -> bool:
        sealed = manifest.files[name]
        if member is None:
            self._report(part, name, "is missing")
            return False
        self.files += 1
        self.bytes += member.size
        try:
            if Sealed(member.digest() if member.size == sealed.bytes else "", member.size) == sealed:
                return True
        except OSError:
            self._report(part, name, "cannot be read")
            return False
        self._find_damage(part, name, manifest, member)
        return False

    def _find_damage(self, part: str, name: str, manifest: Manifest, member: Member) -> None:
        size, signed = member.size, manifest.files[name].bytes
        length = "" if size == signed else f": it has {size:,} bytes instead of {signed:,}"
        if part != PUBLIC or name != CERTIFICATE:
            self._report(part, name, f"was altered{length}")
            return
        try:
            data = member.read()
        except (ValueError, OSError):
            self._report(part, name, f"was altered{length}")
            return
        fields = find_damaged_fields(data, manifest.fields)
        for each in fields:
            self._report(part, name, "was altered" if each in manifest.fields else "was added", each)
        if not fields:
            self._report(part, name, f"was altered outside all fields: it {_form_problem(data)}")

    def _check_certificate(self, manifest: Manifest, member: Member) -> None:
        """Check what was signed: a signature makes nothing right that a bundle never says."""
        try:
            found = read_by_line(member.read())
        except (ValueError, OSError) as error:
            self._report(PUBLIC, CERTIFICATE, str(error) if isinstance(error, ValueError) else "cannot be read")
            return
        digests = field_digests(found)
        for name in sorted({*digests, *manifest.fields}):
            if digests.get(name) != manifest.fields.get(name):
                self._report(PUBLIC, CERTIFICATE, "is not the one in the manifest", name)
        for name, what in _contradictions(found, manifest):
            self._report(PUBLIC, CERTIFICATE, what, name)
        if manifest.holds or manifest.rehearsal:
            self.certificate = found

    def _check_together(self) -> None:
        """The two parts must have been made together."""
        if PUBLIC not in self.manifests or STEWARD not in self.manifests:
            return
        (public, digest), (steward, _) = self.manifests[PUBLIC], self.manifests[STEWARD]
        if steward.public != digest:
            self._report(STEWARD, MANIFEST, "belongs to another public part, or that was altered", "public")
        if steward.public_key != public.public_key:
            self._report(STEWARD, MANIFEST, "was signed with another key than the public part", "public_key")
        if (steward.made, steward.rehearsal) != (public.made, public.rehearsal):
            self._report(STEWARD, MANIFEST, "was made on another day or in another way than the public part")


def _form_problem(data: bytes) -> str:
    try:
        read_by_line(data)
    except ValueError as error:
        return str(error)
    return "is another one"


def _contradictions(certificate: Mapping[str, Any], manifest: Manifest) -> list[tuple[str, str]]:
    """What a certificate may not say beside its manifest, by field."""
    wrong = []
    if certificate.get("format") != CERTIFICATE_FORMAT or not isinstance(certificate.get("sentence"), str):
        wrong.append(("format", "is not one that this version can read"))
    if certificate.get("made") != manifest.made:
        wrong.append(("made", "is another day than the manifest's"))
    if is_rehearsal(certificate) != manifest.rehearsal:
        wrong.append(("rehearsal", "says something else than the manifest, and a rehearsal is never a release"))
    try:
        listed = require_certified(certificate)
    except DataError:
        listed = {}
    if listed != {name: sealed for name, sealed in manifest.files.items() if name not in (PAGE, CERTIFICATE)}:
        wrong.append(("artefacts", "lists other files than the manifest"))
    return wrong
