"""What the product needs is what it imports: no dependency that nobody uses, and none that nobody states."""

import ast
import re
import sys
import tomllib
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_SOURCE = _ROOT / "src" / "ziggurat"
_IMPORTED_AS = {
    "argon2-cffi": "argon2",
    "dp-accounting": "dp_accounting",
    "fastapi-offline": "fastapi_offline",
    "hanta": "HanTa",
    "harper-py": "harper",
    "mlflow-skinny": "mlflow",
    "prometheus-client": "prometheus_client",
    "python-calamine": "python_calamine",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
_FOR_OTHERS = {}
_COMES_ALONG = {
    "jax": "mbi computes with it",
    "llvmlite": "numba compiles with it",
    "markupsafe": "the text that jinja2 gives",
    "starlette": "fastapi stands on it",
    "polars": "imported when a caller hands in or asks for its frames",
}


def _stated() -> set[str]:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    texts = [*project["dependencies"], *(each for name in set(extras) - {"dev", "all"} for each in extras[name])]
    return {re.split(r"[\[<>=~ ]", text)[0] for text in texts}


def _imported() -> set[str]:
    found = set()
    for file in _SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add(str(node.module).partition(".")[0])
            elif isinstance(node, ast.Call) and node.args and _loads(node.func):
                first = node.args[0]
                found |= {str(first.value).partition(".")[0]} if isinstance(first, ast.Constant) else set()
    return found - set(sys.stdlib_module_names) - {"ziggurat", "__future__"}


def _loads(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "deferred")


def test_every_dependency_is_imported_and_every_import_is_a_dependency() -> None:
    stated = {_IMPORTED_AS.get(name, name) for name in _stated() - set(_FOR_OTHERS)}
    assert stated - _imported() == set()
    assert _imported() - stated - set(_COMES_ALONG) == set()
