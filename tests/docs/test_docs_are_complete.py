"""Documentation as a contract: every command, option and setting is documented, every page is reachable."""

import re
from pathlib import Path

import pytest
import typer.main
import yaml

from ziggurat.cli import app

ROOT = Path(__file__).parents[2]
CLI = (ROOT / "docs/reference/cli.md").read_text()
SETTINGS = (ROOT / "docs/reference/settings.md").read_text()


def commands(group, path=("ziggurat",)):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


@pytest.mark.parametrize(("name", "command"), list(commands(typer.main.get_command(app))), ids=lambda item: str(item))
def test_every_command_and_option_is_documented(name, command):
    line = next((line for line in CLI.splitlines() if line.startswith(f"| `{name}")), None)
    assert line is not None, f"{name} is missing in docs/reference/cli.md"
    for option in command.params:
        long = [text for text in option.opts if text.startswith("--")]
        if long and long[0] not in ("--help", "--ledger"):
            assert long[0] in line, f"{name} {long[0]} is missing in docs/reference/cli.md"


def test_every_setting_the_code_reads_is_documented_and_no_other():
    used = set()
    for file in (ROOT / "src").rglob("*.py"):
        used |= set(re.findall(r"ZIGGURAT_[A-Z_]*[A-Z]", file.read_text()))
    assert used == set(re.findall(r"`(ZIGGURAT_[A-Z_]+)`", SETTINGS))


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text()
    pages = {str(file.relative_to(ROOT / "docs")) for file in (ROOT / "docs").rglob("*.md")}
    listed = set(re.findall(r"[\w/.-]+\.md", nav))
    assert pages == listed


def test_every_link_between_pages_leads_somewhere():
    for file in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", file.read_text()):
            assert (file.parent / target).exists(), f"{file.name} links to {target}"


def test_the_navigation_is_valid_yaml_without_outside_assets():
    site = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
    assert site["theme"]["font"] is False


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_every_command_that_a_first_page_shows_can_be_given(page):
    known = dict(commands(typer.main.get_command(app)))
    shown = re.findall(
        r"(?:^\$ |^|`)(ziggurat [a-z].*?)(?:\s{2,}#.*|\s{4,}.*)?(?:`|$)", (ROOT / page).read_text(), re.MULTILINE
    )
    assert len(shown) > 3
    for line in shown:
        words = line.split()
        name = next((name for name in (" ".join(words[:n]) for n in (3, 2)) if name in known), None)
        assert name is not None or line in {"ziggurat doctor", "ziggurat tour"}, f"{page}: {line}"
        options = {text for option in known[name].params for text in option.opts}
        assert {word for word in words if word.startswith("--")} <= options, f"{page}: {line}"
