"""Labels of teachers, queries of a student, and how a student leaves with its certificate."""

from ziggurat.release.labels._control import CONTROL, TeachersControl, take_rows
from ziggurat.release.labels._described import features_digest
from ziggurat.release.labels._labelled import Labelled, LabellingFacts
from ziggurat.release.labels._labelling import MOST_QUERIES, Labelling, LabelPlan
from ziggurat.release.labels._leaving import (
    CERTIFIED,
    NOT_PROMISED_BY_ORIGINAL_ROWS,
    StudentPlan,
    note_release,
    release_student,
)
from ziggurat.release.labels._promised import StudentsSide, TeachersSide
from ziggurat.release.labels._query_curator import PrivatizedQueries, QueryCurator
from ziggurat.release.labels._student_certificate import StudentCertificate, certify

__all__ = [
    "CERTIFIED",
    "CONTROL",
    "MOST_QUERIES",
    "NOT_PROMISED_BY_ORIGINAL_ROWS",
    "LabelPlan",
    "Labelled",
    "Labelling",
    "LabellingFacts",
    "PrivatizedQueries",
    "QueryCurator",
    "StudentCertificate",
    "StudentPlan",
    "StudentsSide",
    "TeachersControl",
    "TeachersSide",
    "certify",
    "features_digest",
    "note_release",
    "release_student",
    "take_rows",
]
