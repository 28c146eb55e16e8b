"""The page draws, in whole numbers, the law that estimators rest on, and refuses a law that keeps less than it says.

The script of the page runs in node. Its bytes are seeded, so that every frequency below is the same on every run; an
honest script is rejected by none of the tests that compare frequencies with a probability of more than 1e-6 over seeds.
"""

import json
import math
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import ziggurat.service.surveys as surveys
from ziggurat.local import CountNoise, LocalHashing, Privatizer, RecordChoice, Response, UnaryEncoding
from ziggurat.service.surveys import make_survey_page

HERE = Path(__file__).parent
SCRIPT = Path(surveys.__file__).parent / "draw.js"
FALSE_ALARM = 1e-6 / 100  # for each of fewer than a hundred frequencies

node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed, which runs the page's script")

COLOURS = ["red", "green", "blue", "grey"]
PRIVATIZERS = {
    "two answers": Response("1", ["yes", "no"]),
    "four answers, small epsilon": Response("1/5", COLOURS),
    "missing as an answer": Response("2", COLOURS[:2], missing=True),
    "numbers": Response("3/2", 5),
    "more likely another": Response("1/2", 40),
    "bits": UnaryEncoding("1", COLOURS),
    "symmetric bits": UnaryEncoding("2", ["a", "b", "c"], share="1/2"),
    "hash": LocalHashing("1", COLOURS, buckets=3),
}


def ask(asked, script=SCRIPT):
    """Let the script of the page answer."""
    done = subprocess.run(
        [shutil.which("node"), HERE / "drawing.cjs", script], input=json.dumps(asked), capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    return json.loads(done.stdout)


def drawn(part: Privatizer, answer, times, script=SCRIPT, seed="tests"):
    asked = {"part": part.to_dict(), "recipe": part.recipe(), "answer": answer, "times": times, "seed": seed}
    (told,) = ask([asked], script)
    return {json.loads(report): count for report, count in told["counts"].items()}


def frequencies(part: Privatizer, counts, times):
    """For each label how many reports speak for it, and with which probability each does."""
    labels = part.list.labels
    if isinstance(part, Response):
        return [counts.get(label, 0) for label in labels]
    reports = [report for report, count in counts.items() for _ in range(count)]
    import pyarrow as pa

    texts = pa.array([int(each) for each in reports]) if isinstance(part, LocalHashing) else pa.array(reports)
    sent = part.from_arrow(texts, "seeded").value
    if isinstance(part, LocalHashing):
        return part._supports(sent, np.arange(len(labels))).tolist()
    return np.unpackbits(sent, axis=1, count=len(labels)).sum(axis=0).tolist()


def find_odd(part: Privatizer, answer, counts, times):
    """The labels whose frequency is not what the law says; the test is exact."""
    law, found = part.support, []
    for label, seen in zip(part.list.labels, frequencies(part, counts, times), strict=True):
        probability = law.hit if label == answer else law.stray
        tail = 2 * min(binom.cdf(seen, times, probability), binom.sf(seen - 1, times, probability))
        if tail < FALSE_ALARM:
            found.append(label)
    return found


@node
@pytest.mark.parametrize("name", PRIVATIZERS)
def test_the_page_draws_the_law_that_estimates_rest_on(name):
    part, times = PRIVATIZERS[name], 20_000
    answer = part.list.labels[-1]
    counts = drawn(part, answer, times)
    assert sum(counts.values()) == times
    assert find_odd(part, answer, counts, times) == []


@node
@pytest.mark.parametrize(
    ("name", "honest", "planted"),
    [
        ("two answers", "fraction(recipe.lean)))]", "plus(fraction(recipe.lean), {p: 1n, q: 10n})))]"),
        ("bits", "dice.unlikely(others)", "dice.unlikely(kept)"),
        ("hash", "dice.exchange(bucket(seed, code, buckets)", "dice.exchange(0n"),
        ("four answers, small epsilon", "other >= code ? other + 1n : other", "other"),
    ],
)
def test_a_script_that_draws_another_law_is_caught(tmp_path, name, honest, planted):
    text = SCRIPT.read_text()
    assert text.count(honest) == 1
    script = tmp_path / "planted.js"
    script.write_text(text.replace(honest, planted))
    part, times = PRIVATIZERS[name], 20_000
    answer = part.list.labels[1]
    assert find_odd(part, answer, drawn(part, answer, times, script), times) != []


@node
def test_an_estimate_from_the_pages_reports_holds_the_truth():
    part, truth = PRIVATIZERS["bits"], {"red": 3_000, "grey": 1_000}
    reports = []
    for label, count in truth.items():
        reports += [each for each, times in drawn(part, label, count, seed=label).items() for _ in range(times)]
    import pyarrow as pa

    found = part.estimate(part.from_arrow(pa.array(reports), "seeded"), "0.999999")
    for label in COLOURS:
        low, high = found.interval(label)
        assert low <= truth.get(label, 0) <= high


@node
def test_the_hash_of_the_page_is_the_public_one():
    """With an epsilon at which no bucket is ever exchanged, the bucket is the hash."""
    part = LocalHashing("40", 1_000, buckets=1_000)
    from ziggurat.local import _kernels

    for report in drawn(part, 77, 200):
        word = int(report)
        bucket = np.empty(1, dtype=np.int64)
        seed = np.array([word >> 31], dtype=np.uint64)
        _kernels.hash_each(bucket, seed, np.array([77], dtype=np.uint64), np.uint64(1_000))
        assert word & ((1 << 31) - 1) == bucket[0]


@node
def test_what_the_page_cannot_draw_exactly_it_refuses():
    others = [CountNoise("1", 0, 10), RecordChoice("1", COLOURS)]
    asked = [
        {"part": each.to_dict(), "recipe": each.recipe(), "answer": "red", "times": 1, "seed": "a"} for each in others
    ]
    for told in ask(asked):
        assert "ziggurat collect answer" in told["reason"]


@node
def test_the_page_refuses_a_law_that_keeps_less_than_it_says():
    """A service that lies about the law gets nothing: the page proves the epsilon by itself."""
    honest, bits = PRIVATIZERS["two answers"], PRIVATIZERS["bits"]
    lean = Fraction(honest.recipe()["lean"])
    step = Fraction(1, 1 << 30)
    lies = [
        {**honest.recipe(), "lean": str(lean + step)},  # more truthful
        {**honest.recipe(), "lean": str(-lean - step)},  # tells what is not true, and so what is
        {**honest.recipe(), "answers": 3},
        {**honest.recipe(), "lean": "1/0"},
        {**honest.recipe(), "draw": "everything"},
    ]
    for lie in lies:
        (told,) = ask([{"part": honest.to_dict(), "recipe": lie, "answer": "yes", "times": 1, "seed": "a"}])
        assert "reason" in told, lie
    lie = {**bits.recipe(), "others": str(Fraction(bits.recipe()["others"]) + step)}
    (told,) = ask([{"part": bits.to_dict(), "recipe": lie, "answer": "red", "times": 1, "seed": "a"}])
    assert "epsilon" in told["reason"]


@node
def test_the_proof_of_epsilon_takes_every_honest_law_and_none_a_millionth_beyond():
    asked, wanted = [], []
    for epsilon in ("1/100", "1/3", "1", "5/2", "8", "30"):
        for answers in (2, 3, 7, 40, 512, 100_000):
            lean = Fraction(Response(epsilon, answers).recipe()["lean"])
            beyond = max(lean, -Fraction(epsilon)) + Fraction(epsilon) / 10**6
            highest = Fraction(math.ceil((float(Fraction(epsilon)) - math.log(answers - 1)) * 10**9 + 2), 10**9)
            for each, right in ((lean, True), (max(beyond, highest), False)):
                asked.append({"epsilon": epsilon, "answers": str(answers), "lean": str(each)})
                wanted.append(right)
    assert ask(asked) == wanted


def visit(presses=1, choices=(0,), statuses=(), **changed):
    """Open the page with an invitation, choose answers and press the button; gives all that left the browser."""
    part = PRIVATIZERS["two answers"]
    columns = {"smokes": {**part.to_dict(), "categories": [SECRET, "no"]}}
    survey = {
        "name": "habits", "population": "club", "state": "open", "meaning": "", "promise": "", "epsilon": "1",
        "questions": {}, "columns": columns, "draws": {"smokes": part.recipe()}, **changed,
    }  # fmt: skip
    (script,) = re.findall(r"<script>(.*?)</script>", make_survey_page().text, re.DOTALL)
    asked = {"script": script, "survey": survey, "presses": presses, "choices": choices, "statuses": statuses}
    done = subprocess.run(
        [shutil.which("node"), HERE / "page.cjs"], input=json.dumps(asked), capture_output=True, text=True, check=False,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    return json.loads(done.stdout)


SECRET = "a-rare-answer-of-one-person"


@node
def test_the_page_sends_a_report_and_the_invitation_with_it_alone():
    seen = visit()
    described, sent = seen["requests"]
    assert (described["address"], described["body"]) == ("/v1/surveys/habits", None)
    assert sent["address"] == "/v1/surveys/habits/reports"
    body = json.loads(sent["body"])
    assert body["invitation"] == "an-invitation"
    assert set(body["report"]) == {"smokes"}
    assert {each["credentials"] for each in seen["requests"]} == {"omit"}
    assert seen["places"] == ["/survey/habits"], "the invitation does not stay in the address"
    assert "taken" in seen["words"][0]


@node
def test_after_a_lost_connection_the_page_sends_the_same_report():
    many = [f"answer {i}" for i in range(200)]
    part = UnaryEncoding("1", many)
    said = {"columns": {"smokes": part.to_dict()}, "draws": {"smokes": part.recipe()}}
    bodies = [each["body"] for each in visit(presses=3, statuses=(0, 503), **said)["requests"] if each["body"]]
    assert len(bodies) == 3
    assert len(set(bodies)) == 1
    again = [each["body"] for each in visit(**said)["requests"] if each["body"]]
    assert again[0] != bodies[0], "the control: two draws differ, but for a chance of 2**-200"


@node
@pytest.mark.parametrize(
    "changed",
    [
        {"epsilon": "1/2"},
        {"state": "closed"},
        {"draws": {"smokes": None}},
        {"draws": {"smokes": {**PRIVATIZERS["two answers"].recipe(), "lean": "2"}}},
    ],
)
def test_the_page_sends_nothing_where_the_survey_is_not_what_it_says(changed):
    seen = visit(**changed)
    assert [each["body"] for each in seen["requests"]] == [None]
    assert seen["shown"] == 0


@node
def test_the_page_sends_nothing_before_every_question_is_answered():
    assert [each["body"] for each in visit(choices=(-1,))["requests"]] == [None]


def test_the_page_asks_nobody_but_the_service_it_came_from(served):
    answered = served.client.get("/survey/anything")
    policy = answered.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert not re.findall(r"https?://|//[a-z]+\.", answered.text.replace("// ", ""))
    assert not re.findall(r"<(?:img|link|iframe|object|form action)", answered.text)
    assert "innerHTML" not in answered.text
    assert "eval" not in answered.text


def test_the_scripts_policy_is_that_of_the_script(served):
    import hashlib
    from base64 import b64encode

    text, policy = served.client.get("/survey/a").text, make_survey_page().policy
    for tag in ("script", "style"):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_the_script_that_draws_has_no_float_and_no_other_randomness():
    code = re.sub(r"//.*", "", SCRIPT.read_text())
    assert "Math.random" not in code
    assert set(re.findall(r"Math\.\w+", code)) == {"Math.ceil"}, "of a length, on no noise path"
    assert not re.findall(r"\d\.\d|parseFloat|\*\*", code)
    assert "crypto.getRandomValues" in (SCRIPT.parent / "page.js").read_text()
