"""What statistics cannot see: the ends of buffers, branches of probability 2**-64, floats, overflow."""

import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from ziggurat.errors import PrivacyError
from ziggurat.randomness import (
    Source,
    _draw,
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    exponential_choice,
    geometric,
    permute_and_flip,
    rounded_gaussian,
    seeded,
    shuffle,
    uniform_below,
)
from ziggurat.randomness import _kernels as kernels
from ziggurat.randomness._interpreted import _kernels as plain_kernels
from ziggurat.randomness._interpreted import interpret

GAPS = np.array([5, 0, 1, 9, 2, 0, 30])
SAMPLERS: dict[str, Callable[..., np.ndarray]] = {
    "uniform": lambda **options: uniform_below(2**61 + 2**60, **options),
    "bernoulli": lambda **options: bernoulli(Fraction(1, 3), **options),
    "bernoulli_exp": lambda **options: bernoulli_exp(Fraction(7, 3), **options),
    "geometric": lambda **options: geometric(Fraction(2, 9), **options),
    "laplace": lambda **options: discrete_laplace(Fraction(7, 2), **options),
    "gaussian": lambda **options: discrete_gaussian(Fraction(7, 2), **options),
    "rounded": lambda **options: rounded_gaussian(Fraction(7, 2), **options),
    "choice": lambda **options: exponential_choice(GAPS, Fraction(1, 2), **options),
    "flip": lambda **options: permute_and_flip(GAPS, Fraction(1, 2), **options),
}


class Trickle(Source):
    """A source that shows a reader one word, and one more each time that was not enough."""

    __slots__ = ()

    def feed(self, take: Callable[[np.ndarray], int], at_least: int) -> None:
        used, shown = 0, 0
        while used == 0:
            shown += 1
            used = take(self._ahead(shown)[:shown])
        self._next += used


class Given(Source):
    """A source of the words it is given."""

    __slots__ = ()

    def feed(self, take: Callable[[np.ndarray], int], at_least: int) -> None:
        self._next += take(self._buffer[self._next :])


def _given(*words: int) -> Given:
    source = Given(bytes(32))
    source._buffer = np.array(words, dtype=np.uint64)
    return source


def _both(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[int], list[int], list[int]]:
    """The same draws compiled and interpreted, and how many words each read."""
    fast, plain = seeded(name), seeded(name)
    compiled = SAMPLERS[name](size=2000, source=fast).tolist()
    monkeypatch.setattr(_draw, "_kernel", lambda name, _draws: interpret(name))
    return compiled, SAMPLERS[name](size=2000, source=plain).tolist(), [fast._position, plain._position]


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.filterwarnings("error")
def test_an_interpreted_draw_is_the_compiled_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, plain, read = _both(name, monkeypatch)
    assert plain == compiled
    assert read[0] == read[1]


def test_an_interpreter_that_multiplies_otherwise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_kernels(), "_high", lambda left, right: np.uint64((int(left) * int(right) >> 64) ^ 1))
    compiled, plain, _ = _both("laplace", monkeypatch)
    assert plain != compiled


@pytest.mark.parametrize(
    ("terms", "law"), [((2**50 - 1, 1), discrete_laplace), ((2**50 - 1, 2**50 - 3), discrete_gaussian)]
)
def test_the_largest_terms_are_interpreted_alike(
    terms: tuple[int, int], law: Callable[..., np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = law(Fraction(*terms), size=500, source=seeded(1)).tolist()
    monkeypatch.setattr(_draw, "_kernel", lambda name, _draws: interpret(name))
    assert law(Fraction(*terms), size=500, source=seeded(1)).tolist() == compiled


FEW = """
import sys
from ziggurat.randomness import discrete_laplace, seeded
source, drawn = seeded(1), []
for _ in range({draws}):
    drawn.append(discrete_laplace(5, source=source))
print("numba" in sys.modules, sum(drawn), source._position)
"""


def test_few_draws_need_no_compiler_and_many_go_on_where_they_stopped() -> None:
    def told(draws: int) -> list[str]:
        code = FEW.format(draws=draws)
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    most = _draw._MOST_INTERPRETED
    for draws, loaded in ((most, "False"), (most + 200, "True")):
        source = seeded(1)
        expected = [loaded, str(int(discrete_laplace(5, size=draws, source=source).sum())), str(source._position)]
        assert told(draws) == expected


@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_do_not_depend_on_the_size_of_the_buffer(name: str) -> None:
    key = seeded(name)._key
    tiny, large = Trickle(key), Source(key)
    assert SAMPLERS[name](size=3000, source=tiny).tolist() == SAMPLERS[name](size=3000, source=large).tolist()
    assert tiny._position == large._position


@pytest.mark.parametrize("name", SAMPLERS)
def test_one_at_a_time_is_the_same_as_many(name: str) -> None:
    single, many = seeded(name), seeded(name)
    one_by_one = [SAMPLERS[name](source=single) for _ in range(500)]
    assert one_by_one == SAMPLERS[name](size=500, source=many).tolist()


def test_a_shuffle_does_not_depend_on_the_size_of_the_buffer() -> None:
    tiny, large = shuffle(500, source=Trickle(bytes(32))), shuffle(500, source=Source(bytes(32)))
    assert tiny.tolist() == large.tolist()


def _fraction(words: list[int]) -> Fraction:
    return sum((Fraction(word, 2 ** (64 * (i + 1))) for i, word in enumerate(words)), Fraction(0))


def _integer(rng: np.random.Generator, low: int, high: int) -> int:
    """An integer from low to high, its length as varied as its digits."""
    bits = int(rng.integers(1, 65))
    return low + int(rng.integers(0, 2**64, dtype=np.uint64, endpoint=False) >> np.uint64(64 - bits)) % (high - low + 1)


def _words(rng: np.random.Generator, n: int) -> list[int]:
    return [int(word) for word in rng.integers(0, 2**64, n, dtype=np.uint64, endpoint=False)]


def _leading_words(value: Fraction, n: int) -> list[int]:
    return [int(value * 2 ** (64 * (i + 1))) % 2**64 for i in range(n)]


@pytest.mark.parametrize("ties", range(5))
def test_bernoulli_compares_every_digit(ties: int) -> None:
    # The first words are those of p/q itself, so that only later digits decide.
    rng = seeded("digits").child(ties).simulation()
    for _ in range(500):
        q = _integer(rng, 2, 2**62)
        chance = Fraction(_integer(rng, 0, q - 1), q)
        words = [*_leading_words(chance, ties), *_words(rng, 4)]
        assert bernoulli(chance, source=_given(*words)) == (_fraction(words) < chance)


def test_uniform_below_rejects_exactly_the_surplus_words() -> None:
    # A word w stands for floor(w*n / 2**64); 2**64 mod n words must go to leave each value equally many.
    # The surplus words are the first of their value: the cases sit there.
    rng = seeded("surplus").simulation()
    for _ in range(500):
        n = _integer(rng, 2, 2**62)
        words = [min(-(-_integer(rng, 0, n - 1) * 2**64 // n) + int(rng.integers(0, 2)), 2**64 - 1) for _ in range(20)]
        kept = [w * n >> 64 for w in words if (w * n) % 2**64 >= 2**64 % n]
        assert uniform_below(n, size=len(kept), source=_given(*words)).tolist() == kept


@pytest.mark.parametrize("ties", range(4))
def test_rounding_reads_digits_until_it_is_decided(ties: int) -> None:
    # x begins with the words of a multiple of 1/n, give or take one in the last, so that later digits decide.
    rng = seeded("rounding").child(ties).simulation()
    for _ in range(500):
        n = _integer(rng, 2, 2**51)
        near = Fraction(_integer(rng, 1, n - 1), n) + Fraction(int(rng.integers(-1, 2)), 2 ** (64 * max(ties, 1)))
        words = np.array([*_leading_words(near, ties), *_words(rng, 6 - ties)], dtype=np.uint64)
        at, x = np.zeros(2, dtype=np.int64), np.empty(6, dtype=np.uint64)
        assert kernels._whole(words, at, x, 0, n) == int(_fraction(words.tolist()) * n)
        assert at[1] == 0


@pytest.mark.parametrize(("digits", "exponent"), [(kernels.EXP_ONE, "-1"), (kernels.EXP_HALF, "-0.5")])
def test_the_stored_digits_are_those_of_the_exponential(digits: np.ndarray, exponent: str) -> None:
    with mpmath.workprec(1000):
        expected = int(mpmath.floor(mpmath.exp(mpmath.mpf(exponent)) * mpmath.mpf(2) ** 384))
    assert int(_fraction(digits.tolist()) * 2**384) == expected


def test_a_run_beyond_the_bound_is_an_error_and_never_wraps() -> None:
    # Words of zero make every Bernoulli trial succeed for ever, and the bound is passed at 2**10.
    at = np.zeros(2, dtype=np.int64)
    kernels._run(np.zeros(2000, dtype=np.uint64), at, kernels.EXP_ONE)
    assert at[1] == 1
    with pytest.raises(PrivacyError):
        rounded_gaussian(1, source=_given(2**14 - 1, *[0] * 5000))  # the last slot: the tail


def test_undecided_digits_are_an_error() -> None:
    with pytest.raises(PrivacyError):
        bernoulli_exp(1, source=_given(*kernels.EXP_ONE.tolist(), 0, 0))


def test_the_largest_parameters_do_not_wrap() -> None:
    # The largest remainder and one short of the longest run: the far end of what Laplace noise can be.
    limit = 2**50
    remainder = [2**64 - 2**14, 2**64 - 1]  # 2*limit - 2 (even: positive), then accepted at once
    run = [0] * kernels.CAP + [2**64 - 1]
    assert discrete_laplace(limit, source=_given(*remainder, *run)) == limit * (kernels.CAP + 1) - 1


FLOATS = """
import numba, numpy as np
from fractions import Fraction
from ziggurat.randomness import *
from ziggurat.randomness import _kernels
source, gaps = seeded(1), np.array([0, 1])
uniform_below(3, source=source), bernoulli(Fraction(1, 3), source=source)
bernoulli_exp(Fraction(1, 3), source=source), discrete_laplace(3, source=source)
discrete_gaussian(3, source=source), rounded_gaussian(3, source=source), shuffle(3, source=source)
exponential_choice(gaps, 1, source=source), permute_and_flip(gaps, 1, source=source)
names = "uniform bernoulli bernoulli_exp laplace gaussian rounded shuffle choose permute_and_flip".split()
texts = [text for name in names for text in getattr(_kernels, name).inspect_llvm().values()]
control = numba.njit(lambda x: x * 0.5)
control(1)
assert len(texts) == 9 and "double" in "".join(control.inspect_llvm().values())
assert not any("double" in text or "float" in text for text in texts)
"""


@pytest.mark.slow
def test_the_machine_code_has_no_floating_point(tmp_path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", FLOATS], env=environment, check=True, timeout=300)
