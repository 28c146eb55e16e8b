"""An epoch of the headline networks against a plain loop, as somebody would write it in PyTorch, and against Keras.

    python bench/headlines.py [--windows 4096] [--words 17000] [--batch 128]

Prints the processor seconds of an epoch of so many trigrams, and ratios, all measured in one run in one thread: on
processors that others use too, the time of day tells little. On a GPU see `headlines_gpu.py`, which uses the same plain
loop. Trigrams are drawn at random: time does not depend on what they say. The plain loop is a DataLoader over tensors,
batches of 32, the network's own `forward`, cross entropy and Adam with their defaults.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

from ziggurat.sequences.text import (
    PENN_TAGS,
    NetworkShape,
    TrainingCourse,
    TrigramWindows,
    WriterNetwork,
    build_network,
    train_network,
)

PLAIN_BATCH = 32


def clock() -> float:
    """The time of day where a GPU computes, else the time that processors spent on this."""
    return time.perf_counter() if torch.cuda.is_available() else time.process_time()


def draw_windows(count: int, words: int, seed: int = 0) -> TrigramWindows:
    """Invent trigrams."""
    draw = np.random.default_rng(seed)
    codes = draw.integers(1, words + 1, (count, 4)).astype(np.int32)
    tags = draw.integers(0, len(PENN_TAGS), (count, 4)).astype(np.int32)
    topics = draw.integers(0, 4, count).astype(np.int32)
    return TrigramWindows(codes, tags, topics, np.arange(count, dtype=np.int32))


def run_plain_epoch(network: WriterNetwork, windows: TrigramWindows, steps: int | None = None) -> float:
    """Train as in any tutorial; gives the seconds of an epoch, extrapolated if only some steps are taken."""
    device = next(network.parameters()).device
    tensors = [torch.from_numpy(each).long() for each in (windows.words, windows.tags, windows.topics)]
    loader = DataLoader(TensorDataset(*tensors), batch_size=PLAIN_BATCH, shuffle=True)
    loss_of = torch.nn.CrossEntropyLoss()
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    network.train()
    total, began, taken = 0.0, 0.0, 0
    for taken, (words, tags, topics) in enumerate(loader):
        if taken == 3:  # the first steps choose kernels
            began = clock()
        words, tags, topics = words.to(device), tags.to(device), topics.to(device)
        optimiser.zero_grad()
        logits, marks = network(words[:, :3], tags[:, :3], topics)
        loss = loss_of(logits.flatten(0, 1), words[:, 1:].flatten())
        if marks is not None:
            loss = loss + loss_of(marks.flatten(0, 1), tags[:, 1:].flatten())
        loss.backward()
        optimiser.step()
        total += loss.item()
        if steps is not None and taken >= steps + 2:
            break
    seconds = clock() - began
    return seconds / max(taken - 2, 1) * len(windows) / PLAIN_BATCH


def run_keras_epoch(shape: NetworkShape, windows: TrigramWindows) -> float | None:
    """The same by Keras, as the thesis computed; None if it is not installed."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    try:
        import keras
    except ImportError:
        return None
    words = keras.Input((3,), dtype="int32")
    topics = keras.Input((3,), dtype="int32")
    parts = [keras.layers.Embedding(shape.places, shape.embedding)(words)]
    parts.append(keras.layers.Embedding(shape.topics, shape.embedding)(topics))
    states = keras.layers.LSTM(shape.hidden, return_sequences=True)(keras.layers.Concatenate()(parts))
    chances = keras.layers.Dense(shape.places, activation="softmax")(keras.layers.Dropout(shape.dropout)(states))
    model = keras.Model([words, topics], chances)
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    given = [windows.words[:, :3], np.repeat(windows.topics[:, None], 3, 1)]
    few = [each[: 4 * PLAIN_BATCH] for each in given]
    model.fit(few, windows.words[: 4 * PLAIN_BATCH, 1:], batch_size=PLAIN_BATCH, verbose=0)
    began = clock()
    model.fit(given, windows.words[:, 1:], batch_size=PLAIN_BATCH, verbose=0)
    return clock() - began


def run_our_epoch(network: WriterNetwork, windows: TrigramWindows, batch: int) -> float:
    """The mean of two epochs of ours; on a GPU the second, because a step is recorded in the first."""
    began = clock()
    curve = train_network(network, windows, None, TrainingCourse(batch, 2))
    return curve.seconds[1] if torch.cuda.is_available() else (clock() - began) / 2


def compare(architecture: str, windows: TrigramWindows, words: int, batches: tuple[int, ...]) -> dict[str, Any]:
    """Time all ways for one architecture."""
    shape = NetworkShape(architecture, words, len(PENN_TAGS), 4)
    found: dict[str, Any] = {"plain PyTorch, batch 32": run_plain_epoch(build_network(shape), windows)}
    if architecture == "clstm":
        found["Keras, batch 32"] = run_keras_epoch(shape, windows)
    for batch in batches:
        found[f"ours, batch {batch}"] = run_our_epoch(build_network(shape), windows, batch)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--windows", type=int, default=2048)
    parser.add_argument("--words", type=int, default=17_000)
    parser.add_argument("--batch", type=int, nargs="+", default=[32, 128, 512])
    given = parser.parse_args()
    windows = draw_windows(given.windows, given.words)
    print(f"{given.windows:,} trigrams, {given.words:,} words, {torch.get_num_threads()} threads")
    for architecture in ("clstm", "sclstm"):
        found = compare(architecture, windows, given.words, tuple(given.batch))
        plain = found["plain PyTorch, batch 32"]
        for way, seconds in found.items():
            if seconds is not None:
                print(f"{architecture:8} {way:26} {seconds:8.2f} s   {plain / seconds:5.2f} times as fast as plain")


if __name__ == "__main__":
    main()
