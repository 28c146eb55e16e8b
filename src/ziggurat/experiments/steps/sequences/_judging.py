"""`sequence-similarity`, `choose-measure` and `recall-canaries`: what moved, what is shown, what was learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.sequences._data import unpack
from ziggurat.randomness import seeded


@step("sequence-similarity", outputs=("hamming", "edit_distance", "unchanged"))
def sequence_similarity(original: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """Compare sequences with what became of them, one by one.

    Not private: the numbers are exact functions of the original sequences, for the experimenter's eyes.

    Returns
    -------
    dict
        Means over all sequences of the Hamming distance (the share of places that differ, up to the longer's length)
        and of Levenshtein's distance as a share of the longer's length; and the share that came out as it was.
    """
    from ziggurat.utility.sequences import edit_distances, hamming_distances

    pair = unpack(original), unpack(changed)
    hamming = hamming_distances(*pair)
    return {
        "hamming": float(hamming.mean()),
        "edit_distance": float(edit_distances(*pair).mean()),
        "unchanged": float((hamming == 0).mean()),
    }


@step("choose-measure", outputs=("value",))
def choose_measure(
    curve: str, measures: Mapping[str, str] | None = None, decimals: int = 2, **given: float
) -> dict[str, Any]:
    """Give one of several numbers, by what a figure calls it, so that they stand in it side by side.

    Parameters
    ----------
    curve
        Which.
    measures
        For each word in the figure the name of the input that it stands for.
    decimals
        How many the figure shows: shares close to 0 then do not stretch its axis over decades.
    given
        The numbers, as inputs.
    """
    name = (measures or {}).get(curve, curve)
    if name not in given:
        raise ExperimentError(f"There is no input for {curve!r}; name it in 'inputs' and in 'measures'.")
    return {"value": round(float(given[name]), decimals)}


@step("recall-canaries", outputs=("recalled", "recalled_unseen", "distance", "distance_unseen"))
def recall_canaries(
    train: Mapping[str, Any],
    *,
    epsilon: float | str = 1000,
    canaries: int = 20,
    copies: int = 10,
    symbols: int = 6,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Plant random sequences among private ones, train idea 3's network on them without protection, and count.

    Parameters
    ----------
    train
        The private sequences.
    epsilon
        With which the canaries, and as many that were not planted, are then protected.
    canaries, copies, symbols
        How many, how often each stands in the training data, and how long each is.
    options
        Of `SequenceAutoencoder`.

    Returns
    -------
    dict
        The share of planted canaries that came out exactly as they were, and how far they moved on average (Hamming
        distance); and the same of unseen ones. Without anything learned about the planted ones, both would be alike.
    """
    from ziggurat.sequences import Sequences
    from ziggurat.sequences.tokens import LatentPrivatizer, SequenceAutoencoder
    from ziggurat.utility.sequences import hamming_distances

    private = unpack(train)
    domain, draw = private.domain, seeded(seed).child("canaries").simulation()
    texts = [[domain.tokens[code] for code in row] for row in draw.integers(domain.size, size=(2 * canaries, symbols))]
    planted, unseen = (
        Sequences.of(domain, half, [domain.classes[0]] * canaries) for half in (texts[:canaries], texts[canaries:])
    )
    learned = Sequences.together([private, *[planted] * copies])
    network = SequenceAutoencoder(domain, training="unprotected", random_state=seed, **(options or {})).fit(learned)
    privatizer = LatentPrivatizer(epsilon, network)

    def moved(given: Sequences) -> Any:
        return hamming_distances(given, privatizer.privatize(given, seeded(seed)))

    near, far = moved(planted), moved(unseen)
    return {
        "recalled": float((near == 0).mean()),
        "recalled_unseen": float((far == 0).mean()),
        "distance": float(near.mean()),
        "distance_unseen": float(far.mean()),
    }
