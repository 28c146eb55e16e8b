"""An ensemble of teachers trained as one program against a plain loop over them, in one run.

`python bench/teachers.py --device cpu|cuda --teachers 250 --rows 930 --features 500 --batch 62 --epochs 20`

The loop is ordinary PyTorch: for one teacher after the other a module, `torch.optim.Adam` and shuffled batches. A part
of it is timed and scaled to all teachers if `--loop` is less than `--teachers`; so is the stack on a processor, which
works chunk by chunk (`--timed`). Everything is float32 unless the line says otherwise. Only PyTorch and NumPy are
needed.
"""

from __future__ import annotations

import argparse
import sys
import time
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

SOURCE = Path(__file__).resolve().parents[1] / "src" / "ziggurat"


def without_the_rest(name: str, folder: Path) -> None:
    """Let modules of a package be imported without what its `__init__` imports."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package


def main() -> None:
    given = arguments()
    without_the_rest("ziggurat", SOURCE)
    without_the_rest("ziggurat.pate", SOURCE / "pate")
    draw = np.random.default_rng(0)
    timed = min(given.teachers, given.timed or (given.teachers if given.device != "cpu" else 32))
    looped = min(timed, given.loop or (given.teachers if given.device != "cpu" else 4))
    features = draw.random((timed * given.rows, given.features), dtype=np.float32)
    labels = (draw.random(timed * given.rows) < 0.05).astype(np.int64)
    print(f"{given.teachers} teachers x {given.rows} rows x {given.features} features, batch {given.batch}, ", end="")
    print(f"{given.epochs} epochs, 512-128-1, Adam, on {name_of(given.device)}; PyTorch {torch.__version__}")
    if given.device != "cpu":
        agree(given)
    loop = compare_loop(given, features, labels, looped)
    for name, seconds in stacks(given, features, labels, timed):
        whole = seconds * given.teachers / timed
        print(f"  {name:44}{whole:>10.3f} s{loop / whole:>9.1f}x{said(timed, given.teachers)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    for name, value in (("teachers", 250), ("rows", 930), ("features", 500), ("batch", 62), ("epochs", 20)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--loop", type=int, help="teachers of the loop that are timed (4 on a processor, else all)")
    parser.add_argument("--timed", type=int, help="teachers of the stack that are timed (32 on a processor, else all)")
    parser.add_argument(
        "--repeats", type=int, default=3, help="the best of so many runs, but one run of the loop on a GPU"
    )
    return parser.parse_args()


def name_of(device: str) -> str:
    return f"{torch.get_num_threads()} threads" if device == "cpu" else torch.cuda.get_device_name(device)


def said(timed: int, teachers: int) -> str:
    return "" if timed == teachers else f"   (timed on {timed} and scaled)"


def compare_loop(given: argparse.Namespace, features: Any, labels: Any, looped: int) -> float:
    """Time the loop; on a processor with all threads and with one, and count the faster."""
    threads = torch.get_num_threads()
    best = float("inf")
    for count in sorted({1, threads}, reverse=True) if given.device == "cpu" else (threads,):
        torch.set_num_threads(count)
        turns = given.repeats if given.device == "cpu" else 1
        seconds = min(clock(given.device, lambda: plain_loop(given, features, labels, looped)) for _ in range(turns))
        whole = seconds * given.teachers / looped
        name = f"plain loop, {count} threads" if given.device == "cpu" else "plain loop"
        print(f"  {name:44}{whole:>10.3f} s{'':>10}{said(looped, given.teachers)}")
        best = min(best, whole)
    torch.set_num_threads(threads)
    return best


def plain_loop(given: argparse.Namespace, features: Any, labels: Any, looped: int) -> None:
    everything = torch.from_numpy(features).to(given.device)
    truth = torch.from_numpy(labels).to(given.device, torch.float32)
    for teacher in range(looped):
        own = slice(teacher * given.rows, (teacher + 1) * given.rows)
        rows, goal = everything[own], truth[own]
        widths = ((given.features, 512), (512, 128), (128, 1))
        parts = [layer for fan_in, fan_out in widths for layer in (nn.Linear(fan_in, fan_out), nn.ReLU())]
        module = nn.Sequential(*parts[:-1]).to(given.device)
        adam = torch.optim.Adam(module.parameters())
        for _ in range(given.epochs):
            for batch in torch.randperm(given.rows, device=given.device).split(given.batch):
                adam.zero_grad()
                functional.binary_cross_entropy_with_logits(module(rows[batch]).squeeze(1), goal[batch]).backward()
                adam.step()


def stacks(given: argparse.Namespace, features: Any, labels: Any, timed: int) -> list[tuple[str, float]]:
    if given.device == "cpu":
        workers = torch.get_num_threads()
        sizes = [size for size in (2, 4, 6, 8, 16) if size <= timed]
        return [
            (f"stacked, chunks of {size}, {workers} threads", on_cpu(given, features, labels, timed, size, workers))
            for size in sizes
        ]
    ways = [(1, False, "float32"), (1, True, "float32"), (2, True, "float32"), (1, True, "tf32"), (2, True, "tf32")]
    return [
        (
            f"stacked, {abreast} at a time, {'CUDA graph' if graph else 'eager'}, {precision}",
            on_gpu(given, features, labels, abreast, graph, precision),
        )
        for abreast, graph, precision in ways
    ]


def on_cpu(given: argparse.Namespace, features: Any, labels: Any, timed: int, size: int, workers: int) -> float:
    from ziggurat.pate.training._chunk import train

    chunks = [chunk_of(given, features, labels, range(at, min(at + size, timed))) for at in range(0, timed, size)]

    def run() -> None:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(train, chunks))

    return min(clock("cpu", run) for _ in range(given.repeats))


def on_gpu(given: argparse.Namespace, features: Any, labels: Any, abreast: int, graph: bool, precision: str) -> float:
    """Time the epochs alone: starting weights are drawn and rows are copied before, which is told beside.

    What was learned stays on the GPU, as it does in `Teachers`, whose votes are asked for there.
    """
    from ziggurat.pate.training._chunk import Program
    from ziggurat.pate.training._steps import computing_on

    size = -(-given.teachers // abreast)
    where = {"device": given.device, "graph": graph, "precision": precision, "home": given.device}
    spans = [range(at, min(at + size, given.teachers)) for at in range(0, given.teachers, size)]
    chunks = [chunk_of(given, features, labels, span, **where) for span in spans]

    def work(program: Program) -> None:
        with computing_on(given.device, precision):
            program.run(None)

    times = []
    for _ in range(given.repeats + 1):  # the first sets libraries up
        start = time.perf_counter()
        with computing_on(given.device, precision):
            programs = [Program(chunk) for chunk in chunks]
        torch.cuda.synchronize()
        ready = time.perf_counter() - start
        with ThreadPoolExecutor(abreast) as pool:
            times.append(clock(given.device, lambda pool=pool, programs=programs: list(pool.map(work, programs))))
    how = "replayed from CUDA graphs" if all(each.steps.recorded for each in programs) else "eager steps"
    print(f"  ({how}, {precision}: {ready:.2f} s before for starting weights and copies)")
    return min(times[1:])


def agree(given: argparse.Namespace) -> None:
    """Train a few teachers on the processor and on the GPU, eagerly and replayed, and say how far they are apart."""
    from ziggurat.pate.training._chunk import Chunk, train
    from ziggurat.pate.training._networks import CNN, MLP
    from ziggurat.pate.training._settings import Training

    draw = np.random.default_rng(1)
    own = [np.arange(100) + 100 * at for at in range(6)]
    halves = tuple(each[:80] for each in own), tuple(each[80:] for each in own)
    labels = draw.integers(0, 2, 600)
    for network in (MLP(20, (32, 16)), MLP(20, (32,), 2, dropout=0.3), CNN((1, 8, 8), (4,), 16, 2, dropout=0.1)):
        features = draw.standard_normal((600, *network.shape), dtype=np.float32)
        common = (network, Training(epochs=5, batch=16), features, labels, *halves, tuple(range(6)))
        here = train(Chunk(*common))
        for graph in (False, True):
            there = train(Chunk(*common, given.device, graph))
            far = max(float((here.parameters[name] - there.parameters[name]).abs().max()) for name in here.parameters)
            print(f"  {type(network).__name__}, {'graph' if graph else 'eager'}: at most {far:.1e} from the processor")


def chunk_of(given: argparse.Namespace, features: Any, labels: Any, teachers: range, **where: Any) -> Any:
    from ziggurat.pate.training._chunk import Chunk
    from ziggurat.pate.training._networks import MLP
    from ziggurat.pate.training._settings import Training

    own = slice(teachers.start * given.rows, teachers.stop * given.rows)
    training = Training(epochs=given.epochs, batch=given.batch, held_out=0, threshold="half")
    places = tuple(np.arange(given.rows) + at * given.rows for at in range(len(teachers)))
    nothing = tuple(np.empty(0, dtype=np.int64) for _ in teachers)
    network = MLP(given.features)
    return Chunk(network, training, features[own], labels[own], places, nothing, tuple(teachers), **where)


def clock(device: str, work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
