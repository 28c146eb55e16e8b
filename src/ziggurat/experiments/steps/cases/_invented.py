"""Toy data for the case studies, for tests and first looks; they say nothing about the real ones."""

from __future__ import annotations

import numpy as np

from ziggurat.experiments.steps.cases._case_parts import Classes, Features
from ziggurat.randomness import seeded

_WORDS = [
    "home",
    "shop",
    "cart",
    "item",
    "help",
    "news",
    "blog",
    "user",
    "photo",
    "music",
    "video",
    "about",
    "login",
    "search",
    "order",
    "list",
    "page",
    "view",
]
_ENDINGS = ["/", ".html", ".php", ".jsp", ".png", ".css"]
_KEYS = ["id", "name", "page", "lang", "sort", "q"]
_ATTACKS = (
    "' or 1=1 --",
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "1 union select null,null",
    ";cat /etc/shadow",
    "<img src=javascript:alert(1)>",
)


def requests(rows: int, malicious_share: float, seed: int) -> tuple[list[str], Classes]:
    """Different toy requests: paths and queries of common words, some of them with an injected attack."""
    draw = seeded(seed).child("requests").simulation()
    labels = (draw.random(rows) < malicious_share).astype(np.int64)
    return [_request(draw, number, bool(bad)) for number, bad in enumerate(labels)], labels


def _request(draw: np.random.Generator, number: int, malicious: bool) -> str:
    depth, asked = int(draw.integers(1, 4)), int(draw.integers(0, 3))
    path = "".join(f"/{_WORDS[word]}" for word in draw.integers(len(_WORDS), size=depth))
    pairs = [f"{_KEYS[draw.integers(len(_KEYS))]}={_WORDS[draw.integers(len(_WORDS))]}" for _ in range(asked)]
    if malicious:
        pairs.append(f"{_KEYS[draw.integers(len(_KEYS))]}={_ATTACKS[draw.integers(len(_ATTACKS))]}")
    query = "&".join([*pairs, f"n={number}"]) if pairs else f"{number}"
    return f"{path}{_ENDINGS[draw.integers(len(_ENDINGS))]}?{query}"


def beats(rows: int, seed: int) -> tuple[Features, Classes, Classes]:
    """Toy heartbeats of five classes as uneven as the real ones, with the record that each belongs to."""
    draw = seeded(seed).child("beats").simulation()
    labels = draw.choice(5, size=rows, p=(0.83, 0.03, 0.06, 0.01, 0.07)).astype(np.int64)
    shapes = _bumps(np.random.default_rng(5), 5, 187)
    curves = shapes[labels] * draw.uniform(0.7, 1.3, (rows, 1)) + draw.normal(0, 0.05, (rows, 187))
    return np.clip(curves, 0, None).astype(np.float32), labels, draw.integers(100, 148, rows)


def digits(rows: int, seed: int) -> tuple[Features, Classes]:
    """Toy images of 28 by 28 in ten classes: one blurred pattern for each, with noise."""
    draw = seeded(seed).child("digits").simulation()
    labels = draw.integers(10, size=rows)
    shapes = _bumps(np.random.default_rng(10), 10, 784)
    images = 0.6 * shapes[labels] + draw.normal(0, 0.25, (rows, 784))
    return np.clip(images, 0, 1).astype(np.float32), labels.astype(np.int64)


def _bumps(draw: np.random.Generator, count: int, width: int) -> Features:
    """Fixed curves between 0 and 1 of a few bumps each; the same in every run, so they are part of no seed."""
    places, at = np.arange(width), draw.uniform(0, width, (count, 4, 1))
    curves = np.exp(-(((places - at) / (0.04 * width)) ** 2) / 2).sum(axis=1)
    return np.asarray(np.minimum(curves, 1.0), dtype=np.float32)
