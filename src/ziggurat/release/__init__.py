"""Where raw data, a method and a ledger meet: questions and labels that are paid for before anything is read."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ziggurat.release._asking import MOST_NUMBERS, TermOptions
from ziggurat.release._purse import Purse
from ziggurat.release._quotation import Quotation, QuotedQuestion
from ziggurat.release._session import Past, Session
from ziggurat.release._sweep import Sweep, sweep

if TYPE_CHECKING:
    from ziggurat.release._anonymised import CERTIFICATE, AnonymisedRelease, release_anonymised
    from ziggurat.release._candidate import Candidate, Candidates, plane
    from ziggurat.release._candidates import candidates
    from ziggurat.release._certificate import Artefact, Certificate, Decision
    from ziggurat.release._cited import Cited
    from ziggurat.release._collected import CollectionPlan, reported_rows
    from ziggurat.release._evidence import Evidence
    from ziggurat.release._fitting import FittedModel, ModelPlan, fit_model, plan_model, quote_model
    from ziggurat.release._gate import NOT_PROTECTED_BY_GATE, Gate, Stop, Verdict, Weighed
    from ziggurat.release._labelled import Labelled, LabellingFacts
    from ziggurat.release._labelling import MOST_QUERIES, Labelling, LabellingQuote, LabelPlan
    from ziggurat.release._masked import NOT_PROMISED_OF_MASKS, MaskedPlan, release_masked
    from ziggurat.release._plan import Plan
    from ziggurat.release._points import Points
    from ziggurat.release._promised import StudentsSide, TeachersSide
    from ziggurat.release._query_curator import Privatised, QueryCurator
    from ziggurat.release._release import Release
    from ziggurat.release._serving import Serving, serve_model
    from ziggurat.release._student_certificate import StudentCertificate, certify
    from ziggurat.release._synthetic import SyntheticRelease, release_synthetic
    from ziggurat.release._synthetic_files import check_synthetic
    from ziggurat.release._synthetic_private import PrivateSyntheticRelease, release_synthetic_private
    from ziggurat.release._task import Rows, Task

__all__ = [
    "CERTIFICATE",
    "MOST_NUMBERS",
    "MOST_QUERIES",
    "NOT_PROMISED_OF_MASKS",
    "NOT_PROTECTED_BY_GATE",
    "AnonymisedRelease",
    "Artefact",
    "Candidate",
    "Candidates",
    "Certificate",
    "Cited",
    "CollectionPlan",
    "Decision",
    "Evidence",
    "FittedModel",
    "Gate",
    "LabelPlan",
    "Labelled",
    "Labelling",
    "LabellingFacts",
    "LabellingQuote",
    "MaskedPlan",
    "ModelPlan",
    "Past",
    "Plan",
    "Points",
    "PrivateSyntheticRelease",
    "Privatised",
    "Purse",
    "QueryCurator",
    "Quotation",
    "QuotedQuestion",
    "Release",
    "Rows",
    "Serving",
    "Session",
    "Stop",
    "StudentCertificate",
    "StudentsSide",
    "Sweep",
    "SyntheticRelease",
    "Task",
    "TeachersSide",
    "TermOptions",
    "Verdict",
    "Weighed",
    "candidates",
    "certify",
    "check_synthetic",
    "fit_model",
    "plan_model",
    "plane",
    "quote_model",
    "release_anonymised",
    "release_masked",
    "release_synthetic",
    "release_synthetic_private",
    "reported_rows",
    "serve_model",
    "sweep",
]

# Whoever asks questions need not wait for what labels and students need.
_HOMES = {
    "CERTIFICATE": "_anonymised",
    "AnonymisedRelease": "_anonymised",
    "release_anonymised": "_anonymised",
    "Candidate": "_candidate",
    "Candidates": "_candidate",
    "plane": "_candidate",
    "candidates": "_candidates",
    "Artefact": "_certificate",
    "Certificate": "_certificate",
    "Decision": "_certificate",
    "StudentCertificate": "_student_certificate",
    "certify": "_student_certificate",
    "CollectionPlan": "_collected",
    "reported_rows": "_collected",
    "MaskedPlan": "_masked",
    "NOT_PROMISED_OF_MASKS": "_masked",
    "release_masked": "_masked",
    "Plan": "_plan",
    "Release": "_release",
    "Cited": "_cited",
    "Evidence": "_evidence",
    "FittedModel": "_fitting",
    "ModelPlan": "_fitting",
    "plan_model": "_fitting",
    "fit_model": "_fitting",
    "quote_model": "_fitting",
    "NOT_PROTECTED_BY_GATE": "_gate",
    "Gate": "_gate",
    "Weighed": "_gate",
    "Stop": "_gate",
    "Verdict": "_gate",
    "Labelled": "_labelled",
    "LabellingFacts": "_labelled",
    "MOST_QUERIES": "_labelling",
    "LabelPlan": "_labelling",
    "Labelling": "_labelling",
    "LabellingQuote": "_labelling",
    "Points": "_points",
    "StudentsSide": "_promised",
    "TeachersSide": "_promised",
    "Privatised": "_query_curator",
    "QueryCurator": "_query_curator",
    "Serving": "_serving",
    "serve_model": "_serving",
    "SyntheticRelease": "_synthetic",
    "release_synthetic": "_synthetic",
    "check_synthetic": "_synthetic_files",
    "PrivateSyntheticRelease": "_synthetic_private",
    "release_synthetic_private": "_synthetic_private",
    "Rows": "_task",
    "Task": "_task",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
