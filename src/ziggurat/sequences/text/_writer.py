"""Writing headlines from three words and a topic, in the manner of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ziggurat.archives import Array
from ziggurat.errors import DataError, MissingExtraError, ParameterError
from ziggurat.privacy import (
    Amount,
    ApproximateDP,
    Event,
    Neighbours,
    Relation,
    SampledGaussianEvent,
    UnboundedEvent,
    compose,
    event_from_dict,
    exact_delta,
    exact_epsilon,
    exact_positive,
    whole_number,
)
from ziggurat.privacy.accounting import require_declared
from ziggurat.randomness import Source, choose_source
from ziggurat.sequences.text._codes import CodedHeadlines, TrigramWindows, WordList
from ziggurat.sequences.text._private import PrivacyTerms, read_unit, require_public_words
from ziggurat.sequences.text._tags import PENN_TAGS, tag_headlines
from ziggurat.sequences.text._titles import TOPICS, seed_words, topic_name

if TYPE_CHECKING:
    from ziggurat.sequences.text._network import NetworkShape, WriterNetwork
    from ziggurat.sequences.text._training import LearningCurve, Progress
    from ziggurat.sequences.text._writing import WrittenHeadline

_UNPROTECTED = "a writer trained on headlines without noise"
_BATCH, _EPOCHS, _PRIVATE_EPOCHS = 128, 50, 10


class HeadlineWriter(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A network that learns to write headlines of a topic (Dandekar et al. 2017).

    It reads three words in a row, with the topic and with the parts of speech of the words if its architecture has
    them, and learns to name the next three; a headline is written by appending the last of them again and again.

    Without `epsilon` nothing is promised to whoever a headline is about or by: the weights are fitted without noise,
    the word list is that of the headlines, and networks repeat rare headlines word by word. `event_` says so, as
    unbounded.

    Formal guarantee with `epsilon`: (epsilon, delta)-DP for adding or removing one unit, a headline or a publisher, for
    everything that is learned, written or scored afterwards; `_private` has the proof. What must be public is declared
    and never read off the headlines: the word list (or a public writer to start from), how many units there are about
    (`expected_rows`), how many words of a headline and headlines of a publisher count, and the number of steps. There
    is no early stopping then, because the loss of headlines held out is private, too.

    A word that is not in the word list is read as nothing (its vector is zero) and never written; such words do not
    count as targets in training and in `perplexity`, and count as drawn at random from the list in `score`.

    Parameters
    ----------
    architecture
        "baseline" (simple recurrent, no topic), "clstm", "cgru" (topic), "sclstm", "scgru" (topic and tags; words and
        tags come out).
    vocabulary
        The words it knows; None for all of the headlines that it is fitted to.
    topics
        The topics it may be asked for.
    embedding, hidden, dropout
        The width of the vectors of words, topics and tags, of the recurrent layer, and the share of its outputs that is
        left out at random in training.
    batch, learning_rate
        Trigrams of a step, by default 128, and the rate of Adam. With `epsilon`: units of a step in expectation, by
        default a twentieth of the expected ones and 256 at least.
    epochs, patience, validation
        At most so many epochs, by default 50; training ends when the loss of the headlines held out, a share
        `validation` of them, did not fall for `patience` epochs, and the best weights are kept. With `validation=0` all
        epochs are run. With `epsilon` just so many, by default 10, and nothing is held out.
    epsilon, delta
        What fitting may cost; without epsilon nothing is promised.
    unit, headlines_per_publisher
        Whom the promise is made to: "headline", or "publisher" of which at most so many headlines count (the first).
    expected_rows
        About how many units there are: a public number.
    longest, clip
        How many words of a headline count, and the longest gradient of a unit, both with `epsilon` alone.
    start
        A fitted writer of the same size to begin with, whose word list it takes; with `epsilon` it must be public.
    device
        "cpu", "cuda", or "auto" for a GPU where there is one.
    random_state
        None draws anew; a whole number gives the same network again, on the same device and versions (on a GPU up to
        the order of sums).

    Attributes
    ----------
    words_
        The word list.
    weights_
        What was learned, by name.
    pairs_
        Which words were seen with which tags, if the architecture knows tags: those of `start` if there is a promise.
    curve_
        The losses and seconds of every epoch.
    event_, origin_
        What fitting did to the headlines and with which randomness, for the ledger.
    """

    words_: WordList
    weights_: dict[str, Array]
    pairs_: npt.NDArray[np.bool_] | None
    curve_: LearningCurve
    event_: Event
    origin_: str

    def __init__(
        self,
        architecture: str = "sclstm",
        *,
        vocabulary: Sequence[str] | None = None,
        topics: Sequence[str] = tuple(TOPICS.values()),
        embedding: int = 200,
        hidden: int = 512,
        dropout: float = 0.5,
        batch: int | None = None,
        learning_rate: float = 1e-3,
        epochs: int | None = None,
        patience: int = 1,
        validation: float = 0.1,
        epsilon: Amount | None = None,
        delta: Amount = "1e-5",
        unit: str = "headline",
        headlines_per_publisher: int | None = None,
        expected_rows: int | None = None,
        longest: int = 16,
        clip: Amount = 1,
        start: HeadlineWriter | None = None,
        device: str = "auto",
        random_state: int | None = None,
    ) -> None:
        self.architecture, self.vocabulary, self.topics = architecture, vocabulary, topics
        self.embedding, self.hidden, self.dropout = embedding, hidden, dropout
        self.batch, self.learning_rate = batch, learning_rate
        self.epochs, self.patience, self.validation = epochs, patience, validation
        self.epsilon, self.delta, self.unit = epsilon, delta, unit
        self.headlines_per_publisher, self.expected_rows = headlines_per_publisher, expected_rows
        self.longest, self.clip, self.start = longest, clip, start
        self.device, self.random_state = device, random_state

    def planned(self) -> Event:
        """Say what fitting will cost, by the parameters alone; nothing is read."""
        if self.epsilon is None:
            return UnboundedEvent(Neighbours(), _UNPROTECTED)
        return self._terms().event(self.batch, _PRIVATE_EPOCHS if self.epochs is None else self.epochs)

    def fit(
        self,
        headlines: Sequence[str],
        topics: Sequence[str],
        tags: Sequence[Sequence[str]] | None = None,
        *,
        publishers: Sequence[Any] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from headlines.

        Parameters
        ----------
        headlines
            Lower-case words separated by blanks, four at least, as `prepare_headlines` gives them.
        topics
            The topic of each, by name or letter.
        tags
            The Penn Treebank tag of every word of each; by default `tag_headlines` finds them if they are needed.
        publishers
            Whose each is, if the unit is a publisher.
        progress
            Is told how far it is.
        """
        event = self.planned()
        source = choose_source(self.random_state)
        known = self._word_list(headlines)
        coded = self._code(headlines, topics, tags, known)
        with _drawing_from(source):
            network = self._begin(known)
            if isinstance(event, SampledGaussianEvent):
                units = self._terms().group(len(coded), publishers)
                self._descend(network, coded, units, event, source, progress)
            else:
                learned, held = self._split(coded, source.child("validation").simulation())
                self._train(network, learned, held, progress)
        self.words_ = known
        self.weights_ = {name: value.cpu().numpy() for name, value in network.state_dict().items()}
        self.pairs_ = self._pair(coded, known)
        self.event_, self.origin_ = event, source.origin
        return self

    def write(
        self,
        topic: str,
        seed: str | Sequence[str],
        words: int = 10,
        temperature: Amount = 0.4,
        *,
        count: int = 1,
        tag_first: bool = True,
        random_state: int | None = None,
    ) -> list[WrittenHeadline]:
        """Write headlines; each is a text, marked as synthetic.

        Parameters
        ----------
        topic
            What they shall be about.
        seed
            Their beginning, three words at least; or a list of beginnings, for one headline (or `count`) each.
        words
            How many words to append.
        temperature
            How much to dare: near 0 the likeliest word is always taken, at 1 words are drawn as learned.
        count
            How many to write for each beginning.
        tag_first
            Of networks that know tags: draw the tag of a word before the word, which is then one that was seen with
            it. Otherwise both are drawn independently, as the thesis has it, and often do not fit each other.
        random_state
            Drawn anew each time or, with a whole number, the same ones again.
        """
        seeds = [seed] if isinstance(seed, str) else list(seed)
        each = whole_number(count, "count")
        given: dict[str, Any] = {"tag_first": tag_first, "random_state": random_state}
        return self.write_all([topic] * each * len(seeds), np.repeat(seeds, each).tolist(), words, temperature, **given)

    def write_all(
        self,
        topics: Sequence[str],
        seeds: Sequence[str],
        words: int = 10,
        temperature: Amount = 0.4,
        *,
        tag_first: bool = True,
        random_state: int | None = None,
    ) -> list[WrittenHeadline]:
        """Write a headline for every pair of a topic and a beginning, all at once; see `write`."""
        from ziggurat.sequences.text._writing import WrittenHeadline, draw_words, join_words

        check_is_fitted(self)
        codes, names = self._topic_codes(topics), [topic_name(topic) for topic in topics]
        begun = [seed_words(seed) for seed in seeds]
        if len(codes) != len(begun):
            raise ParameterError("Give a topic for every beginning.")
        last = [each[-3:] for each in begun]
        known = np.array([self.words_.code(each) for each in last], np.int32).reshape(-1, 3)
        tags = self._seed_tags(last)
        draw = choose_source(random_state).simulation()
        heat = float(exact_positive(temperature, "temperature"))
        pairs = self.pairs_ if tag_first else None
        written = draw_words(self._network(), known, tags, codes, whole_number(words, "words"), heat, draw, pairs)
        return [
            WrittenHeadline(join_words(self.words_.words, new.tolist(), old), name)
            for new, old, name in zip(written, begun, names, strict=True)
        ]

    def score(
        self, headlines: Sequence[str], topics: Sequence[str], tags: Sequence[Sequence[str]] | None = None
    ) -> npt.NDArray[np.float64]:
        """The natural logarithm of the probability of every headline, given its first word."""
        windows = self._windows(headlines, topics, tags)
        logs = self._score_windows(windows)
        total = np.bincount(windows.rows, logs[:, 2], len(headlines))
        first = np.flatnonzero(np.diff(windows.rows, prepend=-1))
        return np.asarray(total + logs[first, :2].sum(1))

    def perplexity(
        self,
        headlines: Sequence[str],
        topics: Sequence[str],
        tags: Sequence[Sequence[str]] | None = None,
        *,
        printed: bool = False,
        last: bool = False,
    ) -> float:
        """The perplexity of words over the three outputs of every trigram: e to the mean of -ln p.

        With `last` it is that of the last output alone, the word after three, as headlines are written. As `printed`
        (equation B.4) it is 2 to the mean of -ln p, if the logarithm is the one that networks are trained
        with: a smaller number of the same order, which no language model's perplexity is.
        """
        windows = self._windows(headlines, topics, tags)
        kept = windows.words[:, 1:] > 0
        if last:
            kept[:, :2] = False
        logs = self._score_windows(windows)[kept]
        if not logs.size:
            raise DataError("None of the words to be named is in the word list; there is nothing to measure.")
        return float((2 if printed else np.e) ** -logs.mean())

    @property
    def guarantee_(self) -> ApproximateDP | None:
        """The promise that fitting keeps, for the unit and relation that it names; None if there is none."""
        if isinstance(self.event_, UnboundedEvent):
            return None
        return compose(self.event_).approximate(exact_delta(self.delta))

    @property
    def rehearsal_(self) -> bool:
        """Whether seeded randomness was used."""
        return self.origin_ != "secure"

    def save(self, path: str | Path) -> None:
        """Write the writer to a file of JSON and arrays that only its owner may read.

        Without a promise it may give away what it was trained on. It says that whatever it writes is synthetic.
        """
        from ziggurat.sequences.text._storage import save_writer

        check_is_fitted(self)
        save_writer(self, path)

    @classmethod
    def load(cls, path: str | Path, *, device: str = "auto") -> Self:
        """Read a writer that `save` wrote; nothing in the file is run."""
        from ziggurat.sequences.text._storage import PAIRS, read_writer

        parameters, learned, weights = read_writer(path)
        try:
            made = cls(**parameters | {"device": device})
            made.words_, made.pairs_ = WordList(tuple(learned["words"])), weights.pop(PAIRS, None)
            made.weights_ = weights
            made.event_, made.origin_ = event_from_dict(learned["event"]), str(learned["origin"])
            made._network()
        except (KeyError, TypeError, ValueError):
            raise DataError(f"The writer in {str(path)!r} is damaged; restore a copy, or train again.") from None
        return made

    def _windows(self, headlines: Sequence[str], topics: Sequence[str], tags: Any) -> TrigramWindows:
        check_is_fitted(self)
        return self._code(headlines, topics, tags, self.words_).windows()

    def _score_windows(self, windows: TrigramWindows) -> npt.NDArray[np.float64]:
        from ziggurat.sequences.text._training import score_windows

        return score_windows(self._network(), windows)

    def _code(self, headlines: Sequence[str], topics: Sequence[str], tags: Any, known: WordList) -> CodedHeadlines:
        if tags is None and self._shape(known).syntactic:
            tags = tag_headlines(headlines)
        return CodedHeadlines.of(headlines, self._topic_codes(topics).tolist(), tags, known)

    def _topic_codes(self, topics: Sequence[str]) -> npt.NDArray[np.int32]:
        known = [topic_name(topic) for topic in self.topics]
        try:
            return np.array([known.index(topic_name(topic)) for topic in topics], np.int32)
        except ValueError:
            raise ParameterError(f"The topics are {', '.join(known)}; there is no other.") from None

    def _seed_tags(self, seeds: Sequence[Sequence[str]]) -> npt.NDArray[np.int32]:
        if not self._shape(self.words_).syntactic:
            return np.zeros((len(seeds), 3), np.int32)
        found = tag_headlines([" ".join(each) for each in seeds])
        return np.array([[PENN_TAGS.index(tag) for tag in each] for each in found], np.int32).reshape(-1, 3)

    def _word_list(self, headlines: Sequence[str]) -> WordList:
        if self.epsilon is not None:
            require_public_words(self.vocabulary, self.start)
        elif not len(headlines):
            raise DataError("There is no headline to learn from; give some.")
        if self.start is not None:
            check_is_fitted(self.start)
            return self.start.words_
        return WordList.of(headlines) if self.vocabulary is None else WordList(tuple(self.vocabulary))

    def _begin(self, known: WordList) -> WriterNetwork:
        return self._build(known, None if self.start is None else self.start.weights_)

    def _train(
        self, network: WriterNetwork, learned: TrigramWindows, held: TrigramWindows | None, progress: Any
    ) -> None:
        from ziggurat.sequences.text._training import train_network

        self.curve_ = train_network(network, learned, held, self._course(), progress=progress)

    def _descend(
        self, network: WriterNetwork, coded: CodedHeadlines, units: Any, event: Any, source: Source, progress: Any
    ) -> None:
        from ziggurat.sequences.text._private import descend
        from ziggurat.sequences.text._rows import RowNetwork, RowShape
        from ziggurat.sequences.text._training import LearningCurve

        terms = self._terms()
        row = RowShape(terms.longest, terms.headlines)
        module = RowNetwork(network.shape, row).take_up(network).to(next(network.parameters()).device)
        rate = float(exact_positive(self.learning_rate, "learning_rate"))
        told = progress or (lambda _what, _done, _of: None)
        descend(module, row.fill(coded, *units), terms, event, rate, source.child("steps"), told)
        network.load_state_dict(module.usual_weights())
        self.curve_ = LearningCurve()

    def _terms(self) -> PrivacyTerms:
        most = read_unit(self.unit, self.headlines_per_publisher)
        require_declared(Relation.ADD_OR_REMOVE_ONE, self.expected_rows, "A private writer")
        assert self.epsilon is not None
        return PrivacyTerms(
            exact_epsilon(self.epsilon), exact_delta(self.delta), self.unit, most,
            whole_number(self.longest, "longest"), whole_number(self.expected_rows, "expected_rows"),
            exact_positive(self.clip, "clip"),
        )  # fmt: skip

    def _pair(self, coded: CodedHeadlines, known: WordList) -> npt.NDArray[np.bool_] | None:
        """Which words stand with which tags; with a promise nothing is read off the headlines for that."""
        if self.epsilon is not None:
            return None if self.start is None else self.start.pairs_
        if not self._shape(known).syntactic:
            return None
        pairs = np.zeros((len(known) + 1, len(PENN_TAGS)), dtype=np.bool_)
        pairs[coded.words, coded.tags] = True
        return pairs

    def _split(self, coded: CodedHeadlines, draw: np.random.Generator) -> tuple[TrigramWindows, TrigramWindows | None]:
        if not 0 <= self.validation < 1:
            raise ParameterError("The share of headlines held out for validation must be at least 0 and below 1.")
        order = draw.permutation(len(coded))
        held = min(round(self.validation * len(coded)), len(coded) - 1)
        return coded.take(order[held:]).windows(), coded.take(order[:held]).windows() if held else None

    def _shape(self, known: WordList) -> NetworkShape:
        require_torch()
        from ziggurat.sequences.text._network import NetworkShape, require_architecture

        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ParameterError("The dropout is a share, at least 0 and below 1.")
        return NetworkShape(
            require_architecture(self.architecture), len(known), len(PENN_TAGS), len(self.topics),
            whole_number(self.embedding, "embedding"), whole_number(self.hidden, "hidden"), float(self.dropout),
        )  # fmt: skip

    def _course(self) -> Any:
        from ziggurat.sequences.text._training import TrainingCourse

        batch = whole_number(_BATCH if self.batch is None else self.batch, "batch")
        epochs = whole_number(_EPOCHS if self.epochs is None else self.epochs, "epochs")
        rate = float(exact_positive(self.learning_rate, "learning_rate"))
        return TrainingCourse(batch, epochs, whole_number(self.patience, "patience"), rate)

    def _build(self, known: WordList, weights: dict[str, Array] | None = None) -> WriterNetwork:
        from ziggurat.sequences.text._network import build_network, choose_device

        device = choose_device(self.device)
        return build_network(self._shape(known), weights).to(device)

    def _network(self) -> WriterNetwork:
        return self._build(self.words_, self.weights_).eval()


def require_torch() -> None:
    """Raise a sentence that says how to add PyTorch if it is absent."""
    try:
        import torch  # noqa: F401 - only to see whether it is there
    except ImportError:
        raise MissingExtraError("Headlines need PyTorch; add it with: pip install 'ziggurat[torch,text]'.") from None


def _drawing_from(source: Source) -> Any:
    """Let PyTorch draw from a seed of this source: starting weights, orders and dropout, none of them privacy noise."""
    from ziggurat.sequences.text._training import drawing_from

    require_torch()
    return drawing_from(int(source.child("training").words(1)[0] >> np.uint64(1)))
