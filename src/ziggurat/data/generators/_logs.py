"""Invented logs of a distributed file system: one sequence of event keys per block, like the HDFS logs.

Normal blocks follow a small Markov grammar. An abnormal block starts as a normal one and is then broken in
one of five named ways, each of which the grammar is certain to refuse.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data.generators._common import Reals, check_count, labels
from ziggurat.data.schema import Schema
from ziggurat.errors import ParameterError
from ziggurat.randomness import seeded

_VOCABULARY = {
    1: "block allocated",
    2: "receiving at the first replica",
    3: "receiving at the second replica",
    4: "receiving at the third replica",
    5: "responder closes",
    6: "block received",
    7: "replica registered",
    8: "block served to a reader",
    9: "further replica asked for",
    10: "replica copied",
    11: "block verified",
    12: "deletion asked for",
    13: "replica deleted",
    14: "receiving failed",
    15: "connection reset",
    16: "checksum does not match",
    17: "unexpected replica reported",
    18: "copying timed out",
}
_FAULTS = (14, 15, 16, 17, 18)
_END = 0
_GRAMMAR: dict[int, dict[int, float]] = {
    1: {2: 1.0},
    2: {3: 1.0},
    3: {4: 0.9, 5: 0.1},
    4: {5: 1.0},
    5: {6: 1.0},
    6: {5: 0.6, 7: 0.4},
    7: {7: 0.5, 8: 0.2, 9: 0.1, 11: 0.15, _END: 0.05},
    8: {8: 0.5, 9: 0.1, 11: 0.3, _END: 0.1},
    9: {10: 1.0},
    10: {7: 0.3, 8: 0.4, 11: 0.3},
    11: {8: 0.2, 12: 0.5, _END: 0.3},
    12: {13: 1.0},
    13: {13: 0.5, _END: 0.5},
}
_START = 1
_LONGEST = 80  # what counts of a block; longer ones are next to impossible by the grammar
ANOMALIES = ("none", "truncated", "skipped", "misordered", "stuck", "fault")

Matrix = npt.NDArray[np.int16]
Events = list[int]


def log_sequences(n: int = 10_000, *, abnormal: float = 0.03, seed: int = 0) -> pa.Table:
    """Invent the logs of `n` blocks, of which about a share `abnormal` misbehave.

    Parameters
    ----------
    n
        How many blocks, at least 1.
    abnormal
        The chance that a block is abnormal, from 0 to 1.
    seed
        The same seed gives the same table.

    Returns
    -------
    pyarrow.Table
        `block_id`; `label` (1 abnormal, 0 normal); `anomaly` (how it was broken: ``truncated``, ``skipped``,
        ``misordered``, ``stuck``, ``fault``; ``none`` for a normal block); `seq` (event keys of
        `log_vocabulary` joined by spaces). `accepts_log` holds for exactly the normal blocks.

    Examples
    --------
    >>> log_sequences(2, seed=1).column_names
    ['block_id', 'label', 'anomaly', 'seq']
    """
    n = check_count("the number of blocks", n)
    if not 0.0 <= abnormal <= 1.0:
        raise ParameterError("Abnormal must be a share between 0 and 1.")
    random = seeded(seed).simulation()
    flows = _walks(random, n)
    broken = np.where(random.random(n) < abnormal, random.integers(1, len(ANOMALIES), n), 0)
    return pa.table(
        {
            "block_id": _block_ids(random, n),
            "label": (broken > 0).astype(np.int64),
            "anomaly": labels(broken, ANOMALIES),
            "seq": _join_words(_with_breaks(random, flows, broken)),
        }
    )


def log_vocabulary() -> dict[int, str]:
    """The public list of event keys and what they mean; some occur in abnormal blocks only."""
    return dict(_VOCABULARY)


def log_sequences_schema() -> Schema:
    """The public schema of `log_sequences`; its privacy unit is the block."""
    columns = {
        "block_id": {"kind": "text", "role": "identifier"},
        "label": {"kind": "integer", "role": "sensitive", "bounds": [0, 1]},
        "anomaly": {"kind": "category", "role": "sensitive", "categories": ANOMALIES},
        "seq": {
            "kind": "text",
            "sequence": {"tokens": [str(key) for key in _VOCABULARY], "longest": _LONGEST},
            "description": "keys of log_vocabulary, joined by spaces",
        },
    }
    return Schema.from_dict({"name": "logs", "unit": {"block": "block_id"}, "columns": columns})


def accepts_log(events: Sequence[int]) -> bool:
    """Whether the grammar of normal blocks can produce this sequence of event keys."""
    path = [*events, _END]
    if path[0] != _START:
        return False
    return all(after in _GRAMMAR.get(before, {}) for before, after in pairwise(path))


def _ladders() -> Reals:
    """Row e: the cumulative chances of what follows event e."""
    chances = np.zeros((max(_GRAMMAR) + 1, max(_GRAMMAR) + 1))
    for event, following in _GRAMMAR.items():
        chances[event, list(following)] = list(following.values())
    return np.cumsum(chances, axis=1)


def _walks(random: np.random.Generator, n: int) -> list[Matrix]:
    """All blocks take each step of the chain at once; entry k holds the blocks' k-th events, 0 once over."""
    ladders = _ladders()
    state = np.full(n, _START, dtype=np.int16)
    steps = [state]
    while state.any():
        alive = np.flatnonzero(state)
        ladder = ladders[state[alive]]
        mark = random.random(len(alive)) * ladder[:, -1]
        state = np.zeros(n, dtype=np.int16)
        state[alive] = (ladder <= mark[:, None]).sum(axis=1)
        steps.append(state)
    return steps


def _with_breaks(random: np.random.Generator, steps: list[Matrix], broken: npt.NDArray[np.int64]) -> pa.Array:
    """The sequences as a list column, the abnormal ones replaced by a broken copy."""
    events = np.stack(steps, axis=1)
    lengths = (events > 0).sum(axis=1)
    rows = np.flatnonzero(broken)
    mends = [_BREAKS[broken[row] - 1](random, events[row, : lengths[row]].tolist()) for row in rows]
    normal = _lists(events[events > 0], lengths)
    abnormal = _lists(np.array([key for mend in mends for key in mend]), np.array([len(m) for m in mends]))
    place = np.arange(len(events))
    place[rows] = len(events) + np.arange(len(rows))
    return pa.concat_arrays([normal, abnormal]).take(pa.array(place))


def _lists(flat: npt.NDArray[np.integer], lengths: npt.NDArray[np.integer]) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(flat, pa.int16()))


def _join_words(lists: pa.Array) -> pa.Array:
    words = pa.LargeListArray.from_arrays(lists.offsets, lists.values.cast(pa.string()))
    return pc.binary_join(words, " ").cast(pa.string())


def _block_ids(random: np.random.Generator, n: int) -> pa.Array:
    digits = pc.utf8_lpad(pa.array(random.permutation(n)).cast(pa.string()), 9, "0")
    return pc.binary_join_element_wise("blk", digits, "_")


def _one(random: np.random.Generator, candidates: list[Events]) -> Events:
    """One of the candidates that the grammar refuses; every caller offers at least one."""
    refused = [candidate for candidate in candidates if not accepts_log(candidate)]
    return refused[int(random.integers(len(refused)))]


def _truncate(random: np.random.Generator, events: Events) -> Events:
    """The log stops early, at an event that ends no normal block."""
    return _one(random, [events[:k] for k in range(1, len(events))])


def _skip_one(random: np.random.Generator, events: Events) -> Events:
    """One event is missing."""
    return _one(random, [events[:k] + events[k + 1 :] for k in range(len(events))])


def _swap_two(random: np.random.Generator, events: Events) -> Events:
    """Two neighbouring events changed places."""
    return _one(random, [[*events[:k], events[k + 1], events[k], *events[k + 2 :]] for k in range(len(events) - 1)])


def _stuck(random: np.random.Generator, events: Events) -> Events:
    """One event is repeated three to eight times over."""
    times = int(random.integers(3, 9))
    return _one(random, [events[:k] + [events[k]] * times + events[k:] for k in range(len(events))])


def _fault(random: np.random.Generator, events: Events) -> Events:
    """An event that only faulty blocks show."""
    k = int(random.integers(1, len(events) + 1))
    return [*events[:k], int(random.choice(_FAULTS)), *events[k:]]


_BREAKS: tuple[Callable[[np.random.Generator, Events], Events], ...] = (
    _truncate,
    _skip_one,
    _swap_two,
    _stuck,
    _fault,
)
