"""A description names what is in the lists of the service, and nothing else exists for it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import AccessError, ParameterError, ZigguratError
from ziggurat.release.config import KINDS, ReleaseConfig, read_config
from ziggurat.service.work._described import read_description

COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.5", "rows_per_unit": 1}
LABELS = {"kind": "labels", "teachers": "t", "queries": "q"}
FOREIGN = {"kind": "foreign model", "model": "m", "others": "o", "label": "smoker"}
VISITS = {"kind": "trajectories", "epsilon": "1", "time": "age", "place": "sex"}
HOSTILE = [
    "/etc/passwd", "../clinic", "..", ".", "~/.ssh/id_rsa", "clinic/../../service.db", "clinic\x00.csv", "file:///etc",
    "postgresql://localhost/x", "http://169.254.169.254/", "*.csv", "clinic.yaml", "release.yaml", "a" * 300,
    "0" * 32 + ".csv", "0" * 32 + ".skops", "..%2fservice.db", "COM1", "-rf",
]  # fmt: skip


def _look_up(workshop: Any, release: dict[str, Any], **rest: Any) -> Any:
    person = workshop.house.people.named("chief")
    return workshop.house.names.look_up(person, {"table": "clinic", "release": release, **rest})


@pytest.mark.parametrize("name", HOSTILE)
def test_no_name_leads_out_of_the_lists(workshop, name: str):
    masked = {"kind": "masked table", "techniques": {"patient": {"technique": "keyed-hash", "secret": {"file": name}}}}
    texts = {"kind": "masked table", "techniques": {"diagnosis": {"technique": "mask-text", "names": {"file": [name]}}}}
    tried = [
        ({**LABELS, "teachers": name}, {}),
        ({**LABELS, "queries": name}, {}),
        ({**FOREIGN, "model": name}, {}),
        ({**FOREIGN, "others": name}, {}),
        ({"kind": "anonymized table", "k": 2, "hierarchies": [name]}, {}),
        ({"kind": "anonymized table", "k": 2, "hierarchies": [f"sex={name}"]}, {}),
        ({"kind": "anonymized table", "k": 2, "hierarchies": [f"{name}={workshop.upload}"]}, {}),
        (masked, {}),
        (texts, {}),
        ({**VISITS, "places": {"table": name}}, {}),
        (COUNT, {"public": {"cities": name}}),
        (COUNT, {"table": name}),
        (COUNT, {"schema": name}),
        (COUNT, {"ledger": name}),
        (COUNT, {"bundle": name}),
        (COUNT, {"name": name}),
        (COUNT, {"population": name}),
        (COUNT, {"analyst": name}),
    ]
    for release, rest in tried:
        with pytest.raises(ZigguratError) as refused:
            _look_up(workshop, release, **rest)
        assert str(workshop.house.settings.folder) not in str(refused.value)


@pytest.mark.parametrize(
    "technique",
    [
        {"technique": "keyed-hash", "secret": {"variable": "ZIGGURAT_KEY"}},
        {"technique": "tokens", "vault": "keep.vault"},
        [{"technique": "tokens"}],
        {"technique": "keyed-hash", "secret": {"file": "a", "variable": "HOME"}},
    ],
)
def test_secrets_of_masks_lie_in_uploads_only(workshop, technique: Any):
    with pytest.raises(ParameterError):
        _look_up(workshop, {"kind": "masked table", "techniques": {"patient": technique}})


@pytest.mark.parametrize("option", ["checkpoint", "path", "device", "random_state", "network", "epsilon", "solver"])
def test_options_name_no_file_and_no_device(workshop, option: str):
    for release in (
        {"kind": "sequences", "epsilon": "1", "method": "recurrent"},
        {"kind": "synthetic table"},
        {"kind": "synthetic table", "method": "mst", "epsilon": "1"},
        {"kind": "model", "label": "smoker", "epsilon": "1"},
        {**VISITS},
        {**VISITS, "kind": "communities"},
    ):
        with pytest.raises(ParameterError, match="no option"):
            _look_up(workshop, {**release, "options": {option: "/tmp/anywhere"}})


def test_what_somebody_else_brought_does_not_exist(workshop):
    workshop.add("sten", "steward")
    workshop("chief", "PUT", "/v1/tables/clinic/rights/sten", {"may": "steward"})
    sten = workshop.house.people.named("sten")
    said = {"table": "clinic", "release": {"kind": "anonymized table", "k": 2, "hierarchies": [workshop.upload]}}
    with pytest.raises(ZigguratError, match="no such upload"):
        workshop.house.names.look_up(sten, said)
    assert workshop.house.names.look_up(workshop.house.people.named("chief"), said).links


def test_names_become_links_of_ours_and_the_run_is_the_services(workshop, tmp_path: Path):
    found = _look_up(workshop, {"kind": "anonymized table", "k": 2, "hierarchies": [f"sex={workshop.upload}"]})
    assert set(found.links) == {"clinic.csv", "sex.csv"}
    read = read_config(found.write(tmp_path, "ledger.db"))
    assert (read.table, read.schema_, read.name, read.analyst) == ("clinic.csv", "clinic.yaml", "clinic", "chief")
    assert (read.population, read.bundle, read.release.hierarchies) == ("clinic", "bundle.zip", ["sex.csv"])
    assert all(place.is_symlink() for place in tmp_path.iterdir() if place.name in found.links)
    assert "postgresql" not in "".join(found.files.values())


def test_a_table_of_others_is_used_only_by_its_stewards(workshop):
    workshop.clinic("ward")
    workshop.add("sten", "steward")
    workshop("chief", "PUT", "/v1/tables/clinic/rights/sten", {"may": "steward"})
    sten = workshop.house.people.named("sten")
    workshop("chief", "PUT", "/v1/tables/ward/rights/sten", {"may": "ask"})
    with pytest.raises(ZigguratError, match="for the stewards of 'ward'"):
        workshop.house.names.look_up(sten, {"table": "clinic", "release": {**VISITS, "places": {"table": "ward"}}})
    with pytest.raises(ZigguratError, match="not public"):
        workshop.house.names.look_up(sten, {"table": "clinic", "release": COUNT, "public": {"ward": "ward"}})


def test_analysts_pay_for_themselves(workshop):
    ana = workshop.house.people.named("ana")
    for rest in ({"analyst": "chief"}, {"rehearse": 1}):
        with pytest.raises(ZigguratError, match="pay for themselves"):
            workshop.house.names.look_up(ana, {"table": "clinic", "release": COUNT, **rest})


def test_what_is_wrong_is_said_without_quoting_it():
    with pytest.raises(ParameterError, match="release") as refused:
        read_description({"table": "clinic", "release": {**COUNT, "epsilon": "secret-of-mine"}})
    assert "secret-of-mine" not in str(refused.value)
    for said in ({"release": float}, {"release": [1]}, {}):
        with pytest.raises(ParameterError):
            read_description(said)


def test_a_key_that_nobody_knows_is_refused_with_the_nearest_one():
    made = {"kind": "synthetic table", "method": "aim", "epsilon": 1, "holdoutt": "0.1"}
    with pytest.raises(ParameterError, match=r"^There is no 'holdoutt' here; did you mean 'holdout'\?$"):
        read_description({"table": "clinic", "release": made})


def test_every_field_of_a_description_was_looked_at():
    """A new field that names a file must be looked up: whoever adds one meets this digest, and `_RESOLVERS`."""
    fields = {name: sorted(model.model_fields) for name, model in {**KINDS, "whole": ReleaseConfig}.items()}
    assert hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16] == "acdd28a84f17abbe"


def _bring(workshop: Any, name: str, schema: str, content: bytes, *, public: bool = False) -> None:
    sent = workshop("chief", "POST", f"/v1/uploads?filename={name}.tsv", content=content).json()["upload"]
    table = {"name": name, "schema": schema, "address": f"upload:{sent}", "public": public}
    made = workshop("chief", "POST", "/v1/tables", table)
    assert made.status_code == 201, made.text


PLACES = """
unit: row
columns:
  place: {kind: category, role: insensitive, categories: [female, male], categories_from: public}
"""


def test_a_private_table_is_no_list_of_public_places(workshop):
    """What lies in it would leave in every trajectory, and nobody would have paid for it."""
    for name, public in (("homes", False), ("stations", True)):
        _bring(workshop, name, PLACES, b"place\nfemale\nmale\n", public=public)
    with pytest.raises(AccessError):
        _look_up(workshop, {**VISITS, "places": {"table": "homes"}})
    assert "places.tsv" in _look_up(workshop, {**VISITS, "places": {"table": "stations"}}).links  # the control


def test_the_schema_of_a_table_is_replaced_by_that_of_no_other(workshop):
    """A table called places was opened by the schema of the places, of which each row is a unit of its own."""
    _bring(workshop, "stations", PLACES, b"place\nfemale\nmale\n", public=True)
    workshop.clinic("places")
    with pytest.raises(ParameterError, match="Two files"):
        _look_up(workshop, {**VISITS, "places": {"table": "stations"}}, table="places")


def test_a_table_called_release_is_released(workshop):
    workshop.clinic("release")
    files = _look_up(workshop, {**COUNT, "sql": "SELECT COUNT(*) AS n FROM release"}, table="release").files
    assert "patient" in files["release.yaml"]
    assert sum("SELECT COUNT" in text for text in files.values()) == 1
