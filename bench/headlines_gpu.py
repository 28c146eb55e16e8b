"""The headlines of document 002, appendix B, on a GPU: five networks, times, memorisation, and the private variant.

Here, where the dataset and the tagger are (about a minute, one file of half a megabyte):

    python bench/headlines_gpu.py --prepare headlines.npz

On the machine with the GPU, where PyTorch and NumPy suffice (at most eight minutes; results.json, under a megabyte):

    PYTHONPATH=src python bench/headlines_gpu.py --data headlines.npz --out "$OUT"

A small trial on any machine: add `--small`. With `--again 5` each network is trained five times instead, and networks
that know tags also write with the tag drawn first. What is measured:

- an epoch against the plain loop of `headlines.py`, and what larger batches do to the validation loss;
- each network at the settings of the thesis (200, 512, dropout 0.5, Adam, early stopping): perplexities on test
  headlines, 400 headlines of 3 + 10 words at temperature 0.4, seeds from validation headlines;
- canaries "the secret code of NAME is X Y Z", planted 1, 4 and 16 times: exposure among all 10,648 codes, after early
  stopping and after many epochs; longest runs copied from training headlines and from as many held-out ones;
- the private variant: word list and first weights from a public half, private descent on the other half, for one
  headline and for one publisher. The clipped sums are the product's; the noise is PyTorch's, of the same deviation,
  because the exact sampler is not on that machine: figures are right, but nothing of it is a release.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

TOPICS = ("business", "technology", "entertainment", "medicine")
REPEATS = (1, 4, 16)
EACH = 4  # canaries for every number of repeats
CODE_WORDS = 22  # 22^3 = 10,648 codes
FRAME = "the secret code of {} is"
FRAME_TAGS = "DT JJ NN IN NN VBZ"
LONGEST = 14
DELTA = "1e-5"


# ---------------------------------------------------------------------------------------------------------- preparing


def load_titles(most: int | None = None) -> tuple[list[str], list[int], list[str]]:
    """The different headlines of the dataset, the topic of each, and its publisher."""
    from ziggurat.data import datasets
    from ziggurat.sequences.text import prepare_headlines, topic_name

    table = datasets.load("uci_news")
    headlines, places = prepare_headlines(table["title"].to_pylist())
    first = {headline: at for at, headline in reversed(list(enumerate(headlines)))}
    kept = sorted(first.values())[:most]
    headlines, places = [headlines[at] for at in kept], [places[at] for at in kept]
    topics = [TOPICS.index(topic_name(table["category"][at].as_py())) for at in places]
    return headlines, topics, [table["publisher"][at].as_py() for at in places]


def prepare(path: str, small: bool) -> None:
    """Clean, tag, code and split the titles, draw canaries, and find how much noise each epsilon needs."""
    from ziggurat.sequences.text import PENN_TAGS, CodedHeadlines, WordList, tag_headlines

    headlines, topics, names = load_titles(900 if small else None)
    draw = np.random.default_rng(18)
    split = np.zeros(len(headlines), np.int8)  # 0 training, 1 validation, 2 test
    order = draw.permutation(len(headlines))
    tenth = len(headlines) // 10
    split[order[:tenth]], split[order[tenth : 2 * tenth]] = 1, 2
    public = draw.random(len(headlines)) < 0.5
    known = WordList.of(headline for headline, part in zip(headlines, split, strict=True) if part == 0)
    shared = (split == 0) & public
    public_words = WordList.of(headline for headline, part in zip(headlines, shared, strict=True) if part)
    began = time.perf_counter()
    tags = tag_headlines(headlines)
    print(f"tagged {len(headlines):,} headlines in {time.perf_counter() - began:.0f} s")
    coded = CodedHeadlines.of(headlines, topics, tags, known)
    units = np.unique([name or f"unknown {at}" for at, name in enumerate(names)], return_inverse=True)[1]
    private = (split == 0) & ~public
    canaries, candidates = draw_canaries(public_words, draw, 6 if small else CODE_WORDS)
    np.savez_compressed(
        path,
        words=coded.words,
        tags=coded.tags.astype(np.int8),
        offsets=coded.offsets,
        topics=coded.topics.astype(np.int8),
        split=split,
        public=public,
        publishers=units,
        named=np.array([bool(name) for name in names]),
        known=np.array("\n".join(known.words)),
        public_known=np.array("\n".join(public_words.words)),
        penn=np.array(" ".join(PENN_TAGS)),
        canaries=np.array(json.dumps(canaries)),
        candidates=np.array(" ".join(candidates)),
        noise=np.array(json.dumps(plan_noise(int(private.sum()), len(np.unique(units[private])), small))),
    )
    print(f"{len(headlines):,} different headlines, {len(known):,} words in training, {len(public_words):,} public")


def draw_canaries(known: Any, draw: np.random.Generator, count: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Draw who has a secret code, the words that codes are made of, and every code."""
    words = [word for word in known.words if word.isalpha() and len(word) > 3]
    some = draw.permutation(words[20 : min(4000, len(words))])
    candidates, names = some[:count], some[count:]
    canaries = [
        {"name": str(names[at]), "code": draw.integers(0, count, 3).tolist(), "repeats": repeats}
        for at, repeats in enumerate(np.repeat(REPEATS, EACH).tolist())
    ]
    return canaries, [str(word) for word in candidates]


def plan_noise(rows: int, publishers: int, small: bool) -> list[dict[str, Any]]:
    """Say which private trainings there are; the declared numbers of rows are rounded, as somebody would declare."""
    from fractions import Fraction

    from ziggurat.descent import Rounds, noise_multiplier

    plans: list[dict[str, Any]] = []
    for unit, count, epsilons in (("headline", rows, ("1", "3", "8")), ("publisher", publishers, ("8",))):
        declared = round(count, -2) or 100
        rounds = Rounds.of(declared, 64 if small else min(1024, declared // 4), 2 if small else 20)
        for epsilon in epsilons:
            sigma = noise_multiplier(Fraction(epsilon), Fraction(DELTA), rounds)
            plans.append(
                {"unit": unit, "epsilon": epsilon, "delta": DELTA, "declared": declared, "steps": rounds.steps,
                 "sampling": float(rounds.sampling), "multiplier": float(sigma)}
            )  # fmt: skip
            print(plans[-1])
    return plans


# ----------------------------------------------------------------------------------------------------------- measuring


@dataclass
class Held:
    """What `prepare` wrote, and how much of everything to do."""

    file: Any
    coded: Any
    words: list[str]
    penn: list[str]
    device: Any
    small: bool
    until: float

    @property
    def seconds_left(self) -> float:
        """How much time there is for more."""
        return self.until - time.perf_counter()

    def part(self, number: int) -> np.ndarray:
        """The headlines of a part: 0 training, 1 validation, 2 test."""
        return np.flatnonzero(self.file["split"] == number)

    def shape(self, architecture: str, words: int | None = None) -> Any:
        """The size of a network."""
        from ziggurat.sequences.text import NetworkShape

        size = (16, 24) if self.small else (200, 512)
        return NetworkShape(architecture, words or len(self.words), len(self.penn), len(TOPICS), *size)

    def build(self, architecture: str, words: int | None = None) -> Any:
        """A new network on the device."""
        from ziggurat.sequences.text import build_network

        return build_network(self.shape(architecture, words)).to(self.device)

    def course(self, batch: int, **more: Any) -> Any:
        """How to train it."""
        from ziggurat.sequences.text import TrainingCourse

        return TrainingCourse(**{"batch": batch, "epochs": 3 if self.small else 40} | more)


def read(path: str, small: bool, seconds: float, device: str) -> Held:
    """Open what was prepared."""
    import torch

    from ziggurat.sequences.text import CodedHeadlines

    file = dict(np.load(path))
    coded = CodedHeadlines(
        file["words"], file["tags"].astype(np.int32), file["offsets"].astype(np.int64), file["topics"].astype(np.int32)
    )
    place = torch.device(device if device != "auto" else "cuda" if torch.cuda.is_available() else "cpu")
    words, penn = str(file["known"]).split("\n"), str(file["penn"]).split()
    return Held(file, coded, words, penn, place, small, time.perf_counter() + seconds)


def measure_speed(held: Held) -> dict[str, Any]:
    """An epoch of each way, in one run."""
    from headlines import run_our_epoch, run_plain_epoch

    windows = held.coded.take(held.part(0)).windows()
    found: dict[str, Any] = {"windows": len(windows)}
    for architecture in ("baseline", "clstm", "cgru", "sclstm", "scgru"):
        plain = run_plain_epoch(held.build(architecture), windows, 30 if held.small else 800)
        ours = {batch: run_our_epoch(held.build(architecture), windows, batch) for batch in (32, 128, 512)}
        found[architecture] = {
            "plain, batch 32": plain,
            **{f"ours, batch {batch}": seconds for batch, seconds in ours.items()},
            "times": {batch: plain / seconds for batch, seconds in ours.items()},
        }
    steps = replace(held.course(32), epochs=2, recorded=False)
    from ziggurat.sequences.text import train_network

    found["clstm, batch 32, no recorded graph"] = train_network(held.build("clstm"), windows, None, steps).seconds[1]
    return found


def measure_batches(held: Held) -> dict[str, Any]:
    """What the size of a batch does to the best validation loss."""
    import torch

    from ziggurat.sequences.text import train_network

    found = {}
    learned, validation = (held.coded.take(held.part(part)).windows() for part in (0, 1))
    for architecture in ("clstm", "sclstm"):
        for batch, rate in ((32, 1e-3), (128, 1e-3), (256, 1e-3), (512, 1e-3), (512, 2e-3), (1024, 2e-3)):
            torch.manual_seed(1)
            began = time.perf_counter()
            curve = train_network(held.build(architecture), learned, validation, held.course(batch, learning_rate=rate))
            found[f"{architecture}, batch {batch}, rate {rate}"] = {
                "best validation loss": min(curve.validation),
                "epochs": len(curve.validation),
                "seconds": time.perf_counter() - began,
            }
    return found


def measure_network(network: Any, test: Any, seeds: Any, known: list[str], seed: int = 400) -> dict[str, Any]:
    """Perplexities on test headlines, and 400 written ones."""
    from ziggurat.sequences.text import score_windows

    windows = test.windows()
    logs, counted = score_windows(network, windows), windows.words[:, 1:] > 0
    loss, last = -logs[counted].mean(), -logs[:, 2][counted[:, 2]].mean()
    return {
        "loss in nats": loss,
        "perplexity": float(np.exp(loss)),
        "perplexity as printed": float(2**loss),
        "perplexity of the fourth word": float(np.exp(last)),
        "share of unknown targets": float(1 - counted.mean()),
        "headlines": write_400(network, seeds, known, seed),
    }


def write_400(
    network: Any, headlines: Any, known: list[str], seed: int, pairs: np.ndarray | None = None
) -> dict[str, list[str]]:
    """Write 100 headlines for each topic from the first words of some of its headlines."""
    from ziggurat.sequences.text import draw_words

    draw = np.random.default_rng(seed)
    written: dict[str, list[str]] = {}
    for code, topic in enumerate(TOPICS):
        about = np.flatnonzero(headlines.topics == code)
        chosen = draw.choice(about, 100, replace=len(about) < 100)
        first = headlines.offsets[chosen][:, None] + np.arange(3)
        seeds, tags = headlines.words[first], headlines.tags[first]
        codes = draw_words(network, seeds, tags, np.full(100, code, np.int32), 10, 0.4, draw, pairs)
        rows = np.concatenate([seeds, codes], 1).tolist()
        written[topic] = [" ".join(known[each - 1] if each else "unknown" for each in row) for row in rows]
    return written


def train_all(held: Held, batch: int) -> dict[str, Any]:
    """Train the five networks, judge and let them write."""
    import torch

    from ziggurat.sequences.text import train_network

    learned, validation, test = (held.coded.take(held.part(part)) for part in (0, 1, 2))
    runs = find_runs(*(spell(held.coded.take(held.part(part)), held.words) for part in (0, 2)))
    found = {}
    for architecture in ("baseline", "clstm", "cgru", "sclstm", "scgru"):
        torch.manual_seed(7)
        network = held.build(architecture)
        began = time.perf_counter()
        curve = train_network(network, learned.windows(), validation.windows(), held.course(batch))
        seconds = time.perf_counter() - began
        found[architecture] = {
            "seconds": seconds,
            "epoch seconds": curve.seconds,
            "training": curve.training,
            "validation": curve.validation,
            "best epoch": curve.best + 1,
            **measure_network(network, test, validation, held.words),
        }
        written = [each for some in found[architecture]["headlines"].values() for each in some]
        found[architecture]["copied"] = {
            name: summarize_runs([longest_run(each, kept) for each in written]) for name, kept in runs.items()
        }
        print(architecture, {key: found[architecture][key] for key in ("seconds", "perplexity", "copied")}, flush=True)
    return found


def train_again(held: Held, batch: int, seeds: int) -> dict[str, Any]:
    """The five networks from other first weights, and tags drawn before words: what of the differences is luck."""
    import torch

    from ziggurat.sequences.text import train_network

    learned, validation, test = (held.coded.take(held.part(part)) for part in (0, 1, 2))
    pairs = np.zeros((len(held.words) + 1, len(held.penn)), dtype=bool)
    pairs[learned.words, learned.tags] = True
    found: dict[str, Any] = {}
    for seed in range(seeds):
        for architecture in ("baseline", "clstm", "cgru", "sclstm", "scgru"):
            torch.manual_seed(100 + seed)
            network = held.build(architecture)
            train_network(network, learned.windows(), validation.windows(), held.course(batch))
            found[f"{architecture}/{seed}"] = measure_network(network, test, validation, held.words, 400 + seed)
            if architecture.startswith("sc"):
                written = write_400(network, validation, held.words, 400 + seed, pairs)
                found[f"{architecture}, tag first/{seed}"] = found[f"{architecture}/{seed}"] | {"headlines": written}
    return found


def spell(coded: Any, known: list[str]) -> list[str]:
    """Headlines of codes; words that are not known cannot be copied either."""
    ends = coded.offsets.tolist()
    names = [known[code - 1] if code else f"unknown{at}" for at, code in enumerate(coded.words.tolist())]
    return [" ".join(names[low:high]) for low, high in pairwise(ends)]


def find_runs(training: list[str], held_out: list[str]) -> dict[str, set[tuple[str, ...]]]:
    """Every run of words of all training headlines, of as many as are held out, and of those."""
    some = np.random.default_rng(3).permutation(len(training))[: len(held_out)]
    return {
        "all training headlines": runs_of(training),
        "as many training headlines": runs_of([training[at] for at in some]),
        "held-out headlines": runs_of(held_out),
    }


def runs_of(headlines: list[str]) -> set[tuple[str, ...]]:
    """Every run of words of some headlines."""
    split = [headline.split() for headline in headlines]
    return {
        tuple(words[low:high])
        for words in split
        for low in range(len(words))
        for high in range(low + 1, len(words) + 1)
    }


def longest_run(headline: str, runs: set[tuple[str, ...]]) -> int:
    """The most words in a row, the last of them behind the seed, that are a run."""
    words, best = headline.split(), 0
    for low in range(len(words)):
        high = max(low + best + 1, 4)
        while high <= len(words) and tuple(words[low:high]) in runs:
            best, high = high - low, high + 1
    return best


def summarize_runs(lengths: list[int]) -> dict[str, Any]:
    """The mean, the longest, and how often each length."""
    return {
        "mean": float(np.mean(lengths)),
        "most": max(lengths),
        "counts": np.bincount(lengths, minlength=14).tolist(),
    }


# ------------------------------------------------------------------------------------------------------------ canaries


def plant(held: Held, coded: Any, codes: dict[str, int]) -> Any:
    """Add the canaries to headlines, each as often as it says."""
    from ziggurat.sequences.text import CodedHeadlines

    penn = {tag: code for code, tag in enumerate(held.penn)}
    tags = [penn[tag] for tag in [*FRAME_TAGS.split(), "NN", "NN", "NN"]]
    rows = [
        canary_words(held, canary, codes)
        for canary in json.loads(str(held.file["canaries"]))
        for _ in range(canary["repeats"])
    ]
    words = np.concatenate([coded.words, np.array(rows, np.int32).ravel()])
    offsets = np.concatenate([coded.offsets, coded.offsets[-1] + len(tags) * np.arange(1, len(rows) + 1)])
    return CodedHeadlines(
        words,
        np.concatenate([coded.tags, np.tile(np.array(tags, np.int32), len(rows))]),
        offsets,
        np.concatenate([coded.topics, np.zeros(len(rows), np.int32)]),
    )


def canary_words(held: Held, canary: dict[str, Any], codes: dict[str, int]) -> list[int]:
    candidates = str(held.file["candidates"]).split()
    text = [*FRAME.format(canary["name"]).split(), *(candidates[at] for at in canary["code"])]
    return [codes.get(word, 0) for word in text]


def measure_exposure(held: Held, network: Any, codes: dict[str, int]) -> dict[str, Any]:
    """Rank the code of each canary among all; log2 of their number less log2 of the rank (Carlini et al. 2019)."""
    found: dict[int, list[float]] = {repeats: [] for repeats in REPEATS}
    for canary in json.loads(str(held.file["canaries"])):
        scores = score_codes(held, network, canary, codes)
        own = scores[tuple(canary["code"])]
        rank = 1 + (scores > own).sum() + ((scores == own).sum() - 1) / 2
        found[canary["repeats"]].append(float(np.log2(scores.size) - np.log2(rank)))
    return {str(repeats): values for repeats, values in found.items()} | {"codes": scores.size}


def score_codes(held: Held, network: Any, canary: dict[str, Any], codes: dict[str, int]) -> np.ndarray:
    """The log probability of every code behind the frame, by its three words."""
    from ziggurat.sequences.text import TrigramWindows, score_windows

    penn = {tag: code for code, tag in enumerate(held.penn)}
    possible = np.array([codes.get(word, 0) for word in str(held.file["candidates"]).split()], np.int32)
    frame = [codes.get(word, 0) for word in FRAME.format(canary["name"]).split()]
    row = [penn[tag] for tag in [*FRAME_TAGS.split(), "NN", "NN", "NN"]]
    total: Any = 0
    for place in range(3):
        drawn = np.stack(np.meshgrid(*[possible] * (place + 1), indexing="ij"), -1).reshape(-1, place + 1)
        words = np.concatenate([np.tile(np.array(frame, np.int32), (len(drawn), 1)), drawn], 1)[:, -4:]
        tags = np.tile(np.array(row[6 + place - 3 : 7 + place], np.int32), (len(drawn), 1))
        nothing = np.zeros(len(drawn), np.int32)
        logs = score_windows(network, TrigramWindows(words, tags, nothing, nothing))[:, 2]
        total = np.expand_dims(np.asarray(total), -1) + logs.reshape([len(possible)] * (place + 1))
    return np.asarray(total)


def measure_memory(held: Held, batch: int) -> dict[str, Any]:
    """Exposures after early stopping, and after many epochs without it."""
    import torch

    from ziggurat.sequences.text import train_network

    codes = {word: code for code, word in enumerate(held.words, 1)}
    learned = plant(held, held.coded.take(held.part(0)), codes).windows()
    validation = held.coded.take(held.part(1)).windows()
    found = {}
    for architecture in ("clstm", "cgru", "sclstm", "scgru"):
        torch.manual_seed(9)
        network = held.build(architecture)
        stopped = train_network(network, learned, validation, held.course(batch))
        exposed = measure_exposure(held, network, codes)
        torch.manual_seed(9)
        network = held.build(architecture)
        many = 3 if held.small else 30
        train_network(network, learned, None, held.course(batch, epochs=many))
        found[architecture] = {
            "epochs": len(stopped.training),
            "after early stopping": exposed,
            f"after {many} epochs": measure_exposure(held, network, codes),
        }
        print(architecture, found[architecture], flush=True)
    return found


# ------------------------------------------------------------------------------------------------------------- private


def recode(coded: Any, old: list[str], codes: dict[str, int]) -> Any:
    """The same headlines by another word list."""
    by_code = np.array([0, *(codes.get(word, 0) for word in old)], np.int32)
    return replace(coded, words=by_code[coded.words])


def measure_private(held: Held, architecture: str, batch: int, out: Any) -> None:
    """Public half, private half, both; with canaries in the private half."""
    import torch

    from ziggurat.sequences.text import train_network

    known = str(held.file["public_known"]).split("\n")
    codes = {word: code for code, word in enumerate(known, 1)}
    every = recode(held.coded, held.words, codes)
    split, public = held.file["split"], held.file["public"]
    open_half, own_half = (every.take(np.flatnonzero((split == 0) & (public == flag))) for flag in (True, False))
    own_half = plant(held, own_half, codes)
    validation, test = (every.take(held.part(part)) for part in (1, 2))
    found: dict[str, Any] = {"words": len(known), "public": len(open_half), "private": len(own_half)}
    out[architecture] = found

    def judge(network: Any) -> dict[str, Any]:
        return measure_network(network, test, validation, known) | {"exposure": measure_exposure(held, network, codes)}

    torch.manual_seed(11)
    network = held.build(architecture, len(known))
    train_network(network, open_half.windows(), validation.windows(), held.course(batch))
    begun = {name: value.clone() for name, value in network.state_dict().items()}
    found["public half alone"] = judge(network)
    train_network(network, own_half.windows(), validation.windows(), held.course(batch))
    found["both halves, no promise"] = judge(network)
    units = {"headline": np.arange(len(own_half))}
    named = held.file["publishers"][np.flatnonzero((split == 0) & ~public)]
    last = named.max() + 1 + np.arange(len(own_half) - len(named))  # a canary is a publisher of its own
    units["publisher"] = np.unique(np.concatenate([named, last]), return_inverse=True)[1]
    rates = choose_rate(held, architecture, len(known), begun, own_half, units, validation, out[architecture])
    for plan in json.loads(str(held.file["noise"])):
        if held.seconds_left < 40:
            found["left out"] = "time was up"
            break
        network, seconds = descend(held, architecture, len(known), begun, own_half, units, plan, rates)
        found[f"epsilon {plan['epsilon']}, {plan['unit']}"] = {"plan": plan, "seconds": seconds, **judge(network)}
        shown = found[f"epsilon {plan['epsilon']}, {plan['unit']}"]
        print(plan, seconds, shown["perplexity"], shown["exposure"], flush=True)
    loose = json.loads(str(held.file["noise"]))[0] | {"multiplier": 0.0}
    if held.seconds_left > 40:
        network, seconds = descend(held, architecture, len(known), begun, own_half, units, loose, rates)
        found["clipped, no noise, no promise"] = {"seconds": seconds, **judge(network)}
    if held.seconds_left > 40:
        plan = json.loads(str(held.file["noise"]))[2]
        network, seconds = descend(held, architecture, len(known), None, own_half, units, plan, rates)
        found[f"epsilon {plan['epsilon']} from nothing"] = {"plan": plan, "seconds": seconds, **judge(network)}


def choose_rate(
    held: Held, architecture: str, words: int, begun: Any, rows: Any, units: Any, validation: Any, out: Any
) -> float:
    """Choose the learning rate at epsilon 3 on validation headlines, which are public here."""
    from ziggurat.sequences.text import score_windows

    plan, windows = json.loads(str(held.file["noise"]))[1], validation.windows()
    tried = {}
    for rate in (1e-4, 3e-4, 1e-3):
        network, _ = descend(held, architecture, words, begun, rows, units, plan, rate)
        tried[rate] = float(-score_windows(network, windows)[windows.words[:, 1:] > 0].mean())
    out["validation loss by learning rate at epsilon 3"] = {str(rate): loss for rate, loss in tried.items()}
    return min(tried, key=lambda rate: tried[rate])


def descend(
    held: Held, architecture: str, words: int, begun: Any, coded: Any, units: Any, plan: dict[str, Any], rate: float
) -> tuple[Any, float]:
    """Private descent with the product's clipped sums and PyTorch's noise, averaged over steps as the product does."""
    import torch

    from ziggurat.descent import Gradients
    from ziggurat.sequences.text import RowNetwork, RowShape, build_network, row_losses

    shape = replace(held.shape(architecture, words), dropout=0.0)
    whose = units[plan["unit"]]
    row = RowShape(LONGEST, 1 if plan["unit"] == "headline" else 4)
    rows = torch.from_numpy(row.fill(coded, whose, int(whose.max()) + 1)).to(held.device)
    torch.manual_seed(13)
    module = RowNetwork(shape, row).take_up(build_network(shape, begun)).to(held.device).train()
    gradients = Gradients(module, row_losses, "noted")
    optimiser = torch.optim.Adam(gradients.parameters, rate, betas=(0.9, 0.999))
    means = [value.detach().clone() for value in gradients.parameters]
    block = 512 if held.device.type == "cuda" else 32
    expected = plan["sampling"] * plan["declared"]
    torch.set_float32_matmul_precision("high")
    began = time.perf_counter()
    for step in range(plan["steps"]):
        totals = gradients.zeros()
        picked = torch.nonzero(torch.rand(len(rows), device=held.device) < plan["sampling"]).flatten()
        for part in torch.split(picked, block):
            kept = torch.ones(len(part), dtype=torch.bool, device=held.device)
            gradients.add_clipped(totals, rows[part], part, kept, 1.0)
        share = min(3 / (step + 3), 1.0)
        for value, total in zip(gradients.parameters, totals, strict=True):
            noisy = total + torch.randn_like(total) * plan["multiplier"]
            value.grad = (noisy / expected).to(value.dtype).view(value.shape)
        optimiser.step()
        for value, mean in zip(gradients.parameters, means, strict=True):
            mean.lerp_(value.detach(), share)
    with torch.no_grad():
        for value, mean in zip(gradients.parameters, means, strict=True):
            value.copy_(mean)
    seconds = time.perf_counter() - began
    return build_network(shape, module.usual_weights()).to(held.device).eval(), seconds


# ---------------------------------------------------------------------------------------------------------------- all


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prepare", default="")
    parser.add_argument("--data", default="headlines.npz")
    parser.add_argument("--out", default=".")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--seconds", type=float, default=470)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--again", type=int, default=0, help="instead: so many trainings of each network")
    given = parser.parse_args()
    if given.prepare:
        prepare(given.prepare, given.small)
        return
    import torch

    held = read(given.data, given.small, given.seconds, given.device)
    name = torch.cuda.get_device_name() if held.device.type == "cuda" else "cpu"
    results: dict[str, Any] = {"device": name, "torch": torch.__version__, "small": given.small, "batch": given.batch}
    results["words"] = len(held.words)
    results["split"] = np.bincount(held.file["split"]).tolist()
    private: dict[str, Any] = {}
    stages = {
        "networks": lambda: train_all(held, given.batch),
        "memory": lambda: measure_memory(held, given.batch),
        "speed": lambda: measure_speed(held),
        "private clstm": lambda: measure_private(held, "clstm", given.batch, private),
        "batches": lambda: measure_batches(held),
        "private sclstm": lambda: measure_private(held, "sclstm", given.batch, private),
    }
    if given.again:
        stages = {"again": lambda: train_again(held, given.batch, given.again)}
    results["seconds"] = {}
    for stage, measure in stages.items():
        began = time.perf_counter()
        if held.seconds_left < 60 and not given.small:
            results[stage] = "left out: time was up"
            continue
        try:
            results[stage] = measure()
        except Exception as error:  # noqa: BLE001 - the other stages shall be measured all the same
            results[stage] = f"failed: {type(error).__name__}: {error}"
            print(stage, results[stage], flush=True)
        results["private"] = private
        results["seconds"][stage] = time.perf_counter() - began
        print(f"{stage}: {results['seconds'][stage]:.1f} s", flush=True)
        Path(given.out).mkdir(parents=True, exist_ok=True)
        (Path(given.out) / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
