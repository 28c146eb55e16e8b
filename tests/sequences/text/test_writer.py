"""Writers of headlines, in small: a few words, a few steps."""

import numpy as np
import pytest

from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import UnboundedEvent
from ziggurat.sequences.text import ARCHITECTURES, NOTE, PENN_TAGS, HeadlineWriter

torch = pytest.importorskip("torch")

HEADLINES = ["the bank raises its rates", "the phone gets a new screen", "the star sings a new song"] * 8
TOPICS = ["business", "technology", "entertainment"] * 8
SMALL = {"embedding": 8, "hidden": 16, "dropout": 0.0, "batch": 16, "learning_rate": 0.02, "device": "cpu"}


def tags(headlines):
    return [["NN"] * len(each.split()) for each in headlines]


def small(architecture="clstm", epochs=25, **more):
    made = HeadlineWriter(architecture, epochs=epochs, validation=0, random_state=3, **SMALL | more)
    return made.fit(HEADLINES, TOPICS, tags(HEADLINES))


@pytest.fixture(scope="module")
def fitted():
    return small()


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_learns_and_goes_on_from_a_seed(architecture):
    writer = small(architecture)
    assert writer.curve_.training[-1] < writer.curve_.training[0] / 3
    for headline in writer.write("business", "the bank raises", words=2, count=3, random_state=1):
        assert headline == "the bank raises its rates"
        assert headline.note == NOTE
        assert headline.topic == "business"


def test_the_topic_decides_where_the_words_leave_it_open():
    headlines = ["what we know now money", "what we know now songs"] * 10
    writer = HeadlineWriter("cgru", epochs=150, validation=0, random_state=3, **SMALL)
    writer.fit(headlines, ["b", "e"] * 10)
    written = [str(writer.write(topic, "we know now", words=1, random_state=2)[0]) for topic in ("b", "e")]
    assert written == ["we know now money", "we know now songs"]


def test_the_same_seed_gives_the_same_network_and_headlines(fitted):
    again = small()
    assert all(np.array_equal(fitted.weights_[name], again.weights_[name]) for name in fitted.weights_)
    told = [each.write("b", "the bank raises", count=4, random_state=5, temperature=1) for each in (fitted, again)]
    assert told[0] == told[1]


def test_a_saved_writer_writes_the_same_and_says_that_it_is_synthetic(fitted, tmp_path):
    path = tmp_path / "writer.zip"
    fitted.save(path)
    read = HeadlineWriter.load(path)
    assert read.write("t", "the phone gets", random_state=5) == fitted.write("t", "the phone gets", random_state=5)
    assert isinstance(read.event_, UnboundedEvent)
    assert read.rehearsal_
    assert NOTE.encode() in path.read_bytes() or _facts_say(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError):
        HeadlineWriter.load(path)


def _facts_say(path):
    import json
    import zipfile

    with zipfile.ZipFile(path) as file:
        return NOTE in json.loads(file.read("facts.json"))["note"]


def test_scores_are_chains_of_probabilities(fitted):
    """Every headline of four words that begins with "the": their probabilities add up to one."""
    network = fitted._network()
    words = fitted.words_.words
    states = [(w2, w3) for w2 in words for w3 in words]
    total = 0.0
    some = states[:: len(states) // 7]
    for second, third in some:
        headlines = [f"the {second} {third} {last}" for last in words]
        scores = np.exp(fitted.score(headlines, ["b"] * len(words)))
        start = torch.tensor([[fitted.words_.codes[each] for each in ("the", second, third)]])
        logits = network(start, torch.zeros_like(start), torch.tensor([0]))[0].detach()
        logits[..., 0] = logits[..., len(words) + 1 :] = -np.inf
        chances = torch.softmax(logits.double(), 2)[0]
        total = float(chances[0, start[0, 1]] * chances[1, start[0, 2]])
        assert scores.sum() == pytest.approx(total, rel=1e-5)


def test_the_exposure_of_a_planted_headline_is_measured_by_scores():
    """Of 1,000 codes the planted one is ranked first by who learned it, and anywhere by who did not."""
    from itertools import product

    from ziggurat.attacks.sequences import exposure

    words = [f"k{place}" for place in range(10)]
    codes = [f"the secret code is {' '.join(code)}" for code in product(words, repeat=3)]
    canary, plain = codes[417], ["all other news of today is here"] * 12
    known = sorted({word for text in (*codes, *plain) for word in text.split()})
    bits = []
    for planted in (12, 0):
        learned = [*plain, *[canary] * planted]
        writer = HeadlineWriter("clstm", vocabulary=known, epochs=40, validation=0, random_state=3, **SMALL)
        writer.fit(learned, ["b"] * len(learned))
        others = [code for code in codes if code != canary]
        bits.append(exposure(lambda asked, made=writer: made.score(asked, ["b"] * len(asked)), canary, others).bits)
    assert bits[0] > 9.9
    assert bits[1] < 8


def test_perplexity_is_e_to_the_mean_loss_and_two_to_it_as_printed(fitted):
    right = fitted.perplexity(HEADLINES, TOPICS)
    printed = fitted.perplexity(HEADLINES, TOPICS, printed=True)
    assert np.log(right) == pytest.approx(np.log2(printed))
    assert 1 < printed < right < 3


def test_words_outside_the_list_are_read_as_nothing_and_never_written(fitted):
    written = fitted.write("b", "qwerty the bank", words=5, count=20, temperature=3, random_state=1)
    assert {word for each in written for word in each.split()[3:]} <= set(fitted.words_.words)
    assert all(each.startswith("qwerty the bank ") for each in written)
    known, unknown = fitted.score(["the bank raises its rates", "the bank raises its qwerty"], ["b", "b"])
    assert unknown < known
    few = HeadlineWriter("baseline", vocabulary=["the", "bank", "raises", "its"], epochs=2, validation=0, **SMALL)
    assert len(few.fit(HEADLINES, TOPICS).words_) == 4


def test_training_stops_when_held_out_headlines_stop_getting_likelier():
    draw = np.random.default_rng(1)
    words = [f"w{place}" for place in range(30)]
    noise = [" ".join(draw.choice(words, 7)) for _ in range(60)]
    writer = HeadlineWriter("clstm", epochs=200, validation=0.3, random_state=1, **SMALL)
    curve = writer.fit(noise, ["b"] * 60).curve_
    assert len(curve.validation) < 200
    assert len(curve.validation) == curve.best + 2
    kept = writer.perplexity(noise, ["b"] * 60)
    assert kept > np.exp(curve.training[-1]) / 2


def test_bad_parameters_and_headlines_are_refused_in_a_sentence(fitted):
    for wrong in ({"architecture": "gpt"}, {"dropout": 1}, {"validation": 1}, {"device": "tpu"}, {"batch": 0}):
        with pytest.raises(ParameterError):
            HeadlineWriter(**{"architecture": "clstm", **SMALL, **wrong}).fit(HEADLINES, TOPICS)
    with pytest.raises(DataError, match="fewer than four words"):
        fitted.score(["secret short headline"], ["b"])
    with pytest.raises(ParameterError, match="three words"):
        fitted.write("b", "too short")
    with pytest.raises(ParameterError, match="topics are"):
        fitted.write("sports", "the bank raises")
    with pytest.raises(DataError):
        HeadlineWriter("clstm").fit([], [])


KINDS = {"the": "DT", "a": "DT", "its": "PRP$", "raises": "VBZ", "gets": "VBZ", "sings": "VBZ", "new": "JJ"}


def tagged(headlines):
    return [[KINDS.get(word, "NN") for word in each.split()] for each in headlines]


def test_a_tag_drawn_first_lets_only_words_follow_that_were_seen_with_it(tmp_path):
    writer = HeadlineWriter("scgru", epochs=1, validation=0, random_state=3, **SMALL)
    writer.fit(HEADLINES, TOPICS, tagged(HEADLINES))
    network = writer._network()
    with torch.no_grad():
        network.tag_out.weight.zero_()
        network.tag_out.bias.fill_(-1e9)
        network.tag_out.bias[PENN_TAGS.index("VBZ")] = 0
    writer.weights_ = {name: value.numpy() for name, value in network.state_dict().items()}
    asked = {"words": 60, "temperature": 1, "random_state": 2}
    told = {first: set(writer.write("b", "the bank raises", tag_first=first, **asked)[0].split()[3:])
            for first in (True, False)}  # fmt: skip
    assert told[True] == {"raises", "gets", "sings"}
    assert len(told[False]) > 8
    writer.save(tmp_path / "writer.zip")
    again = HeadlineWriter.load(tmp_path / "writer.zip", device="cpu")
    assert again.write("b", "the bank raises", **asked) == writer.write("b", "the bank raises", **asked)


def test_with_a_promise_no_pair_of_word_and_tag_is_read_off_the_headlines():
    public = HeadlineWriter("scgru", epochs=1, validation=0, random_state=3, **SMALL)
    public.fit(HEADLINES[:3], TOPICS[:3], tagged(HEADLINES[:3]))
    given = {"epsilon": 5, "expected_rows": 24, "epochs": 1, "random_state": 3, **SMALL}
    for start, words in ((public, None), (None, public.words_.words)):
        made = HeadlineWriter("scgru", start=start, vocabulary=words, **given)
        made.fit(HEADLINES, TOPICS, tagged(HEADLINES))
        assert made.pairs_ is (None if start is None else start.pairs_)
