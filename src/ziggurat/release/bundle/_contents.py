"""What a bundle is made of, and what is refused before anything is written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.release.bundle._manifest import Sealed, is_day
from ziggurat.release.bundle._members import OURS, clash, fold_case, name_problem

CERTIFICATE_FORMAT = "ziggurat/certificate/2"
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Contents(Shown):
    """What goes into a bundle.

    Attributes
    ----------
    certificate
        The certificate as JSON; everything in it is published.
    evidence, verdict
        What was measured on private rows, and what the gate said; for the steward only.
    artefacts
        The files that leave, by their names in the public part.
    charts
        Pictures for the steward's page, as SVG, by title.
    """

    certificate: Mapping[str, Any]
    evidence: Mapping[str, Any]
    verdict: Mapping[str, Any]
    artefacts: Mapping[str, Path]
    charts: Mapping[str, str] = field(default_factory=dict)

    @property
    def rehearsal(self) -> bool:
        """Whether nothing of it may be published: anything but a plain word that it is no rehearsal counts as one."""
        return is_rehearsal(self.certificate)

    @property
    def certified(self) -> dict[str, Sealed]:
        """The artefacts as the certificate lists them; `DataError` if it does not say what they are."""
        return require_certified(self.certificate)

    def check(self) -> None:
        """Refuse what no bundle can be made of, or what nobody may sign."""
        if self.certificate.get("format") != CERTIFICATE_FORMAT or not is_day(self.certificate.get("made")):
            raise DataError(f"A bundle needs a certificate of the format {CERTIFICATE_FORMAT!r} with its day.")
        _check_names(self.artefacts)
        if set(self.certified) != set(self.artefacts):
            raise DataError("The certificate lists other artefacts than those that are to be bundled.")
        if not self.rehearsal:
            self._check_gate()

    def _check_gate(self) -> None:
        """The gate's word stands: what it stopped needs a decision, and a refuted promise is none."""
        if self.verdict.get("refuted") and self.certificate.get("promise") is not None:
            raise PrivacyError("An attack refuted the promise of this release; release it as unbounded, or not at all.")
        if self.verdict.get("stopped") and not self.certificate.get("decision"):
            raise PrivacyError("The gate stopped this release; decide to go on with a reason, or do not bundle it.")


def is_rehearsal(certificate: Mapping[str, Any]) -> bool:
    """Tell whether a certificate is of a rehearsal; one that does not plainly deny it is."""
    return certificate.get("rehearsal") is not False or certificate.get("randomness") != "secure"


def require_certified(certificate: Mapping[str, Any]) -> dict[str, Sealed]:
    """The artefacts as a certificate lists them; `DataError` if it does not say what they are."""
    said = certificate.get("artefacts")
    listed: list[Any] = list(said) if isinstance(said, list | tuple) else [None]
    found = {each["name"]: Sealed(each["sha256"], each["bytes"]) for each in listed if _is_artefact(each)}
    if len(found) != len(listed):
        raise DataError("The certificate does not list every artefact once, with its name, SHA-256 and size in bytes.")
    return found


def _is_artefact(each: object) -> bool:
    if not isinstance(each, Mapping) or set(each) != {"name", "sha256", "bytes"}:
        return False
    digest = each["sha256"]
    return (
        isinstance(each["name"], str)
        and isinstance(digest, str)
        and _DIGEST.fullmatch(digest) is not None
        and type(each["bytes"]) is int
    )


def _check_names(names: Mapping[str, Path]) -> None:
    for name in names:
        wrong = name_problem(name)
        if wrong:
            raise ParameterError(f"An artefact cannot be called {name!r}: that {wrong}.")
        if fold_case(name.split("/")[0]) in OURS:
            raise ParameterError(f"An artefact cannot be called {name!r}: the bundle has a file of that name itself.")
    twice = clash(names)
    if twice:
        raise ParameterError(f"The artefact {twice!r} would lie where another one does; give it another name.")
