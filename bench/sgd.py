"""Private gradient descent against Opacus, step by step, in one run.

`python bench/sgd.py --device cpu|cuda --rows 20000 --batch 512 --steps 15 --in-a-row 3`

A step samples rows, clips, adds up, adds noise and moves the parameters. Ours is timed with the exact noise of the
secure source, drawn ahead in threads, where the package's parts are installed; and with PyTorch's generator, which is
no privacy noise but is what Opacus uses. Opacus is timed with hooks and with ghost clipping where it is installed.
PyTorch suffices for the rest. Every turn takes several steps in a row and tells their mean: noise drawn ahead is then
paid for by those who drew it, not by whoever comes next.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

SOURCE = Path(__file__).resolve().parents[1] / "src" / "ziggurat"
warnings.filterwarnings("ignore")


def without_the_rest(name: str, folder: Path) -> None:
    """Let modules of a package be imported without what its `__init__` imports."""
    package = types.ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package


def main() -> None:
    given = arguments()
    if given.threads:
        torch.set_num_threads(given.threads)
    whole = installed("ziggurat.descent._training")
    if not whole:
        for name in [name for name in sys.modules if name.split(".")[0] == "ziggurat"]:
            del sys.modules[name]
        without_the_rest("ziggurat", SOURCE)
        without_the_rest("ziggurat.learn", SOURCE / "learn")
    print(f"{given.rows} rows, batch {given.batch}, on {name_of(given.device)}; PyTorch {torch.__version__}")
    for name, module, shape, classes in problems():
        torch.manual_seed(0)
        rows = torch.rand((given.rows, *shape), device=given.device)
        targets = torch.randint(0, classes, (given.rows,), device=given.device)
        agree(given, module, rows, targets)
        compare(given, name, steppers(given, module, rows, targets, whole))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    for name, value in (("rows", 20_000), ("batch", 512), ("steps", 15), ("in-a-row", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--threads", type=int, help="hold PyTorch to so many threads")
    parser.add_argument("--blocks", type=int, nargs="+", default=[192, 576])
    return parser.parse_args()


def installed(name: str) -> bool:
    try:
        __import__(name)
    except ImportError:
        return False
    return True


def name_of(device: str) -> str:
    return f"{torch.get_num_threads()} threads" if device == "cpu" else torch.cuda.get_device_name(device)


def problems() -> Iterator[tuple[str, Callable[[], nn.Module], tuple[int, ...], int]]:
    yield "MLP 500-512-128-2", mlp, (500,), 2
    yield "CNN on 28x28", cnn, (1, 28, 28), 10


def mlp() -> nn.Module:
    widths = (nn.Linear(500, 512), nn.ReLU(), nn.Linear(512, 128), nn.ReLU(), nn.Linear(128, 2))
    return nn.Sequential(*widths)


def cnn() -> nn.Module:
    first = (nn.Conv2d(1, 16, 8, 2, padding=3), nn.ReLU(), nn.MaxPool2d(2, 1))
    second = (nn.Conv2d(16, 32, 4, 2), nn.ReLU(), nn.MaxPool2d(2, 1), nn.Flatten())
    return nn.Sequential(*first, *second, nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 10))


def losses(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs, targets, reduction="none")


Losses = Callable[[Tensor, Tensor], Tensor]
Steps = Iterator[None]


def steppers(
    given: argparse.Namespace, module: Callable[[], nn.Module], rows: Tensor, targets: Tensor, whole: bool
) -> list[tuple[str, Steps]]:
    data = (module().to(given.device), rows, targets, given.batch)
    found: list[tuple[str, Steps]] = [("not private", plain(*data))]
    if installed("opacus"):
        found += [("Opacus, hooks", hooked(*data)), ("Opacus, ghost clipping", ghost(*data))]
    for size in given.blocks:
        found.append((f"ours, blocks of {size}, PyTorch's noise", ours(module().to(given.device), *data[1:], size)))
    if whole:
        found += [
            (f"ours, blocks of {size}, exact noise", exact(module().to(given.device), *data[1:], size))
            for size in given.blocks
        ]
    return found


def compare(given: argparse.Namespace, name: str, ways: list[tuple[str, Steps]]) -> None:
    """Take turns, so that whatever else the machine does falls on all alike; tell the median step."""
    times: dict[str, list[tuple[float, float]]] = {way: [] for way, _ in ways}
    for turn in range(given.steps + 2):
        for way, steps in ways:
            spent = clock(given.device, lambda steps=steps: [next(steps) for _ in range(given.in_a_row)])
            if turn > 1:
                times[way].append(tuple(each / given.in_a_row for each in spent))
    middles = {way: [statistics.median(kind) for kind in zip(*spent, strict=True)] for way, spent in times.items()}
    peers = [middle for way, middle in middles.items() if way.startswith("Opacus")]
    print(f" {name:44}{'a step':>12}{'processors':>14}")
    for way, (wall, busy) in middles.items():
        best = [min(kind) for kind in zip(*peers, strict=True)]
        ratio = f"{best[0] / wall:>8.2f}x and{best[1] / busy:>6.2f}x the best Opacus" if peers else ""
        print(f"  {way:44}{1000 * wall:>9.2f} ms{1000 * busy:>11.2f} ms{ratio}")


def sampled(rows: Tensor, batch: int) -> Tensor:
    return torch.where(torch.rand(len(rows), device=rows.device) < batch / len(rows))[0]


def plain(module: nn.Module, rows: Tensor, targets: Tensor, batch: int, losses: Losses = losses) -> Steps:
    sgd = torch.optim.SGD(module.parameters(), lr=0.1)
    while True:
        own = sampled(rows, batch)
        sgd.zero_grad()
        losses(module(rows[own]), targets[own]).mean().backward()
        sgd.step()
        yield


def hooked(module: nn.Module, rows: Tensor, targets: Tensor, batch: int, losses: Losses = losses) -> Steps:
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    wrapped = GradSampleModule(fresh(module))
    sgd = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    private = DPOptimizer(sgd, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=batch)
    while True:
        own = sampled(rows, batch)
        private.zero_grad()
        losses(wrapped(rows[own]), targets[own]).mean().backward()
        private.step()
        yield


def ghost(module: nn.Module, rows: Tensor, targets: Tensor, batch: int) -> Steps:
    from opacus.grad_sample.grad_sample_module_fast_gradient_clipping import GradSampleModuleFastGradientClipping
    from opacus.optimizers.optimizer_fast_gradient_clipping import DPOptimizerFastGradientClipping
    from opacus.utils.fast_gradient_clipping_utils import DPLossFastGradientClipping

    wrapped = GradSampleModuleFastGradientClipping(
        fresh(module), max_grad_norm=1.0, use_ghost_clipping=True, loss_reduction="mean"
    )
    sgd = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    settings = {"noise_multiplier": 1.0, "max_grad_norm": 1.0, "expected_batch_size": batch, "loss_reduction": "mean"}
    private = DPOptimizerFastGradientClipping(sgd, **settings)
    criterion = DPLossFastGradientClipping(wrapped, private, nn.CrossEntropyLoss(reduction="mean"), "mean")
    while True:
        own = sampled(rows, batch)
        private.zero_grad()
        criterion(wrapped(rows[own]), targets[own]).backward()
        private.step()
        yield


def fresh(module: nn.Module) -> nn.Module:
    return copy.deepcopy(module)


def ours(module: nn.Module, rows: Tensor, targets: Tensor, batch: int, size: int, losses: Losses = losses) -> Steps:
    """The same sums, with noise that needs PyTorch alone."""
    from ziggurat.descent._gradients import Gradients, sum_clipped

    gradients = Gradients(module, losses, "noted")
    sgd = torch.optim.SGD(gradients.parameters, lr=0.1)
    sizes = [value.numel() for value in gradients.parameters]
    while True:
        total = sum_clipped(gradients, rows, targets, sampled(rows, batch), size, 1.0)
        noisy = (total.float() + torch.randn(len(total), device=total.device)) / batch
        for parameter, part in zip(gradients.parameters, noisy.split(sizes), strict=True):
            parameter.grad = part.view(parameter.shape)
        sgd.step()
        yield


def exact(module: nn.Module, rows: Tensor, targets: Tensor, batch: int, size: int, losses: Losses = losses) -> Steps:
    """The very training of the package, step by step."""
    from fractions import Fraction

    from ziggurat.descent._calibration import Rounds
    from ziggurat.descent._gradients import Gradients
    from ziggurat.descent._training import Descent, DescentPlan, PrivateTraining
    from ziggurat.randomness import secure

    plan = DescentPlan(Rounds(Fraction(batch, len(rows)), 10**6), Fraction(1), Fraction(1), size, len(rows))
    training = PrivateTraining(Gradients(module, losses, "noted"), plan, Descent(0.1, "sgd", 0.0, False), secure())
    for _ in training.steps(rows, targets, 0, 10**6):
        yield


def agree(given: argparse.Namespace, module: Callable[[], nn.Module], rows: Tensor, targets: Tensor) -> None:
    """Say how far sums in blocks are from a loop over single rows."""
    from ziggurat.descent._gradients import Gradients, sum_clipped

    one = module().to(given.device)
    places = torch.arange(40, device=given.device)
    quick = sum_clipped(Gradients(one, losses, "noted"), rows, targets, places, 16, 0.5)
    slow = torch.zeros_like(quick)
    for place in range(40):
        one.zero_grad()
        losses(one(rows[place : place + 1]), targets[place : place + 1]).sum().backward()
        whole = torch.cat([value.grad.flatten() for value in one.parameters()]).double()
        slow += whole * min(1.0, 0.5 / float(whole.norm()))
    print(f"  (sums are {float((quick - slow).norm() / slow.norm()):.1e} from a loop over single rows, relatively)")


def clock(device: str, work: Callable[[], object]) -> tuple[float, float]:
    """Time by the clock, and by what all processors were busy with, which other work on the machine changes less."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    if device != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - start, time.process_time() - busy


if __name__ == "__main__":
    main()
