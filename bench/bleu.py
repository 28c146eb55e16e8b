"""BLEU of headlines against thousands of references beside sacrebleu: the same scores in one run, with the ratio.

Run `python bench/bleu.py`, or `--quick` for fewer headlines on sacrebleu's side. The headlines are those of
ZIGGURAT_DATA where it is named, and else invented words.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import sacrebleu

from ziggurat.sequences.text import prepare_headlines
from ziggurat.utility.text import ReferenceBleu


def _headlines() -> list[str]:
    file = Path(os.environ.get("ZIGGURAT_DATA") or "none") / "uci_news_titles.parquet"
    if file.exists():
        return prepare_headlines(pq.read_table(file)["title"].to_pylist())[0]
    draw = np.random.default_rng(1)
    return [" ".join(f"w{each}" for each in draw.zipf(1.3, 10) % 20_000) for _ in range(20_000)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="3 headlines for sacrebleu instead of 20")
    asked = 3 if parser.parse_args().quick else 20
    held = _headlines()
    order = np.random.default_rng(2).permutation(len(held))
    headlines = [held[place] for place in order[:400]]
    print(f"{'references':>10}{'merged once':>13}{'ours':>14}{'sacrebleu':>16}{'ratio':>10}")
    for size in (100, 1000, 5000):
        references = [held[place] for place in order[400 : 400 + size]]
        start = time.perf_counter()
        bleu = ReferenceBleu(references)
        merged = time.perf_counter() - start
        ours = [bleu.score(each) for each in headlines]
        quick = (time.perf_counter() - start - merged) / len(headlines)
        start = time.perf_counter()
        theirs = [sacrebleu.sentence_bleu(each, references, tokenize="none").score for each in headlines[:asked]]
        slow = (time.perf_counter() - start) / asked
        assert np.allclose(np.array(ours[:asked]) * 100, theirs, rtol=0, atol=1e-9)
        print(f"{size:>10,}{merged:>11.2f} s{1e3 * quick:>11.3f} ms{1e3 * slow:>13.1f} ms{slow / quick:>9.0f}x")


if __name__ == "__main__":
    main()
