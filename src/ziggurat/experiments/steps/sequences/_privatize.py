"""`train-sequence-generator` and `privatize-sequences`: the five ideas of document 000, section 4.1.

Promise: that of the privatiser in `ziggurat.sequences.tokens`, for each sequence alone. The generator learned from
public sequences, or from the private ones without protection; then it is recorded as unbounded for those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.sequences._data import pack, unpack

if TYPE_CHECKING:
    from ziggurat.sequences import SequenceDomain
    from ziggurat.sequences.tokens import SequencePrivatizer

PARTS = ("train", "validation", "test")
IDEAS = (1, 2, 3, 4, 5)


@step("train-sequence-generator", outputs=("generator", "statement"))
def train_sequence_generator(
    train: Mapping[str, Any],
    *,
    idea: int,
    training: str = "public",
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Train the network of an idea: an embedding for the first, a Seq2Seq network for the others.

    Promise: none for the sequences of `train` unless they are public.

    Parameters
    ----------
    train
        What to learn from.
    idea
        1 to 5.
    training
        What `train` is: 'public' or 'unprotected' (what a private generator drew has no step here).
    options
        Of `SymbolEmbedding.learn` or `SequenceAutoencoder`.

    Returns
    -------
    dict
        The `generator`, and a `statement` in words.
    """
    from ziggurat.sequences.tokens import SequenceAutoencoder, SymbolEmbedding

    learned, given = unpack(train), {"training": training, "random_state": seed, **(options or {})}
    if idea not in IDEAS:
        raise ExperimentError("'idea' must be a number from 1 to 5.")
    if idea == 1:
        embedding = SymbolEmbedding.learn(learned, **given)
        held: dict[str, Any] = {"vectors": embedding.vectors, "training": training}
    else:
        held = SequenceAutoencoder(learned.domain, guided=idea == 5, **given).fit(learned).to_dict()
    said = "public sequences" if training == "public" else "private sequences without protection: they have no promise"
    return {"generator": {"idea": idea, **held}, "statement": f"Trained on {said}."}


SAID = ("event", "promise", "claim", "epsilon_per_sequence", "epsilon_claimed", "bound", "bound_claimed")


@step("privatize-sequences", outputs=(*PARTS, *SAID, "symbols_used"))
def privatize_sequences(
    train: Mapping[str, Any],
    validation: Mapping[str, Any],
    test: Mapping[str, Any],
    generator: Mapping[str, Any],
    epsilon: float | str,
    *,
    length: str | Sequence[int] = "protected",
    bounded: str = "before",
    seed: int = 0,
) -> dict[str, Any]:
    """Protect every sequence of the three parts on its own; labels go with them.

    Parameters
    ----------
    train, validation, test
        From `sequence-data`.
    generator
        From `train-sequence-generator`; it knows its idea.
    epsilon
        Of one symbol for the ideas 1, 2 and 4, of the whole sequence for 3 and 5.
    length
        'kept', 'protected' or sizes of buckets.
    bounded
        For the ideas 3 and 5: 'before' the noise, or 'after' it as document 000 has it, which bounds nothing.

    Returns
    -------
    dict
        The protected parts; the `event`, the `promise` and the document's `claim`; what a sequence costs in truth,
        given the generator, and by the claim (an infinite truth where nothing is bounded); the `bound`, the largest
        balanced accuracy that anybody can reach on protected test sequences (1 where the length, which is public, may
        tell the class), and the one that would follow from the claim; and how many different symbols the protected
        test sequences use. The noise is seeded: a rehearsal.
    """
    from ziggurat.privacy import UnboundedEvent, compose
    from ziggurat.randomness import seeded

    given = {"train": train, "validation": validation, "test": test}
    parts = {name: unpack(part) for name, part in given.items()}
    privatizer = _choose(generator, parts["train"].domain, epsilon, length, bounded)
    made = {name: privatizer.privatize(part, seeded(seed).child(name)) for name, part in parts.items()}
    unbounded = isinstance(privatizer.local_event, UnboundedEvent)
    spent = math.inf if unbounded else float(compose(privatizer.local_event).pure().epsilon)
    return {
        **{name: pack(part) for name, part in made.items()},
        "event": privatizer.event.to_dict(),
        "promise": f"{privatizer.promise} Made with seeded randomness: a rehearsal, never to be published.",
        "claim": str(privatizer.claimed),
        "epsilon_per_sequence": spent,
        "epsilon_claimed": float(privatizer.claimed.epsilon),
        "bound": 1.0 if privatizer.length.stated != "protected" else 1 / (1 + math.exp(-spent)),
        "bound_claimed": 1 / (1 + math.exp(-float(privatizer.claimed.epsilon))),
        "symbols_used": len(set(made["test"].codes.tolist())),
    }


def _choose(
    generator: Mapping[str, Any], domain: SequenceDomain, epsilon: float | str, length: Any, bounded: Any
) -> SequencePrivatizer:
    from ziggurat.sequences import tokens

    idea = generator["idea"]
    if idea == 1:
        embedding = tokens.SymbolEmbedding(domain, generator["vectors"], training=generator["training"])
        return tokens.SymbolPrivatizer(epsilon, embedding, length=length)
    network = tokens.SequenceAutoencoder.from_dict(domain, generator)
    if idea in (2, 4):
        by_step = tokens.TokenPrivatizer if idea == 2 else tokens.OutputPrivatizer
        return by_step(epsilon, network, length=length)
    by_sequence = tokens.LatentPrivatizer if idea == 3 else tokens.GuidedPrivatizer
    return by_sequence(epsilon, network, length=length, bounded=bounded)
