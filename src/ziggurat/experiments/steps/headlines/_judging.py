"""`judge-written`, `novelty-quantile` and `repetitions-of`: the rows of table B.1, and figures B.3 and B.4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ziggurat.experiments._steps import step

_CHECKERS = {"link-grammar": "parsed", "harper": "lint_free"}
_GRAMMAR = [f"{kind}_{each}" for each in _CHECKERS.values() for kind in ("written", "real", "shuffled")]


@step(
    "judge-written",
    outputs=(
        "coherence", "judge_accuracy", "bleu", "references", "novelty", "relative_novelty", "novelties",
        "repetitions", "repeated", *_GRAMMAR, "copied", "copied_control",
    ),
)  # fmt: skip
def judge_written(
    train: Mapping[str, Any],
    test: Mapping[str, Any],
    written: Mapping[str, Any],
    *,
    references: int | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Judge written headlines by the metrics of table B.1; exact figures, for the experimenter's eyes.

    Parameters
    ----------
    references
        Against how many headlines of a topic BLEU is taken, at most; it rises with their number.

    Returns
    -------
    dict
        Shares in percent, -1 where there is none: no topic was told, or no such checker is installed.
    """
    from ziggurat.utility.text import judge_headlines

    found = judge_headlines(
        written["headlines"], written["topics"], train["headlines"], train["topics"], held_out=test["headlines"],
        references=references, random_state=seed,
    )  # fmt: skip
    checked = {_CHECKERS[each.checker]: each for each in found.grammar.checked if each.checker in _CHECKERS}
    grammar = dict.fromkeys(_GRAMMAR, -1.0)
    for name, each in checked.items():
        grammar |= {
            f"written_{name}": 100 * each.generated.rate,
            f"real_{name}": 100 * each.real.rate,
            f"shuffled_{name}": 100 * each.shuffled.rate,
        }
    return {
        "coherence": 100 * found.coherence.rate if written["contextual"] and found.coherence else -1.0,
        "judge_accuracy": 100 * found.judge.rate if found.judge else -1.0,
        "bleu": found.bleu.mean,
        "references": found.bleu.references,
        "novelty": found.novelty,
        "relative_novelty": found.relative_novelty if np.isfinite(found.relative_novelty) else -1.0,
        "novelties": np.array(found.novelties),
        "repetitions": sum(found.repetitions.values()),
        "repeated": {str(size): count for size, count in found.repetitions.items()},
        **grammar,
        "copied": float(np.mean(found.copied.training)) if found.copied else -1.0,
        "copied_control": float(np.mean(found.copied.control)) if found.copied else -1.0,
    }


@step("novelty-quantile", outputs=("novelty",))
def novelty_quantile(novelties: Sequence[int], *, quantile: float) -> dict[str, Any]:
    """Give a quantile of the novelty of headlines: evenly spaced ones draw the boxes of figure B.4."""
    return {"novelty": float(np.quantile(np.asarray(novelties), quantile))}


@step("repetitions-of", outputs=("count",))
def repetitions_of(repeated: Mapping[str, int], *, words: int) -> dict[str, Any]:
    """Say how many runs of so many words are repeated within a headline, as figure B.3 shows them."""
    return {"count": int(repeated.get(str(words), 0))}
