"""Anonymise tables by generalisation, suppression and masking; none of it is differential privacy."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

# Whoever builds hierarchies need not wait for compiled loops.
_HOMES = {
    "Anonymised": "_anonymize",
    "anonymize": "_anonymize",
    "NOT_PROMISED": "_anonymize",
    "ClassSize": "_metrics",
    "Discernibility": "_metrics",
    "Entropy": "_metrics",
    "Loss": "_metrics",
    "Metric": "_metrics",
    "Precision": "_metrics",
    "METRICS": "_metrics",
    "AverageRisk": "_models",
    "HighestRisk": "_models",
    "KAnonymity": "_models",
    "KMap": "_models",
    "LDiversity": "_models",
    "Presence": "_models",
    "PrivacyModel": "_models",
    "TCloseness": "_models",
    "Best": "_search",
    "Analysis": "_solutions",
    "Solutions": "_solutions",
    "Publication": "_published",
    "Drop": "_identifiers",
    "KeyedHash": "_identifiers",
    "PlainHash": "_identifiers",
    "Redact": "_identifiers",
    "new_secret": "_identifiers",
    "MaskedBatches": "_masking",
    "MaskedTable": "_masking",
    "mask": "_masking",
    "mask_batches": "_masking",
    "require_named": "_masking",
    "MaskPlan": "_mask_plans",
    "mask_plan": "_mask_plans",
    "mask_plan_in": "_mask_plans",
    "SPARSE_ZIP3": "_masks",
    "BottomCode": "_masks",
    "Round": "_masks",
    "TopCode": "_masks",
    "YearOnly": "_masks",
    "ZipPrefix": "_masks",
    "Microaggregate": "_microaggregation",
    "AddNoise": "_noise",
    "PRAM": "_pram",
    "SAFE_HARBOR": "_safe_harbor",
    "SafeHarborPlan": "_safe_harbor",
    "require_harmless": "_safe_harbor",
    "safe_harbor": "_safe_harbor",
    "Among": "_suppression",
    "Outside": "_suppression",
    "Rare": "_suppression",
    "SuppressCells": "_suppression",
    "SuppressRows": "_suppression",
    "RankSwap": "_swapping",
    "Masked": "_technique",
    "MaskRecord": "_technique",
    "Technique": "_technique",
    "Tokens": "_tokens",
    "Vault": "_vault",
    "AllOrNothing": "_hierarchies",
    "Builder": "_hierarchies",
    "CalendarParts": "_hierarchies",
    "FrequentFirst": "_hierarchies",
    "GivenTree": "_hierarchies",
    "HierarchyProposal": "_hierarchies",
    "Intervals": "_hierarchies",
    "MaskedEnds": "_hierarchies",
    "NeighbouringGroups": "_hierarchies",
    "QuantileIntervals": "_hierarchies",
    "propose": "_hierarchies",
    "read_hierarchies": "_hierarchies",
    "read_hierarchy": "_hierarchies",
    "reads_values": "_hierarchies",
    "write_hierarchy": "_hierarchies",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
