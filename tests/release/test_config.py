"""Files that describe releases: what is refused and where, the published schema, and what waits for a reason."""

import json
import re
import stat
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from ziggurat.attacks import EpsilonBound, Share
from ziggurat.data import write_csv
from ziggurat.errors import DataError, GateError, LedgerUseError, ParameterError, PrivacyError
from ziggurat.learn import GaussianNB
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.release import Evidence
from ziggurat.release._certificate import NO_PROMISE
from ziggurat.release.bundle import release_key, verify_bundle
from ziggurat.release.config import KINDS, HeldBundle, _running, describe_release, json_schema, read_config, run_config
from ziggurat.release.config._kinds import make_plan

from .conftest import SCHEMA, patients

ROOT = Path(__file__).parents[2]
SAID = """format: ziggurat/release/1
table: clinic.csv
ledger: book.db
analyst: ada
release:
  kind: question
  sql: SELECT COUNT(*) AS n FROM clinic
  epsilon: 0.5
  rows_per_unit: 1
"""


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_KEY", raising=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A question about the clinic, for which ada can pay."""
    write_csv(patients(), tmp_path / "clinic.csv")
    SCHEMA.to_yaml(tmp_path / "clinic.yaml")
    with Ledger.open(tmp_path / "book.db") as book:
        book.create_budget("clinic", "4", 0, Neighbours(SCHEMA.unit))
        book.grant("clinic", "ada", "2")
    (tmp_path / "answer.yaml").write_text(SAID)
    return tmp_path / "answer.yaml"


def entries(file: Path) -> list[str]:
    with Ledger.open(file.parent / "book.db", create=False) as book:
        return [each.kind for each in book.history()][3:]


WRONG = {
    "an unknown key": (
        SAID.replace("analyst", "analist"),
        "line 4: there is no 'analist' here; .* 'analyst'",
    ),
    "an unknown key of a kind": (
        SAID.replace("epsilon", "epsilom"),
        "line 8: there is no 'epsilom' here; .* 'epsilon'",
    ),
    "no kind": (SAID.replace("  kind: question\n", ""), "line 5: 'release' needs a 'kind', one of 'question'"),
    "an unknown kind": (SAID.replace("kind: question", "kind: poem"), "line [56]: 'release' needs a 'kind', one of"),
    "no release": (SAID.split("release:")[0], "'release': field required"),
    "no format": (SAID.split("\n", 1)[1], "'format': field required"),
    "another format": (
        SAID.replace("release/1", "release/9"),
        "line 1: 'format': input should be 'ziggurat",
    ),
    "no epsilon": (SAID.replace("  epsilon: 0.5\n", ""), "line 5: 'release.epsilon': field required"),
    "a bad amount": (SAID.replace("0.5", "much"), "line 8: 'release.epsilon': an amount is a number"),
    "an amount that is true": (SAID.replace("0.5", "true"), "line 8: 'release.epsilon': an amount is a number"),
    "an infinite amount": (SAID.replace("0.5", ".inf"), "line 8: 'release.epsilon': an amount is a number"),
    "an amount by zero": (SAID.replace("0.5", "'1/0'"), "line 8: 'release.epsilon': an amount is a number"),
    "a number in quotes": (SAID.replace("unit: 1", "unit: '1'"), "line 9: 'release.rows_per_unit': input should be a"),
    "a key twice": (SAID + "analyst: bob\n", "line 10: This is not valid YAML"),
    "an alias": (SAID.replace("table: clinic.csv", "table: &t clinic.csv\nname: *t"), "line 3: This is not valid YAML"),
    "no keys": ("- 1\n", "a release is described by keys and values"),
    "nothing": ("", "a release is described by keys and values"),
    "a megabyte": (SAID + "#" * (1 << 20), "longer than a description of a release can be"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_with_its_line(file: Path, what: str) -> None:
    text, match = WRONG[what]
    file.write_text(text)
    with pytest.raises(DataError, match=match):
        read_config(file)


def test_a_file_that_is_no_text_or_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"format: \xff")
    for name in ("bytes.yaml", "none.yaml"):
        with pytest.raises(DataError, match="does not exist or cannot be read"):
            read_config(tmp_path / name)


@pytest.mark.parametrize("text", ["0.1", "1/3", "1e-3", "'0.10'"])
def test_amounts_stay_exact(file: Path, text: str) -> None:
    file.write_text(SAID.replace("0.5", text))
    assert Fraction(read_config(file).release.epsilon) == Fraction(text.strip("'"))


@pytest.mark.parametrize("step", [run_config, describe_release])
@pytest.mark.parametrize("said", ["kind: question", "kind: reports"])
def test_what_is_paid_for_needs_somebody_who_pays(file: Path, step: Callable[..., Any], said: str) -> None:
    text = SAID.replace("analyst: ada\n", "")
    reports = text.split("  kind")[0] + "  kind: reports\n  columns: {ward: 1}\n"
    file.write_text(reports if "reports" in said else text)
    with pytest.raises(ParameterError, match="say who pays with 'analyst'"):
        step(file)
    assert entries(file) == []


def test_a_rehearsal_on_invented_people_needs_no_ledger(tmp_path: Path) -> None:
    said = {"format": "ziggurat/release/1", "table": "clinic", "rehearse": 3}
    said["release"] = {"kind": "reports", "columns": {"sex": 1}}
    (tmp_path / "try.yaml").write_text(json.dumps(said))
    made, bundle = run_config(tmp_path / "try.yaml")
    assert made.entry is None
    assert verify_bundle(bundle).rehearsal


def test_without_a_ledger_in_the_file_it_is_the_one_of_all_commands(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ZIGGURAT_LEDGER", str(file.parent / "book.db"))
    head = SAID.replace("ledger: book.db\nanalyst: ada\n", "").split("  kind")[0]
    file.write_text(head + "  kind: masked table\n  techniques: {patient: drop, town: drop}\n")
    run_config(file)
    assert entries(file) == ["unbounded"]


def examples() -> list[dict[str, Any]]:
    """The files of the guides, and one of every kind."""
    found = [yaml.safe_load(SAID)]
    for guide in (ROOT / "docs" / "guides").glob("*.md"):
        blocks = re.findall(r"```yaml\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
        found += [yaml.safe_load(each) for each in blocks if each.startswith("format: ziggurat/release/")]
    least: dict[str, dict[str, Any]] = {
        "question": {"sql": "SELECT COUNT(*) AS n FROM t", "epsilon": "1/3", "bounds": {"age": [0, 99]}},
        "workload": {"marginals": [["a", "b"]], "epsilon": 1},
        "reports": {"columns": {"a": 0.5}},
        "model": {"label": "a", "epsilon": 1, "options": {"alpha": 0.1}},
        "foreign model": {"model": "m.skops", "others": "others.csv", "label": "a", "random_split": True},
        "labels": {"teachers": "folder", "queries": "queries.csv"},
        "anonymized table": {"k": 5, "diversity": {"a": {"amount": 2}}, "keep": {"b": "nobody knows it"}},
        "masked table": {"techniques": {"a": "drop"}},
        "synthetic table": {"method": "mst", "epsilon": 1, "delta": 1e-9},
        "sequences": {"label": "a", "epsilon": 1, "sizes": {"0": 40}},
        "trajectories": {
            "time": "at",
            "latitude": "lat",
            "longitude": "lon",
            "epsilon": "1/2",
            "places": {"box": [-74.3, 40.5, -73.6, 41], "grid": 20},
            "calendar": {"epoch": "2012-04-03 14:00", "tick": "1/60"},
        },
        "communities": {"time": "at", "place": "stop", "epsilon": 1, "places": {"table": "stops.csv"}},
    }
    assert set(least) == set(KINDS)
    return found + [{"format": "ziggurat/release/1", "release": {"kind": kind, **rest}} for kind, rest in least.items()]


MODEL = """format: ziggurat/release/1
table: clinic.csv
ledger: book.db
analyst: ada
rehearse: 1
release:
  kind: model
  label: ward
  columns: [age]
  model: naive-bayes
  epsilon: 1
  delta: 0
  audit: RUNS
"""


def test_a_model_is_audited_before_it_is_paid_for_and_the_plan_only_says_so(file: Path) -> None:
    file.write_text(MODEL.replace("RUNS", "200"))
    outlook = describe_release(file)
    assert outlook.audit == outlook.to_dict()["audit"] == 200
    assert "first audits the promise by 200 fits" in " ".join(outlook.sentences)
    assert entries(file) == []
    _, bundle = run_config(file)
    held = json.loads((bundle / "public" / "certificate.json").read_text())
    assert held["audited"]["runs"] == 200
    assert held["config"]["release"]["audit"] == 200


def test_a_promise_that_an_audit_refutes_is_not_paid_for(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = GaussianNB.planned
    monkeypatch.setattr(
        GaussianNB,
        "planned",
        lambda self, rows, columns: honest(GaussianNB(**{**self.get_params(), "epsilon": "1/20"}), rows, columns),
    )
    file.write_text(MODEL.replace("RUNS", "200").replace("epsilon: 1", "epsilon: 20"))
    with pytest.raises(PrivacyError, match="The promise is false"):
        run_config(file)
    assert entries(file) == []


def test_too_few_runs_of_an_audit_are_refused_with_their_line(file: Path) -> None:
    file.write_text(MODEL.replace("RUNS", "20"))
    with pytest.raises(DataError, match="at least 200"):
        read_config(file)


def test_the_schema_admits_what_is_read_and_nothing_that_is_misspelt(tmp_path: Path) -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator(schema)
    for example in examples():
        assert list(checker.iter_errors(example)) == []
        (tmp_path / "example.yaml").write_text(json.dumps(example))
        read_config(tmp_path / "example.yaml")
        assert not checker.is_valid({**example, "analist": "ada"})
        assert not checker.is_valid({**example, "release": {**example["release"], "epsilom": 1}})


def test_the_published_schema_is_the_one_that_is_printed(command: Callable[..., Any]) -> None:
    published = ROOT / "docs" / "reference" / "release.schema.json"
    assert command("release", "schema").out == published.read_text(encoding="utf-8")


def test_the_public_part_is_handed_out_and_a_broken_bundle_is_not(file: Path, command: Callable[..., Any]) -> None:
    _, bundle = run_config(file)
    assert command("release", "hand-out", str(bundle), "--out", "given.zip").code == 0
    assert command("verify", "given.zip").code == 0
    (bundle / "public" / "answer.csv").write_text("n\n1\n")
    refused = command("release", "hand-out", str(bundle), "--out", "again.zip")
    assert refused.code in (2, 6)
    assert "not handed out" in refused.err
    assert not Path("again.zip").exists()


@pytest.fixture
def refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is planned, an attack refutes what it promises."""
    bound = EpsilonBound("linking", Share(90, 90), 90, 0.5, Fraction(1, 2), Fraction(0), 1e-20, 9.0, 0.05)

    def attacked(desk: Any) -> Any:
        plan = make_plan(desk)
        object.__setattr__(plan, "judge", lambda *_: Evidence({"epsilon": bound}))
        return plan

    monkeypatch.setattr(_running, "make_plan", attacked)


@pytest.mark.usefixtures("refuted")
def test_what_was_stopped_waits_and_is_paid_for_once(file: Path) -> None:
    with pytest.raises(GateError, match=r"It was paid for and is kept in .*answer\.bundle\.held"):
        run_config(file)
    held = file.with_name("answer.bundle.held")
    assert stat.S_IMODE(held.stat().st_mode) == 0o700
    assert stat.S_IMODE((held / "held.json").stat().st_mode) == 0o600
    with pytest.raises(GateError, match="give a reason to go on"):
        run_config(file)
    assert entries(file) == ["reserve", "commit"]
    made, bundle = run_config(file, go_on="The board has seen it.")
    assert isinstance(made, HeldBundle)
    assert entries(file) == ["reserve", "commit", "unbounded"]
    assert not held.exists()
    checked = verify_bundle(bundle)
    assert checked.sound
    facts = checked.certificate
    assert (facts["promise"], facts["sentence"]) == (None, NO_PROMISE)
    assert facts["decision"] == {"stopped": ["epsilon"], "refuted": True, "reason": "The board has seen it."}
    assert facts["recorded"]["seq"] == 6
    with Ledger.open(file.parent / "book.db", create=False) as book:
        said = book.history()[-1].data["what"]
    assert "The board has seen it." in said
    assert facts["artefacts"][0]["sha256"] in said


@pytest.mark.usefixtures("refuted")
def test_what_waits_is_not_let_go_by_other_words_or_an_unprintable_reason(file: Path) -> None:
    with pytest.raises(GateError):
        run_config(file)
    with pytest.raises(ParameterError, match="printable"):
        run_config(file, go_on="so\nit goes")
    file.write_text(SAID.replace("0.5", "0.75"))
    with pytest.raises(DataError, match="made by other words than the file has now"):
        run_config(file, go_on="The board has seen it.")
    assert entries(file) == ["reserve", "commit"]
    assert not file.with_name("answer.bundle").exists()


@pytest.mark.usefixtures("refuted")
@pytest.mark.parametrize("content", ["", "{}", "[]", '{"format": "ziggurat/held/9"}'])
def test_what_waits_and_is_damaged_says_what_to_do(file: Path, content: str) -> None:
    with pytest.raises(GateError):
        run_config(file)
    (file.with_name("answer.bundle.held") / "held.json").write_text(content)
    with pytest.raises(DataError, match="is damaged; delete that folder"):
        run_config(file, go_on="The board has seen it.")
    assert entries(file) == ["reserve", "commit"]


@pytest.mark.usefixtures("refuted")
def test_an_artefact_that_was_changed_while_it_waited_does_not_leave(file: Path) -> None:
    with pytest.raises(GateError):
        run_config(file)
    (file.with_name("answer.bundle.held") / "answer.csv").write_text("n\n1\n")
    with pytest.raises(DataError, match="is not the one that was certified"):
        run_config(file, go_on="The board has seen it.")
    assert not file.with_name("answer.bundle").exists()


@pytest.mark.parametrize("out", ["../gone.csv", "/tmp/gone.csv", "a/b.csv", ".hidden.csv", "table.txt", "a\\\\b.csv"])
@pytest.mark.parametrize("said", ["kind: masked table, safe_harbor: true", "kind: anonymised table, k: 2"])
def test_a_draft_is_made_in_the_private_folder_and_nowhere_else(file: Path, said: str, out: str) -> None:
    """A file that lay elsewhere would have left before the ledger said so."""
    file.write_text(
        f'format: ziggurat/release/1\ntable: clinic.csv\nledger: book.db\nrelease: {{{said}, out: "{out}"}}\n'
    )
    with pytest.raises(DataError, match="out"):
        run_config(file)
    assert entries(file) == []


@pytest.mark.usefixtures("refuted")
@pytest.mark.parametrize("what", ["promise", "recorded", "rehearsal"])
def test_what_was_edited_while_it_waited_is_not_signed(file: Path, what: str) -> None:
    with pytest.raises(GateError):
        run_config(file)
    held = file.with_name("answer.bundle.held") / "held.json"
    facts = json.loads(held.read_text())
    edited = {"promise": {**facts["certificate"]["promise"], "event": {}}, "recorded": None, "rehearsal": True}
    facts["certificate"][what] = edited[what]
    held.write_text(json.dumps(facts))
    with pytest.raises(DataError, match="not what the ledger says"):
        run_config(file, go_on="The board has seen it.")
    assert entries(file) == ["reserve", "commit"]
    assert not file.with_name("answer.bundle").exists()


REPORTS = """format: ziggurat/release/1
table: clinic.csv
ledger: book.db
population: reports
analyst: ada
release: {kind: reports, columns: {ward: 0.5}, missing: true}
"""


def test_a_key_that_cannot_sign_is_found_before_anything_is_paid(file: Path, tmp_path: Path) -> None:
    release_key(create=True).file.chmod(0o644)
    with pytest.raises(DataError, match="can be read by others"):
        run_config(file)
    with pytest.raises(LedgerUseError, match="key"):
        run_config(file, key=tmp_path / "nowhere")
    assert entries(file) == []


def test_what_was_paid_for_and_could_not_be_written_is_written_by_the_next_run(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reports are never given again, so that they would be lost."""
    with Ledger.open(file.parent / "book.db") as book:
        book.create_budget("reports", "4", 0, Neighbours(SCHEMA.unit, "replace-one"))
        book.grant("reports", "ada", "2")
    file.write_text(REPORTS)
    with monkeypatch.context() as failing:
        failing.setattr("ziggurat.release.bundle._writing._put", full_disk)
        with pytest.raises(DataError, match=r"kept in .*answer\.bundle\.held"):
            run_config(file)
    assert not file.with_name("answer.bundle").exists()
    assert entries(file)[-2:] == ["reserve", "commit"]
    before = entries(file)
    _, bundle = run_config(file)
    assert verify_bundle(bundle).sound
    assert entries(file) == before
    assert not file.with_name("answer.bundle.held").exists()


def full_disk(*_: Any) -> None:
    raise OSError(28, "No space left on device")
