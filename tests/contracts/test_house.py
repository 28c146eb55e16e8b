"""The rules of the house: fences between packages, folders that can be overlooked, names that are used once, doors.

`bench/house.py` measures; what it measures is held here. After a change that was meant, write the doors anew:
`python bench/house.py --doors > tests/contracts/doors.txt`, and let a reviewer read the difference.
"""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import house as measuring  # noqa: E402

HOUSE = measuring.House(ROOT)
DOORS = sorted(HOUSE.doors())
LAZY = [name for name in DOORS if "lazy(" in HOUSE.modules[name].text and HOUSE.modules[name].is_package]


def build(folder: Path, files: dict[str, str]) -> measuring.House:
    """Invent a product."""
    for name, text in files.items():
        file = folder / "src/invented" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return measuring.House(folder, "invented")


FENCED = {
    "__init__.py": "",
    "leaf.py": "_hidden = 1\n",
    "_own.py": "",
    "low/__init__.py": "from invented.low._inner import thing as thing\n__all__ = ['thing']\n",
    "low/_inner.py": "thing = _secret = 1\n",
    "low/deep/__init__.py": "",
    "low/deep/_deeper.py": "from invented.low._inner import thing\nfrom invented import _own\n",
}


def test_nobody_reaches_over_a_fence():
    assert HOUSE.reach_ins() == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from invented.low._inner import thing\n", "invented.low._inner.thing"),
        ("from invented.low import _inner\n", "invented.low._inner"),
        ("import invented.low._inner\n", "invented.low._inner"),
        ("from ..low._inner import thing\n", "invented.low._inner.thing"),
        ("def late():\n    from invented.low._inner import thing\n", "invented.low._inner.thing"),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import invented.low._inner as i\n",
            "invented.low._inner",
        ),
        ("from invented.low.deep import _deeper as d\n", "invented.low.deep._deeper"),
        ("from invented.leaf import _hidden\n", "invented.leaf._hidden"),
        ("from invented import leaf\nleaf._hidden\n", "invented.leaf._hidden"),
        ("import invented.leaf\ninvented.leaf._hidden\n", "invented.leaf._hidden"),
        ("import invented.leaf as other\nother._hidden = 2\n", "invented.leaf._hidden"),
        ("later('invented.low._inner')\n", "invented.low._inner"),
    ],
)
def test_a_package_that_reaches_over_a_fence_is_caught(tmp_path, text, found):
    house = build(tmp_path, {**FENCED, "high/__init__.py": "", "high/_reaching.py": text})
    assert [line.split(" -> ")[1] for line in house.reach_ins()] == [found]


def test_what_goes_through_a_door_or_stays_at_home_is_not(tmp_path):
    text = "from invented import _own, leaf, low\nfrom invented.low import thing\nself._hidden = leaf.__name__\n"
    assert build(tmp_path, {**FENCED, "high/__init__.py": "", "high/_honest.py": text}).reach_ins() == []


def test_import_linter_holds_the_same_fence(tmp_path):
    """The contract in pyproject.toml, on an invented product: kept, and broken by one import more."""
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.importlinter]\nroot_package = "invented"\ncontract_types = ["fences: bench.fences.Fences"]\n'
        '[[tool.importlinter.contracts]]\nname = "Fences"\ntype = "fences"\n'
    )
    build(tmp_path, FENCED)
    assert lint(tmp_path).returncode == 0
    build(tmp_path, {"high/__init__.py": "", "high/_reaching.py": "from invented.low._inner import thing\n"})
    broken = lint(tmp_path)
    assert broken.returncode == 1
    assert "invented.high._reaching -> invented.low._inner (line 1)" in " ".join(broken.stdout.split())


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter in a folder."""
    code = (
        "import sys; sys.path[:0] = ['src', '.']; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    )
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)


def test_no_folder_has_more_than_fifteen_modules_side_by_side():
    assert {folder: count for folder, count in HOUSE.folders().items() if count > measuring.CROWDED} == {}


def test_a_crowded_folder_is_counted(tmp_path):
    house = build(tmp_path, {"__init__.py": "", **{f"_m{i}.py": "" for i in range(16)}})
    assert house.folders() == {"invented": 16}


def test_fewer_than_ten_class_names_are_used_more_than_once():
    assert len(HOUSE.repeated_classes()) < 10, HOUSE.repeated_classes()


def test_a_class_name_is_repeated_whatever_underscores_it_has(tmp_path):
    house = build(
        tmp_path, {"_a.py": "class Plan: ...", "_b.py": "def f():\n    class _Plan: ...", "_c.py": "class Other: ..."}
    )
    assert house.repeated_classes() == {"Plan": ["invented._a", "invented._b"]}


def test_the_doors_are_as_pinned():
    pinned = (ROOT / "tests/contracts/doors.txt").read_text()
    assert measuring.show_doors(HOUSE) == pinned, (
        "if it was meant: python bench/house.py --doors > tests/contracts/doors.txt"
    )


@pytest.mark.parametrize("door", DOORS)
def test_every_name_of_a_door_is_there_and_without_underscore(door):
    module = importlib.import_module(door)
    for name in HOUSE.doors()[door]:
        assert hasattr(module, name), f"{door} does not give {name}"
        assert name == "__version__" or not name.startswith("_"), f"{door} gives the private {name}"


@pytest.mark.parametrize("door", [name for name in DOORS if HOUSE.modules[name].is_package])
def test_a_door_says_all_that_it_gives_and_nothing_twice(door):
    module = HOUSE.modules[door]
    names = HOUSE.doors()[door]
    assert len(set(names)) == len(names)
    imported = {
        alias.asname or alias.name
        for node in measuring._statements(module.tree.body)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("ziggurat.") and node.module != "ziggurat._lazy"
        for alias in node.names
    }
    own = {name for name in measuring.defined(module) if not name.startswith("_")}
    assert own <= set(names) <= imported | own | {"__version__"}
    assert own or imported <= set(names), "a door that only passes names on passes on all of them"


@pytest.mark.parametrize("door", LAZY)
def test_the_three_lists_of_a_lazy_door_agree(door):
    module = HOUSE.modules[door]
    checked, loaded = lists_of(module)
    assert checked == loaded
    assert {name for names in loaded.values() for name in names} <= set(HOUSE.doors()[door])


def lists_of(module):
    """What a type checker sees of a lazy door, and what is loaded, both by module."""
    branch = next(
        node for node in module.tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    )
    checked = {
        node.module: {alias.name for alias in node.names} for node in branch.body if isinstance(node, ast.ImportFrom)
    }
    call = next(node for node in ast.walk(branch) if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy")
    homes = ast.literal_eval(call.args[1])
    return checked, {f"{module.name}.{home}": set(names.split()) for home, names in homes.items()}


def test_lists_that_disagree_are_found(tmp_path):
    text = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from invented._a import one, two\n"
        "else:\n    __getattr__, __dir__ = lazy(__name__, {'_a': 'one'})\n__all__ = ['one']\n"
    )
    checked, loaded = lists_of(build(tmp_path, {"__init__.py": text}).modules["invented"])
    assert checked == {"invented._a": {"one", "two"}}
    assert loaded == {"invented._a": {"one"}}


def test_every_public_name_is_explained():
    assert [
        f"{door}.{name}" for door, names in HOUSE.public().items() for name in names if not HOUSE.explained(door, name)
    ] == []


def test_every_public_name_stands_in_the_documentation():
    assert HOUSE.undocumented() == []


def test_a_public_name_without_explanation_or_page_is_found(tmp_path):
    files = {
        "__init__.py": "",
        "low/__init__.py": "from invented.low._a import bare, told, worth\n__all__ = ['bare', 'told', 'worth']\n",
        "low/_a.py": "def bare(): ...\n\ndef told():\n    '''Told.'''\n\nworth = 1\n'''What it is.'''\n",
    }
    house = build(tmp_path, files)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("`told` and `bare`")
    assert house.undocumented() == ["invented.low.bare", "invented.low.worth"]
    (tmp_path / "docs/low.md").write_text("::: invented.low\n")
    assert house.undocumented() == ["invented.low.bare"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("_checked", True),
        ("made_table", True),
        ("check_columns", False),
        ("seeded", True),
        ("seed_all", False),
        ("need", False),
    ],
)
def test_participles_are_told_from_verbs(name, expected):
    assert measuring.is_participle(name) == expected
