"""The house, measured: how large its parts are, who reaches over a fence, which names say too little.

Run `python bench/house.py`; `--at COMMIT` sets an older commit beside what is there now, `--list` names what was found,
and `--doors` prints every name that leaves a package, which `tests/contracts/doors.txt` pins.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fences import find_owner, is_private, may_import

ROOT = Path(__file__).parents[1]
CROWDED = 15
# Verbs and nouns that end as participles do, and participles that do not.
NOT_PARTICIPLES = {"need", "seed", "feed", "embed", "exceed", "proceed", "succeed", "speed", "shed", "bed", "red"}
IRREGULAR = re.compile(
    "(begun|bound|broken|built|chosen|done|drawn|found|given|held|kept|known|laid|made|paid|said|seen|sent|shown|sold|spent"
    "|taken|thrown|told|understood|written)"
)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Dotted = ast.Name | ast.Attribute
# Doors for everybody, besides those of the terraces; folders within a terrace have doors for the rest of the house.
PUBLIC = (
    "errors",
    "findings",
    "attacks.audits",
    "attacks.audits.catalogue",
    "attacks.mobility",
    "attacks.models",
    "attacks.questions",
    "attacks.sequences",
    "data.datasets",
    "data.engines",
    "data.generators",
    "data.people",
    "ledger.witness",
    "release.audits",
    "release.bundle",
    "release.config",
    "sequences.mobility",
    "sequences.mobility.communities",
    "sequences.mobility.counting",
    "sequences.text",
    "sequences.tokens",
    "utility.mobility",
    "utility.sequences",
    "utility.text",
)


@dataclass
class Module:
    """One file of the product."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        """What is written in it."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The same, parsed."""
        return ast.parse(self.text)

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return list(ast.walk(self.tree))

    @property
    def is_package(self) -> bool:
        """Whether it is the door of a folder."""
        return self.path.name == "__init__.py"

    def functions(self) -> Iterator[Function]:
        """Every function and method, nested ones too."""
        return (node for node in self.nodes if isinstance(node, Function))


class House:
    """A checkout: the modules of its product, its tests and its pages."""

    def __init__(self, root: Path, package: str = "ziggurat") -> None:
        self.root = root
        self.package = package
        files = sorted((root / "src" / package).rglob("*.py"))
        self.modules = {module.name: module for module in (Module(name_of(file, root / "src"), file) for file in files)}

    def reach_ins(self) -> list[str]:
        """Every import of a private module or name, and every use of a private attribute, over a fence."""
        return [
            f"{module.name}:{line} -> {target}"
            for module in self.modules.values()
            for line, target in sorted({*self.imports(module), *self.attributes(module)})
            if target.startswith(f"{self.package}.") and not may_import(module.name, target)
        ]

    def imports(self, module: Module) -> Iterator[tuple[int, str]]:
        """Whatever a module imports by its whole name, and the modules that it names in a text to load them later."""
        for node in module.nodes:
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.lineno, f"{absolute(module, node)}.{alias.name}") for alias in node.names)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in self.modules:
                yield node.lineno, node.value

    def attributes(self, module: Module) -> Iterator[tuple[int, str]]:
        """Attributes of modules of ours that were imported under some name."""
        known = dict(self.aliases(module))
        for node in module.nodes:
            if isinstance(node, ast.Attribute) and is_private(node.attr) and isinstance(node.value, Dotted):
                base = ast.unparse(node.value)
                if known.get(base, base) in self.modules:
                    yield node.lineno, f"{known.get(base, base)}.{node.attr}"

    def aliases(self, module: Module) -> Iterator[tuple[str, str]]:
        """The names that modules of ours have inside a module."""
        for node in module.nodes:
            if isinstance(node, ast.Import):
                yield from ((alias.asname, alias.name) for alias in node.names if alias.asname)
            elif isinstance(node, ast.ImportFrom):
                base = absolute(module, node)
                yield from ((alias.asname or alias.name, f"{base}.{alias.name}") for alias in node.names)

    def folders(self) -> dict[str, int]:
        """How many modules stand side by side in each folder, not counting its door."""
        found: dict[str, int] = defaultdict(int)
        for module in self.modules.values():
            found[str(module.path.parent.relative_to(self.root / "src"))] += not module.is_package
        return dict(found)

    def repeated_classes(self) -> dict[str, list[str]]:
        """Class names, whatever underscores they have, that stand in more than one place."""
        found = defaultdict(list)
        for module in self.modules.values():
            for node in module.nodes:
                if isinstance(node, ast.ClassDef):
                    found[node.name.lstrip("_")].append(module.name)
        return {name: homes for name, homes in sorted(found.items()) if len(homes) > 1}

    def participles(self) -> list[str]:
        """Functions whose names say what was done instead of what they do; properties may."""
        return [
            f"{module.name}.{node.name}"
            for module in self.modules.values()
            for node in module.functions()
            if is_participle(node.name) and not is_property(node)
        ]

    def doors(self) -> dict[str, list[str]]:
        """Every name that leaves a package or a module without underscore."""
        found = {module.name: given(module) for module in self.modules.values() if find_owner(module.name) is None}
        return {door: names for door, names in found.items() if names}

    def public(self) -> dict[str, list[str]]:
        """The doors that are meant for everybody: one of each terrace, and the few inside them that say so."""
        terraces = {module.name for module in self.modules.values() if module.is_package and module.name.count(".") < 2}
        public = {*terraces, *(f"{self.package}.{name}" for name in PUBLIC)} - {f"{self.package}.cli"}
        return {door: names for door, names in self.doors().items() if door in public}

    def definition(self, module: str, name: str) -> tuple[ast.AST, ast.AST | None] | None:
        """Follow a name through the doors to the statement that defines it, and give the statement after that, too."""
        if f"{module}.{name}" in self.modules:
            return self.modules[f"{module}.{name}"].tree, None
        if module not in self.modules:
            return None
        body = list(_statements(self.modules[module].tree.body))
        for node, after in reversed(list(zip(body, [*body[1:], None], strict=True))):
            if name in _named(node):
                return node, after
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.definition(absolute(self.modules[module], node), alias.name)
        return None

    def explained(self, door: str, name: str) -> bool:
        """Whether a name has a docstring; that of a value stands below it."""
        node, after = self.definition(door, name) or (None, None)
        if isinstance(node, ast.ClassDef) and any("__doc__" in _named(inner) for inner in node.body):
            return True
        if isinstance(node, Function | ast.ClassDef | ast.Module):
            return ast.get_docstring(node) is not None
        return name == "__version__" or (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))

    def undocumented(self) -> list[str]:
        """Public names that no page mentions and no page of the reference shows with a docstring."""
        pages = [
            file.read_text(encoding="utf-8") for file in [*(self.root / "docs").rglob("*.md"), self.root / "README.md"]
        ]
        shown = set(re.findall(r"^::: ([\w.]+)$", "\n".join(pages), re.MULTILINE))
        words = set(re.findall(r"\w+", "\n".join(pages)))
        return [
            f"{door}.{name}"
            for door, names in self.public().items()
            for name in names
            if not (self.explained(door, name) and (door in shown or name in words))
        ]

    def measures(self) -> dict[str, str]:
        """The table: what is measured, and what was found."""
        modules = [len(module.text.splitlines()) for module in self.modules.values()]
        functions = [node for module in self.modules.values() for node in module.functions()]
        lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for node in functions]
        tests = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in (self.root / "tests").rglob("*.py"))
        crowded = [folder for folder, count in self.folders().items() if count > CROWDED]
        named = [node for node in functions if not is_property(node)]
        doors = [len(names) for names in self.doors().values()]
        return {
            "modules": f"{len(modules):,}",
            "lines of source": f"{sum(modules):,}",
            "lines of tests": f"{tests:,}",
            "tests / source": f"{tests / sum(modules):.2f}",
            "lines of a module: median, 90%, longest": spread(modules),
            "lines of a function: median, 90%, longest": spread(lengths),
            "reach-ins": f"{len(self.reach_ins()):,}",
            f"folders with more than {CROWDED} modules": f"{len(crowded):,}",
            "class names used more than once": f"{len(self.repeated_classes()):,}",
            "functions named by a participle": f"{len(self.participles()) / len(named):.1%}",
            "doors, and names that leave by them": f"{len(doors):,}, {sum(doors):,}",
            "public names without documentation": f"{len(self.undocumented()):,}",
        }


def name_of(file: Path, src: Path) -> str:
    """Make a module's dotted name from its file."""
    return ".".join(file.relative_to(src).with_suffix("").parts).removesuffix(".__init__")


def absolute(module: Module, node: ast.ImportFrom) -> str:
    """Give the whole name of the module that an import names, relative ones too."""
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    base = parts[: len(parts) - node.level + module.is_package]
    return ".".join([*base, *([node.module] if node.module else [])])


def given(module: Module) -> list[str]:
    """Read a module's `__all__`; a module without one gives what it defines without underscore."""
    for node in module.tree.body:
        if "__all__" in _named(node) and isinstance(node, ast.Assign):
            return [str(name) for name in ast.literal_eval(node.value)]
    return [] if module.is_package else [name for name in defined(module) if not name.startswith("_")]


def defined(module: Module) -> list[str]:
    """List the names that a module defines itself."""
    return [name for node in _statements(module.tree.body) for name in sorted(_named(node))]


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, those under `if TYPE_CHECKING` and `try` too."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _statements([*node.body, *node.orelse])


def _named(node: ast.stmt) -> set[str]:
    """The names that a definition or an assignment makes."""
    if isinstance(node, Function | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}


def is_participle(name: str) -> bool:
    """Tell `_checked_columns` from `check_columns`, by the first word."""
    word = name.lstrip("_").split("_")[0]
    return bool(IRREGULAR.fullmatch(word)) or (word.endswith("ed") and word not in NOT_PARTICIPLES)


def is_property(node: Function) -> bool:
    """Whether a method is used as a value."""
    return any("property" in ast.unparse(item) or ast.unparse(item).endswith(".setter") for item in node.decorator_list)


def spread(values: list[int]) -> str:
    """Sum up sizes by three of them."""
    ordered = sorted(values)
    return f"{ordered[len(ordered) // 2]}, {ordered[len(ordered) * 9 // 10]}, {ordered[-1]}"


def show_doors(house: House) -> str:
    """Print every door with its names, one per line, so that a change shows which ones came and went."""
    return "".join(
        f"{door}\n" + "".join(f"    {name}\n" for name in sorted(names))
        for door, names in sorted(house.doors().items())
    )


def check_out(commit: str, folder: Path) -> House:
    """Put the files of a commit into a folder."""
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return House(folder)


def print_table(columns: dict[str, dict[str, str]]) -> None:
    """Print measures side by side."""
    names = list(next(iter(columns.values())))
    print(f"{'':46}" + "".join(f"{title:>20}" for title in columns))
    for name in names:
        print(f"{name:46}" + "".join(f"{values[name]:>20}" for values in columns.values()))


def main() -> None:
    """Measure, and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--at", metavar="COMMIT", action="append", default=[], help="set an older commit beside it")
    options.add_argument("--list", action="store_true", help="name what was found")
    options.add_argument("--doors", action="store_true", help="print every door and its names")
    chosen = options.parse_args()
    house = House(ROOT)
    if chosen.doors:
        sys.stdout.write(show_doors(house))
        return
    with tempfile.TemporaryDirectory() as folder:
        older = {commit: check_out(commit, Path(folder) / commit).measures() for commit in chosen.at}
    print_table({**older, "here": house.measures()})
    if chosen.list:
        found = {
            "reach-ins": house.reach_ins(),
            "crowded": [f"{folder} {count}" for folder, count in house.folders().items() if count > CROWDED],
            "repeated": [f"{name}: {' '.join(homes)}" for name, homes in house.repeated_classes().items()],
            "participles": house.participles(),
            "undocumented": house.undocumented(),
        }
        for title, lines in found.items():
            print(f"\n{title} ({len(lines)})", *lines, sep="\n  ")


if __name__ == "__main__":
    main()
