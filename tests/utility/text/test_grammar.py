"""Grammar as a gap between real and shuffled headlines."""

import json
import shutil
import subprocess

import pytest

from ziggurat.errors import EngineError, ParameterError
from ziggurat.utility.text import CHECKERS, _checkers, grammar_gap, lint_free, parse_completely

REAL = [
    "the president says that the bank will help small firms",
    "the new phone is cheaper than the old one",
    "doctors say that coffee is good for the heart",
    "a man in florida was arrested for stealing a car",
    "the company wants to sell its shares next year",
    "scientists have found water on a distant planet",
    "the singer will not go on tour this summer",
    "she told the court that she had never met him",
    "stocks fell after the fed raised its rates",
    "the film is based on a book by a young writer",
]
needs_parser = pytest.mark.skipif(shutil.which("link-parser") is None, reason="Debian: apt-get install link-grammar")


@needs_parser
def test_sentences_are_parsed_in_one_process_and_in_their_order(monkeypatch):
    calls, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda *given, **named: calls.append(given) or run(*given, **named))
    assert parse_completely([REAL[0], "of the the of than is", "!help", "", REAL[1], REAL[1]])[::4] == [True, True]
    assert parse_completely(["of the the of than is"]) == [False]
    assert len(calls) == 2


@needs_parser
def test_a_parser_that_hangs_or_answers_otherwise_is_named(monkeypatch):
    monkeypatch.setattr(_checkers, "_START", -1e9)
    with pytest.raises(EngineError, match="too long"):
        parse_completely(REAL)
    with pytest.raises(EngineError, match="otherwise"):
        _checkers._read_parses("nothing", REAL)


def test_lints_of_grammar_count_and_those_of_spelling_and_capitals_do_not():
    pytest.importorskip("harper")
    found = lint_free(["obama visits michigan on monday", "he is is an old man", "kardashian weds kanye in florence"])
    assert found == [True, False, True]


@needs_parser
def test_real_headlines_are_better_than_shuffled_ones_and_generated_ones_stand_between():
    pytest.importorskip("harper")
    found = grammar_gap(REAL, [*REAL[:5], "of the the of than is", "is than the on"], random_state=1)
    assert [each.checker for each in found.checked] == ["link-grammar", "harper"]
    parsed = found.checked[0]
    assert parsed.real.rate > 0.8
    assert parsed.real.rate > parsed.generated.rate > 0
    assert parsed.shuffled.rate < 0.6
    assert 0 < parsed.position < 1 or parsed.generated.rate < parsed.shuffled.rate
    assert found.table.num_rows == 6
    json.dumps(found.to_dict(), allow_nan=False)


def test_any_checker_may_be_asked_instead():
    asked = []

    def check(texts):
        asked.append(sorted(" ".join(sorted(each.split())) for each in texts))
        return [len(each.split()) > 8 for each in texts]

    found = grammar_gap(REAL, ["too short"] * 4, checkers={"length": check}, random_state=2)
    (length,) = found.checked
    assert (length.generated.hits, length.generated.trials) == (0, 4)
    assert length.real == length.shuffled
    assert asked[0] == asked[1]  # the same words, shuffled
    assert str(length.position) == "nan"
    assert grammar_gap(REAL, REAL, checkers={"length": check}, most=3).checked[0].real.trials == 3


def test_a_checker_that_is_missing_is_named_with_its_package(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setitem(CHECKERS, "harper", lambda texts: [True] * len(texts))
    monkeypatch.setattr(_checkers, "_make_linter", lambda: None)
    found = grammar_gap(REAL, REAL, random_state=1)
    assert list(found.skipped) == ["link-grammar"]
    assert "apt-get install link-grammar" in found.sentence


def test_nothing_to_check_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        grammar_gap(REAL, [])
