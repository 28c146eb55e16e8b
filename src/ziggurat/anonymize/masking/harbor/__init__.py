"""HIPAA Safe Harbor: the eighteen kinds of identifiers, postcodes, and a plan that takes them out of a table."""

from ziggurat.anonymize.masking.harbor._kinds import SAFE_HARBOR, names_people
from ziggurat.anonymize.masking.harbor._plan import SafeHarborPlan, require_harmless, safe_harbor
from ziggurat.anonymize.masking.harbor._postcodes import PostcodePrefix

__all__ = ["SAFE_HARBOR", "PostcodePrefix", "SafeHarborPlan", "names_people", "require_harmless", "safe_harbor"]
