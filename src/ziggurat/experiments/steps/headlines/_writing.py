"""`headline-data` and `write-headlines`: titles, cleaned and tagged, and what a network makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import INVENTED, cut_parts, load_dataset, permute
from ziggurat.randomness import seeded

PARTS = ("train", "seeds", "test")


@step("headline-data", outputs=(*PARTS, "headlines", "words", "trigrams", "titles"))
def headline_data(dataset: str = "uci_news", *, titles: int | None = None, seed: int = 0) -> dict[str, Any]:
    """Clean titles, leave out short ones and doubles, and deal them out: eight tenths to learn from, one for seeds.

    Parameters
    ----------
    dataset
        'uci_news', or 'invented'.
    titles
        At most how many titles, drawn at random; all by default.

    Returns
    -------
    dict
        The three parts, each with headlines, topics and tags; how many headlines, different words and different
        trigrams there are in all; and how many titles there were.
    """
    from ziggurat.sequences.text import prepare_headlines, tag_headlines, topic_name

    table = _load(dataset, titles, seed)
    cleaned, places = prepare_headlines(table["title"].to_pylist())
    topics = table["category"].to_pylist()
    first = dict(zip(reversed(cleaned), reversed(places), strict=True))
    headlines = list(dict.fromkeys(cleaned))
    rows = permute(len(headlines), seed)
    tenth = len(headlines) // 10
    sizes = {"seeds": tenth, "test": tenth, "train": len(headlines) - 2 * tenth}
    parts = {}
    for name, own in cut_parts(rows, sizes).items():
        texts = [headlines[row] for row in own.tolist()]
        named = [topic_name(topics[first[text]]) for text in texts]
        parts[name] = {"headlines": texts, "topics": named, "tags": [list(tags) for tags in tag_headlines(texts)]}
    split = [headline.split() for headline in headlines]
    return {
        **parts,
        "headlines": len(headlines),
        "words": len({word for words in split for word in words}),
        "trigrams": len({tuple(words[at : at + 3]) for words in split for at in range(len(words) - 2)}),
        "titles": table.num_rows,
    }


def _load(dataset: str, titles: int | None, seed: int) -> Any:
    if dataset == INVENTED:
        from ziggurat.data.generators import headlines

        return headlines(titles or 2_000, seed=seed)
    table = load_dataset(dataset)
    return table if titles is None else table.take(np.sort(permute(table.num_rows, seed)[:titles]))


@step("write-headlines", outputs=("written", "perplexity", "perplexity_printed", "fourth_word", "epochs", "seconds"))
def write_headlines(
    train: Mapping[str, Any],
    seeds: Mapping[str, Any],
    test: Mapping[str, Any],
    *,
    architecture: str,
    each: int = 100,
    words: int = 10,
    temperature: float = 0.4,
    tag_first: bool = True,
    embedding: int = 200,
    hidden: int = 512,
    dropout: float = 0.5,
    batch: int = 128,
    learning_rate: float = 1e-3,
    epochs: int = 50,
    device: str = "auto",
    seed: int = 0,
) -> dict[str, Any]:
    """Train a network until the loss of a tenth of the headlines stops falling, and let it write.

    Parameters
    ----------
    each
        How many headlines of every topic; each goes on from the first three words of a headline of that topic that
        was not learned from.
    words, temperature
        How many words it appends, and how much it dares.
    tag_first
        Whether networks that know tags draw the tag of a word before the word; the document draws both independently.

    Returns
    -------
    dict
        What was written, with the topic of each; the perplexity of test headlines over the three outputs, right (e) and
        as printed (2 to a natural logarithm); that of the fourth word alone; epochs until the best, and seconds.
    """
    from ziggurat.sequences.text import HeadlineWriter

    sizes: dict[str, Any] = {"embedding": embedding, "hidden": hidden, "dropout": dropout, "batch": batch}
    writer = HeadlineWriter(
        architecture, **sizes, learning_rate=learning_rate, epochs=epochs, device=device, random_state=seed
    )
    writer.fit(train["headlines"], train["topics"], train["tags"])
    judged = test["headlines"], test["topics"], test["tags"]
    begun, topics = _choose_seeds(seeds, each, seed)
    written = writer.write_all(topics, begun, words, temperature, tag_first=tag_first, random_state=seed)
    return {
        "written": {
            "headlines": [str(headline) for headline in written],
            "topics": topics,
            "contextual": architecture != "baseline",
        },
        "perplexity": writer.perplexity(*judged),
        "perplexity_printed": writer.perplexity(*judged, printed=True),
        "fourth_word": writer.perplexity(*judged, last=True),
        "epochs": writer.curve_.best + 1,
        "seconds": float(np.mean(writer.curve_.seconds)),
    }


def _choose_seeds(seeds: Mapping[str, Any], each: int, seed: int) -> tuple[list[str], list[str]]:
    """The first three words of headlines of each topic; where there are too few, some are taken twice."""
    draw = seeded(seed).simulation()
    topics = np.array(seeds["topics"])
    begun: list[str] = []
    known = sorted(set(topics.tolist()))
    for topic in known:
        own = np.flatnonzero(topics == topic)
        chosen = draw.choice(own, each, replace=len(own) < each)
        begun += [" ".join(seeds["headlines"][row].split()[:3]) for row in chosen.tolist()]
    return begun, np.repeat(known, each).tolist()
