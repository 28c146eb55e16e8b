"""Labels of teachers, queries of a student, and the certificate that leaves with a student."""

from ziggurat.release.labels._described import features_digest
from ziggurat.release.labels._labelled import Labelled, LabellingFacts
from ziggurat.release.labels._labelling import MOST_QUERIES, Labelling, LabelPlan
from ziggurat.release.labels._promised import StudentsSide, TeachersSide
from ziggurat.release.labels._query_curator import PrivatizedQueries, QueryCurator
from ziggurat.release.labels._student_certificate import StudentCertificate, certify

__all__ = [
    "MOST_QUERIES",
    "LabelPlan",
    "Labelled",
    "Labelling",
    "LabellingFacts",
    "PrivatizedQueries",
    "QueryCurator",
    "StudentCertificate",
    "StudentsSide",
    "TeachersSide",
    "certify",
    "features_digest",
]
