"""Every command works against a server with `--server`, or stands in a list with the reason why it means nothing there.

One house is served for all of them, with a worker; what a command does there is what it does here: the same words,
files, figures and exit codes.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dbos", reason="the extra 'service' is not installed")

import pyarrow as pa
import pyarrow.csv as csv
import structlog
import typer.main

sys.path.insert(0, str(Path(__file__).parent))

from serving import ServedHouse

from ziggurat.cli import app
from ziggurat.cli._app import run_command
from ziggurat.data.generators import city_places, city_visits
from ziggurat.release._gate import DEFAULTS

pytestmark = pytest.mark.filterwarnings("ignore:With epsilon")

LOCAL = {
    "tour": "shows the whole on invented patients",
    "doctor": "looks at this machine",
    "write": "trains and asks a writer on this machine; no route trains one",
    "compare": "judges files of this machine; no route compares copies",
    "audit": "runs this machine's own code on invented tables",
    "reproduce": "repeats an experiment",
    "serve": "is the server",
    "login": "names the server itself",
    "logout": "names the server itself",
    "ledger register": "a table is registered with its population: 'server register --population'",
    "ledger quote": "prices a bare event; 'quote' and 'release plan' price what a server is asked",
    "ledger abandon": "a server takes up its reservations by itself",
    "ledger unbounded": "a server writes down what it lets go by itself",
    "ledger keygen": "makes a key of this machine",
    "ledger sign": "signs by a key of this machine, which goes nowhere",
    "witness serve": "is a server itself",
    "schema check": "a server checks a table when it is registered",
    "table reshape": "makes a file of files",
    "table join": "makes a file of files",
    "data list": "lists public data",
    "data fetch": "fetches public data",
    "data invent": "invents data",
    "hierarchy propose": "makes a file",
    "hierarchy show": "shows a file",
    "hierarchy check": "checks a file",
    "mobility risk": "raw figures for whoever holds the visits; no route gives them",
    "mobility compare": "raw figures for whoever holds the visits; no route gives them",
    "model evaluate": "judges by labels of this machine",
    "model serve": "makes a folder that whoever runs a server puts beside it ('server bring')",
    "pate teach": "makes a folder that whoever runs a server puts beside it ('server bring')",
    "pate quote": "prices by public numbers alone; 'pate label --quote' prices labels of a server's teachers",
    "pate privatize": "protects rows before they leave this machine",
    "pate student": "learns on the student's machine",
    "pate evaluate": "judges on the student's machine",
    "pate certificate": "reads a folder of the student",
    "experiment plan": "is about experiments",
    "experiment run": "is about experiments",
    "experiment results": "is about experiments",
    "experiment compare": "is about experiments",
    "experiment schema": "is about experiments",
}
"""Commands for which a server makes no sense, and why."""

SCHEMA = """
unit: {person: patient}
columns:
  patient: {kind: text, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [18, 99], bounds_from: public}
  sex: {kind: category, role: quasi-identifier, categories: [female, male], categories_from: public}
  smoker: {kind: boolean, role: insensitive}
  diagnosis: {kind: category, role: sensitive, categories: [asthma, flu, none], categories_from: public}
"""
CLICKS = """
unit: {person: who}
columns:
  who: {kind: text, role: identifier}
  visit: {kind: integer}
  page: {kind: category, categories: [home, shop, basket], categories_from: public}
  at: {kind: integer}
"""
VISITS = """
unit: {person: card}
columns:
  card: {kind: text, role: identifier}
  minute: {kind: integer}
  stop: {kind: integer}
"""
STOPS = """
columns:
  stop: {kind: integer}
  lat: {kind: real}
  lng: {kind: real}
  district: {kind: text}
"""
DESCRIBED = """
format: ziggurat/release/1
table: clinic
release: {kind: question, sql: SELECT COUNT(*) AS n FROM clinic, epsilon: 0.25, rows_per_unit: 1}
"""
COUNT = "SELECT COUNT(*) AS n FROM clinic"


def walk(group: Any, path: tuple[str, ...] = ()) -> Any:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from walk(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


COMMANDS = dict(walk(typer.main.get_command(app)))
TAKING = {name for name, each in COMMANDS.items() if any("--server" in option.opts for option in each.params)}


def write_tables(folder: Path) -> None:
    """Invent a clinic, clicks, and visits; nobody in them is anybody."""
    rows = [
        (f"p{n}", 20 + (n * 37) % 60, ("female", "male")[n % 2], str((n * 7) % 3 == 0).lower(),
         ("asthma", "flu", "none")[(n * 11) % 3])
        for n in range(300)
    ]  # fmt: skip
    for name, part in (("patients", rows), ("others", rows[:120]), ("queries", rows[:6])):
        lines = [",".join(map(str, each)) for each in part]
        (folder / f"{name}.csv").write_text("\n".join(["patient,age,sex,smoker,diagnosis", *lines]) + "\n")
        (folder / f"{name}.yaml").write_text(SCHEMA)
    pages = ("home", "shop", "basket")
    lines = [f"w{n},{n},{pages[(n + step) % 3]},{step}" for n in range(150) for step in range(4)]
    (folder / "clicks.csv").write_text("\n".join(["who,visit,page,at", *lines]) + "\n")
    (folder / "clicks.yaml").write_text(CLICKS)
    found, stops = city_visits(150, places=20, seed=3), city_places(20, seed=3)
    cards = [f"card-{who}" for who in found["person"].to_pylist()]
    csv.write_csv(pa.table({"card": cards, "minute": found["minute"], "stop": found["place"]}), folder / "visits.csv")
    (folder / "visits.yaml").write_text(VISITS)
    csv.write_csv(stops.rename_columns(["stop", "lat", "lng", "district"]), folder / "stops.csv")
    (folder / "stops.yaml").write_text(STOPS)
    (folder / "answer.yaml").write_text(DESCRIBED)
    few = [f"p{n},{20 + n % 60},{str(n % 60 > 30).lower()}" for n in range(200)]
    (folder / "few.csv").write_text("\n".join(["patient,age,smoker", *few]) + "\n")
    (folder / "few.yaml").write_text(
        "".join(each for each in SCHEMA.splitlines(True) if not re.search(r"sex|diag", each))
    )
    (folder / "ages.csv").write_text("age\n30\n61\n")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A served house with tables, budgets and an analyst; and a folder with the same tables as files."""
    folder = tmp_path_factory.mktemp("served")
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)
    write_tables(folder)
    served = ServedHouse(folder / "service", work=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIGGURAT_SETTINGS", str(folder / "settings"))
        patch.setenv("ZIGGURAT_SERVER", served.url)
        patch.delenv("ZIGGURAT_APIKEY", raising=False)
        patch.chdir(folder)
        for line in SET_UP.format(link=f"{served.url}/#link={served.secret}").strip().splitlines():
            assert run_command(line.split()) == 0, line
        run_command(["server", "make-key", "ana", "hers", "--out", "ana.key"])
    yield served, folder
    served.close()
    structlog.reset_defaults()


SET_UP = """
login {link}
server register clinic patients.csv --schema patients.yaml
server register others others.csv --schema others.yaml --public
server register clicks clicks.csv --schema clicks.yaml
server register club patients.csv --schema patients.yaml
server register few few.csv --schema few.yaml
server register visits visits.csv --schema visits.yaml
ledger budget clinic --epsilon 200 --delta 1e-3
ledger budget clicks --epsilon 9
ledger budget club --epsilon 9 --relation replace-one
ledger budget visits --epsilon 30 --delta 1e-3
ledger grant clinic steward --epsilon 150 --delta 1e-4
ledger grant clicks steward --epsilon 9
ledger grant club steward --epsilon 9
ledger grant visits steward --epsilon 30 --delta 1e-4 --rule sum
server add-person ana analyst
server give clinic ana
ledger grant clinic ana --epsilon 5
server add-person gus analyst
"""


@pytest.fixture
def steward(place: Any, command: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs commands as the steward, on the server, in a folder of its own with the tables as files."""
    served, folder = place
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(folder / "settings"))
    monkeypatch.delenv("ZIGGURAT_SERVER", raising=False)
    for file in (*folder.glob("*.csv"), *folder.glob("*.yaml")):
        Path(file.name).write_bytes(file.read_bytes())

    def call(*arguments: str, here: bool = False) -> Any:
        return command(*arguments, *(() if here else ("--server", served.url)))

    return call


@pytest.fixture
def ana(place: Any, steward: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs commands as an analyst."""

    def call(*arguments: str) -> Any:
        with monkeypatch.context() as hers:
            hers.setenv("ZIGGURAT_APIKEY", (place[1] / "ana.key").read_text().strip())
            return steward(*arguments)

    return call


@pytest.fixture(scope="module")
def brought(place: Any) -> Any:
    """A served model and teachers, which whoever runs the house put beside it."""
    served, folder = place
    models = folder / "service" / "models"
    models.mkdir(exist_ok=True)
    pays = ("--epsilon", "1", "--delta", "1e-6", "--budget", "clinic", "--analyst", "steward")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in (
            ("model", "serve", "patients.csv", "--kind", "kernel-density", "--column", "age", *pays,
             "--ledger", str(served.house.settings.ledger_place), "--out", str(models / "ages")),
            ("pate", "teach", "patients.csv", "--label", "smoker", "--teachers", "20", "--column", "age",
             "--out", str(models / "wards")),
        ):  # fmt: skip
            assert run_command(line) == 0, line
    return served


@pytest.fixture(scope="module")
def registered(brought: Any, place: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIGGURAT_SETTINGS", str(place[1] / "settings"))
        for line in (
            ("server", "bring", "ages", "clinic", "ages", "--server", brought.url),
            ("server", "bring", "wards", "clinic", "wards", "--kind", "teachers", "--server", brought.url),
        ):
            assert run_command(line) == 0, line


@pytest.fixture(scope="module")
def fitted(place: Any) -> tuple[str, Path]:
    """A model that was fitted on the server and is published there; gives its release, and its folder here."""
    served, folder = place
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIGGURAT_SETTINGS", str(folder / "settings"))
        patch.setenv("ZIGGURAT_SERVER", served.url)
        patch.chdir(folder)
        assert run_command((*FIT, "clinic", "--out", "smoking")) == 0
        left = served.house.releases.all(served.house.people.named("steward"))
        release = next(each.id for each in left if each.kind == "model")  # the newest
        assert run_command(("server", "publish", "smoking", release)) == 0
    return release, folder


GO_ON = ("--go-on", "Attacks draw by chance, which decides over no test.")
FIT = ("model", "fit", "--label", "smoker", "--column", "age", "--model", "naive-bayes", "--epsilon", "5", *GO_ON)
ANONYMIZE = ("--k", "5", "--suppress", "0.1", "--drop", "smoker", "--qi", "age,sex", *GO_ON)
PERSON = ("--person", "card")
SITES = ("--time", "minute", "--place", "stop", "--places", "stops.csv", "--longest", "8")

CASES: dict[str, tuple[str, str]] = {
    "ask": (f"clinic|{COUNT}|--epsilon|0.1|--rows-per-unit|1", "It cost epsilon 0.1"),
    "quote": (f"clinic|{COUNT}|--epsilon|0.1|--rows-per-unit|1", "epsilon"),
    "release plan": ("answer.yaml", "No row was read."),
    "release schema": ("", '"$id": "ziggurat/release/1"'),
    "release key": ("", "BEGIN PUBLIC KEY"),
    "ledger show": ("clinic", "No witness watches the ledger of the server."),
    "ledger history": ("--last|2", "clinic"),
    "ledger verify": ("", "every hash and every rule holds"),
    "ledger witness": ("", "No witness watches the ledger of the server."),
    "schema suggest": ("patients.csv", "kind: integer"),
    "schema show": ("clinic", "diagnosis"),
    "decide": ("--query|count|--error|10", "Recommended: epsilon"),
    "server me": ("", "steward"),
    "server people": ("", "ana: analyst"),
    "server link": ("ana", "#link="),
    "server keys": ("ana", "hers"),
    "server make-key": ("ana|another", "another"),
    "server grants": ("", "steward was granted epsilon 9"),
    "server tables": ("", "clicks"),
    "server preview": ("clinic", "300 rows"),
    "server show": ("clinic", "diagnosis"),
    "server rights": ("clinic", "ana: ask"),
    "server give": ("visits|ana", "ana may ask about the table visits."),
    "server take": ("visits|ana", "ana may do nothing"),
    "server add-person": ("eve|analyst", "eve: analyst"),
    "server keep-out": ("gus", "kept out"),
    "server jobs": ("", ""),
    "server releases": ("", ""),
}
"""A line for each command that needs nothing but the house, and what it says there."""

ELSEWHERE = {
    "collect": "test_rows_are_protected_one_by_one",
    "anonymize": "test_a_table_is_anonymized_there_as_here",
    "mask": "test_a_table_is_masked_there_as_here",
    "synthesize": "test_copies_are_drawn_there_as_here",
    "risk": "test_risk_is_measured_there_as_here",
    "attack": "test_a_model_is_attacked_on_the_server",
    "verify": "test_bundles_and_receipts_are_verified_by_the_server",
    "release verify": "test_bundles_and_receipts_are_verified_by_the_server",
    "release hand-out": "test_what_left_is_listed_and_handed_out",
    "release run": "test_what_left_is_listed_and_handed_out",
    "server job": "test_what_left_is_listed_and_handed_out",
    "server cancel": "test_a_job_that_has_ended_is_not_cancelled",
    "server go-on": "test_the_gate_stops_there_and_a_reason_lets_go",
    "model let-go": "test_a_model_that_the_gate_stopped_is_let_go",
    "mobility synthesize": "test_trajectories_are_drawn_on_the_server",
    "mobility communities": "test_communities_are_described_on_the_server",
    "model fit": "test_a_model_is_fitted_published_and_asked",
    "model predict": "test_a_model_is_fitted_published_and_asked",
    "model show": "test_a_model_is_fitted_published_and_asked",
    "server publish": "test_a_model_is_fitted_published_and_asked",
    "server models": "test_a_served_model_answers",
    "server bring": "test_a_served_model_answers",
    "model answer": "test_a_served_model_answers",
    "pate label": "test_teachers_label_for_a_student",
    "ledger budget": "test_a_table_comes_and_goes",
    "ledger grant": "test_a_table_comes_and_goes",
    "ledger close": "test_a_table_comes_and_goes",
    "server register": "test_a_table_comes_and_goes",
    "server forget": "test_a_table_comes_and_goes",
    "server revoke-key": "test_a_table_comes_and_goes",
}
"""Which test exercises the others."""


def test_every_command_takes_a_server_or_says_why_not() -> None:
    assert set(LOCAL) & TAKING == set()
    assert set(LOCAL) | TAKING == set(COMMANDS)
    assert all(LOCAL.values())


def test_every_command_that_takes_a_server_is_exercised_against_one() -> None:
    assert set(CASES) | set(ELSEWHERE) == TAKING
    assert set(CASES) & set(ELSEWHERE) == set()
    assert {name for name in ELSEWHERE.values() if name not in globals()} == set()


@pytest.mark.parametrize("name", CASES)
def test_a_command_does_its_work_on_a_server(steward: Any, name: str) -> None:
    line, said = CASES[name]
    done = steward(*name.split(), *filter(None, line.split("|")))
    assert done.code == 0, done
    assert said in done.out + done.err, done


def read_sorted(file: str) -> list[str]:
    return sorted(Path(file).read_text().splitlines())


def test_a_table_is_anonymized_there_as_here(steward: Any) -> None:
    there = steward("anonymize", "clinic", *ANONYMIZE, "--out", "there.csv")
    assert there.code == 0, there.err
    here = steward("anonymize", "patients.csv", *ANONYMIZE, "--out", "here.csv", here=True)
    assert here.code == 0, here.err
    assert read_sorted("there.csv") == read_sorted("here.csv")
    assert "What left is in 'there.csv'." in there.out
    assert Path("there.zip").is_file()
    again = steward("anonymize", "clinic", *ANONYMIZE, "--out", "there.csv")
    assert (again.code, "--force" in again.err) == (6, True)


def test_hierarchies_are_sent_and_values_protected(steward: Any) -> None:
    assert steward("hierarchy", "propose", "patients.csv", "age", "--out", "age.csv", here=True).code == 0
    line = ("--k", "3", "--l", "diagnosis=2", "--t", "diagnosis=0.5:equal", "--hierarchies", "age.csv", "--weight",
            "age=2", "--suppress", "0.2", "--drop", "smoker", "--json", *GO_ON)  # fmt: skip
    there = steward("anonymize", "clinic", *line, "--out", "there.csv")
    assert there.code == 0, there.err
    told = json.loads(there.out)
    assert told["certificate"]["kind"] == "anonymized table"
    here = steward("anonymize", "patients.csv", *line, "--out", "here.csv", here=True)
    assert here.code == 0, here.err
    assert read_sorted("there.csv") == read_sorted("here.csv")


def test_a_table_is_masked_there_as_here(steward: Any) -> None:
    Path("key.txt").write_text("a secret of some length")
    plan = "patient: {technique: keyed-hash, secret: {file: key.txt}, salt: '00ff00ff00ff00ff00ff00ff00ff00ff'}\n"
    Path("plan.yaml").write_text(plan + "age: {technique: round, base: 10}\n")
    line = ("--plan", "plan.yaml", "--drop", "smoker", *GO_ON)
    there = steward("mask", "clinic", *line, "--out", "there.csv")
    assert there.code == 0, there.err
    here = steward("mask", "patients.csv", *line, "--out", "here.csv", here=True)
    assert here.code == 0, here.err
    assert read_sorted("there.csv") == read_sorted("here.csv")


def test_copies_are_drawn_there_as_here(steward: Any) -> None:
    line = ("--method", "sample", "--rehearse", "tests", "--leave-out", "patient", "--copies", "2")
    there = steward("synthesize", "clinic", *line, "--out", "there.csv")
    assert there.code == 0, there.err
    here = steward("synthesize", "patients.csv", *line, "--out", "here.csv", here=True)
    assert here.code == 0, here.err
    for copy in (1, 2):
        assert Path(f"there.{copy}.csv").read_bytes() == Path(f"here.{copy}.csv").read_bytes()


def test_private_copies_are_priced_and_paid_by_the_budget_of_the_table(steward: Any) -> None:
    line = ("synthesize", "clinic", "--method", "mst", "--rows-per-unit", "1", "--out", "p.csv")
    assert steward(*line, "--epsilon", "2", "--quote").code == 0
    assert steward(*line, "--epsilon", "900", "--quote").code == 3
    made = steward(*line, "--epsilon", "2", *GO_ON)
    assert made.code == 0, made.err
    assert Path("p.csv").read_text().startswith('"age"')
    assert steward(*line, "--epsilon", "900", "--force").code == 3


def test_sequences_are_drawn_on_the_server(steward: Any) -> None:
    line = ("--method", "markov", "--sequence", "visit", "--token", "page", "--order", "at", "--longest", "6",
            "--sequences-per-unit", "1", "--epsilon", "3", "--count", "20", *GO_ON)  # fmt: skip
    made = steward("synthesize", "clicks", *line, "--out", "safe.csv")
    assert made.code == 0, made.err
    assert "page" in Path("safe.csv").read_text().splitlines()[0]


def test_trajectories_are_drawn_on_the_server(steward: Any) -> None:
    made = steward("mobility", "synthesize", "visits", *SITES, "--epsilon", "6", "--out", "t.csv", *GO_ON)
    assert made.code == 0, made.err
    assert Path("t.csv").stat().st_size > 100
    refused = steward("mobility", "synthesize", "visits", *SITES, *PERSON, "--epsilon", "6", "--out", "u.csv")
    assert (refused.code, "--person" in refused.err) == (2, True)


def test_communities_are_described_on_the_server(steward: Any) -> None:
    line = ("mobility", "communities", "visits", *SITES, "--communities", "3", "--visits-per-person", "20")
    made = steward(*line, "--epsilon", "6", "--out", "c.csv", *GO_ON)
    assert made.code == 0, made.err
    assert Path("c.csv").stat().st_size > 50
    raw = steward(*line[:-2])
    assert (raw.code, "say --epsilon" in raw.err) == (2, True)


def test_rows_are_protected_one_by_one(steward: Any) -> None:
    line = ("collect", "club", "--column", "smoker", "--column", "diagnosis=2", "--epsilon", "3", "--out", "r.csv")
    assert steward(*line, "--quote").code == 0
    made = steward(*line)
    assert made.code == 0, made.err
    assert "300 reports are in r.csv." in made.out
    again = steward("collect", "--estimate", "r.csv", here=True)
    assert (again.code, again.out.splitlines()[:4]) == (0, made.out.splitlines()[:4])
    refused = steward(*line, "--force", "--schema", "patients.yaml")
    assert (refused.code, "--schema" in refused.err) == (2, True)


def test_risk_is_measured_there_as_here(steward: Any) -> None:
    line = ("--qi", "age,sex", "--threshold", "0.1")
    for more in ((), ("--json",)):
        there, here = steward("risk", "clinic", *line, *more), steward("risk", "patients.csv", *line, *more, here=True)
        assert (there.code, here.code) == (0, 0), (there, here)
        told = [
            re.sub(r'"shuffled": [0-9.]+', "", each.out) for each in (there, here)
        ]  # the control is drawn by chance
        assert told[0] == told[1]
    refused = steward("risk", "clinic", "--after", "others.csv")
    assert (refused.code, "--after" in refused.err) == (2, True)


def test_decisions_are_those_of_this_machine(steward: Any) -> None:
    line = ("decide", "--query", "mean", "--rows", "2000", "--bounds", "0:100", "--error", "0.5", "--epsilon", "0.1,1",
            "--group", "staff:100:5500 EUR:100 EUR", "--json")  # fmt: skip
    there, here = json.loads(steward(*line).out), json.loads(steward(*line, here=True).out)
    assert there["candidates"] == here["candidates"]
    assert there["recommended"] == here["recommended"]
    never = ("decide", "--query", "count", "--error", "0.1", "--budget", "1 EUR", "--group", "all:9:9 EUR")
    assert steward(*never).code == steward(*never, here=True).code == 2


def test_a_model_is_attacked_on_the_server(steward: Any) -> None:
    pytest.importorskip("skops")
    import numpy as np
    import skops.io
    from sklearn.linear_model import LogisticRegression

    ages = np.arange(18, 98).reshape(-1, 1).astype(float)
    skops.io.dump(LogisticRegression().fit(ages, ages[:, 0] > 50), "model.skops")
    line = ("attack", "model.skops", "--members", "few", "--others", "few.csv", "--label", "smoker", "--shadows", "0")
    done = steward(*line)
    assert done.code in (0, 5), done
    assert "nothing has left" in done.out
    refused = steward(*line, "--epsilon", "1")
    assert (refused.code, "--epsilon" in refused.err) == (2, True)


def write_stopped(release: dict[str, Any], **more: Any) -> str:
    """Write a release that its gate stops; gives its file."""
    gate = {"thresholds": dict.fromkeys(DEFAULTS, 0.0), "level": "0.999999"}
    said = {"format": "ziggurat/release/1", "table": "clinic", "release": release, "gate": gate, **more}
    Path("stopped.yaml").write_text(json.dumps(said))
    return "stopped.yaml"


def test_the_gate_stops_there_and_a_reason_lets_go(steward: Any) -> None:
    file = write_stopped({"kind": "anonymized table", "k": 2, "drop": ["smoker"], "suppression": "0.5"})
    stopped = steward("release", "run", file)
    assert (stopped.code, Path("stopped.zip").exists()) == (5, False), stopped
    (job,) = re.findall(r"ziggurat server go-on ([0-9a-f]{16})", stopped.err)
    assert f"{job}: release of clinic, stopped" in steward("server", "jobs").out
    other = steward("model", "let-go", job, "--go-on", "why", "--out", "m")
    assert (other.code, "releases no model" in other.err) == (2, True)
    gone = steward("server", "go-on", job, "--reason", "Nobody in it is anybody.", "--out", "gone.zip", "--json")
    assert gone.code == 0, gone.err
    assert "Nobody in it is anybody." in gone.out
    assert steward("verify", "gone.zip", here=True).code == 0
    assert steward("server", "go-on", job, "--reason", "again", "--out", "again.zip").code == 2


def test_a_reason_is_said_at_once_where_it_is_known(steward: Any) -> None:
    file = write_stopped({"kind": "anonymized table", "k": 2, "drop": ["smoker"], "suppression": "0.5"})
    assert steward("release", "run", file, "--go-on", "Nobody in it is anybody.").code == 0
    assert Path("stopped.zip").is_file()


def test_a_model_that_the_gate_stopped_is_let_go(steward: Any) -> None:
    model = {"kind": "model", "label": "smoker", "columns": ["age"], "model": "naive-bayes", "epsilon": "5"}
    stopped = steward("release", "run", write_stopped({**model, "holdout": 0.3}, rehearse=7))
    assert stopped.code == 5, stopped
    (job,) = re.findall(r"ziggurat server go-on ([0-9a-f]{16})", stopped.err)
    gone = steward("model", "let-go", job, "--go-on", "Nobody in it is anybody.", "--out", "m")
    assert gone.code == 0, gone.err
    assert steward("model", "predict", "m", "queries.csv", here=True).code == 0
    assert steward("model", "let-go", job, "--go-on", "why").code == 2


def test_a_job_that_has_ended_is_not_cancelled(steward: Any, place: Any) -> None:
    assert steward("risk", "clinic").code == 0
    newest = json.loads(steward("server", "jobs", "--json").out)[0]
    assert newest["state"] == "done"
    assert steward("server", "cancel", newest["id"]).code == 2


def test_what_left_is_listed_and_handed_out(steward: Any) -> None:
    ran = steward("release", "run", "answer.yaml", "--json")
    assert ran.code == 0, ran.err
    identity = json.loads(ran.out)["release"]
    assert identity in steward("server", "releases", "clinic").out
    assert f"{identity}: release of clinic, done" in steward("server", "job", identity).out
    assert steward("release", "hand-out", identity, "--out", "public.zip").code == 0
    Path("key.pub").write_text(steward("release", "key").out)
    assert steward("verify", "public.zip", "--key", "key.pub", here=True).code == 0


def test_bundles_and_receipts_are_verified_by_the_server(steward: Any, place: Any) -> None:
    Path("two.yaml").write_text(DESCRIBED.replace("0.25", "0.2"))
    assert steward("release", "run", "two.yaml").code == 0
    there = steward("verify", "two.zip", "--json")
    assert (there.code, json.loads(there.out)["ours"]) == (0, True), there
    assert steward("release", "verify", "two.zip").code == steward("verify", "two.zip", here=True).code == 0
    held = bytearray(Path("two.zip").read_bytes())
    held[held.index(b"epsilon")] ^= 1
    Path("forged.zip").write_bytes(bytes(held))
    assert steward("verify", "forged.zip").code == steward("verify", "forged.zip", here=True).code == 1
    from ziggurat.ledger import generate_key

    generate_key("k")
    Path("receipt.json").write_text(place[0].house.ledger.sign_head("k").to_json())
    told = steward("verify", "receipt.json")
    assert (told.code, "is what was signed" in told.out) == (0, True), told
    forged = json.loads(Path("receipt.json").read_text())
    Path("forged.json").write_text(json.dumps({**forged, "hash": "0" * 64}))
    assert steward("verify", "forged.json").code == 1
    assert steward("verify", str(place[0].house.settings.ledger_place)).code == 2


def test_the_environment_sends_nothing_away_to_be_verified(steward: Any, place: Any, monkeypatch: Any) -> None:
    Path("receipt.json").write_text("{}")
    monkeypatch.setenv("ZIGGURAT_SERVER", "http://127.0.0.1:1")
    assert steward("verify", "receipt.json", here=True).code != 7, "the server was asked"


def test_a_model_is_fitted_published_and_asked(steward: Any, fitted: Any) -> None:
    _, folder = fitted
    copy_folder(folder / "smoking", Path("m"))
    there = steward("model", "predict", "smoking", "queries.csv")
    here = steward("model", "predict", "m", "queries.csv", here=True)
    assert (there.code, here.code) == (0, 0), (there, here)
    assert there.out == here.out
    shown = steward("model", "show", "smoking")
    assert (shown.code, "It is asked by age" in shown.out) == (0, True)
    priced = steward(*FIT, "clinic", "--out", "n", "--quote")
    assert (priced.code, Path("n").exists()) == (0, False)
    dear = steward(*FIT[:2], "clinic", "--label", "smoker", "--epsilon", "900", "--out", "n")
    assert (dear.code, Path("n").exists()) == (3, False)


def test_a_model_is_fitted_there_as_here(steward: Any) -> None:
    for line in (
        ("ledger", "budget", "mine", "--epsilon", "9", "--delta", "1e-3", "--person", "patient"),
        ("ledger", "grant", "mine", "ada", "--epsilon", "9", "--delta", "1e-4"),
    ):
        assert steward(*line, here=True).code == 0
    paid = ("--budget", "mine", "--analyst", "ada", "--out", "here")
    local = steward(*FIT, "patients.csv", *paid, "--rehearse", "7", here=True)
    assert local.code == 0, local.err
    assert steward(*FIT, "clinic", "--rehearse", "7", "--out", "there").code == 0
    told = [steward("model", "predict", each, "queries.csv", here=True).out for each in ("here", "there")]
    assert told[0] == told[1]


def copy_folder(held: Path, place: Path) -> None:
    place.mkdir()
    for file in held.iterdir():
        (place / file.name).write_bytes(file.read_bytes())


def test_a_served_model_answers(steward: Any, registered: None, place: Any) -> None:
    listed = steward("server", "models").out
    assert "ages: served, of clinic" in listed
    there = json.loads(steward("model", "answer", "ages", "ages.csv", "--json").out)
    folder = str(place[1] / "service" / "models" / "ages")
    assert there == json.loads(steward("model", "answer", folder, "ages.csv", "--json", here=True).out)
    printed = steward("model", "answer", "ages", "ages.csv", "--out", "answers.csv")
    assert (printed.code, Path("answers.csv").is_file()) == (0, True)
    assert steward("model", "answer", "ages", "ages.csv", "--picture", "a.svg").code == 2


def test_teachers_label_for_a_student(steward: Any, registered: None) -> None:
    line = ("pate", "label", "wards", "queries.csv", "--aggregator", "gumbel:0.1", "--out", "labels.json")
    assert steward(*line, "--quote").code == 0
    made = steward(*line)
    assert made.code == 0, made.err
    assert "6 of 6 queries answered" in made.out
    again = steward(*line, "--force")
    assert "nothing was spent" in again.out
    from ziggurat.release import Labelled

    assert Labelled.load("labels.json").facts.queries == 6


def test_a_table_comes_and_goes(steward: Any) -> None:
    for line in (
        ("server", "register", "brief", "patients.csv", "--schema", "patients.yaml"),
        ("ledger", "budget", "brief", "--epsilon", "1"),
        ("ledger", "grant", "brief", "ana", "--epsilon", "1"),
        ("ledger", "close", "brief", "ana"),
        ("server", "forget", "brief"),
    ):
        done = steward(*line)
        assert done.code == 0, (line, done)
    made = steward("server", "make-key", "ana", "brief")
    (identity,) = re.findall(r"^([0-9a-f]+): brief", made.out + made.err, re.MULTILINE)
    assert steward("server", "revoke-key", "ana", identity).code == 0


REFUSED = {
    "anonymize": ("clinic|--k|5|--out|x.csv|--solutions|s.csv", "--solutions"),
    "mask": ("clinic|--drop|smoker|--out|x.csv|--budget|b", "--budget"),
    "synthesize": ("clinic|--out|x.csv|--save|m", "--save"),
    "model fit": ("clinic|--label|smoker|--epsilon|1|--out|m|--ledger|l.db", "--ledger"),
    "model answer": ("ages|ages.csv|--picture|p.svg", "--picture"),
    "pate label": ("wards|queries.csv|--out|l.json|--organisation|h=2", "--organisation"),
    "decide": ("--query|count|--as-published", "--as-published"),
    "ledger witness": ("--lost", "--lost"),
    "release key": ("--rotate", "--rotate"),
    "verify": ("receipt.json|--key|k.pub", "--key"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_means_something_here_alone_is_refused_by_name(steward: Any, name: str) -> None:
    line, option = REFUSED[name]
    Path("receipt.json").write_text("{}")
    done = steward(*name.split(), *line.split("|"))
    assert done.code == 2, done
    assert f"{option} is for tables and ledgers of this machine" in done.err, done


FILES = {
    "anonymize": "patients.csv|--k|5|--out|x.csv",
    "mask": "patients.csv|--drop|smoker|--out|x.csv",
    "synthesize": "patients.csv|--out|x.csv",
    "risk": "patients.csv",
    "model fit": "patients.csv|--label|smoker|--epsilon|1|--out|m",
    "collect": "patients.csv|--column|smoker|--epsilon|1|--out|x.csv",
    "mobility synthesize": "visits.csv|--time|minute|--place|stop|--epsilon|1|--out|x.csv",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_no_table_of_a_server(steward: Any, name: str) -> None:
    done = steward(*name.split(), *FILES[name].split("|"))
    assert done.code == 2, done
    assert "is no name of a table of a server" in done.err


@pytest.mark.parametrize("name", ["anonymize", "mask", "synthesize", "model fit", "risk"])
def test_an_analyst_is_refused_what_stewards_do(ana: Any, name: str) -> None:
    done = ana(*name.split(), *FILES[name].replace("patients.csv", "clinic").split("|"))
    assert done.code == 8, done
    assert not list(Path().glob("x.*"))


def test_clicks_are_nobodys_but_the_stewards(ana: Any) -> None:
    assert ana("risk", "clicks").code == 2, "a table that somebody may not see does not exist"
