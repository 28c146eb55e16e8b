"""The normal law: every entry of its tables, every shortcut against exact arithmetic, and the whole against the law."""

from collections.abc import Iterator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr

from ziggurat.randomness import _kernels as kernels
from ziggurat.randomness import rounded_gaussian, seeded
from ziggurat.randomness._draw import fill
from ziggurat.randomness._samplers import _scaling
from ziggurat.randomness._tables import Tables, exp_minus, tables

SLOTS = 2**14
H = Fraction(1, 64)


def _f(x: Fraction) -> mpmath.mpf:
    return mpmath.exp(-mpmath.mpf(x.numerator**2) / (2 * x.denominator**2))


@pytest.fixture(scope="module")
def true_ends() -> list[int]:
    """Independent route: where the categories end, in steps of 2**-450, from the words of `_tables` in 1200 bits."""
    with mpmath.workprec(1200):
        heights = [_f(j * H) / 64 for j in range(256)]
        reach = [mpmath.mpf(2 * j + 1) / 8192 for j in range(256)]
        masses = [height * (1 - least) for height, least in zip(heights, reach, strict=True)]
        masses += [height * least for height, least in zip(heights, reach, strict=True)]
        masses.append(mpmath.fsum(_f(Fraction(k)) for k in range(4, 60)))
        whole = mpmath.fsum(masses)
        return [int(mpmath.floor(mpmath.fsum(masses[: i + 1]) / whole * 2**450)) for i in range(512)] + [2**450]


def _wrong(made: Tables, ends: list[int]) -> list[str]:
    """Name every entry of the tables that is not what the ends of the categories say."""
    found = []
    for i, end in enumerate(ends):
        place = (int(made.slots[i]) << 384) + sum(int(word) << 64 * (5 - at) for at, word in enumerate(made.ends[i]))
        if place != end >> 52:
            found.append(f"end {i}")
    starts = [0, *ends]
    for slot, entry in enumerate(made.guide.tolist()):
        low, high = slot << 436, (slot + 1) << 436
        category = entry if entry >= 0 else -1 - entry
        inside = entry < 256 and high <= ends[category]
        if not starts[category] <= low < ends[category] or (entry >= 0 and not inside):
            found.append(f"slot {slot}")
    return found


def test_every_entry_of_the_tables_is_proven_and_a_planted_wrong_one_is_found(true_ends: list[int]) -> None:
    made = tables()
    assert _wrong(made, true_ends) == []
    guide, slots, ends = (table.copy() for table in made)
    guide[5000] += 1
    guide[9] = 1
    slots[100] -= 1
    ends[300, 5] ^= np.uint64(1)
    assert _wrong(Tables(guide, slots, ends), true_ends) == ["end 100", "end 300", "slot 9", "slot 5000"]


def test_a_word_decides_in_97_of_100_cases() -> None:
    assert np.mean(tables().guide >= 0) > 0.97


@pytest.mark.parametrize(("p", "q"), [(0, 1), (1, 8192), (255**2, 8192), (16, 2), (32**2, 2)])
def test_exponentials_are_enclosed(p: int, q: int) -> None:
    with mpmath.workprec(1500):
        exact = mpmath.exp(-mpmath.mpf(p) / q) * 2**512
        low, high = exp_minus(p, q)
        assert low <= exact <= high
        assert high - low < 1000


SIGMAS = [Fraction(1, 2**50), Fraction(1, 2), Fraction(1), Fraction(7, 2), Fraction(2**30), Fraction(2**50 - 1, 2**9)]
SIGMAS += [Fraction(2**50 - 1), Fraction(2**50)]


def _near_ties(sigma: Fraction, n: int) -> Iterator[int]:
    """Words, every second of which stands for a place close to one where the rounding changes."""
    rng = seeded("ties").simulation()
    for word in rng.integers(0, 2**64, n, dtype=np.uint64, endpoint=False).tolist():
        yield word
        column = int(tables().guide[word % SLOTS])
        tie = int(((column << 49) + (word >> 15)) * sigma / 2**55) + Fraction(1, 2)
        place = int(tie / sigma * 2**55) - (column << 49) + int(rng.integers(-3, 3))
        if column >= 0 and 0 <= place < 2**49:
            yield (place << 15) + word % 2**15


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_what_is_said_at_once_holds_however_the_digits_go_on(sigma: Fraction) -> None:
    factor, shift = (np.uint64(each) for each in _scaling(sigma.numerator, sigma.denominator))
    undecided = 0
    for word in _near_ties(sigma, 1500):
        said = kernels._at_once(np.uint64(word), tables().guide, factor, shift)
        column = int(tables().guide[word % SLOTS])
        start = (column << 49) + (word >> 15)
        first, last = (start * sigma / 2**55 + Fraction(1, 2)), ((start + 1) * sigma / 2**55 + Fraction(1, 2))
        assert said in (-1, first // 1)
        assert said == -1 or (column >= 0 and last <= said + 1)
        undecided += said == -1 and column >= 0
    assert undecided > 0 or sigma < Fraction(1, 8)  # below, four standard deviations stay under one half


@pytest.mark.parametrize("sigma", SIGMAS, ids=str)
def test_the_short_way_and_the_long_one_agree(sigma: Fraction) -> None:
    n, m = sigma.numerator, sigma.denominator
    factor, shift = (np.uint64(each) for each in _scaling(n, m))
    after = seeded("after").words(100)
    for word in _near_ties(sigma, 1500):
        said = kernels._at_once(np.uint64(word), tables().guide, factor, shift)
        at, scratch = np.zeros(2, dtype=np.int64), np.empty(6, dtype=np.uint64)
        after = np.roll(after, 1)
        if said >= 0:
            assert kernels._magnitude(after, at, scratch, *tables(), np.uint64(word), n, m) == said


@pytest.mark.statistical
@pytest.mark.parametrize("j", [0, 1, 60, 255])
def test_an_edge_is_kept_with_its_probability(unequal, j: int) -> None:
    """Seeded; a true sampler fails with probability 1e-9.

    P(kept) = 1 - (1 - exp(-w)) / w_j, with w = w_j * t*(2*j + t)/(2*j + 1).
    """
    t, trials, kept = 0.7, 20_000, 0
    words = seeded("edge").child(j).words(40 * trials)
    for i in range(trials):
        at, x = np.zeros(2, dtype=np.int64), np.full(6, int(t * 2**64), dtype=np.uint64)
        kept += kernels._edge(words[40 * i : 40 * (i + 1)], at, x, 6, j)[0]
    most = (2 * j + 1) / 8192
    for place, refused in ((t, False), (t * 0.95, True)):
        p = 1 + np.expm1(-most * place * (2 * j + place) / (2 * j + 1)) / most
        assert unequal(np.array([kept, trials - kept]), np.array([p, 1 - p])) == refused


def _counts(draws: np.ndarray, reach: int) -> np.ndarray:
    """How often each integer from -reach to reach was drawn, those beyond counting as the outermost."""
    return np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)


def _law(sigma: float, reach: int) -> np.ndarray:
    inner = ndtr((np.arange(-reach, 0) + 0.5) / sigma)
    below = np.diff(np.concatenate([[0.0], inner]))
    return np.concatenate([below, [1 - 2 * inner[-1]], below[::-1]])


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("sigma", "reach"), [(Fraction(1, 3), 1), (Fraction(1), 4), (Fraction(37306, 10000), 17), (Fraction(64), 300)]
)
def test_every_integer_has_its_probability(unequal, sigma: Fraction, reach: int) -> None:
    """Seeded, 10 million draws; a true sampler fails with probability 1e-9, and one 2% off does not pass."""
    counts = _counts(rounded_gaussian(sigma, size=10**7, source=seeded(f"every {sigma}")), reach)
    assert not unequal(counts, _law(float(sigma), reach))
    for off in (0.98, 1.02):
        assert unequal(counts, _law(float(sigma) * off, reach))


@pytest.mark.statistical
def test_one_wrong_entry_of_the_table_shows_in_the_draws(unequal) -> None:
    out, scratch = np.empty(10**7, dtype=np.int64), np.empty(6, dtype=np.uint64)
    guide = tables().guide.copy()
    for entry, refused in ((guide[5000], False), (230, True)):
        guide[5000] = entry
        planted = Tables(guide, tables().slots, tables().ends)
        fill("rounded", out, seeded("planted"), scratch, *planted, *_scaling(64, 1), 64, 1)
        assert unequal(_counts(out, 280), _law(64.0, 280)) == refused


@pytest.mark.statistical
@pytest.mark.parametrize("least", [0, 2, 4])
def test_the_tail_has_its_law(misfits, least: int) -> None:
    """Seeded; the tail from 0 on is the whole of Karney's algorithm, the one from 4 on what the tables leave to it."""
    words, at, x = seeded("tail").child(least).words(3 * 10**6), np.zeros(2, dtype=np.int64), np.empty(6, np.uint64)
    drawn = []
    while at[0] < words.size - 1000:
        kept, k, known = kernels._tail(words, at, x, least)
        if kept:
            drawn.append(kernels._nearest(words, at, x, known, k, 1000, 1))
    lost = ndtr(-least)

    def cdf(sigma: float):
        return lambda n: np.where(n < 1000 * least, 0.0, 1 - np.minimum(ndtr(-(n + 0.5) / sigma) / lost, 1.0))

    assert len(drawn) > 20_000
    assert not misfits(np.array(drawn), cdf(1000.0), 1000 * least - 1, 40_000, 40)
    assert misfits(np.array(drawn), cdf(1050.0), 1000 * least - 1, 40_000, 40)


def test_the_furthest_draw_of_the_widest_normal_does_not_wrap() -> None:
    # The last slot is in the tail. There the longest run, 2**10 units beyond 4, and a place of 5/2**64.
    highest, times = 2**64 - 1, kernels.CAP * (kernels.CAP - 1) + 2 * kernels.CAP * kernels.TAIL
    run = [*[0] * kernels.CAP, highest, *[0] * times]
    words = np.array([*run, 5, *[highest] * (kernels.CAP + 10)], dtype=np.uint64)
    at, x = np.zeros(2, dtype=np.int64), np.empty(6, dtype=np.uint64)
    drawn = kernels._rounded(words, at, x, *tables(), np.uint64(SLOTS - 1), 2**50, 1)
    assert (drawn, at[1]) == ((kernels.CAP + kernels.TAIL) * 2**50, 0)
