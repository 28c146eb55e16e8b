"""Cleaning, tagging, coding, and the loss of words."""

import numpy as np
import pytest

from ziggurat.errors import DataError, ParameterError
from ziggurat.sequences.text import (
    PENN_TAGS,
    CodedHeadlines,
    NetworkShape,
    WordList,
    build_network,
    clean_title,
    prepare_headlines,
    tag_headlines,
    topic_name,
)


def test_titles_become_lower_case_words_of_letters_and_digits():
    assert clean_title("MERS-CoV: 2nd U.S. case  ... 'confirmed'") == "mers cov 2nd u s case confirmed"
    headlines, places = prepare_headlines(["Too short!", "This one - is long enough", "", "A-B-C-D"])
    assert headlines == ["this one is long enough", "a b c d"]
    assert places == [1, 3]
    assert [topic_name(topic) for topic in ("b", "m", "health", "sports")] == [
        "business", "medicine", "medicine", "sports",
    ]  # fmt: skip


def test_tags_are_of_the_penn_treebank_and_one_for_every_word():
    pytest.importorskip("HanTa")
    found = tag_headlines(["the bank raises rates", "kim jong un says he is making money", "the bank raises rates"])
    assert found[0] == found[2] == ("DT", "NN", "VBZ", "NNS")
    assert found[1][3:] == ("VBZ", "PRP", "VBZ", "VBG", "NN")
    assert {tag for each in found for tag in each} <= set(PENN_TAGS)


def test_the_tagger_downloads_nothing_and_needs_no_other_tagger():
    import subprocess
    import sys

    pytest.importorskip("HanTa")
    code = (
        "import sys, socket; sys.modules['nltk'] = None; socket.socket = None\n"
        "from ziggurat.sequences.text import tag_headlines\n"
        "print(tag_headlines(['the bank raises rates']))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[('DT', 'NN', 'VBZ', 'NNS')]"


def test_windows_are_every_four_words_in_a_row():
    known = WordList(("a", "b", "c", "d", "e"))
    coded = CodedHeadlines.of(["a b c d e", "e d c x", "b b b b b b"], [0, 1, 2], None, known)
    windows = coded.windows()
    assert windows.words.tolist() == [[1, 2, 3, 4], [2, 3, 4, 5], [5, 4, 3, 0], *[[2] * 4] * 3]
    assert windows.rows.tolist() == [0, 0, 1, 2, 2, 2]
    assert windows.topics.tolist() == [0, 0, 1, 2, 2, 2]
    turned = coded.take(np.array([2, 0]))
    assert turned.windows().words.tolist() == [*[[2] * 4] * 3, [1, 2, 3, 4], [2, 3, 4, 5]]
    words, tags = coded.padded(5)
    assert words.tolist() == [[1, 2, 3, 4, 5], [5, 4, 3, 0, -1], [2] * 5]
    assert (tags == -1).tolist() == (words == -1).tolist()


def test_a_word_list_is_by_frequency_and_refuses_what_is_no_word():
    assert WordList.of(["b a a", "c b a"]).words == ("a", "b", "c")
    for wrong in ((), ("a", "a"), ("a b",), ("",)):
        with pytest.raises(ParameterError):
            WordList(wrong)
    with pytest.raises(DataError):
        CodedHeadlines.of(["a b c d"], [0], [["NN"] * 3], WordList(("a",)))
    with pytest.raises(DataError, match="Penn"):
        CodedHeadlines.of(["a b c d"], [0], [["NN", "NN", "NN", "AJ0"]], WordList(("a",)))


def test_the_quick_loss_of_words_is_the_cross_entropy_and_has_its_gradients():
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    network = build_network(NetworkShape("sclstm", 21, len(PENN_TAGS), 3, 5, 7, 0.0)).double()
    words, tags = torch.randint(0, 22, (6, 4)), torch.randint(0, len(PENN_TAGS), (6, 4))
    topics = torch.randint(0, 3, (6,))
    of_words, of_tags = network.losses(words, tags, topics)
    logits, marks = network(words[:, :3], tags[:, :3], topics)
    usual = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), words[:, 1:].flatten().where(words[:, 1:].flatten() > 0, torch.tensor(-100))
    )
    usual_tags = torch.nn.functional.cross_entropy(marks.flatten(0, 1), tags[:, 1:].flatten())
    assert of_words.item() == pytest.approx(usual.item(), rel=1e-12)
    assert of_tags.item() == pytest.approx(usual_tags.item(), rel=1e-12)
    quick = torch.autograd.grad(3 * of_words + of_tags, network.parameters())
    plain = torch.autograd.grad(3 * usual + usual_tags, network.parameters())
    assert all(torch.allclose(one, other, rtol=1e-9, atol=1e-12) for one, other in zip(quick, plain, strict=True))


def test_training_and_drawing_stand_on_pytorch_and_numpy_alone():
    import subprocess
    import sys

    pytest.importorskip("torch")
    code = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pyarrow", "duckdb", "narwhals", "numba", "sklearn", "scipy", "pandas", "sqlglot",
                                  "safetensors", "HanTa", "pydantic", "yaml"}:
            raise ImportError(name)
sys.meta_path.insert(0, Block())
from ziggurat.descent import Gradients
from ziggurat.sequences.text import CodedHeadlines, RowNetwork, draw_words, score_windows, train_network
"""
    subprocess.run([sys.executable, "-c", code], check=True)
