"""A certificate in words, for somebody who has to answer for it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ziggurat.privacy import ApproximateDP, PureDP, Relation, in_words
from ziggurat.release.labels._described import in_a_phrase
from ziggurat.release.labels._promised import Checked, StudentsSide, TeachersSide, grants_of
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.release.labels._student_certificate import StudentCertificate

WIDTH = 100
REHEARSAL = "REHEARSAL: not to be published"


def certificate_text(certificate: StudentCertificate) -> str:
    """Put the sections together."""
    day = certificate.made
    title = [
        "CERTIFICATE OF A STUDENT MODEL",
        f"Made on {day.day} {day:%B %Y}. The student learned from labels that {_voters(certificate.teachers)} teachers "
        "together gave under noise.",
        *([certificate.about] if certificate.about else []),
    ]
    sections = [
        ("1. To the people whose data trained the teachers", _teachers(certificate.teachers)),
        ("2. To the people in the student's own table", _student(certificate.student)),
        ("3. To somebody who may be in both tables", _both(certificate)),
        ("4. Where to check", _places(certificate)),
    ]
    lines = [REHEARSAL, ""] if certificate.rehearsal else []
    lines += [line for each in title for line in _wrap(each)]
    for heading, paragraphs in sections:
        lines += ["", heading, *(line for each in paragraphs for line in _wrap(each, "   "))]
    return "\n".join(lines) + "\n"


def _wrap(paragraph: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )  # fmt: skip


def _amounts(promise: ApproximateDP) -> str:
    return f"epsilon {in_words(promise.epsilon)} at delta {in_words(promise.delta)}"


def _tell_promise(amounts: str, promise: ApproximateDP | PureDP) -> str:
    several = " Somebody with several rows is protected less." if promise.neighbours.unit.is_row else ""
    sentence = promise.sentence()
    return f"Differential privacy with {amounts} ({promise.neighbours}). {sentence}{several}"


def _teachers(side: TeachersSide) -> Iterator[str]:
    yield _tell_promise(_amounts(side.promise), side.promise)
    yield (
        f"This covers everything that the labels show of the teachers, and so this student. It depends on no vote: it "
        f"is the cost of {count_noun(sum(each.queries for each in side.labellings), 'query')}, of which at most "
        f"{sum(each.cap for each in side.labellings)} could be answered; "
        f"{sum(each.answers for each in side.labellings)} were."
    )
    if len(side.labellings) > 1:
        yield (
            f"It adds up {len(side.labellings)} labellings, whose noise and numbers of queries must have been settled "
            "before the first label was seen; otherwise the grants below are what is proven."
        )
    yield from _grants(side)
    yield from _beside(side)


def _grants(side: TeachersSide) -> Iterator[str]:
    for _, grant in grants_of(side.labellings):
        yield (
            f"Whatever {grant.analyst!r} was answered under this grant of the budget {grant.table!r}, and however it "
            f"was chosen, stays together within epsilon {in_words(grant.epsilon)} at delta {in_words(grant.delta)}, "
            f"which were granted before; answers are added up by the {grant.rule} rule."
        )


def _beside(side: TeachersSide) -> Iterator[str]:
    if side.organisation is not None:
        whom = side.organisation.neighbours.unit.name
        yield (
            f"To one {whom} that owns {count_noun(side.teachers_owned, 'teacher')}: differential privacy with "
            f"{_amounts(side.organisation)} ({side.organisation.neighbours})."
        )
    if side.published is not None:
        yield (
            f"For comparison, the formula that the papers publish gives epsilon {in_words(side.published)} for the "
            "same labels; it is no further promise."
        )
    if side.sanitised is not None:
        shown = side.sanitised
        yield (
            f"The votes themselves cost less with confidence {in_words(shown.confidence)}: epsilon "
            f"{in_words(shown.epsilon)} at delta {in_words(shown.delta)}, by the published data-dependent account. "
            "This number was released with noise of its own, whose cost is counted in the promise above and in no "
            "grant; that it is about these labels is as stated by the holder of the votes."
        )


def _student(side: StudentsSide) -> Iterator[str]:
    if side.features == "public":
        yield "Nothing: its features are public, and so were the queries, so that nobody's data are in them."
        return
    if side.features == "original":
        yield (
            "NOT PROTECTED. The student that is released was trained on the original rows. It promises nothing to the "
            "people in them, and may remember them."
        )
    if side.for_queries is None:
        yield "The queries were not privatised either: the holder of the teachers has seen them as they are."
        return
    yield from _queries(side, side.for_queries)


def _queries(side: StudentsSide, promise: PureDP) -> Iterator[str]:
    reach = {
        "privatised": "This covers the queries, and the released student as well, provided that it has seen nothing of "
        "these people but the privatised rows: neither in training nor for its threshold.",
        "original": "This covers the queries alone, against whoever labelled them.",
    }
    yield _tell_promise(f"epsilon {in_words(promise.epsilon)}", promise)
    yield (
        "This is promised by the holder of the student's table, out of a budget of its own, and to nobody else's "
        "people. Everybody in that table sent their rows, so that how many there are is public."
    )
    yield reach[side.features]
    for each in side.queries:
        rows = [f"{call.rows:,}" for call in each.calls]
        yield (
            f"Each row was shrunk into the l1 ball of radius {in_words(each.norm)} and got Laplace noise of scale "
            f"{in_words(each.norm / each.rho)} on each of its {each.dimension} entries before it left: epsilon 2 rho = "
            f"{in_words(2 * each.rho)} a row. {_calls(rows)}"
        )


def _calls(rows: list[str]) -> str:
    if len(rows) == 1:
        return f"All {rows[0]} rows left together."
    return (
        f"There were {len(rows)} calls ({', '.join(rows)} rows); nobody knows that their rows differ, so they add up."
    )


def _both(certificate: StudentCertificate) -> Iterator[str]:
    both, side = certificate.both, certificate.student
    if side.features == "public":
        yield "The student's features are about nobody, so the first promise is the whole."
        return
    if both is None:
        yield "No promise: the second one is missing."
        return
    yield (
        f"The two promises add up: epsilon {in_words(both.epsilon)} at delta {in_words(both.delta)}, for "
        f"{_change(certificate.teachers.promise)} in the teachers' table and {_change(side.for_student)} in the "
        "student's."
    )


def _change(promise: ApproximateDP | PureDP | None) -> str:
    if promise is None:
        return ""
    verb = "replacing" if promise.neighbours.relation is Relation.REPLACE_ONE else "adding or removing"
    return f"{verb} {promise.neighbours.unit}"


def _places(certificate: StudentCertificate) -> Iterator[str]:
    teachers, student = certificate.teachers, certificate.student
    for number, each in enumerate(teachers.labellings, 1):
        asked = each.question
        yield (
            f"Labels {number}: {in_a_phrase(asked['aggregator'])}, {asked['classes']} classes, "
            f"{count_noun(each.queries, 'query')}; {each.entry}."
        )
    for digest in dict.fromkeys(each.manifest for each in teachers.labellings):
        yield f"Manifest of the teachers' partition: {digest}."
    yield _tell_look(teachers.checked, "The labels", "the teachers' ledger")
    if student.features != "public":
        yield from _students_places(student)
    for name, digest in certificate.files.items():
        yield f"Student's file {name}: SHA-256 {digest}."


def _students_places(side: StudentsSide) -> Iterator[str]:
    calls = [call for each in side.queries for call in each.calls]
    for number, call in enumerate(calls, 1):
        where = "not recorded in a ledger" if call.entry is None else str(call.entry)
        yield f"Privatised rows {number}: SHA-256 {call.digest}; {where}."
    if calls:
        yield (
            "The labelled queries are, by their digests, exactly the privatised rows."
            if side.matched
            else "That the labelled queries are privatised rows is as stated by the student; digests do not show it."
        )
    if any(call.entry is not None for call in calls):
        yield _tell_look(side.checked, "The privatised rows", "the student's ledger")
    if side.features == "original":
        noted = "is not recorded in a ledger" if side.recorded is None else f"is recorded: {side.recorded}"
        yield f"The release without protection {noted}."


def _tell_look(checked: Checked | None, what: str, which: str) -> str:
    if checked is None:
        return f"{what} are as stated by their files; nobody compared them with {which}."
    others = (
        "Nothing else had been spent then on the same budgets or teachers."
        if not checked.others
        else f"It held {count_noun(checked.others, 'further spend')} on the same budgets or teachers, which this does "
        "not count."
    )
    return (
        f"{what} were compared with {which} when this was made; it was in order and ended with entry "
        f"{checked.head.seq}, hash {checked.head.hash}. {others} Whoever has the ledger can compare again: ziggurat "
        "pate certificate --check."
    )


def _voters(side: TeachersSide) -> str:
    counts = sorted({each.question["voters"] for each in side.labellings})
    return " or ".join(f"{count:,}" for count in counts)
