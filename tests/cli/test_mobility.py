"""`ziggurat mobility`: from two files of visits and places to a verified bundle, by the command line alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pytest

from ziggurat.data.generators import city_places, city_visits
from ziggurat.release import check_synthetic
from ziggurat.sequences.mobility import MarkovTrajectories

Command = Callable[..., Any]
SCHEMA = """
unit: {person: card}
columns:
  card: {kind: text, role: identifier}
  minute: {kind: integer}
  stop: {kind: integer}
  lat: {kind: real}
  lon: {kind: real}
"""
WHERE = ("--time", "minute", "--place", "stop", "--places", "stops.csv", "--longest", "8")
ON_POINTS = ("--time", "minute", "--latitude", "lat", "--longitude", "lon", "--longest", "8")
PAID = ("--budget", "visits", "--analyst", "ada")
BOX = "-30.08,44.95,-29.92,45.06"


def write_visits(folder: Path, name: str, rows: pa.Table, stops: pa.Table) -> None:
    at = rows["place"].to_numpy()
    given = {
        "card": [f"card-{who}" for who in rows["person"].to_pylist()],
        "minute": rows["minute"],
        "stop": rows["place"],
        "lat": stops["latitude"].to_numpy()[at],
        "lon": stops["longitude"].to_numpy()[at],
    }
    csv.write_csv(pa.table(given), folder / f"{name}.csv")
    (folder / f"{name}.yaml").write_text(SCHEMA)


@pytest.fixture
def city(tmp_path: Path, command: Command) -> Path:
    """Visits, others' visits, stops, and a budget."""
    rows, stops = city_visits(260, places=40, seed=3), city_places(40, seed=3)
    first = pc.less(rows["person"], 200)
    write_visits(tmp_path, "visits", rows.filter(first), stops)
    write_visits(tmp_path, "others", rows.filter(pc.invert(first)), stops)
    csv.write_csv(stops.rename_columns(["stop", "lat", "lng", "district"]), tmp_path / "stops.csv")
    assert command("ledger", "budget", "visits", "--epsilon", "20", "--delta", "1e-3", "--person", "card").code == 0
    assert command("ledger", "grant", "visits", "ada", "--epsilon", "12", "--delta", "1e-4").code == 0
    return tmp_path


def test_help_teaches_with_visits(command: Command) -> None:
    shown = " ".join(command("mobility", "--help").out.split())
    assert "ziggurat mobility risk visits.csv --time minute --place place --places places.csv" in shown
    told = " ".join(command("mobility", "synthesize", "--help").out.split())
    assert "hides a person with all visits" in told
    assert "ziggurat mobility synthesize" in " ".join(command("synthesize", "--help").out.split())


def test_four_points_single_people_out(command: Command, city: Path) -> None:
    shown = command("mobility", "risk", "visits.csv", *WHERE, "--rehearse", "1")
    assert shown.code == 0, shown.err
    assert "4 random points (place, hour) single out" in shown.out
    assert "for the steward" in shown.out
    assert "card-" not in shown.out
    facts = json.loads(command("mobility", "risk", "visits.csv", *WHERE, "--points", "2", "--coarsen", "--json").out)
    assert set(facts) == {"points", "coarser", "top places", "homes", "whole traces"}
    assert len(facts["points"]["alone"]) == 2


def test_trajectories_from_the_quote_to_the_maps(command: Command, city: Path) -> None:
    asked = ("mobility", "synthesize", "visits.csv", *WHERE, "--epsilon", "2", *PAID, "--out", "t.csv")
    quoted = command(*asked, "--quote")
    assert quoted.code == 0, quoted.err
    assert "The question fits" in quoted.out
    assert not (city / "t.csv").exists()
    made = command(*asked, "--count", "120", "--save", "m.ziggurat", "--rehearse", "4")
    assert made.code == 0, made.err
    for piece in (
        "120 trajectories by MarkovTrajectories",
        "The trajectories are in 't.csv'",
        "The ledger paid for it",
    ):
        assert piece in " ".join(made.out.split())
    text = (city / "t.csv").read_text()
    assert text.startswith('"trajectory","visit","place","latitude","longitude","minute"\n1,1,')
    assert "card" not in text
    assert check_synthetic(city / "t.csv.certificate.json")["kind"] == "trajectories"
    assert len(MarkovTrajectories.load(city / "m.ziggurat").sample(5)) == 5
    judged = command(
        "mobility", "compare", "visits.csv", "t.csv", *WHERE, "--others", "others.csv", "--report", "m.html"
    )
    assert judged.code == 0, judged.err
    assert "found by 4 points" in " ".join(judged.out.split())
    assert "<svg" in (city / "m.html").read_text() or "image/svg" in (city / "m.html").read_text()
    facts = json.loads(command("mobility", "compare", "visits.csv", "t.csv", *WHERE, "--json").out)
    assert facts["attacks"] == {}
    assert facts["use"]["synthetic"] <= 120


def test_points_are_laid_on_a_grid_and_cut_at_gaps(command: Command, city: Path) -> None:
    grid = ("--box", BOX, "--grid", "6", "--gap", "240")
    asked = ("mobility", "synthesize", "visits.csv", *ON_POINTS, *grid, "--epsilon", "2", *PAID, "--json")
    made = command(*asked, "--rehearse", "1", "--count", "50", "--out", "g.parquet")
    assert made.code == 0, made.err
    facts = json.loads(made.out)["details"]
    assert (facts["places"], facts["cut"], facts["gap"], facts["trajectories"]) == (36, "gap", 240, 50)


def test_communities_are_raw_without_an_epsilon_and_paid_for_with_one(command: Command, city: Path) -> None:
    raw = command("mobility", "communities", "visits.csv", *WHERE, "--communities", "2", "--iterations", "20")
    assert raw.code == 0, raw.err
    assert "promises nothing" in raw.out
    asked = ("mobility", "communities", "visits.csv", *WHERE, "--communities", "2", "--epsilon", "2", *PAID)
    quoted = command(*asked, "--out", "c.csv", "--quote")
    assert quoted.code == 0, quoted.err
    made = command(*asked, "--out", "c.csv", "--rehearse", "2")
    assert made.code == 0, made.err
    assert "2 communities by PrivateSTLDA" in " ".join(made.out.split())
    held = csv.read_csv(city / "c.csv")
    assert held.column_names[:5] == ["community", "share", "what", "name", "chance"]
    hours = held.filter(pc.equal(held["what"], "hour"))
    assert hours.num_rows == 2 * 24
    sums = hours.group_by("community").aggregate([("chance", "sum")])["chance_sum"].to_pylist()
    assert sums == pytest.approx([1.0] * 2)


CONFIG = """
format: ziggurat/release/1
table: visits.csv
ledger: {ledger}
population: visits
analyst: ada
release:
  kind: trajectories
  epsilon: 2
  time: minute
  place: stop
  longest: 8
  places: {{table: stops.csv, regions: [district]}}
  count: 60
"""


def test_a_file_from_two_tables_to_a_verified_bundle(command: Command, city: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(city / "settings"))
    import os

    (city / "release.yaml").write_text(CONFIG.format(ledger=os.environ["ZIGGURAT_LEDGER"]))
    planned = command("release", "plan", "release.yaml")
    assert planned.code == 0, planned.err
    assert "Trajectories over 40 public places by MarkovTrajectories" in planned.out
    made = command("release", "run", "release.yaml", "--go-on", "Invented people: whatever the gate says by chance.")
    assert made.code == 0, made.err
    assert command("verify", "release.bundle").code == 0
    public = {file.name for file in (city / "release.bundle" / "public").iterdir()}
    assert "trajectories.parquet" in public
    assert "card-" not in "".join(
        file.read_bytes().decode("utf-8", "replace") for file in (city / "release.bundle" / "public").iterdir()
    )


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--time", "minute", "--epsilon", "1"), "place, or latitude and longitude"),
        (("--time", "minute", "--place", "stop", "--epsilon", "1"), "Say which places are public"),
        ((*ON_POINTS, "--grid", "5", "--epsilon", "1"), "A grid needs the box"),
        ((*ON_POINTS, "--grid", "5", "--box", "1,2,3", "--epsilon", "1"), "four numbers in degrees"),
        ((*ON_POINTS, "--grid", "5", "--box", "a,b,c,d", "--epsilon", "1"), "four numbers in degrees"),
        ((*WHERE, "--cut", "hour", "--epsilon", "1"), "cut by day, gap or trip, or never"),
        ((*WHERE, "--place-columns", "stop", "--epsilon", "1"), "must have 3 parts"),
        ((*WHERE, "--method", "marcov", "--epsilon", "1"), "did you mean 'markov'"),
        ((*WHERE, "--tick", "0", "--epsilon", "1"), "tick"),
        ((*WHERE, "--epsilon", "nothing"), "nothing"),
    ],
)
def test_what_does_not_go_together_says_what_to_change(command: Command, city: Path, given: Any, says: str) -> None:
    refused = command("mobility", "synthesize", "visits.csv", *given, *PAID, "--out", "x.csv")
    assert refused.code == 2
    assert says in " ".join(refused.err.split())
    assert not (city / "x.csv").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (("--out", "c.csv"), "--out goes with --epsilon"),
        (("--quote",), "--quote goes with --epsilon"),
        (("--epsilon", "1", *PAID), "name --budget, --analyst and --out"),
        (("--epsilon", "1", *PAID, "--out", "c.csv", "--chains", "2"), "--chains goes without --epsilon"),
    ],
)
def test_raw_communities_do_not_leave(command: Command, city: Path, given: Any, says: str) -> None:
    refused = command("mobility", "communities", "visits.csv", *WHERE, *given)
    assert refused.code == 2
    assert says in " ".join(refused.err.split())


def test_a_file_of_something_else_is_no_trajectories(command: Command, city: Path) -> None:
    refused = command("mobility", "compare", "visits.csv", "stops.csv", *WHERE)
    assert refused.code == 6
    assert "no file of trajectories" in refused.err
