"""Judges of headlines: perplexity, topics, BLEU, novelty, grammar, repetitions, and what was copied.

Headlines are texts of words in lower case, separated by blanks. Everything here is for the steward's eyes: the figures
are exact and unprotected.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.utility.text._bleu import BleuScores, ReferenceBleu
    from ziggurat.utility.text._checkers import CHECKERS, Checker, lint_free, parse_completely
    from ziggurat.utility.text._copied import CopiedRuns, longest_copied_run
    from ziggurat.utility.text._grammar import CheckedGrammar, GrammarGap, GrammarScale, grammar_gap
    from ziggurat.utility.text._headlines import HeadlineJudge, JudgedHeadlines, judge_headlines
    from ziggurat.utility.text._novelty import HeadlineIndex, novelty
    from ziggurat.utility.text._perplexity import perplexity_of
    from ziggurat.utility.text._repetitions import count_repetitions
    from ziggurat.utility.text._topics import TopicJudge
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_bleu": "BleuScores ReferenceBleu",
            "_checkers": "CHECKERS Checker lint_free parse_completely",
            "_copied": "CopiedRuns longest_copied_run",
            "_grammar": "CheckedGrammar GrammarGap GrammarScale grammar_gap",
            "_headlines": "HeadlineJudge JudgedHeadlines judge_headlines",
            "_novelty": "HeadlineIndex novelty",
            "_perplexity": "perplexity_of",
            "_repetitions": "count_repetitions",
            "_topics": "TopicJudge",
        },
    )

__all__ = [
    "CHECKERS",
    "BleuScores",
    "CheckedGrammar",
    "Checker",
    "CopiedRuns",
    "GrammarGap",
    "GrammarScale",
    "HeadlineIndex",
    "HeadlineJudge",
    "JudgedHeadlines",
    "ReferenceBleu",
    "TopicJudge",
    "count_repetitions",
    "grammar_gap",
    "judge_headlines",
    "lint_free",
    "longest_copied_run",
    "novelty",
    "parse_completely",
    "perplexity_of",
]
