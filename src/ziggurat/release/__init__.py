"""Where raw data, a method and a ledger meet: questions and labels that are paid for before anything is read."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.release._anonymised import CERTIFICATE, AnonymisedRelease, release_anonymised
    from ziggurat.release._asking import MOST_NUMBERS, TermOptions
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
    from ziggurat.release._purse import Purse
    from ziggurat.release._query_curator import Privatised, QueryCurator
    from ziggurat.release._quotation import Quotation, QuotedQuestion
    from ziggurat.release._release import Release
    from ziggurat.release._serving import Serving, serve_model
    from ziggurat.release._session import Past, Session
    from ziggurat.release._student_certificate import StudentCertificate, certify
    from ziggurat.release._sweep import Sweep, sweep
    from ziggurat.release._synthetic import SyntheticRelease, release_synthetic
    from ziggurat.release._synthetic_files import check_synthetic
    from ziggurat.release._synthetic_private import PrivateSyntheticRelease, release_synthetic_private
    from ziggurat.release._task import Rows, Task
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_anonymised": "CERTIFICATE AnonymisedRelease release_anonymised",
            "_asking": "MOST_NUMBERS TermOptions",
            "_candidate": "Candidate Candidates plane",
            "_candidates": "candidates",
            "_certificate": "Artefact Certificate Decision",
            "_cited": "Cited",
            "_collected": "CollectionPlan reported_rows",
            "_evidence": "Evidence",
            "_fitting": "FittedModel ModelPlan fit_model plan_model quote_model",
            "_gate": "NOT_PROTECTED_BY_GATE Gate Stop Verdict Weighed",
            "_labelled": "Labelled LabellingFacts",
            "_labelling": "MOST_QUERIES Labelling LabellingQuote LabelPlan",
            "_masked": "NOT_PROMISED_OF_MASKS MaskedPlan release_masked",
            "_plan": "Plan",
            "_points": "Points",
            "_promised": "StudentsSide TeachersSide",
            "_purse": "Purse",
            "_query_curator": "Privatised QueryCurator",
            "_quotation": "Quotation QuotedQuestion",
            "_release": "Release",
            "_serving": "Serving serve_model",
            "_session": "Past Session",
            "_student_certificate": "StudentCertificate certify",
            "_sweep": "Sweep sweep",
            "_synthetic": "SyntheticRelease release_synthetic",
            "_synthetic_files": "check_synthetic",
            "_synthetic_private": "PrivateSyntheticRelease release_synthetic_private",
            "_task": "Rows Task",
        },
    )

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
