"""`sequence-data`: labelled logs, balanced, for learning, validation and testing, and others that count as public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.errors import DataError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import Classes, cut_parts, load_dataset, permute

if TYPE_CHECKING:
    from ziggurat.sequences import Sequences

PARTS = ("train", "validation", "test", "public")

_THESIS_LONGEST = 20


@step("sequence-data", outputs=(*PARTS, "longest_found", "longer_than_20", "cut_share", "origin"))
def sequence_data(
    dataset: str = "hdfs",
    *,
    sequences: int = 8000,
    public: int = 6000,
    longest: int = 50,
    shares: Sequence[float] = (0.6, 0.2, 0.2),
    seed: int = 0,
) -> dict[str, Any]:
    """Draw as many normal as abnormal sequences, and deal them out.

    Parameters
    ----------
    dataset
        'hdfs' (its logdeep parts), or 'logs', which are invented.
    sequences
        How many are private, in all.
    public
        How many others, of other blocks, count as public: networks may learn from them.
    longest
        How many symbols of a sequence count.
    shares
        Of the private ones, for training, validation and testing.

    Returns
    -------
    dict
        The four parts; of all sequences drawn the length of the longest, of the normal ones the share of those longer
        than the 20 that document 000 names; the share that was cut to `longest`; and the `origin`.
    """
    from ziggurat.sequences import SequenceDomain

    texts, labels, tokens = _read(dataset, sequences + public, seed)
    lengths = np.array([len(text) for text in texts])
    order = permute(len(texts), seed)
    chosen = np.sort(np.concatenate([_first(order, labels, code, (sequences + public) // 2) for code in (0, 1)]))
    mixed = chosen[permute(len(chosen), seed + 1)]
    sizes = {name: int(share * sequences) for name, share in zip(PARTS, shares, strict=False)}
    parts = cut_parts(mixed, {**sizes, "public": public})
    domain = SequenceDomain(tokens, longest, classes=(0, 1))
    return {
        **{name: pack(_take(domain, texts, labels, rows)) for name, rows in parts.items()},
        "longest_found": int(lengths[chosen].max()),
        "longer_than_20": float((lengths[chosen][labels[chosen] == 0] > _THESIS_LONGEST).mean()),
        "cut_share": float((lengths[chosen] > longest).mean()),
        "origin": dataset,
    }


def pack(sequences: Sequences) -> dict[str, Any]:
    """Sequences as plain facts and arrays, as they pass from step to step."""
    domain = sequences.domain
    facts = {"tokens": list(domain.tokens), "longest": domain.longest, "classes": list(domain.classes)}
    return {"domain": facts, "codes": sequences.codes, "offsets": sequences.offsets, "labels": sequences.labels}


def unpack(held: Mapping[str, Any]) -> Sequences:
    """Read what `pack` gave."""
    from ziggurat.sequences import SequenceDomain, Sequences

    facts = held["domain"]
    domain = SequenceDomain(tuple(facts["tokens"]), facts["longest"], tuple(facts["classes"]))
    return Sequences(domain, held["codes"], held["offsets"], held["labels"])


def _read(dataset: str, wanted: int, seed: int) -> tuple[list[list[int]], Classes, tuple[int, ...]]:
    if dataset == "logs":
        from ziggurat.data.generators import log_sequences, log_vocabulary

        table, tokens = log_sequences(2 * wanted, abnormal=0.5, seed=seed), tuple(log_vocabulary())
    else:
        import pyarrow.compute as pc

        table, tokens = load_dataset(dataset), tuple(range(1, 29))
        table = table.filter(pc.starts_with(table["split"].cast("string"), "logdeep"))
    texts = [[int(key) for key in text.split()] for text in table["seq"].to_pylist()]
    return texts, np.asarray(table["label"].to_numpy(), dtype=np.int64), tokens


def _first(order: Classes, labels: Classes, code: int, count: int) -> Classes:
    found: Classes = order[labels[order] == code][:count]
    if len(found) < count:
        raise DataError(f"There are only {len(found):,} sequences of a class; ask for fewer.")
    return found


def _take(domain: Any, texts: list[list[int]], labels: Classes, rows: Classes) -> Sequences:
    from ziggurat.sequences import Sequences

    return Sequences.of(domain, [texts[row] for row in rows.tolist()], labels[rows].tolist())
