"""The recipes of containers name what is there: files, commands, settings, volumes. Docker itself is not run here."""

import re
from pathlib import Path

import pytest
import typer.main
import yaml

from ziggurat.cli import app
from ziggurat.service import ServiceSettings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "containers"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text())
_OF_UVICORN = {"FORWARDED_ALLOW_IPS"}
OURS = {name: each for name, each in COMPOSE["services"].items() if each["image"] == "ziggurat"}


def instructions():
    """The instructions of the Dockerfile, with their words."""
    for line in re.sub(r"\\\n", " ", DOCKERFILE).splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(" ")
            yield name, rest.split()


def all_settings():
    """Every environment variable that the recipes set."""
    for name, each in OURS.items():
        yield from ((name, variable) for variable in each.get("environment", {}))
    yield from (("Dockerfile", variable) for variable in re.findall(r"(ZIGGURAT_[A-Z_]+)=", DOCKERFILE))


def find_command(words):
    """The command of the command line that a container runs, and its options."""
    found = typer.main.get_command(app)
    while hasattr(found, "commands"):
        if not words or words[0] not in found.commands:
            return None, words
        found, words = found.commands[words[0]], words[1:]
    return found, words


def test_what_is_copied_into_the_image_is_there_and_let_in():
    let_in = re.findall(r"^!(\S+)", (FOLDER / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    copied = [words for name, words in instructions() if name == "COPY" and not words[0].startswith("--from")]
    assert copied
    for words in copied:
        for source in words[:-1]:
            assert (ROOT / source).exists(), source
            assert Path(source).name in let_in, source


def test_the_image_lets_in_nothing_else():
    lines = (FOLDER / "Dockerfile.dockerignore").read_text().splitlines()
    assert next(line for line in lines if not line.startswith("#")) == "*"


def test_the_project_needs_no_file_at_the_build_that_is_not_copied():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    copied = {word for name, words in instructions() if name == "COPY" for word in words}
    assert {project["readme"], *project["license-files"]} <= copied
    (extra,) = re.findall(r"ARG EXTRAS=(\w+)", DOCKERFILE)
    assert extra in project["optional-dependencies"]


def test_the_image_runs_as_nobody_and_asks_no_outside_address():
    steps = list(instructions())
    assert [words for name, words in steps if name == "USER"] == [["10001:10001"]]
    assert all(words[0].startswith("python:3.11-slim") for name, words in steps if name == "FROM")
    assert not re.findall(r"curl|wget|git |apt|http://(?!127\.0\.0\.1)|https://", DOCKERFILE)


def test_the_health_check_asks_a_route_that_is_there(served):
    (path,) = re.findall(r"http://127\.0\.0\.1:8470(/\w+)", DOCKERFILE)
    assert served.client.get(path).status_code == 200
    assert ServiceSettings.model_fields["port"].default == 8470


@pytest.mark.parametrize(("where", "variable"), list(all_settings()))
def test_every_setting_that_is_named_is_one(where, variable):
    general = {"ZIGGURAT_CACHE", "ZIGGURAT_SETTINGS", "ZIGGURAT_LEDGER", "ZIGGURAT_WITNESS"} | _OF_UVICORN
    name = variable.removeprefix("ZIGGURAT_SERVICE_").lower()
    assert variable in general or (variable != name and name in ServiceSettings.model_fields), where


def test_a_setting_that_is_none_would_be_noticed():
    assert "alow_plain" not in ServiceSettings.model_fields


@pytest.mark.parametrize("name", OURS)
def test_every_container_may_start_with_its_settings(name, tmp_path):
    said = {key: str(value) for key, value in OURS[name].get("environment", {}).items()}
    said |= dict(re.findall(r"(ZIGGURAT_SERVICE_[A-Z]+)=(\S+)", DOCKERFILE))
    if name != "witness":
        made = ServiceSettings.read({}, said)
        assert made.database_url.startswith("postgresql+psycopg://")
        with pytest.raises(Exception, match="allow-plain"):
            ServiceSettings.read({}, {key: each for key, each in said.items() if "ALLOW" not in key})


@pytest.mark.parametrize("name", OURS)
def test_every_option_of_serving_is_a_setting(name):
    words = OURS[name]["command"]
    if words[0] == "serve":
        options = [word[2:].replace("-", "_") for word in words if word.startswith("--")]
        assert set(options) <= set(ServiceSettings.model_fields)


@pytest.mark.parametrize("name", OURS)
def test_every_command_that_is_run_can_be_given(name):
    words = OURS[name]["command"]
    if words[0] not in typer.main.get_command(app).commands:
        pytest.skip(f"'ziggurat {words[0]}' is not among the commands yet")
    command, rest = find_command(words)
    assert command is not None, words
    options = {text for option in command.params for text in option.opts}
    assert {word for word in rest if word.startswith("--")} <= options


def test_a_command_that_is_none_would_be_noticed():
    assert find_command(["ledger", "serve-everything"])[0] is None
    assert find_command(["ledger", "verify", "--whole"])[0] is not None


@pytest.mark.parametrize("name", OURS)
def test_containers_write_to_their_volume_only(name):
    each = OURS[name]
    assert each["read_only"] is True
    assert each["cap_drop"] == ["ALL"]
    assert [volume.split(":")[1] for volume in each["volumes"]] == ["/data"]


def test_nothing_listens_beyond_this_machine_and_the_database_reaches_nobody():
    for name, each in COMPOSE["services"].items():
        assert all(port.startswith("127.0.0.1:") for port in each.get("ports", ())), name
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert COMPOSE["services"]["database"]["networks"] == ["inside"]


def test_every_volume_and_network_is_declared_and_no_password_is_written_down():
    for each in COMPOSE["services"].values():
        assert {volume.split(":")[0] for volume in each.get("volumes", ())} <= set(COMPOSE["volumes"])
        assert set(each["networks"]) <= set(COMPOSE["networks"])
        assert set(each.get("depends_on", {})) <= set(COMPOSE["services"])
    text = (FOLDER / "compose.yaml").read_text()
    assert all("${POSTGRES_PASSWORD:?" in line for line in text.splitlines() if "PASSWORD" in line and "#" not in line)
