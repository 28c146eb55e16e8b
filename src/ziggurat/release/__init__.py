"""Where raw data, a method and a ledger meet: questions and labels that are paid for before anything is read."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.release._certificate import Artefact, Certificate, StewardDecision
    from ziggurat.release._cited import Cited, look_up
    from ziggurat.release._evidence import Evidence
    from ziggurat.release._gate import NOT_PROTECTED_BY_GATE, Gate, Stop, Verdict, Weighed
    from ziggurat.release._plan import Plan
    from ziggurat.release._purse import Purse
    from ziggurat.release._quotation import Quotation, QuotedQuestion
    from ziggurat.release._release import Release
    from ziggurat.release._tried import ExactCopies, find_excesses, find_guesses
    from ziggurat.release._tried_models import PromisedRegion
    from ziggurat.release.comparing import Candidate, Candidates, candidates, plane
    from ziggurat.release.labels import (
        MOST_QUERIES,
        Labelled,
        Labelling,
        LabellingFacts,
        LabelPlan,
        PrivatizedQueries,
        QueryCurator,
        StudentCertificate,
        StudentPlan,
        StudentsSide,
        TeachersControl,
        TeachersSide,
        certify,
        release_student,
    )
    from ziggurat.release.models import (
        NOT_PROMISED_OF_FOREIGN,
        DeclaredModule,
        FittedModel,
        ForeignModel,
        ForeignModelPlan,
        KeptBack,
        ModelExam,
        ModelPlan,
        Points,
        SensitiveColumn,
        Serving,
        Task,
        TaskRows,
        fit_model,
        plan_model,
        read_module,
        release_model,
        serve_model,
    )
    from ziggurat.release.questions import MOST_NUMBERS, Past, Session, Sweep, TermOptions, sweep
    from ziggurat.release.sequences import SequenceRelease, release_sequences
    from ziggurat.release.tables import (
        CERTIFICATE,
        NOT_PROMISED_OF_MASKS,
        AnonymizedRelease,
        CollectionPlan,
        MaskedPlan,
        PrivateSyntheticRelease,
        SyntheticRelease,
        check_synthetic,
        read_rows,
        release_anonymized,
        release_masked,
        release_synthetic,
        release_synthetic_private,
    )
    from ziggurat.release.trajectories import (
        CommunityRelease,
        TrajectoryRelease,
        release_communities,
        release_trajectories,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_certificate": "Artefact Certificate StewardDecision",
            "_cited": "Cited look_up",
            "_evidence": "Evidence",
            "_gate": "Gate NOT_PROTECTED_BY_GATE Stop Verdict Weighed",
            "_plan": "Plan",
            "_purse": "Purse",
            "_quotation": "Quotation QuotedQuestion",
            "_release": "Release",
            "_tried": "ExactCopies find_excesses find_guesses",
            "_tried_models": "PromisedRegion",
            "comparing": "Candidate Candidates candidates plane",
            "labels": """
                LabelPlan Labelled Labelling LabellingFacts MOST_QUERIES PrivatizedQueries QueryCurator
                StudentCertificate StudentPlan StudentsSide TeachersControl TeachersSide certify release_student
            """,
            "models": """
                DeclaredModule FittedModel ForeignModel ForeignModelPlan KeptBack ModelExam ModelPlan
                NOT_PROMISED_OF_FOREIGN Points SensitiveColumn Serving Task TaskRows fit_model plan_model read_module
                release_model serve_model
            """,
            "questions": "MOST_NUMBERS Past Session Sweep TermOptions sweep",
            "sequences": "SequenceRelease release_sequences",
            "tables": """
                AnonymizedRelease CERTIFICATE CollectionPlan MaskedPlan NOT_PROMISED_OF_MASKS PrivateSyntheticRelease
                SyntheticRelease check_synthetic release_anonymized release_masked release_synthetic
                release_synthetic_private read_rows
            """,
            "trajectories": "CommunityRelease TrajectoryRelease release_communities release_trajectories",
        },
    )

__all__ = [
    "CERTIFICATE",
    "MOST_NUMBERS",
    "MOST_QUERIES",
    "NOT_PROMISED_OF_FOREIGN",
    "NOT_PROMISED_OF_MASKS",
    "NOT_PROTECTED_BY_GATE",
    "AnonymizedRelease",
    "Artefact",
    "Candidate",
    "Candidates",
    "Certificate",
    "Cited",
    "CollectionPlan",
    "CommunityRelease",
    "DeclaredModule",
    "Evidence",
    "ExactCopies",
    "FittedModel",
    "ForeignModel",
    "ForeignModelPlan",
    "Gate",
    "KeptBack",
    "LabelPlan",
    "Labelled",
    "Labelling",
    "LabellingFacts",
    "MaskedPlan",
    "ModelExam",
    "ModelPlan",
    "Past",
    "Plan",
    "Points",
    "PrivateSyntheticRelease",
    "PrivatizedQueries",
    "PromisedRegion",
    "Purse",
    "QueryCurator",
    "Quotation",
    "QuotedQuestion",
    "Release",
    "SensitiveColumn",
    "SequenceRelease",
    "Serving",
    "Session",
    "StewardDecision",
    "Stop",
    "StudentCertificate",
    "StudentPlan",
    "StudentsSide",
    "Sweep",
    "SyntheticRelease",
    "Task",
    "TaskRows",
    "TeachersControl",
    "TeachersSide",
    "TermOptions",
    "TrajectoryRelease",
    "Verdict",
    "Weighed",
    "candidates",
    "certify",
    "check_synthetic",
    "find_excesses",
    "find_guesses",
    "fit_model",
    "look_up",
    "plan_model",
    "plane",
    "read_module",
    "read_rows",
    "release_anonymized",
    "release_communities",
    "release_masked",
    "release_model",
    "release_sequences",
    "release_student",
    "release_synthetic",
    "release_synthetic_private",
    "release_trajectories",
    "serve_model",
    "sweep",
]
