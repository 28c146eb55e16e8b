"""A hierarchy as a tree that fits on a screen."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from rich.tree import Tree

from ziggurat.cli.terminal import Printed as Text
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.data import Hierarchy


_MOST = 5  # branches at one place
_LARGE = 40  # branches in all


def draw_tree(hierarchy: Hierarchy, name: str, *, whole: bool = False) -> Tree:
    """Return a hierarchy as a tree, the most general labels first.

    Parameters
    ----------
    hierarchy
        What to show.
    name
        What to call it.
    whole
        Show everything; else long lists are cut, and of a large tree only the first branches are followed.
    """
    count, nested = len(hierarchy.levels), _nest(hierarchy)
    title = f"{name} ({count_noun(count, 'value')}, {hierarchy.depth + 1} levels)"
    tree = Tree(Text(title, style="bold"), guide_style="dim")
    _grow(tree, nested, sys.maxsize if whole else _MOST, follow=whole or _branches(nested) <= _LARGE)
    return tree


def _nest(hierarchy: Hierarchy) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for value, labels in hierarchy.levels.items():
        place = root
        for label in reversed(labels):
            place = place.setdefault(label, {})
        place[hierarchy.label(value, 0)] = {}
    return root


def _grow(tree: Tree, branches: Mapping[str, Any], most: int, *, follow: bool) -> None:
    # A single branch more takes no more room than the words that stand for it.
    shown = most if len(branches) - most > 1 else len(branches)
    for place, (label, below) in enumerate(islice(branches.items(), shown)):
        inner = _beneath(label, below)
        branch = tree.add(Text(label) + Text(f" ({_leaves(inner):,})" if inner else "", style="dim"))
        if follow or place == 0:
            _grow(branch, inner, most, follow=follow)
    if len(branches) > shown:
        tree.add(Text(f"… {len(branches) - shown:,} more", style="dim"))


def _beneath(label: str, below: Mapping[str, Any]) -> Mapping[str, Any]:
    """What stands under a label; one that is only repeated from level to level is one place."""
    while list(below) == [label]:
        below = below[label]
    return below


def _leaves(branches: Mapping[str, Any]) -> int:
    return sum(_leaves(below) if below else 1 for below in branches.values())


def _branches(branches: Mapping[str, Any]) -> int:
    return sum(1 + _branches(below) for below in branches.values())
