"""Several ways to synthesise one table, judged on the same rows."""

from ziggurat.release.comparing._candidate import RISK, UTILITY, Candidate, Candidates, plane
from ziggurat.release.comparing._candidates import StepCounter, candidates
from ziggurat.release.comparing._judging import JudgingTerms, count_steps, judge_copies
from ziggurat.release.comparing._plane import fill_plane

__all__ = [
    "RISK",
    "UTILITY",
    "Candidate",
    "Candidates",
    "JudgingTerms",
    "StepCounter",
    "candidates",
    "count_steps",
    "fill_plane",
    "judge_copies",
    "plane",
]
