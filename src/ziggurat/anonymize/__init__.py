"""Anonymise tables by generalisation, suppression and masking; none of it is differential privacy."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.anonymize._anonymize import NOT_PROMISED, Anonymised, anonymize
    from ziggurat.anonymize._hierarchies import (
        AllOrNothing,
        Builder,
        CalendarParts,
        FrequentFirst,
        GivenTree,
        HierarchyProposal,
        Intervals,
        MaskedEnds,
        NeighbouringGroups,
        QuantileIntervals,
        propose,
        read_hierarchies,
        read_hierarchy,
        reads_values,
        write_hierarchy,
    )
    from ziggurat.anonymize._identifiers import Drop, KeyedHash, PlainHash, Redact, new_secret
    from ziggurat.anonymize._mask_plans import MaskPlan, mask_plan, mask_plan_in
    from ziggurat.anonymize._masking import MaskedBatches, MaskedTable, mask, mask_batches, require_named
    from ziggurat.anonymize._masks import SPARSE_ZIP3, BottomCode, Round, TopCode, YearOnly, ZipPrefix
    from ziggurat.anonymize._metrics import METRICS, ClassSize, Discernibility, Entropy, Loss, Metric, Precision
    from ziggurat.anonymize._microaggregation import Microaggregate
    from ziggurat.anonymize._models import (
        AverageRisk,
        HighestRisk,
        KAnonymity,
        KMap,
        LDiversity,
        Presence,
        PrivacyModel,
        TCloseness,
    )
    from ziggurat.anonymize._noise import AddNoise
    from ziggurat.anonymize._pram import PRAM
    from ziggurat.anonymize._published import Publication
    from ziggurat.anonymize._safe_harbor import SAFE_HARBOR, SafeHarborPlan, require_harmless, safe_harbor
    from ziggurat.anonymize._search import Best
    from ziggurat.anonymize._solutions import Analysis, Solutions
    from ziggurat.anonymize._suppression import Among, Outside, Rare, SuppressCells, SuppressRows
    from ziggurat.anonymize._swapping import RankSwap
    from ziggurat.anonymize._technique import Masked, MaskRecord, Technique
    from ziggurat.anonymize._tokens import Tokens
    from ziggurat.anonymize._vault import Vault
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_anonymize": "NOT_PROMISED Anonymised anonymize",
            "_hierarchies": "AllOrNothing Builder CalendarParts FrequentFirst GivenTree HierarchyProposal Intervals "
            "MaskedEnds NeighbouringGroups QuantileIntervals propose read_hierarchies read_hierarchy "
            "reads_values write_hierarchy",
            "_identifiers": "Drop KeyedHash PlainHash Redact new_secret",
            "_mask_plans": "MaskPlan mask_plan mask_plan_in",
            "_masking": "MaskedBatches MaskedTable mask mask_batches require_named",
            "_masks": "SPARSE_ZIP3 BottomCode Round TopCode YearOnly ZipPrefix",
            "_metrics": "METRICS ClassSize Discernibility Entropy Loss Metric Precision",
            "_microaggregation": "Microaggregate",
            "_models": "AverageRisk HighestRisk KAnonymity KMap LDiversity Presence PrivacyModel TCloseness",
            "_noise": "AddNoise",
            "_pram": "PRAM",
            "_published": "Publication",
            "_safe_harbor": "SAFE_HARBOR SafeHarborPlan require_harmless safe_harbor",
            "_search": "Best",
            "_solutions": "Analysis Solutions",
            "_suppression": "Among Outside Rare SuppressCells SuppressRows",
            "_swapping": "RankSwap",
            "_technique": "Masked MaskRecord Technique",
            "_tokens": "Tokens",
            "_vault": "Vault",
        },
    )

__all__ = [
    "METRICS",
    "NOT_PROMISED",
    "PRAM",
    "SAFE_HARBOR",
    "SPARSE_ZIP3",
    "AddNoise",
    "AllOrNothing",
    "Among",
    "Analysis",
    "Anonymised",
    "AverageRisk",
    "Best",
    "BottomCode",
    "Builder",
    "CalendarParts",
    "ClassSize",
    "Discernibility",
    "Drop",
    "Entropy",
    "FrequentFirst",
    "GivenTree",
    "HierarchyProposal",
    "HighestRisk",
    "Intervals",
    "KAnonymity",
    "KMap",
    "KeyedHash",
    "LDiversity",
    "Loss",
    "MaskPlan",
    "MaskRecord",
    "Masked",
    "MaskedBatches",
    "MaskedEnds",
    "MaskedTable",
    "Metric",
    "Microaggregate",
    "NeighbouringGroups",
    "Outside",
    "PlainHash",
    "Precision",
    "Presence",
    "PrivacyModel",
    "Publication",
    "QuantileIntervals",
    "RankSwap",
    "Rare",
    "Redact",
    "Round",
    "SafeHarborPlan",
    "Solutions",
    "SuppressCells",
    "SuppressRows",
    "TCloseness",
    "Technique",
    "Tokens",
    "TopCode",
    "Vault",
    "YearOnly",
    "ZipPrefix",
    "anonymize",
    "mask",
    "mask_batches",
    "mask_plan",
    "mask_plan_in",
    "new_secret",
    "propose",
    "read_hierarchies",
    "read_hierarchy",
    "reads_values",
    "require_harmless",
    "require_named",
    "safe_harbor",
    "write_hierarchy",
]
