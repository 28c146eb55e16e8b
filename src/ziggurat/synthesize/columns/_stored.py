"""A synthesiser as a file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ziggurat.archives import Array
from ziggurat.data import Condition
from ziggurat.errors import DataError
from ziggurat.synthesize._encoding import ColumnCoding
from ziggurat.synthesize._saving import read_learned, write_learned
from ziggurat.synthesize.columns._drawing import LearnedTable
from ziggurat.synthesize.columns._learning import LearnedColumn
from ziggurat.synthesize.columns._plan import ColumnPlan
from ziggurat.synthesize.columns._rules import RowRule
from ziggurat.synthesize.columns._smoothing import Smoother
from ziggurat.synthesize.learners import describe_method, restore_method


def save(
    path: str | Path,
    settings: Mapping[str, Any],
    names: tuple[str, ...],
    sizes: Mapping[str, int | None],
    model: LearnedTable,
    plan: ColumnPlan,
) -> None:
    """Write all that was learned to a file for its owner's eyes only."""
    arrays: dict[str, Array] = {}
    for place, each in enumerate(model.learned.values()):
        arrays |= _arrays(f"{place}", each)
    facts = {
        "settings": settings,
        "names": names,
        **sizes,
        "encodings": [each.to_dict() for each in model.encodings.values()],
        "learned": [{"name": name, "given": each.given, "only": each.only} for name, each in model.learned.items()],
        "methods": {name: describe_method(plan.methods[name]) for name in plan.order},
        "rules": [rule.text for rule in model.rules],
        "where": None if plan.where is None else {name: each.text for name, each in plan.where.items()},
    }
    write_learned(path, facts, arrays)


def load(path: str | Path) -> tuple[dict[str, Any], dict[str, Any], LearnedTable, ColumnPlan]:
    """Return settings, facts, model and plan of a file."""
    facts, arrays = read_learned(path)
    try:
        encodings = {each["name"]: ColumnCoding.from_dict(each) for each in facts["encodings"]}
        methods = {name: restore_method(each) for name, each in facts["methods"].items()}
        learned: dict[str, LearnedColumn] = {}
        for place, each in enumerate(facts["learned"]):
            name = each["name"]
            parts = {part: _under(arrays, f"{place}/{part}") for part in ("which", "number", "smoother")}
            learned[name] = LearnedColumn(
                encodings[name],
                tuple(each["given"]),
                methods[name].restored(parts["which"]) if parts["which"] else None,
                methods[name].restored(parts["number"]) if parts["number"] else None,
                Smoother(**parts["smoother"]) if parts["smoother"] else None,
                each["only"],
            )
        names = tuple(encodings)
        rules = tuple(RowRule.parse(text, names) for text in facts["rules"])
        where = _conditions(facts["where"], facts["names"])
        plan = ColumnPlan(tuple(learned), methods, {name: each.given for name, each in learned.items()}, where)
        settings = dict(facts["settings"])
        settings["method"] = restore_method(settings["method"])
        settings["methods"] = {name: restore_method(each) for name, each in settings["methods"].items()}
    except (KeyError, TypeError):
        raise DataError(f"{str(path)!r} is no synthesiser that this version wrote, or it is damaged.") from None
    return settings, facts, LearnedTable(encodings, learned, rules), plan


def _arrays(place: str, learned: LearnedColumn) -> dict[str, Array]:
    found: dict[str, Array] = {}
    for part, fitted in (("which", learned.which), ("number", learned.number)):
        if fitted is not None:
            found |= {f"{place}/{part}/{key}": array for key, array in fitted.state().items()}
    if learned.smoother is not None:
        found[f"{place}/smoother/numbers"] = learned.smoother.numbers
        found[f"{place}/smoother/counts"] = learned.smoother.counts
    return found


def _under(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {key[len(prefix) + 1 :]: array for key, array in arrays.items() if key.startswith(f"{prefix}/")}


def _conditions(texts: Mapping[str, str] | None, names: list[str]) -> dict[str, Condition] | None:
    return None if texts is None else {name: Condition.parse(text, names) for name, text in texts.items()}
