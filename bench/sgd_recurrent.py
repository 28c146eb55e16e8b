"""Private steps through recurrent layers and attention against Opacus, whole step against whole step, in one run.

`python bench/sgd_recurrent.py --device cpu|cuda --batch 256 --time 50 --width 64 --steps 7`

A module looks tokens up, goes through time and gives logits of the next token. A step samples rows, clips, adds up,
adds noise and moves the parameters: ours with the exact noise of the package, drawn ahead in threads, and with
PyTorch's; Opacus with its own recurrent layers (`DPLSTM`, `DPGRU`), for which it knows no ghost clipping, and its
attention. `not private` are PyTorch's layers alone.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from sgd import Steps, compare, exact, hooked, installed, name_of, ours, plain

warnings.filterwarnings("ignore")
TOKENS = 30


def main() -> None:
    given = arguments()
    if given.threads:
        torch.set_num_threads(given.threads)
    print(f"batch {given.batch}, {given.time} times, {given.width} wide, on {name_of(given.device)}")
    torch.manual_seed(0)
    rows = torch.randint(0, TOKENS, (given.rows, given.time), device=given.device)
    for name, own, usual, peer in problems(given.width):
        agree(own().to(given.device), rows)
        compare(given, name, steppers(given, own, usual, peer, rows))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, help="hold PyTorch to so many threads")
    sizes = {"rows": 6400, "batch": 256, "time": 50, "width": 64, "steps": 7, "in-a-row": 1}
    for name, value in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


Make = Callable[[], nn.Module]


def problems(width: int) -> list[tuple[str, Make, Make, Make | None]]:
    from ziggurat import descent

    def speaker(middle: Callable[[], nn.Module]) -> Make:
        return lambda: rowwise()(middle(), width)

    def opacus(kind: str) -> Make | None:
        if not installed("opacus.layers"):
            return None
        from opacus import layers

        return lambda: Speaker(First(getattr(layers, kind)(width, width, batch_first=True)), width)

    return [
        (
            "LSTM",
            speaker(lambda: descent.LSTM(width, width)),
            lambda: Speaker(First(nn.LSTM(width, width, batch_first=True)), width),
            opacus("DPLSTM"),
        ),
        (
            "GRU",
            speaker(lambda: descent.GRU(width, width)),
            lambda: Speaker(First(nn.GRU(width, width, batch_first=True)), width),
            opacus("DPGRU"),
        ),
        (
            "transformer block",
            speaker(lambda: descent.TransformerBlock(width, 4)),
            lambda: Speaker(descent.TransformerBlock(width, 4), width),
            lambda: Speaker(descent.TransformerBlock(width, 4), width),
        ),
    ]


class Speaker(nn.Module):
    """From tokens to logits of tokens."""

    def __init__(self, middle: nn.Module, width: int) -> None:
        super().__init__()
        self.lines, self.middle, self.last = nn.Embedding(TOKENS, width), middle, nn.Linear(width, TOKENS)

    def forward(self, rows: Tensor) -> Tensor:
        """Say what may come next."""
        return self.last(self.middle(self.lines(rows)))


class First(nn.Module):
    """The outputs of a layer that gives its state as well."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, rows: Tensor) -> Tensor:
        """Leave the state out."""
        return self.layer(rows)[0]


def rowwise() -> type[nn.Module]:
    from ziggurat.descent import RowwiseModule

    return type("RowwiseSpeaker", (Speaker, RowwiseModule), {})


def losses(outputs: Tensor, targets: Tensor) -> Tensor:
    return nn.functional.cross_entropy(outputs.movedim(-1, 1), targets, reduction="none").mean(1)


def steppers(
    given: argparse.Namespace, own: Make, usual: Make, peer: Make | None, rows: Tensor
) -> list[tuple[str, Steps]]:
    data = (rows, rows, given.batch)
    found = [("not private", plain(usual().to(given.device), *data, losses))]
    if peer is not None and installed("opacus"):
        found.append(("Opacus", hooked(peer().to(given.device), *data, losses)))
    block = 32 * -(-given.batch * 5 // 4 // 32)
    found.append((f"ours, blocks of {block}, PyTorch's noise", ours(own().to(given.device), *data, block, losses)))
    if installed("ziggurat.descent._training"):
        found.append((f"ours, blocks of {block}, exact noise", exact(own().to(given.device), *data, block, losses)))
    return found


def agree(module: nn.Module, rows: Tensor) -> None:
    """Say how far sums in blocks are from a loop over single rows in double precision."""
    from ziggurat.descent._gradients import Gradients, sum_clipped

    places = torch.arange(24, device=rows.device)
    quick = sum_clipped(Gradients(module, losses, "noted"), rows, rows, places, 16, 0.5)
    module.double()
    slow = torch.zeros_like(quick)
    for place in range(24):
        module.zero_grad()
        losses(module(rows[place : place + 1]), rows[place : place + 1]).sum().backward()
        whole = torch.cat([value.grad.flatten() for value in module.parameters()])
        slow += whole * min(1.0, 0.5 / float(whole.norm()))
    print(f"  (sums are {float((quick - slow).norm() / slow.norm()):.1e} from a loop over single rows in doubles)")


if __name__ == "__main__":
    main()
