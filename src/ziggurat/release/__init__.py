"""Where raw data, a method and a ledger meet: questions and labels that are paid for before anything is read."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.release._anonymised import CERTIFICATE, AnonymisedRelease, release_anonymised
    from ziggurat.release._asking import MOST_NUMBERS, TermOptions
    from ziggurat.release._candidate import Candidate, Candidates, plane
    from ziggurat.release._candidates import candidates
    from ziggurat.release._certificate import Certificate, certify
    from ziggurat.release._cited import Cited
    from ziggurat.release._fitting import FittedModel, fit_model, quote_model
    from ziggurat.release._labelled import Labelled, LabellingFacts
    from ziggurat.release._labelling import MOST_QUERIES, Labelling, LabellingQuote
    from ziggurat.release._points import Points
    from ziggurat.release._promised import StudentsSide, TeachersSide
    from ziggurat.release._query_curator import Privatised, QueryCurator
    from ziggurat.release._quotation import Quotation, QuotedQuestion
    from ziggurat.release._serving import Serving, serve_model
    from ziggurat.release._session import Past, Session
    from ziggurat.release._sweep import Sweep, sweep
    from ziggurat.release._synthetic import SyntheticRelease, release_synthetic
    from ziggurat.release._synthetic_files import check_synthetic
    from ziggurat.release._synthetic_private import PrivateSyntheticRelease, release_synthetic_private
    from ziggurat.release._task import Rows, Task
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_asking": "MOST_NUMBERS TermOptions",
            "_quotation": "Quotation QuotedQuestion",
            "_session": "Past Session",
            "_sweep": "Sweep sweep",
            "_anonymised": "CERTIFICATE AnonymisedRelease release_anonymised",
            "_candidate": "Candidate Candidates plane",
            "_candidates": "candidates",
            "_certificate": "Certificate certify",
            "_cited": "Cited",
            "_fitting": "FittedModel fit_model quote_model",
            "_labelled": "Labelled LabellingFacts",
            "_labelling": "MOST_QUERIES Labelling LabellingQuote",
            "_points": "Points",
            "_promised": "StudentsSide TeachersSide",
            "_query_curator": "Privatised QueryCurator",
            "_serving": "Serving serve_model",
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
    "AnonymisedRelease",
    "Candidate",
    "Candidates",
    "Certificate",
    "Cited",
    "FittedModel",
    "Labelled",
    "Labelling",
    "LabellingFacts",
    "LabellingQuote",
    "Past",
    "Points",
    "PrivateSyntheticRelease",
    "Privatised",
    "QueryCurator",
    "Quotation",
    "QuotedQuestion",
    "Rows",
    "Serving",
    "Session",
    "StudentsSide",
    "Sweep",
    "SyntheticRelease",
    "Task",
    "TeachersSide",
    "TermOptions",
    "candidates",
    "certify",
    "check_synthetic",
    "fit_model",
    "plane",
    "quote_model",
    "release_anonymised",
    "release_synthetic",
    "release_synthetic_private",
    "serve_model",
    "sweep",
]
