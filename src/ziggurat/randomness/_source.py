"""Where every random word comes from: one ChaCha20 key stream, keyed by the system or by a seed."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
import weakref
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from ziggurat.errors import ParameterError

Words = npt.NDArray[np.uint64]

_WORDS_PER_BLOCK = 8
_BLOCK_BYTES = 64
_BLOCKS_PER_NONCE = 2**32  # RFC 8439: the block counter has 32 bits; the nonce then moves on by one.
_FIRST_CHUNK = 512  # words: a single draw costs 4 KiB of key stream
_LARGEST_CHUNK = 2**14  # words: 128 KiB stay in the cache of a core
_ZEROS = memoryview(bytes(8 * _LARGEST_CHUNK))


def _key_stream(key: bytes, block: int, out: Words) -> None:
    """Write the key stream from the given block on; `out` holds a whole number of blocks."""
    view = out.view(np.uint8).data
    while view:
        nonce, counter = divmod(block, _BLOCKS_PER_NONCE)
        size = min(len(view), len(_ZEROS), (_BLOCKS_PER_NONCE - counter) * _BLOCK_BYTES)
        start = counter.to_bytes(4, "little") + nonce.to_bytes(12, "little")
        Cipher(algorithms.ChaCha20(key, start), mode=None).encryptor().update_into(_ZEROS[:size], view[:size])
        view, block = view[size:], block + size // _BLOCK_BYTES
    if sys.byteorder == "big":
        out.byteswap(inplace=True)


def _encode(label: str | int) -> bytes:
    """Encode so that no two different sequences of labels share an encoding."""
    if isinstance(label, bool) or not isinstance(label, str | int):
        raise ParameterError("A seed or label must be an integer or a string.")
    text = str(label).encode()
    return (b"i" if isinstance(label, int) else b"s") + len(text).to_bytes(8, "little") + text


def _derive(purpose: bytes, parent: bytes, *labels: str | int) -> bytes:
    encoded = b"".join(_encode(label) for label in labels)
    return hashlib.sha256(b"ziggurat/randomness/1/" + purpose + b"/" + parent + encoded).digest()


class Source:
    """A stream of uniform 64-bit words; make one with `secure` or `seeded`.

    Threads may share a source. A secure source never repeats itself: a fork, a copy and a pickle each
    yield a source with a fresh key from the operating system. A seeded source is for rehearsals and
    tests: it is copied and pickled with its exact position, and nothing drawn from it may be published.
    """

    __slots__ = (
        "__weakref__",
        "_block",
        "_buffer",
        "_chunk",
        "_key",
        "_lock",
        "_next",
        "_secure",
        "_spawned",
    )

    def __init__(self, key: bytes | None = None) -> None:
        self._secure = key is None
        self._spawned = 0
        self._start(os.urandom(32) if key is None else key)
        _alive.add(self)

    def _start(self, key: bytes, position: int = 0) -> None:
        self._lock = threading.Lock()
        self._key = key
        self._block, self._next = position // _WORDS_PER_BLOCK, 0
        self._buffer: Words = np.empty(0, dtype=np.uint64)
        self._chunk = _FIRST_CHUNK
        self._ahead(position % _WORDS_PER_BLOCK)
        self._next = position % _WORDS_PER_BLOCK

    def _after_fork(self) -> None:
        if self._secure:
            self._start(os.urandom(32))
        else:
            # The old lock may be held by a thread that does not exist in this process.
            self._lock = threading.Lock()

    def _refill(self, words: int) -> None:
        blocks = -(-words // _WORDS_PER_BLOCK)
        left = self._buffer[self._next :]
        buffer = np.empty(left.size + blocks * _WORDS_PER_BLOCK, dtype=np.uint64)
        buffer[: left.size] = left
        _key_stream(self._key, self._block, buffer[left.size :])
        self._buffer, self._next, self._block = buffer, 0, self._block + blocks

    def _ahead(self, words: int) -> Words:
        missing = words - (self._buffer.size - self._next)
        if missing > 0:
            self._refill(max(missing, self._chunk))
            self._chunk = min(2 * self._chunk, _LARGEST_CHUNK)
        return self._buffer[self._next :]

    @property
    def _position(self) -> int:
        return self._block * _WORDS_PER_BLOCK - (self._buffer.size - self._next)

    @property
    def secure(self) -> bool:
        """Whether the key came from the operating system; False marks a rehearsal."""
        return self._secure

    @property
    def origin(self) -> str:
        """`"secure"` or `"seeded"`, as it is written on every result."""
        return "secure" if self._secure else "seeded"

    def feed(self, take: Callable[[Words], int], at_least: int) -> None:
        """Show `take` the coming words, `at_least` as many, and move on by as many as it says it used.

        Words that `take` saw and did not use stay at the head of the stream.
        """
        with self._lock:
            used = take(self._ahead(at_least))
            self._next += used

    def words(self, n: int) -> Words:
        """Return the next `n` words of the key stream."""
        if n < 0:
            raise ParameterError("The number of words must not be negative.")
        taken: list[Words] = []

        def take(ahead: Words) -> int:
            taken.append(ahead[:n].copy())
            return n

        self.feed(take, n)
        return taken[0]

    def child(self, *labels: str | int) -> Source:
        """Return an independent source.

        A seeded source derives it from its seed and the labels alone, so the same labels give the same
        child however much was drawn before. A secure source gives a fresh one each time.
        """
        if not labels:
            raise ParameterError("A child source needs at least one label.")
        derived = _derive(b"child", self._key, *labels)
        return Source(None if self._secure else derived)

    def spawn(self, n: int) -> list[Source]:
        """Return `n` sources independent of this one, of each other and of any spawned earlier."""
        if n < 0:
            raise ParameterError("The number of spawned sources must not be negative.")
        with self._lock:
            first, self._spawned = self._spawned, self._spawned + n
        if self._secure:
            return [Source() for _ in range(n)]
        return [Source(_derive(b"spawn", self._key, first + i)) for i in range(n)]

    def simulation(self) -> np.random.Generator:
        """Return a NumPy generator for invented data and for starting values of models.

        Never use it for privacy noise: its generator is not cryptographic and its variates are floats.
        """
        return np.random.default_rng([int(word) for word in self.words(4)])

    def __reduce__(self) -> tuple[Callable[..., Source], tuple[Any, ...]]:
        """Pickle and copy a secure source as a fresh one, a seeded source with its exact position."""
        if self._secure:
            return secure, ()
        with self._lock:
            return _restore, (self._key, self._position, self._spawned)

    def __repr__(self) -> str:
        """Name the origin; key material is never shown."""
        return f"<Source: {self.origin}>"


def _restore(key: bytes, position: int, spawned: int) -> Source:
    source = Source(key)
    source._start(key, position)
    source._spawned = spawned
    return source


_alive: weakref.WeakSet[Source] = weakref.WeakSet()


def _renew_all() -> None:
    for source in list(_alive):
        source._after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


def secure() -> Source:
    """Return a source keyed with 256 bits from the operating system: the only kind fit for a release."""
    return Source()


def choose_source(given: Source | int | None) -> Source:
    """Give the source to draw from: secure, unless a rehearsal passes its own or the number to seed one with."""
    if given is None or isinstance(given, Source):
        return secure() if given is None else given
    state: Any = given  # NumPy's whole numbers are no `int`
    if isinstance(state, bool) or not isinstance(state, Integral):
        raise ParameterError("The random state must be a whole number for a rehearsal, or None.")
    return seeded(int(state))


def seeded(seed: int | str) -> Source:
    """Return a source that repeats itself for the same seed: for rehearsals and tests only.

    Raises
    ------
    ParameterError
        If the seed is neither an integer nor a non-empty string, so that no unset value becomes a seed.
    """
    if seed == "":
        raise ParameterError("A seed must not be empty; give an integer or a word, or use secure().")
    return Source(_derive(b"seed", b"", seed))
