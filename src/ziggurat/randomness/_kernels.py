"""Exact samplers compiled to machine code: 64-bit integers in, 64-bit integers out, no float between.

How words are read. A draw is a function of the coming key-stream words. When it runs past the last word
in view it finishes on filler and is thrown away whole; the caller shows it again from its first word with
more words behind. Taking fresh words instead would favour draws that need few of them.

Why nothing overflows. Every numerator and denominator is at most 2**50 (`LARGEST_TERM`), and every count (a
geometric variate, the step of a series) at most 2**10 (`CAP`); the products below stay under 2**62. A count
beyond `CAP`, or a comparison still open after 384 binary digits, is a fault noted in `at[1]`: it happens
to a draw with probability below 2**-370, and nothing wraps.

Why a normal takes about one word. Its lowest 14 binary digits say which column of the density it lies in, the next
its sign, and the upper 49 where in the column; for 97 of 100 words the tables prove that nothing else matters. The
law, the tables and the bounds of every comparison are proven in `_tables`, which also says what is drawn otherwise.

Why one file. Numba keeps machine code per file and does not notice that a function called from another
file has changed; the samplers and their parts therefore stand together. Read under another name (`_interpreted`) the
same text runs without Numba.

References
----------
Canonne, Kamath, Steinke (2020), "The Discrete Gaussian for Differential Privacy", Algorithms 1 to 3.
Karney (2016), "Sampling exactly from the normal distribution", ACM TOMS 42(1), Algorithm N.
Lemire (2019), "Fast random integer generation in an interval", ACM TOMACS 29(1).
Marsaglia, Tsang (2000), "The ziggurat method for generating random variables", J. Stat. Software 5(8).
McKenna, Sheldon (2020), "Permute-and-Flip", NeurIPS.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

if __name__ == "ziggurat.randomness._kernels":
    from ziggurat.randomness._compiled import compiled
    from ziggurat.randomness._compiled import high as _high
else:
    from ziggurat.randomness._interpreted import compiled
    from ziggurat.randomness._interpreted import high as _high

Words = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Shorts = npt.NDArray[np.int16]
Int = int | np.int64
Truth = bool | np.bool

CAP = 2**10

# The shape of the tables that normals are read from; see `_tables`.
COLUMNS_PER_UNIT = 64
TAIL = 4
COLUMNS = TAIL * COLUMNS_PER_UNIT
REACH = 2 * COLUMNS_PER_UNIT**2
SLOT_BITS = 14
DIGITS = 6  # words of a binary expansion: 384 digits, of which one word almost always decides

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_ODD, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)
_SLOT, _SIGN_AT = np.uint64(2**SLOT_BITS - 1), np.uint64(SLOT_BITS)
_PLACE_BITS = np.uint64(63 - SLOT_BITS)
_PLACE = np.uint64(2**64 - 2 ** (SLOT_BITS + 1))
_COLUMN_AT, _UNREAD, _EVEN = np.uint64(56), np.uint64(8), np.uint64(2**56 - 2**7)
_OFF = np.uint64(67)


def _constant(digits: str) -> Words:
    return np.array([int(word, 16) for word in digits.split()], dtype=np.uint64)


# The first 384 binary digits of exp(-1) and exp(-1/2), most significant word first.
EXP_ONE = _constant(
    "5E2D58D8B3BCDF1A BADEC7829054F90D DA9805AAB56C7733 3024B9D0A507DAED B16400BF472B4215 B8245B669D90D27A"
)
EXP_HALF = _constant(
    "9B4597E37CB04FF3 D675A35530CDD767 E347BF8AD0E80ABB CE4AE95861014318 7944CF1032E9A4B0 9167A9A5702402AD"
)


@compiled
def _word(words: Words, at: Integers) -> np.uint64:
    i = at[0]
    at[0] = i + 1
    if i < words.size:
        word: np.uint64 = words[i]
        return word
    # Filler: varied enough for every loop to end; the draw that reads it is discarded.
    mixed = np.uint64(i + 1) * _ODD
    return (mixed ^ (mixed >> _SHIFT)) * _MIX


@compiled
def _fault(at: Integers) -> Truth:
    """Note that a bound was passed; the caller discards everything."""
    at[1] = 1
    return False


@compiled
def _below(words: Words, at: Integers, n: np.uint64) -> np.uint64:
    """Uniform on 0..n-1 (Lemire): reject the words that would make some values likelier."""
    while True:
        word = _word(words, at)
        low = word * n
        if low >= n or low >= (_ZERO - n) % n:
            return _high(word, n)


@compiled
def _bernoulli(words: Words, at: Integers, p: Int, q: Int) -> Truth:
    """Bernoulli(p/q), 0 <= p <= q <= 2**62: is U*q < p, for a real U whose digits are read as needed?"""
    left, right = np.uint64(p), np.uint64(q)
    while True:
        word = _word(words, at)
        whole, part = _high(word, right), word * right
        # U*q lies in [whole + part/2**64, whole + (part + q)/2**64): only two whole parts are possible.
        if whole + _ONE != left or part <= _ZERO - right:
            return whole < left
        left = _ZERO - part


@compiled
def _digits(words: Words, at: Integers, digits: Words) -> Truth:
    """Bernoulli of the number whose binary digits are given, read only as far as needed."""
    for i in range(digits.size):
        word, digit = _word(words, at), np.uint64(digits[i])
        if word != digit:
            return word < digit
    return _fault(at)


@compiled
def _run(words: Words, at: Integers, digits: Words) -> Int:
    """How often in a row Bernoulli(digits) succeeds."""
    count = 0
    while _digits(words, at, digits):
        count += 1
        if count > CAP:
            _fault(at)
            break
    return count


@compiled
def _all(words: Words, at: Integers, digits: Words, times: Int) -> Truth:
    """Whether Bernoulli(digits) succeeds `times` times: Bernoulli(digits**times)."""
    left = times
    while left > 0 and _digits(words, at, digits):
        left -= 1
    return left <= 0


@compiled
def _exp_part(words: Words, at: Integers, p: Int, q: Int) -> Truth:
    """Bernoulli(exp(-p/q)) for 0 <= p <= q <= 2**50 (CKS, Algorithm 1)."""
    k = 1
    while _bernoulli(words, at, p, q * k):
        k += 1
        if k > CAP:
            return _fault(at)
    return k & 1 == 1


@compiled
def _exp(words: Words, at: Integers, p: Int, q: Int) -> Truth:
    """Bernoulli(exp(-p/q)) for 0 <= p <= 2**62 and q <= 2**50."""
    whole = p // q
    return _all(words, at, EXP_ONE, whole) and _exp_part(words, at, p - whole * q, q)


@compiled
def _exp_half_square(words: Words, at: Integers, r: Int, w: Int) -> Truth:
    """Bernoulli(exp(-(r/w)**2 / 2)) for 0 <= r <= w <= 2**50.

    Algorithm 1 asks for Bernoulli(r*r / (2*w*w*k)), whose terms would overflow: draw it as the product of
    Bernoulli(r/w) and Bernoulli(r / (2*k*w)).
    """
    k = 1
    while _bernoulli(words, at, r, w) and _bernoulli(words, at, r, 2 * k * w):
        k += 1
        if 2 * k > CAP:
            return _fault(at)
    return k & 1 == 1


@compiled
def _exp_square(words: Words, at: Integers, z: Int, w: Int) -> Truth:
    """Bernoulli(exp(-(z/w)**2 / 2)): with z = a*w + r, the product of exp of -a*a/2, -a*r/w, -(r/w)**2/2."""
    a = z // w
    r = z - a * w
    if not _all(words, at, EXP_HALF, a * a):
        return False
    for _ in range(a):
        if not _exp_part(words, at, r, w):
            return False
    return _exp_half_square(words, at, r, w)


@compiled
def _laplace(words: Words, at: Integers, t: Int, s: Int, signed: Truth) -> Int:
    """Discrete Laplace of scale t/s, or its magnitude, which is geometric (CKS, Algorithm 2).

    The sign is drawn with the remainder, as one number below 2*t. At most t*(CAP + 1) < 2**61.
    """
    while True:
        drawn = np.int64(_below(words, at, np.uint64(2 * t)))
        remainder = drawn >> 1
        if not _exp_part(words, at, remainder, t):
            continue
        magnitude = (remainder + t * _run(words, at, EXP_ONE)) // s
        if not signed or drawn & 1 == 0:
            return magnitude
        if magnitude != 0:
            return -magnitude


@compiled
def _gaussian(words: Words, at: Integers, n: Int, m: Int) -> Int:
    """Discrete Gaussian of sigma = n/m (CKS, Algorithm 3).

    The algorithm holds for a proposal of any scale tau: accept y with probability
    exp(-(|y| - sigma**2/tau)**2 / (2*sigma**2)). With tau = sigma that is exp(-((|y|*m - n)/n)**2 / 2), whose
    terms stay small: |y|*m <= n*(CAP + 1) < 2**61.
    """
    while True:
        value = _laplace(words, at, n, m, True)
        beyond = (value if value >= 0 else -value) * m - n
        if _exp_square(words, at, beyond if beyond >= 0 else -beyond, n):
            return value


@compiled
def _digit(words: Words, at: Integers, x: Words, known: Int, i: Int) -> Int:
    """Make digit i of the uniform deviate x known; return how many are known."""
    if i < known:
        return known
    x[i] = _word(words, at)
    return i + 1


@compiled
def _deviate_bernoulli(words: Words, at: Integers, x: Words, known: Int) -> tuple[Truth, Int]:
    """Bernoulli(x) for the uniform deviate x: is a fresh deviate below it?"""
    for i in range(x.size):
        known = _digit(words, at, x, known, i)
        word, digit = _word(words, at), np.uint64(x[i])
        if word != digit:
            return word < digit, known
    return _fault(at), known


@compiled
def _deviate_exp(words: Words, at: Integers, x: Words, known: Int) -> tuple[Truth, Int]:
    """Bernoulli(exp(-x)), by the series of Algorithm 1: Bernoulli(x/k) is Bernoulli(x) and Bernoulli(1/k)."""
    k = 1
    while k <= CAP:
        smaller, known = _deviate_bernoulli(words, at, x, known)
        if not (smaller and _bernoulli(words, at, 1, k)):
            return k & 1 == 1, known
        k += 1
    return _fault(at), known


@compiled
def _deviate_exp_half_square(words: Words, at: Integers, x: Words, known: Int) -> tuple[Truth, Int]:
    """Bernoulli(exp(-x*x/2)): Bernoulli(x*x/(2*k)) is Bernoulli(x) twice and Bernoulli(1/(2*k))."""
    k = 1
    while k <= CAP:
        first, known = _deviate_bernoulli(words, at, x, known)
        second: Truth = False
        if first:
            second, known = _deviate_bernoulli(words, at, x, known)
        if not (second and _bernoulli(words, at, 1, 2 * k)):
            return k & 1 == 1, known
        k += 1
    return _fault(at), known


@compiled
def _tail(words: Words, at: Integers, x: Words, least: Int) -> tuple[Truth, Int, Int]:
    """A unit column k >= least and x in it, and whether it is kept: then k + x is a normal's magnitude beyond least.

    Karney's Algorithm N, which is least = 0: propose k with probability proportional to exp(-k*k/2), that is of
    exp(-i*i/2 - i*least) for i = k - least, and x uniform; keep with probability exp(-x*(2*k + x)/2), here drawn as
    exp(-x*x/2) once and exp(-x) k times. Returned are also k and how many digits of x are known.
    """
    i = _run(words, at, EXP_HALF)
    while not _all(words, at, EXP_HALF, i * (i - 1) + 2 * i * least):
        i = _run(words, at, EXP_HALF)
    kept, known = _deviate_exp_half_square(words, at, x, 0)
    steps = least + i
    while kept and steps > 0:
        kept, known = _deviate_exp(words, at, x, known)
        steps -= 1
    return kept, least + i, known


@compiled
def _is_below(words: Words, at: Integers, x: Words, known: Int, ends: Words, i: Int) -> tuple[Truth, Int]:
    """Whether the uniform deviate x is below the i-th of these ends."""
    for place in range(DIGITS):
        known = _digit(words, at, x, known, place)
        word, digit = np.uint64(x[place]), np.uint64(ends[i, place])
        if word != digit:
            return word < digit, known
    return _fault(at), known


@compiled
def _category(words: Words, at: Integers, x: Words, guide: Shorts, slots: Integers, ends: Words, slot: Int) -> Int:
    """The category that a uniform U in this slot falls into: the first whose end it is below.

    The digits of U that follow the slot are read, into the scratch x, as far as the ends in the slot require.
    """
    first = np.int64(guide[slot])
    category: Int = first if first >= 0 else -1 - first
    known: Int = 0
    while slots[category] == slot:
        below, known = _is_below(words, at, x, known, ends, category)
        if below:
            break
        category += 1
    return category


@compiled
def _edge(words: Words, at: Integers, x: Words, known: Int, j: Int) -> tuple[Truth, Int]:
    """Whether the place x in column j is kept, if the first trial of the bound of w has succeeded.

    Bernoulli(exp(-w)) by the series of Algorithm 1, for w = w_j * x*(2*j + x)/(2*j + 1) and w_j = (2*j + 1)/REACH:
    Bernoulli(w/k) is Bernoulli(w_j/k), given for k = 1, and Bernoulli(x), and once more Bernoulli(x) in one of
    2*j + 1 cases.
    """
    k = 1
    while k <= CAP:
        inside, known = _deviate_bernoulli(words, at, x, known)
        if inside and _bernoulli(words, at, 1, 2 * j + 1):
            inside, known = _deviate_bernoulli(words, at, x, known)
        if not inside:
            return k & 1 == 1, known
        k += 1
        if not _bernoulli(words, at, 2 * j + 1, REACH * k):
            return k & 1 == 1, known
    return _fault(at), known


@compiled
def _begin(words: Words, at: Integers, x: Words, word: np.uint64) -> Int:
    """Let the uniform deviate x begin with the upper 49 digits of a word; return how many words of x are known."""
    x[0] = (word & _PLACE) | (_word(words, at) >> _PLACE_BITS)
    return 1


@compiled
def _whole(words: Words, at: Integers, x: Words, known: Int, n: Int) -> Int:
    """floor(x * n) for the uniform deviate x, reading further digits only while they can still matter."""
    factor = np.uint64(n)
    known = _digit(words, at, x, known, 0)
    floor, part = _high(x[0], factor), x[0] * factor
    for i in range(1, x.size):
        # x*n reaches floor + 1 exactly if the later digits, times n, make up for 2**64 - part.
        goal = _ZERO - part
        if part <= _ZERO - factor:
            return np.int64(floor)
        known = _digit(words, at, x, known, i)
        whole, part = _high(x[i], factor), x[i] * factor
        if whole >= goal:
            return np.int64(floor) + 1
        if whole + _ONE < goal:
            return np.int64(floor)
    _fault(at)
    return np.int64(floor)


@compiled
def _nearest(words: Words, at: Integers, x: Words, known: Int, k: Int, n: Int, m: Int) -> Int:
    """Round (k + x)*n/m to the nearest integer, for the uniform deviate x.

    floor((k + x)*n/m + 1/2) = (2*n*k + m + floor(2*n*x)) // (2*m), below 2**62. A tie has probability 0.
    """
    return (2 * n * k + m + _whole(words, at, x, known, 2 * n)) // (2 * m)


@compiled
def _magnitude(
    words: Words, at: Integers, x: Words, guide: Shorts, slots: Integers, ends: Words, word: np.uint64, n: Int, m: Int
) -> Int:
    """The magnitude of the rounded normal that begins with this word, or -1 for a rejection."""
    category = _category(words, at, x, guide, slots, ends, np.int64(word & _SLOT))
    if category == 2 * COLUMNS:
        kept, k, known = _tail(words, at, x, TAIL)
        return _nearest(words, at, x, known, k, n, m) if kept else -1
    j, known = category, _begin(words, at, x, word)
    if category >= COLUMNS:
        j = category - COLUMNS
        kept, known = _edge(words, at, x, known, j)
        if not kept:
            return -1
    return _nearest(words, at, x, known, j, n, COLUMNS_PER_UNIT * m)


@compiled
def _give_sign(magnitude: Int, word: np.uint64) -> Int:
    """Give the sign that the word says, without a branch: it would be guessed wrong half the time."""
    flip = -np.int64((word >> _SIGN_AT) & _ONE)
    return (magnitude ^ flip) - flip


@compiled
def _rounded(
    words: Words, at: Integers, x: Words, guide: Shorts, slots: Integers, ends: Words, word: np.uint64, n: Int, m: Int
) -> Int:
    """An exact normal of standard deviation n/m, rounded to the nearest integer; its first word is given."""
    magnitude = _magnitude(words, at, x, guide, slots, ends, word, n, m)
    while magnitude < 0:
        word = _word(words, at)
        magnitude = _magnitude(words, at, x, guide, slots, ends, word, n, m)
    return _give_sign(magnitude, word)


@compiled
def _at_once(word: np.uint64, guide: Shorts, factor: np.uint64, shift: np.uint64) -> Int:
    """What `_magnitude` gives, if it depends on no other word; otherwise -1.

    A slot inside a body leaves only the rounding. Let X < 2**57 be the column and the 49 digits of the place in it,
    and factor = F with F <= sigma * 2**(shift + 2) < F + 1 and F < 2**63. The magnitude before rounding is then
    v = (X + T)*(F + G) / 2**(57 + shift) for a T and a G in [0, 1), and v * 2**shift is at least floor(X*F / 2**57)
    and less than 67 more: the floor takes less than 1, T*F / 2**57 is below 2**6, and G*(X + T) / 2**57 is at most 1.
    With half of 2**shift, at most 2**59, all stays below 2**64. If both ends round to one integer, so does v.
    """
    column = np.int64(guide[word & _SLOT])
    left = (np.uint64(column) << _COLUMN_AT) | ((word >> _UNREAD) & _EVEN)
    low = _high(left, factor) + ((_ONE << shift) >> _ONE)
    magnitude = np.int64(low >> shift)
    return magnitude if column >= 0 and np.int64((low + _OFF) >> shift) == magnitude else -1


@compiled
def _short(words: Words, at: Integers, first: Int) -> Truth:
    """Whether the draw that began at word `first` ran out of words; it is then taken back."""
    if at[0] <= words.size:
        return False
    at[0] = first
    return True


@compiled
def uniform(out: Integers, done: Int, words: Words, at: Integers, n: Int) -> Int:
    """Fill `out` from index `done` with draws below n; return how far the words reached."""
    for i in range(done, out.size):
        first = at[0]
        value = _below(words, at, np.uint64(n))
        if _short(words, at, first):
            return i
        out[i] = np.int64(value)
    return out.size


@compiled
def bernoulli(out: Integers, done: Int, words: Words, at: Integers, p: Int, q: Int) -> Int:
    """Fill `out` from index `done` with Bernoulli(p/q); return how far the words reached."""
    for i in range(done, out.size):
        first = at[0]
        value = _bernoulli(words, at, p, q)
        if _short(words, at, first):
            return i
        out[i] = np.int64(value)
    return out.size


@compiled
def bernoulli_exp(out: Integers, done: Int, words: Words, at: Integers, p: Int, q: Int) -> Int:
    """Fill `out` from index `done` with Bernoulli(exp(-p/q)); return how far the words reached."""
    for i in range(done, out.size):
        first = at[0]
        value = _exp(words, at, p, q)
        if _short(words, at, first):
            return i
        out[i] = np.int64(value)
    return out.size


@compiled
def laplace(out: Integers, done: Int, words: Words, at: Integers, t: Int, s: Int, signed: Truth) -> Int:
    """Fill `out` from index `done` with discrete Laplace of scale t/s; return how far the words reached."""
    for i in range(done, out.size):
        first = at[0]
        value = _laplace(words, at, t, s, signed)
        if _short(words, at, first):
            return i
        out[i] = value
    return out.size


@compiled
def gaussian(out: Integers, done: Int, words: Words, at: Integers, n: Int, m: Int) -> Int:
    """Fill `out` from index `done` with discrete Gaussian of sigma n/m; return how far the words reached."""
    for i in range(done, out.size):
        first = at[0]
        value = _gaussian(words, at, n, m)
        if _short(words, at, first):
            return i
        out[i] = value
    return out.size


@compiled
def rounded(
    out: Integers, done: Int, words: Words, at: Integers, x: Words, guide: Shorts, slots: Integers, ends: Words,
    factor: Int, shift: Int, n: Int, m: Int,
) -> Int:  # fmt: skip
    """Fill `out` from index `done` with rounded normals of sigma n/m; return how far the words reached."""
    multiplier, places = np.uint64(factor), np.uint64(shift)
    for i in range(done, out.size):
        first = at[0]
        word = _word(words, at)
        value = _at_once(word, guide, multiplier, places)
        value = _give_sign(value, word) if value >= 0 else _rounded(words, at, x, guide, slots, ends, word, n, m)
        if _short(words, at, first):
            return i
        out[i] = value
    return out.size


@compiled
def choose(out: Integers, done: Int, words: Words, at: Integers, gaps: Integers, p: Int, q: Int) -> Int:
    """Fill `out` with indices of probability proportional to exp(-gap*p/q); return how far it came."""
    for i in range(done, out.size):
        first = at[0]
        pick = np.int64(_below(words, at, np.uint64(gaps.size)))
        while at[0] <= words.size and not _exp(words, at, gaps[pick] * p, q):
            pick = np.int64(_below(words, at, np.uint64(gaps.size)))
        if _short(words, at, first):
            return i
        out[i] = pick
    return out.size


@compiled
def choose_by_row(out: Integers, done: Int, words: Words, at: Integers, gaps: Integers, p: Int, q: Int) -> Int:
    """Do as `choose`, each draw by its own row of `gaps`."""
    for i in range(done, out.size):
        first = at[0]
        pick = np.int64(_below(words, at, np.uint64(gaps.shape[1])))
        while at[0] <= words.size and not _exp(words, at, gaps[i, pick] * p, q):
            pick = np.int64(_below(words, at, np.uint64(gaps.shape[1])))
        if _short(words, at, first):
            return i
        out[i] = pick
    return out.size


@compiled
def _flip(words: Words, at: Integers, gaps: Integers, order: Integers, p: Int, q: Int) -> Int:
    for i in range(gaps.size):
        order[i] = i
    for i in range(gaps.size):
        j = i + np.int64(_below(words, at, np.uint64(gaps.size - i)))
        order[i], order[j] = order[j], order[i]
        if _exp(words, at, gaps[order[i]] * p, q) or at[0] > words.size:
            return np.int64(order[i])
    _fault(at)
    return np.int64(0)


@compiled
def permute_and_flip(
    out: Integers, done: Int, words: Words, at: Integers, order: Integers, gaps: Integers, p: Int, q: Int
) -> Int:
    """Fill `out` with the first index, in random order, to pass Bernoulli(exp(-gap*p/q))."""
    for i in range(done, out.size):
        first = at[0]
        pick = _flip(words, at, gaps, order, p, q)
        if _short(words, at, first):
            return i
        out[i] = pick
    return out.size


@compiled
def shuffle(out: Integers, done: Int, words: Words, at: Integers) -> Int:
    """Continue the Fisher-Yates shuffle of `out` at index `done`; return how far the words reached."""
    for i in range(done, out.size):
        first = at[0]
        j = i + np.int64(_below(words, at, np.uint64(out.size - i)))
        if _short(words, at, first):
            return i
        out[i], out[j] = out[j], out[i]
    return out.size
