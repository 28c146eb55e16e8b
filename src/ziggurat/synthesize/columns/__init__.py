"""Sequential synthesis: each column is learned given those before it, and drawn in the same order."""

from ziggurat.synthesize.columns._plan import ORDERS
from ziggurat.synthesize.columns._synthesizer import Synthesizer, synthesize

__all__ = [
    "ORDERS",
    "Synthesizer",
    "synthesize",
]
