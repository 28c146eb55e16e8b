"""Mask columns: identifiers taken out or replaced, values blurred, each technique with its record."""

from ziggurat.anonymize.masking._coarser import SPARSE_ZIP3, BottomCode, Round, TopCode, YearOnly, ZipPrefix
from ziggurat.anonymize.masking._identifiers import Drop, KeyedHash, PlainHash, Redact, new_secret
from ziggurat.anonymize.masking._mask import MaskedBatches, MaskedTable, mask, mask_batches, require_named
from ziggurat.anonymize.masking._microaggregation import Microaggregate
from ziggurat.anonymize.masking._noise import AddNoise
from ziggurat.anonymize.masking._plans import MaskPlan, mask_plan, mask_plan_in
from ziggurat.anonymize.masking._pram import PRAM
from ziggurat.anonymize.masking._suppression import Among, Outside, Rare, SuppressCells, SuppressRows
from ziggurat.anonymize.masking._swapping import RankSwap
from ziggurat.anonymize.masking._technique import Masked, MaskRecord, Technique
from ziggurat.anonymize.masking._tokens import Tokens
from ziggurat.anonymize.masking._vault import Vault
from ziggurat.anonymize.masking.choices import Codes, Keep
from ziggurat.anonymize.masking.harbor import (
    SAFE_HARBOR,
    PostcodePrefix,
    SafeHarborPlan,
    names_people,
    require_harmless,
    safe_harbor,
)
from ziggurat.anonymize.masking.notes import (
    NOT_ANONYMOUS,
    MaskedNotes,
    MaskingScores,
    MaskText,
    mask_notes,
    measure_masking,
    read_names,
)

__all__ = [
    "NOT_ANONYMOUS",
    "PRAM",
    "SAFE_HARBOR",
    "SPARSE_ZIP3",
    "AddNoise",
    "Among",
    "BottomCode",
    "Codes",
    "Drop",
    "Keep",
    "KeyedHash",
    "MaskPlan",
    "MaskRecord",
    "MaskText",
    "Masked",
    "MaskedBatches",
    "MaskedNotes",
    "MaskedTable",
    "MaskingScores",
    "Microaggregate",
    "Outside",
    "PlainHash",
    "PostcodePrefix",
    "RankSwap",
    "Rare",
    "Redact",
    "Round",
    "SafeHarborPlan",
    "SuppressCells",
    "SuppressRows",
    "Technique",
    "Tokens",
    "TopCode",
    "Vault",
    "YearOnly",
    "ZipPrefix",
    "mask",
    "mask_batches",
    "mask_notes",
    "mask_plan",
    "mask_plan_in",
    "measure_masking",
    "names_people",
    "new_secret",
    "read_names",
    "require_harmless",
    "require_named",
    "safe_harbor",
]
