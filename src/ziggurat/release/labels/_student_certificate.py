"""The certificate that leaves with a student: what was promised to whom, and where to check it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import DataError, ParameterError, PrivacyError
from ziggurat.files import write_text
from ziggurat.ledger import Ledger
from ziggurat.pate import PrivateEpsilon, Sanitized
from ziggurat.privacy import Amount, ApproximateDP
from ziggurat.release._purse import Purse
from ziggurat.release.labels._labelled import Labelled, LabellingFacts, facts_of, read_json, reading
from ziggurat.release.labels._promised import UNPROTECTED, Features, StudentsSide, TeachersSide
from ziggurat.release.labels._query_curator import PrivatizedQueries, QueryCurator
from ziggurat.release.labels._student_certificate_text import certificate_text

FORMAT = "ziggurat/certificate/1"


@dataclass(frozen=True)
class StudentCertificate(Shown):
    """Two promises side by side, with the facts that prove them; make one with `certify`.

    No number in it depends on a vote, unless it was released with noise of its own (`Sanitized`).

    Attributes
    ----------
    made
        The day.
    teachers
        The promise to the people whose data trained the teachers.
    student
        The promise to the people in the student's own table.
    files
        The SHA-256 of each of the student's files.
    about
        What the student is for, in a sentence of whoever certifies.
    """

    made: date
    teachers: TeachersSide
    student: StudentsSide
    files: Mapping[str, str] = field(default_factory=dict)
    about: str = ""

    @property
    def rehearsal(self) -> bool:
        """Whether any randomness was seeded, so that nothing of this may be published."""
        return self.teachers.rehearsal or self.student.rehearsal

    @property
    def both(self) -> ApproximateDP | None:
        """The promise to somebody who is in both tables; None where one of the two promises is missing.

        Stated for the teachers' neighbours; in the student's table the same person is replaced. Proof: let q be the
        reports and l the labels; the student is a function of them. Change the person's data in both tables, from D to
        D'. Reports come first and depend on the student's table alone, so P(dq) <= e^e1 P'(dq). Given q, the labels
        depend on the teachers' table alone, so P(l in S_q | q) <= e^e2 P'(l in S_q | q) + delta for the sections S_q
        of any S. Hence P(S) = int P(dq) min(1, P(l in S_q | q)) <= int P(dq) (min(1, e^e2 P'(l in S_q | q)) + delta)
        <= e^(e1 + e2) P'(S) + delta: the epsilons add and delta stays.
        """
        if self.student.features == "public":
            return self.teachers.promise
        theirs = self.student.for_student
        if theirs is None:
            return None
        return replace(self.teachers.promise, epsilon=self.teachers.promise.epsilon + theirs.epsilon, route="sum")

    def text(self) -> str:
        """Say it for people, at most 100 characters a line."""
        return certificate_text(self)

    def record(self, ledger: Ledger, budget: str) -> StudentCertificate:
        """Write a student that is released without a promise to its own people into their ledger, for ever.

        Gives the certificate that cites the entry. Where there is nothing unprotected, or it is recorded already,
        nothing is written and the same certificate is given.
        """
        if self.student.features != "original" or self.student.recorded is not None:
            return self
        what = f"{UNPROTECTED}; certificate of {self.made.isoformat()}, {self.digest}"
        recorded = Purse(ledger, budget).remember(what)
        return replace(self, student=replace(self.student, recorded=recorded))

    def verify(self, ledger: Ledger | None = None, students_ledger: Ledger | None = None) -> StudentCertificate:
        """Compare the facts with the ledgers, and give the certificate that says so; `DataError` if they disagree."""
        teachers = self.teachers if ledger is None else self.teachers.check_in(ledger)
        student = self.student if students_ledger is None else self.student.check_in(students_ledger)
        return replace(self, teachers=teachers, student=student)

    def require_files(self, folder: str | Path) -> None:
        """Raise `DataError` unless the student's files in a folder are those that were certified."""
        for name, digest in self.files.items():
            try:
                same = hashlib.sha256((Path(folder) / name).read_bytes()).hexdigest() == digest
            except OSError:
                same = False
            if not same:
                raise DataError(f"The file {name!r} of the student is missing, or not the one that was certified.")

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form: every promise, exact, and every fact behind it."""
        both = self.both
        return {
            "format": FORMAT,
            "rehearsal": self.rehearsal,
            "made": self.made.isoformat(),
            "teachers": self.teachers.to_dict(),
            "student": self.student.to_dict(),
            "both": None if both is None else {"epsilon": str(both.epsilon), "delta": str(both.delta)},
            "files": dict(self.files),
            "about": self.about,
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the JSON form; one that claims less than its own facts prove, or is no certificate, is refused."""
        return reading(lambda: cls._read(data), "a certificate")

    @classmethod
    def _read(cls, data: Any) -> Self:
        sides = TeachersSide.from_dict(data["teachers"]), StudentsSide.from_dict(data["student"])
        made = cls(date.fromisoformat(data["made"]), *sides, _check_files(data["files"]), str(data["about"]))
        if made.to_dict() != data or made.student.matched != _is_matched(sides[0].labellings, sides[1].queries):
            raise ValueError("something else than the facts say")
        return made

    def save(self, path: str | Path) -> None:
        """Write the JSON form as one file, whole or not at all."""
        write_text(path, json.dumps(self.to_dict(), indent=1))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; a damaged or foreign file raises `DataError`."""
        return cls.from_dict(read_json(path, "a certificate"))

    @property
    def digest(self) -> str:
        """The SHA-256 of all it says."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()


def certify(
    labelled: Labelled | LabellingFacts | Sequence[Labelled | LabellingFacts],
    *,
    delta: Amount | None = None,
    features: Features,
    queries: QueryCurator | PrivatizedQueries | Sequence[PrivatizedQueries] | None = None,
    ledger: Ledger | None = None,
    students_ledger: Ledger | None = None,
    organisation: Unit | None = None,
    teachers_owned: int = 1,
    sanitised: Sanitized | None = None,
    files: str | Path | Mapping[str, str] | None = None,
    about: str = "",
    made: date | None = None,
) -> StudentCertificate:
    """Certify a student: what it promises to the teachers' people and to its own.

    Parameters
    ----------
    labelled
        All labels that it was taught by, those for its threshold included.
    delta
        The failure probability of the promise to the teachers' people: unless another is asked for, the one that was
        paid for, which is that of the grant (and the sum, where several grants paid).
    features
        What it was trained on: rows that are `"public"`, `"privatised"` reports and nothing else, or the `"original"`
        rows, of which at most the queries were privatised.
    queries
        Curator B, or what it has `sent`; None if the queries were public or went out as they are.
    ledger, students_ledger
        The ledgers of curator A and curator B. They are verified, and everything is compared with their own entries;
        without them the certificate says that it repeats what the files state.
    organisation, teachers_owned
        A unit that owns so many teachers, to be promised something beside the unit of the budget.
    sanitised
        A data-dependent epsilon that was released with noise; its cost is added. No other may appear.
    files
        The student's file or folder, whose digests are noted, or the SHA-256 by the name of each file.
    about
        What the student is for, in a sentence.
    made
        The day; today, in UTC, unless told.
    """
    given = (labelled, delta, features, queries, organisation, teachers_owned, sanitised, files, made)
    if any(isinstance(each, PrivateEpsilon) for each in given):
        raise PrivacyError("A data-dependent epsilon is private and has no place in a certificate.")
    several = [labelled] if isinstance(labelled, Labelled | LabellingFacts) else _several(labelled)
    facts = facts_of(several)
    sent = _read_sent(queries)
    teachers = TeachersSide.of(facts, delta, organisation, teachers_owned, sanitised)
    student = StudentsSide(features, sent, _is_matched(facts, sent))
    day = datetime.now(UTC).date() if made is None else made
    noted = _digests(files) if isinstance(files, str | Path) else _check_files(files or {})
    certificate = StudentCertificate(day, teachers, student, noted, about).verify(ledger, students_ledger)
    if ledger is not None:
        for each in several:
            each.require_recorded(ledger)
    return certificate


def _several(given: Any) -> Sequence[Any]:
    if not isinstance(given, Sequence):
        raise ParameterError("Give what `Labelling.label` returned, or a list of it.")
    return given


def _read_sent(queries: Any) -> tuple[PrivatizedQueries, ...]:
    if queries is None:
        return ()
    several = queries if isinstance(queries, Sequence) else [queries]
    return tuple(each.sent if isinstance(each, QueryCurator) else each for each in several)


def _is_matched(facts: Sequence[LabellingFacts], sent: Sequence[Any]) -> bool:
    """Whether what curator A labelled is what curator B sent; reports that were divided cannot be told."""
    known = {call.digest for each in sent if isinstance(each, PrivatizedQueries) for call in each.calls}
    return all(each.question["features"] in known for each in facts)


def _digests(where: str | Path) -> dict[str, str]:
    path = Path(where)
    found = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else [path]
    try:
        contents = [(each.relative_to(path).as_posix() if path.is_dir() else each.name, each) for each in found]
        digests = {name: hashlib.sha256(each.read_bytes()).hexdigest() for name, each in contents}
    except OSError:
        raise DataError(f"The student's files in {str(where)!r} cannot be read.") from None
    if not digests:
        raise DataError(f"There is no file in {str(where)!r}; save the student first.")
    return digests


def _check_files(files: Mapping[str, str]) -> dict[str, str]:
    if not all(isinstance(name, str) and isinstance(digest, str) for name, digest in files.items()):
        raise ParameterError("Give the SHA-256 of each file by its name, both as text.")
    return dict(files)
