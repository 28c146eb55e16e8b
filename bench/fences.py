"""The fence between packages, as a contract of import-linter: what starts with `_` is imported only by its own package.

`pyproject.toml` registers it, `lint-imports` checks every import, and `bench/house.py` applies the same rule to single
names and to attributes, which import-linter does not see.
"""

from __future__ import annotations

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


def find_owner(target: str) -> str | None:
    """Find the package that a dotted name is private to: what stands before its first part with an underscore."""
    parts = target.split(".")
    return next((".".join(parts[:i]) for i, part in enumerate(parts) if is_private(part)), None)


def is_private(part: str) -> bool:
    """Tell a private name from a public one; names such as `__all__` belong to Python."""
    return part.startswith("_") and not part.endswith("__")


def may_import(importer: str, target: str) -> bool:
    """Whoever stands in the owning package, or below it, may; everybody else goes through a door."""
    owner = find_owner(target)
    return owner is None or f"{importer}.".startswith(f"{owner}.")


class Fences(Contract):  # type: ignore[misc]
    """Nobody imports another package's private module."""

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        """Look at every import in the graph."""
        found = [
            f"{importer} -> {target} (line {detail['line_number']})"
            for importer in sorted(graph.modules)
            for target in sorted(graph.find_modules_directly_imported_by(importer))
            if not may_import(importer, target)
            for detail in graph.get_import_details(importer=importer, imported=target)
        ]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Say who reaches over which fence."""
        for line in check.metadata["found"]:
            output.print_error(f"{line}: import it from a door of that package, or export it there.")
