"""Attacks on models: who they were trained on, what they tell about people, and how they are copied."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.models._attacked import Answers, AttackedModel, LabelledRows, ModelKind
    from ziggurat.attacks.models._compared import compare_normal, compare_pairs
    from ziggurat.attacks.models._makers import meet_aggregator, meet_served, meet_student, meet_votes
    from ziggurat.attacks.models._membership import MembershipReport, attack_membership
    from ziggurat.attacks.models._methods import MEMBERSHIP_ATTACKS
    from ziggurat.attacks.models._recipes import NetworkRecipe
    from ziggurat.attacks.models._scored import (
        CurveReading,
        MembershipAttack,
        RankedArea,
        clopper_pearson,
        judge_scores,
    )
    from ziggurat.attacks.models._shadows import Shadows, train_shadows
    from ziggurat.attacks.models._signals import measure_confidence, scale_answers
    from ziggurat.attacks.models.extraction import CopiedModel, CopyPoint, draw_within, extract_model
    from ziggurat.attacks.models.inspection import HeldPart, HeldRows, inspect_model
    from ziggurat.attacks.models.inversion import (
        CandidateHits,
        InferredAttribute,
        LinearParameters,
        RebuiltRow,
        ReconstructedRows,
        infer_attribute,
        reconstruct_row,
        reconstruct_rows,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_attacked": "Answers AttackedModel LabelledRows ModelKind",
            "_compared": "compare_normal compare_pairs",
            "_makers": "meet_aggregator meet_served meet_student meet_votes",
            "_membership": "MembershipReport attack_membership",
            "_methods": "MEMBERSHIP_ATTACKS",
            "_recipes": "NetworkRecipe",
            "_scored": "CurveReading MembershipAttack RankedArea clopper_pearson judge_scores",
            "_shadows": "Shadows train_shadows",
            "_signals": "measure_confidence scale_answers",
            "extraction": "CopiedModel CopyPoint draw_within extract_model",
            "inspection": "HeldPart HeldRows inspect_model",
            "inversion": """
                CandidateHits InferredAttribute LinearParameters RebuiltRow ReconstructedRows infer_attribute
                reconstruct_row reconstruct_rows
            """,
        },
    )

__all__ = [
    "MEMBERSHIP_ATTACKS",
    "Answers",
    "AttackedModel",
    "CandidateHits",
    "CopiedModel",
    "CopyPoint",
    "CurveReading",
    "HeldPart",
    "HeldRows",
    "InferredAttribute",
    "LabelledRows",
    "LinearParameters",
    "MembershipAttack",
    "MembershipReport",
    "ModelKind",
    "NetworkRecipe",
    "RankedArea",
    "RebuiltRow",
    "ReconstructedRows",
    "Shadows",
    "attack_membership",
    "clopper_pearson",
    "compare_normal",
    "compare_pairs",
    "draw_within",
    "extract_model",
    "infer_attribute",
    "inspect_model",
    "judge_scores",
    "measure_confidence",
    "meet_aggregator",
    "meet_served",
    "meet_student",
    "meet_votes",
    "reconstruct_row",
    "reconstruct_rows",
    "scale_answers",
    "train_shadows",
]
