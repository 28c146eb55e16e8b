"""What may be done with a column of text besides dropping and masking it: codes, or kept for a reason."""

from ziggurat.anonymize.masking.choices._codes import Codes
from ziggurat.anonymize.masking.choices._keep import Keep

__all__ = ["Codes", "Keep"]
