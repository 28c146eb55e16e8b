"""How much a row's gradient depends on its place in a block, which private gradient descent allows 2^-22 for.

`python bench/sgd_places.py --device cpu|cuda --rows 24`

A row that is left out of a sample moves those behind it by one place, where kernels may add in another order. For every
network, way and block this moves whole blocks by several places and tells the largest relative change of a single row's
gradient that was seen, in units of 2^-22. PyTorch suffices.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

import sgd_recurrent
from sgd import SOURCE, Losses, cnn, losses, mlp, name_of, without_the_rest

SHIFTS = (1, 2, 5, 17, 64)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=24, help="how many rows of a block to look at")
    given = parser.parse_args()
    without_the_rest("ziggurat", SOURCE)
    without_the_rest("ziggurat.learn", SOURCE / "learn")
    print(f"on {name_of(given.device)}; PyTorch {torch.__version__}; at most 1 is allowed for")
    for name, made, draw, of_rows in problems(given.device):
        for way, block in (("noted", 128), ("noted", 608), ("mapped", 128)):
            torch.manual_seed(block)
            module, (rows, targets) = made().to(given.device), draw(block + max(SHIFTS))
            worst = farthest(module, of_rows, way, rows, targets, block, given.rows)
            print(f"  {name:17} {way:7} blocks of {block}: {worst * 2**22:6.3f} x 2^-22", flush=True)


Drawn = Callable[[int], tuple[Tensor, Tensor]]


def problems(device: str) -> Iterator[tuple[str, sgd_recurrent.Make, Drawn, Losses]]:
    for name, made, shape, classes in (("MLP", mlp, (500,), 2), ("CNN", cnn, (1, 28, 28), 10)):
        yield name, made, partial(features, device, shape, classes), losses
    for name, made, _, _ in sgd_recurrent.problems(64):
        yield name, made, partial(tokens, device), sgd_recurrent.losses


def features(device: str, shape: tuple[int, ...], classes: int, count: int) -> tuple[Tensor, Tensor]:
    return torch.rand((count, *shape), device=device), torch.randint(0, classes, (count,), device=device)


def tokens(device: str, count: int) -> tuple[Tensor, Tensor]:
    rows = torch.randint(0, sgd_recurrent.TOKENS, (count, 50), device=device)
    return rows, rows


def farthest(
    module: nn.Module, losses: Losses, way: str, rows: Tensor, targets: Tensor, block: int, looked_at: int
) -> float:
    """The largest change of a row's gradient, relative to its length, over all shifts."""
    from ziggurat.descent._gradients import Gradients

    gradients, worst = Gradients(module, losses, way), 0.0
    for place in torch.linspace(max(SHIFTS), block - 1, looked_at).long().tolist():
        before = gradient(gradients, rows, targets, 0, block, place)
        length = before.norm().item()
        for shift in SHIFTS:
            after = gradient(gradients, rows, targets, shift, block, place - shift)
            worst = max(worst, (after - before).norm().item() / length)
    return worst


def gradient(gradients: object, rows: Tensor, targets: Tensor, first: int, block: int, place: int) -> Tensor:
    """The gradient of one row of the block that begins at `first`, unclipped, in double precision."""
    kept = torch.zeros(block, dtype=torch.bool, device=rows.device)
    kept[place] = True
    totals = gradients.zeros()  # type: ignore[attr-defined]
    gradients.add_clipped(totals, rows[first : first + block], targets[first : first + block], kept, 1e30)  # type: ignore[attr-defined]
    return torch.cat([total.flatten() for total in totals])


if __name__ == "__main__":
    main()
