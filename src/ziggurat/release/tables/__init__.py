"""Tables that leave: anonymised, masked, synthetic, or as reports of people."""

from ziggurat.release._drafts import CERTIFICATE
from ziggurat.release.tables._anonymized import (
    AnonymizedPlan,
    AnonymizedRelease,
    check_keep,
    release_anonymized,
)
from ziggurat.release.tables._collected import CollectionPlan, read_rows
from ziggurat.release.tables._masked import NOT_PROMISED_OF_MASKS, MaskedPlan, release_masked
from ziggurat.release.tables._synthetic import SyntheticRelease, plan_synthetic, release_synthetic
from ziggurat.release.tables._synthetic_files import check_synthetic
from ziggurat.release.tables._synthetic_private import (
    PrivateSyntheticRelease,
    plan_synthetic_private,
    release_synthetic_private,
)

__all__ = [
    "CERTIFICATE",
    "NOT_PROMISED_OF_MASKS",
    "AnonymizedPlan",
    "AnonymizedRelease",
    "CollectionPlan",
    "MaskedPlan",
    "PrivateSyntheticRelease",
    "SyntheticRelease",
    "check_keep",
    "check_synthetic",
    "plan_synthetic",
    "plan_synthetic_private",
    "read_rows",
    "release_anonymized",
    "release_masked",
    "release_synthetic",
    "release_synthetic_private",
]
