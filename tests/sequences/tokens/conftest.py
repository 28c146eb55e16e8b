"""Small sequences of two classes that are easy to tell apart, by symbols and by length, and networks for them."""

import numpy as np
import pytest

from ziggurat.sequences import SequenceDomain, Sequences
from ziggurat.sequences.tokens import SequenceAutoencoder, SymbolEmbedding

DOMAIN = SequenceDomain(("a", "b", "c", "d"), longest=6, classes=("short", "long"))


def invent(count: int, seed: int) -> Sequences:
    """Short ones of a and b, long ones of c and d, as many of each."""
    draw = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    texts = ["".join(draw.choice(list(("ab", "cd")[label]), 5 if label else 2)) for label in labels]
    return Sequences.of(DOMAIN, texts, [DOMAIN.classes[label] for label in labels])


@pytest.fixture(scope="session")
def toys():
    return invent


@pytest.fixture(scope="session")
def embedding():
    return SymbolEmbedding(DOMAIN, [[1, 0.2], [1, -0.2], [-1, 0.3], [-1, -0.1]], training="public")


@pytest.fixture(scope="session")
def networks():
    """By whether they were guided, and by their ball."""
    made = {}
    for guided, ball in ((False, "l1"), (True, "l1"), (False, "l2")):
        options = {"latent": 3, "hidden": 12, "size": 6, "learning_rate": 0.02, "epochs": 6, "random_state": 3}
        network = SequenceAutoencoder(DOMAIN, training="public", ball=ball, guided=guided, **options)
        made[guided, ball] = network.fit(invent(600, 0))
    return made


@pytest.fixture(scope="session")
def make(embedding, networks):
    """Make the privatiser of an idea, by its number."""
    from ziggurat.sequences.tokens import (
        GuidedPrivatizer,
        LatentPrivatizer,
        OutputPrivatizer,
        SymbolPrivatizer,
        TokenPrivatizer,
    )

    kinds = {1: SymbolPrivatizer, 2: TokenPrivatizer, 3: LatentPrivatizer, 4: OutputPrivatizer, 5: GuidedPrivatizer}

    def one(idea, epsilon, **options):
        return kinds[idea](epsilon, embedding if idea == 1 else networks[idea == 5, "l1"], **options)

    return one
