"""A step promises what its event says; sampling is Poisson; killed runs never spend less than they did."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from ziggurat.descent import (  # noqa: E402
    Checkpoints,
    Descent,
    DescentPlan,
    Gradients,
    PrivateTraining,
    Rounds,
    event_of_rounds,
    noise_multiplier,
)
from ziggurat.descent._gradients import allowance, sum_clipped  # noqa: E402
from ziggurat.descent._noise import Draws, LatticeNoise  # noqa: E402
from ziggurat.errors import ArtefactError, DataError, PrivacyError  # noqa: E402
from ziggurat.mechanisms import empirical_epsilon  # noqa: E402
from ziggurat.privacy import as_replace_one, compose  # noqa: E402
from ziggurat.randomness import seeded  # noqa: E402

STEPS = 2500


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Small products are over before a second thread has begun."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def slope(outputs: Any, _targets: Any) -> Any:
    return outputs.squeeze(-1)


def one_weight(plan: DescentPlan, seed: int, gradients: type[Gradients] = Gradients) -> tuple[PrivateTraining, Any]:
    """A weight whose gradient for a row is the row itself, moved by minus the released mean at every step."""
    module = nn.Linear(1, 1, bias=False).double()
    module.weight.data.zero_()
    training = PrivateTraining(gradients(module, slope, "noted"), plan, Descent(1.0, "sgd", 0.0, False), seeded(seed))
    return training, module.weight


def released(plan: DescentPlan, canary: float, seed: int, gradients: type[Gradients] = Gradients) -> Any:
    """What leaves at every step if all rows but the first have no gradient at all, in bins of a quarter clip."""
    training, weight = one_weight(plan, seed, gradients)
    rows = torch.zeros((plan.rows, 1), dtype=torch.float64)
    rows[0] = canary
    steps = training.steps(rows, torch.zeros(plan.rows), 0, plan.rounds.steps)
    path = [0.0, *(weight.item() for _ in steps)]
    return np.round(4 * -np.diff(path) * float(plan.rounds.sampling * plan.rows))


def released_by(plan: DescentPlan, rows: int, seed: int) -> Any:
    """What leaves at every step with so many rows of gradient 0 and, beyond the declared number less one, a canary."""
    training, weight = one_weight(plan, seed)
    table = torch.zeros((rows, 1), dtype=torch.float64)
    table[plan.rows - 1 :] = 1000.0
    path = [0.0, *(weight.item() for _ in training.steps(table, torch.zeros(rows), 0, plan.rounds.steps))]
    return np.round(4 * -np.diff(path) * float(plan.rounds.sampling * plan.rows))


class Unclipped(Gradients):
    def add_clipped(self, totals: Any, rows: Any, targets: Any, kept: Any, clip: float) -> None:
        super().add_clipped(totals, rows, targets, kept, 3 * clip)


def audited(multiplier: str, gradients: type[Gradients] = Gradients) -> float:
    plan = DescentPlan(Rounds(Fraction(3, 4), STEPS), Fraction(multiplier), Fraction(1), 4, 4)
    present, absent = released(plan, 1000.0, 1, gradients), released(plan, 0.0, 2, gradients)
    return empirical_epsilon(present, absent, delta="0.1", confidence=1 - 1e-7)


@pytest.mark.statistical
def test_a_step_keeps_its_promise_and_planted_bugs_are_caught() -> None:
    """Seeded; a sound step would exceed its claim with probability at most 1e-7."""
    claim = float(compose(event_of_rounds(Rounds(Fraction(3, 4), 1), Fraction(1))).approximate("0.1").epsilon)
    assert 0 <= audited("1") <= claim
    assert audited("0.5") > claim  # half the noise
    assert audited("1", Unclipped) > claim  # clipped too late


@pytest.mark.statistical
@pytest.mark.parametrize("declared", [1, 4])
def test_a_row_that_is_not_there_at_all_is_hidden_by_a_declared_number_of_rows(declared: int) -> None:
    """One row less, down to none; neither sampling, nor noise, nor the mean goes by how many there are."""
    claim = float(compose(event_of_rounds(Rounds(Fraction(3, 4), 1), Fraction(1))).approximate("0.1").epsilon)

    def proven(multiplier: str) -> float:
        plan = DescentPlan(Rounds(Fraction(3, 4), STEPS), Fraction(multiplier), Fraction(1), 4, declared)
        pair = [released_by(plan, rows, seed) for seed, rows in ((1, declared), (2, declared - 1))]
        return empirical_epsilon(*pair, delta="0.1", confidence=1 - 1e-7)

    assert proven("1") <= claim
    assert proven("0.5") > claim


@pytest.mark.statistical
def test_every_row_takes_part_with_the_stated_probability_independently() -> None:
    """Seeded; counts within six standard errors, and samples of all sizes, the empty one among them."""
    lattice = LatticeNoise(Fraction(1), Fraction(1), 1)
    draws = list(Draws(seeded(3), 5, Fraction(1, 4), lattice).steps(0, 8000))
    taken = np.zeros((8000, 5))
    for at, draw in enumerate(draws):
        taken[at, draw.places] = 1
    assert np.abs(taken.mean(0) - 0.25).max() < 6 * np.sqrt(0.25 * 0.75 / 8000)
    assert np.abs(np.corrcoef(taken.T) - np.eye(5)).max() < 6 / np.sqrt(8000)
    sizes = np.bincount(taken.sum(1).astype(int), minlength=6) / 8000
    law = np.array([0.2373, 0.3955, 0.2637, 0.0879, 0.0146, 0.0010])
    assert np.abs(sizes - law).max() < 6 * np.sqrt(0.24 / 8000)


def test_noise_is_at_least_the_multiplier_times_what_a_row_can_move() -> None:
    sensitivity = Fraction(3, 2) * (1 + allowance(10**6, 128, Fraction(1, 10**4)))
    lattice = LatticeNoise(sensitivity, Fraction(7, 10), 300_000)
    event = lattice.mechanism.event
    assert event.sensitivity >= sensitivity
    assert Fraction(7, 10) <= event.sigma / event.sensitivity < Fraction(7, 10) * (1 + Fraction(1, 10**6))
    assert event.sensitivity < Fraction(3, 2) * (1 + Fraction(1, 10**4))


class Shaky(Gradients):
    """Rounds every second row of a block down by 2^-22."""

    def _collect_noted(self, rows: Any, targets: Any) -> Any:
        odd = torch.arange(len(rows)).unsqueeze(1) % 2
        return super()._collect_noted(rows * (1 - odd * 2.0**-22), targets)


def test_what_rounding_by_places_adds_to_the_reach_of_a_row_is_in_the_sensitivity() -> None:
    plan = DescentPlan(Rounds(Fraction(1), 1), Fraction(1), Fraction(1), 256, 256)
    training, _ = one_weight(plan, 1, Shaky)
    rows = 1 - 2 * (torch.arange(256, dtype=torch.float64).unsqueeze(1) % 2)
    found = [sum_clipped(training.gradients, rows, rows, torch.arange(first, 256), 256, 1.0) for first in (0, 1)]
    moved = float((found[0] - found[1]).norm())
    assert 1 + 2.0**-15 < moved <= training._lattice.mechanism.event.sensitivity


@pytest.mark.statistical
def test_samples_are_no_larger_than_rounding_is_allowed_for() -> None:
    """Independent route: the exact tail of the binomial law, which must stay below exp(-50)."""
    from scipy.stats import binom

    for rows, sampling in [(100, Fraction(1, 100)), (10**4, Fraction(1, 20)), (10**6, Fraction(1, 2))]:
        most = (allowance(rows, 256, sampling) - allowance(rows, 256, Fraction(0))) * 2**22 + 50
        assert binom.logsf(float(most), rows, float(sampling)) < -50


def test_the_noise_has_the_stated_spread() -> None:
    lattice = LatticeNoise(Fraction(1), Fraction(2), 40_000)
    (draw,) = Draws(seeded(4), 1, Fraction(1), lattice).steps(0, 1)
    noisy = lattice.protect(torch.full((40_000,), 5.0, dtype=torch.float64), torch.from_numpy(draw.noise))
    assert abs(float(noisy.mean()) - 5) < 6 * 2 / 200
    assert abs(float(noisy.std()) / 2 - 1) < 6 / np.sqrt(80_000)


def test_the_epsilon_is_that_of_dp_accounting() -> None:
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    rounds = Rounds.of(20_000, 500, 2)
    multiplier = noise_multiplier(Fraction(2), Fraction(1, 10**5), rounds)
    step = PoissonSampledDpEvent(float(rounds.sampling), GaussianDpEvent(float(multiplier)))
    theirs = PLDAccountant().compose(SelfComposedDpEvent(step, rounds.steps)).get_epsilon(1e-5)
    ours = float(compose(event_of_rounds(rounds, multiplier)).approximate("1e-5").epsilon)
    assert ours == pytest.approx(theirs, rel=1e-4)
    assert 2 * 0.998 < ours <= 2


@pytest.mark.parametrize(
    ("epsilon", "delta", "rows", "batch", "epochs"),
    [
        ("0.1", "1e-6", 1000, 100, 5),
        ("1", "1e-5", 60, 256, 30),
        ("5", "1e-3", 500, 100, 2),
        ("1", "1e-11", 100, 100, 4),
    ],
)
def test_the_noise_is_the_least_that_keeps_the_promise(
    epsilon: str, delta: str, rows: int, batch: int, epochs: int
) -> None:
    rounds = Rounds.of(rows, batch, epochs)
    multiplier = noise_multiplier(Fraction(epsilon), Fraction(delta), rounds)
    assert compose(event_of_rounds(rounds, multiplier)).approximate(delta).epsilon <= Fraction(epsilon)
    assert compose(event_of_rounds(rounds, multiplier * Fraction(99, 100))).approximate(delta).epsilon > Fraction(
        epsilon
    )


def test_nothing_is_promised_for_replaced_rows() -> None:
    with pytest.raises(PrivacyError, match="replace-one"):
        as_replace_one(event_of_rounds(Rounds(Fraction(1, 2), 3), Fraction(1)))


class Killed(BaseException):
    pass


def ended_at(
    path: Path, kill: int | None, steps: int = 20, seed: int = 1, stop: int = -1, row: float = 1.0
) -> tuple[int, float]:
    """Train with a checkpoint every 5 steps, die after `kill` of them, and say how many were taken and the weight."""

    def told(done: int, _of: int) -> None:
        if done == stop:
            raise Killed

    plan = DescentPlan(Rounds(Fraction(1, 2), steps), Fraction(1), Fraction(1), 4, 4)
    training, weight = one_weight(plan, seed)
    training._optimiser = Descent(1.0, "adam", 0.9, True).start(training.gradients.parameters)
    whole, count = training.steps, 0

    def dying(*arguments: Any) -> Any:
        nonlocal count
        for _ in whole(*arguments):
            count += 1
            yield
            if count == kill:
                raise Killed

    training.steps = dying  # type: ignore[method-assign]
    rows = torch.full((4, 1), row, dtype=torch.float64)
    kept = Checkpoints(path, f"{steps}", (rows.numpy(),))
    try:
        training.run(rows, torch.zeros(4), kept, 5, told)
    except Killed:
        return count, float("nan")
    return count, weight.item()


@pytest.mark.parametrize("kill", [1, 5, 7, 19])
def test_all_processes_together_take_no_more_steps_than_planned(tmp_path: Path, kill: int) -> None:
    first, _ = ended_at(tmp_path / "run", kill)
    second, _ = ended_at(tmp_path / "run", None)
    assert first == kill
    assert second == 20 - 5 * -(-kill // 5)  # the block that was begun counts as taken


def test_a_training_stopped_between_blocks_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    _, whole = ended_at(tmp_path / "whole", None)
    ended_at(tmp_path / "run", None, stop=10)
    assert ended_at(tmp_path / "run", None) == (10, whole)


def test_a_finished_training_takes_no_further_step(tmp_path: Path) -> None:
    _, whole = ended_at(tmp_path / "run", None)
    assert ended_at(tmp_path / "run", None, seed=2) == (0, whole)


@pytest.mark.parametrize("kill", [7, None])
def test_what_was_learned_from_other_rows_is_neither_given_nor_gone_on_from(tmp_path: Path, kill: int | None) -> None:
    ended_at(tmp_path / "run", kill)
    before = (tmp_path / "run").read_bytes()
    with pytest.raises(DataError, match="other rows"):
        ended_at(tmp_path / "run", None, row=0.5)
    assert (tmp_path / "run").read_bytes() == before


def test_the_same_rows_are_marked_otherwise_in_every_checkpoint(tmp_path: Path) -> None:
    from safetensors import safe_open

    marks = set()
    for name in ("one", "other"):
        ended_at(tmp_path / name, None)
        with safe_open(tmp_path / name, "pt") as file:
            marks.add(file.metadata()["rows"])
    assert len(marks) == 2


def test_checkpoints_of_another_training_and_damaged_ones_are_refused(tmp_path: Path) -> None:
    ended_at(tmp_path / "run", None)
    assert (tmp_path / "run").stat().st_mode & 0o077 == 0
    with pytest.raises(DataError, match="another training"):
        ended_at(tmp_path / "run", None, steps=30)
    (tmp_path / "run").write_bytes(b"nothing")
    with pytest.raises(ArtefactError, match="damaged"):
        ended_at(tmp_path / "run", None)


def test_two_processes_cannot_train_from_one_checkpoint(tmp_path: Path) -> None:
    with Checkpoints(tmp_path / "run", "20", ()).hold(), pytest.raises(DataError, match="Another process"):
        ended_at(tmp_path / "run", None)
