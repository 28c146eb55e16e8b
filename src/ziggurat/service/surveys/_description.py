"""What everybody may know of a survey, and what a report must be to be taken."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ziggurat.data import Kind, Role, Schema
from ziggurat.errors import DataError, SchemaError, ZigguratError
from ziggurat.local import Privatizer, Reports, WholeRecord, privatizer_for
from ziggurat.privacy import Neighbours, Relation, best_posterior

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.release.config import ReportsSaid

FORMAT = "ziggurat/survey/1"
_LONGEST_NUMBER = 20
_TRUTHS = ["no", "yes"]  # what people are shown for 0 and 1


def make_record(schema: Schema, said: ReportsSaid) -> WholeRecord:
    """Choose how each answer is protected, from what is public: categories, bounds, epsilons."""
    whom, parts = Neighbours(schema.unit, Relation.REPLACE_ONE), {}
    for name, epsilon in said.columns.items():
        column = schema[name]
        if column.role is Role.IDENTIFIER:
            raise SchemaError(f"Column {name!r} is an identifier; identifiers are not collected.")
        allowed = said.missing or bool(column.missing)
        parts[name] = privatizer_for(column, epsilon, method=said.method, missing=allowed, neighbours=whom)
    return WholeRecord(parts)


def describe_survey(name: str, population: str, schema: Schema, record: WholeRecord) -> dict[str, Any]:
    """Say all that somebody needs to answer: what is asked, how the answer is protected, and what that promises."""
    return {
        "format": FORMAT,
        "name": name,
        "population": population,
        "unit": record.neighbours.unit.name,
        "epsilon": str(record.epsilon),
        "promise": record.guarantee().sentence(),
        "meaning": _say_odds(record),
        "questions": {each: schema[each].description for each in record.parts},
        "words": {each: _TRUTHS for each in record.parts if schema[each].kind is Kind.BOOLEAN},
        **record.to_dict(),
        "draws": {each: part.recipe() for each, part in record.parts.items()},
    }


def _say_odds(record: WholeRecord) -> str:
    share = math.ceil(100 * best_posterior(record.epsilon, "1/2"))
    return (
        f"Whoever guesses between two sets of your answers with even odds, and then sees your report, is right with at "
        f"most {min(share, 100)}%. Your answers themselves never leave your device."
    )


def check_report(record: WholeRecord, report: Mapping[str, Any]) -> str:
    """Give a report as it is kept; one that cannot have been drawn as the survey says is refused."""
    if set(report) != set(record.parts):
        raise DataError("A report has every column of the survey and no other; draw it by the survey's description.")
    kept: dict[str, Any] = {}
    for name, part in record.parts.items():
        kept[name] = _check_part(name, part, report[name])
    return json.dumps(kept, sort_keys=True, ensure_ascii=False)


def _check_part(name: str, part: Privatizer, value: Any) -> Any:
    found: list[Any] = []
    try:
        column = _as_column(value, part.arrow_type)
        found = part.to_arrow(part.from_arrow(column, "secure")).to_pylist()
    except (ZigguratError, ValueError, TypeError, OverflowError, ArithmeticError):
        found = []
    if len(found) != 1:
        raise DataError(f"Column {name!r} of the report cannot have been drawn as the survey says; nothing was taken.")
    return found[0]


def _as_column(value: Any, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa
    import pyarrow.types as kinds

    if isinstance(value, str) and kinds.is_integer(kind):
        if len(value) > _LONGEST_NUMBER:
            raise ValueError
        value = int(value)
    if isinstance(value, bool) or (isinstance(value, float) and not (kinds.is_floating(kind) and math.isfinite(value))):
        raise ValueError  # Arrow would cut a fraction off
    return pa.array([value], kind)


def read_reports(record: WholeRecord, kept: Iterable[str]) -> Reports:
    """Put reports together that were kept, ready to be estimated from."""
    import pyarrow as pa

    rows = [json.loads(each) for each in kept]
    types = {name: part.arrow_type for name, part in record.parts.items()}
    columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()}
    return Reports(pa.table(columns), record.event, "secure")
