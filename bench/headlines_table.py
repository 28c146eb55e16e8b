"""Judge the headlines that `headlines_gpu.py` had written, and print the tables of the guide.

    python bench/headlines_table.py --results results.json --data headlines.npz

Needs the dataset, and the checkers of grammar that are to be asked. A few minutes on one processor.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

PRINTED: dict[str, tuple[float | None, ...]] = {
    "baseline": (108.383, None, 0.613, 21.605, 28.25, 11),
    "clstm": (119.10, 84.25, 0.637, 24.67, 49.75, 30),
    "cgru": (92.22, 77.25, 0.655, 25.21, 50.75, 12),
    "sclstm": (146.93, 94.75, 0.633, 26.57, 75.25, 5),
    "scgru": (175.83, 87.50, 0.625, 25.65, 69.00, 8),
}
ROWS = ("perplexity", "coherence, %", "BLEU", "novelty", "grammatical, %", "repetitions")


def make_judge(data: str) -> Any:
    """A judge that knows the training headlines, and the test headlines as held out."""
    from headlines_gpu import TOPICS, load_titles
    from ziggurat.utility.text import HeadlineJudge

    headlines, topics, _ = load_titles()
    split = np.load(data)["split"]
    training, test = (np.flatnonzero(split == part).tolist() for part in (0, 2))
    return HeadlineJudge(
        [headlines[at] for at in training],
        [TOPICS[topics[at]] for at in training],
        held_out=[headlines[at] for at in test],
        random_state=1,
    )


def judge_model(judge: Any, name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Every figure of table B.1 of one model, and what stands beside it."""
    written = [(each, topic) for topic, some in found["headlines"].items() for each in some]
    told = judge.judge([each for each, _ in written], [topic for _, topic in written], model=name)
    rows: dict[str, Any] = {
        "perplexity": found["perplexity"],
        "perplexity as printed": found["perplexity as printed"],
        "perplexity of the fourth word": found["perplexity of the fourth word"],
        "coherence, %": None if name == "baseline" else 100 * told.coherence.rate,
        "BLEU": told.bleu.mean,
        "novelty": told.novelty,
        "novelty beside a real headline's": told.relative_novelty,
        "repetitions": sum(told.repetitions.values()),
        "copied run, words": float(np.mean(told.copied.training)),
        "run in held-out headlines, words": float(np.mean(told.copied.control)),
    }
    for each in told.grammar.checked:
        shares = {"": each.generated, " (real)": each.real, " (shuffled)": each.shuffled}
        rows |= {f"{each.checker}{beside}, %": 100 * share.rate for beside, share in shares.items()}
    return rows


def summarize_again(judge: Any, found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The mean and the range of every figure over several trainings of a network."""
    judged: dict[str, list[dict[str, Any]]] = {}
    for name, each in found.items():
        judged.setdefault(name.split("/")[0], []).append(judge_model(judge, name.split("/")[0], each))
    return {name: {row: _spread([each[row] for each in some]) for row in some[0]} for name, some in judged.items()}


def _spread(values: list[Any]) -> str:
    if None in values:
        return "–"
    return f"{np.mean(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def render(columns: dict[str, dict[str, Any]]) -> str:
    """A Markdown table: a row for every figure, a column for every model."""
    names = list(dict.fromkeys(row for column in columns.values() for row in column))
    lines = [f"| | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    cells = {name: " | ".join(_show(column.get(name)) for column in columns.values()) for name in names}
    return "\n".join([*lines, *(f"| {name} | {row} |" for name, row in cells.items())])


def _show(value: Any) -> str:
    if value is None or value != value:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def render_speed(found: dict[str, Any]) -> str:
    """Seconds of an epoch, and ratios."""
    columns = {
        name: {
            **{way: seconds for way, seconds in each.items() if way != "times"},
            **{f"times as fast, batch {batch}": times for batch, times in each["times"].items()},
        }
        for name, each in found.items()
        if isinstance(each, dict)
    }
    return render(columns)


def render_exposure(found: dict[str, Any]) -> str:
    """Mean exposures in bits, by how often a canary was planted."""
    columns = {
        f"{name}, {when}": _mean_exposures(exposed)
        for name, each in found.items()
        for when, exposed in each.items()
        if isinstance(exposed, dict)
    }
    return render(columns)


def _mean_exposures(exposed: dict[str, Any]) -> dict[str, Any]:
    return {f"planted {times} times": float(np.mean(bits)) for times, bits in exposed.items() if times != "codes"}


def render_private(judge: Any, found: dict[str, Any]) -> str:
    """What a promise does to every figure and to the canaries."""
    columns = {
        name: judge_model(judge, name, each)
        | {f"exposure, {row}": bits for row, bits in _mean_exposures(each["exposure"]).items()}
        for name, each in found.items()
        if isinstance(each, dict) and "headlines" in each
    }
    return render(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default="results.json")
    parser.add_argument("--data", default="headlines.npz")
    given = parser.parse_args()
    results = json.loads(Path(given.results).read_text(encoding="utf-8"))
    judge = make_judge(given.data)
    print(f"{results['device']}, PyTorch {results['torch']}, batch {results['batch']}\n\n## As printed\n")
    print(render({name: dict(zip(ROWS, row, strict=True)) for name, row in PRINTED.items()}))
    print("\n## Ours\n")
    if isinstance(results.get("again"), dict):
        print(render(summarize_again(judge, results["again"])))
        return
    print(render({name: judge_model(judge, name, each) for name, each in results["networks"].items()}))
    for title, show, key in (("An epoch, seconds", render_speed, "speed"), ("Exposure", render_exposure, "memory")):
        if isinstance(results.get(key), dict):
            print(f"\n## {title}\n\n{show(results[key])}")
    if isinstance(results.get("batches"), dict):
        print(f"\n## Batches\n\n{render(results['batches'])}")
    for name, each in (results.get("private") or {}).items():
        print(f"\n## Private: {name}\n\n{render_private(judge, each)}")


if __name__ == "__main__":
    main()
