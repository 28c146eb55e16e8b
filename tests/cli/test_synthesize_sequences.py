"""`ziggurat synthesize` of logs: from the schema, the price and the options to the file and the ledger."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from ziggurat.data.generators import log_sequences
from ziggurat.release import check_synthetic
from ziggurat.sequences.tokens import MarkovSequences

Command = Callable[..., Any]
PAID = ("--epsilon", "1", "--budget", "logs", "--analyst", "ada")
ONE = ("--sequences-per-unit", "1")
CLICKS = """
unit: {person: who}
columns:
  who: {kind: text, role: identifier}
  visit: {kind: integer}
  page: {kind: category, categories: [home, shop, basket]}
  at: {kind: integer}
"""


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> Path:
    """A small table of logs, by its own name and with a budget."""
    monkeypatch.setattr("ziggurat.data.generators.invent", lambda what, *_: _invented())
    assert command("ledger", "budget", "logs", "--epsilon", "5", "--unit", "block=block_id").code == 0
    assert command("ledger", "grant", "logs", "ada", "--epsilon", "4").code == 0
    return tmp_path


def _invented() -> Any:
    from ziggurat.data.generators import log_sequences_schema

    return log_sequences(400, seed=2), log_sequences_schema()


def test_help_teaches_with_logs(command: Command) -> None:
    shown = " ".join(command("synthesize", "--help").out.split())
    assert "ziggurat synthesize hdfs --method markov --label label --epsilon 1" in shown
    assert "--sequence visit --token page --order at --longest 30" in shown


def test_logs_from_the_quote_to_the_ledger(command: Command, logs: Path) -> None:
    asked = ("synthesize", "logs", "--method", "markov", *PAID, *ONE, "--label", "label", "--out", "safe.parquet")
    quoted = command(*asked, "--quote")
    assert quoted.code == 0, quoted.err
    assert "25% after it" in quoted.out
    assert not (logs / "safe.parquet").exists()
    made = command(*asked, "--sizes", "0=60", "--sizes", "1=7", "--save", "m.ziggurat")
    assert made.code == 0, made.err
    for piece in (
        "closest sequences",
        "67 sequences by MarkovSequences",
        "The sequences are in",
        "The ledger paid for it",
    ):
        assert piece in made.out
    shown = parquet.read_table(logs / "safe.parquet")
    assert shown.column_names == ["seq", "label"]
    assert sorted(shown["label"].to_pylist()) == [0] * 60 + [1] * 7
    assert check_synthetic(logs / "safe.parquet.certificate.json")["kind"] == "sequences"
    assert len(MarkovSequences.load(logs / "m.ziggurat").sample(5)) == 5


def test_a_network_is_priced_for_the_number_that_is_declared(command: Command, logs: Path) -> None:
    pytest.importorskip("torch")
    command("ledger", "budget", "nets", "--epsilon", "4", "--delta", "1e-4", "--unit", "block=block_id")
    command("ledger", "grant", "nets", "ada", "--epsilon", "4", "--delta", "1e-4")
    paid = ("--epsilon", "2", "--delta", "1e-5", "--budget", "nets", "--analyst", "ada", *ONE)
    asked = ("synthesize", "logs", "--method", "recurrent", *paid, "--expected-rows", "400", "--out", "net.parquet")
    quoted = command(*asked, "--quote")
    assert quoted.code == 0, quoted.err
    assert "The question fits" in quoted.out


def test_a_long_table_of_people_with_many_visits(command: Command, tmp_path: Path) -> None:
    rows = 600
    given = {
        "who": [f"secret{place // 20}" for place in range(rows)],
        "visit": [place // 5 for place in range(rows)],
        "page": [("home", "shop", "basket", "shop", "?")[place % 5] for place in range(rows)],
        "at": list(range(rows)),
    }
    csv.write_csv(pa.table(given), tmp_path / "clicks.csv")
    (tmp_path / "clicks.yaml").write_text(CLICKS)
    command("ledger", "budget", "clicks", "--epsilon", "5", "--person", "who")
    command("ledger", "grant", "clicks", "ada", "--epsilon", "4")
    where = ("--sequence", "visit", "--token", "page", "--order", "at", "--longest", "6", "--sequences-per-unit", "4")
    paid = ("--epsilon", "2", "--budget", "clicks", "--analyst", "ada", "--rehearse", "3", "--json")
    made = command("synthesize", "clicks.csv", "--method", "markov", *where, *paid, "--count", "50", "--out", "out.csv")
    assert made.code == 0, made.err
    facts = json.loads(made.out)
    assert (facts["kind"], facts["details"]["sequences"]) == ("sequences", 50)
    text = (tmp_path / "out.csv").read_text()
    assert text.startswith('"visit","at","page"\n1,1,')
    assert "secret" not in text


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            ("--method", "aim", *PAID, "--rows-per-unit", "1"),
            "Column 'seq' holds sequences, which aim cannot draw; use",
        ),
        (("--method", "markov", *PAID), "say how many count at most with --sequences-per-unit"),
        (("--method", "markov", *PAID, *ONE, "--rows", "5"), "--rows is for tables of columns"),
        (("--method", "markov", *PAID, *ONE, "--copies", "2"), "ask for more of them with --count"),
        (("--method", "markov", *PAID, *ONE, "--sizes", "0=5"), "name their column (label)"),
        (("--method", "markov", *PAID, *ONE, "--label", "label", "--sizes", "9=5"), "There is no class '9'"),
        (("--method", "markov", *PAID, *ONE, "--label", "label", "--sizes", "many"), "--sizes normal=4000"),
        (("--method", "markov", *PAID, *ONE, "--token", "seq", "--order", "label"), "tells sequences apart"),
        (("--method", "markov", *PAID, *ONE, "--rule", "a > 1"), "methods that promise nothing"),
        (("--method", "markov", *ONE), "name --epsilon, --budget and --analyst"),
        (("--method", "markof", *PAID), "did you mean 'markov'"),
        (("--method", "recurrent", *PAID, *ONE), "needs --expected-rows"),
        (("--method", "markov", *PAID, *ONE, "--expected-rows", "400"), "markov does without"),
        (("--method", "cart", "--longest", "5"), "--longest goes with --method markov or recurrent"),
    ],
)
def test_what_does_not_go_together_says_what_to_change(command: Command, logs: Path, given, says: str) -> None:
    refused = command("synthesize", "logs", "--out", "x.csv", *given)
    assert refused.code == 2
    assert says in " ".join(refused.err.split())
    assert not (logs / "x.csv").exists()
