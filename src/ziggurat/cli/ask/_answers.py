"""How answers, sweeps and quotations are shown and written."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ziggurat.cli._data import write_table
from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import in_words

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.privacy import ApproximateDP, PureDP
    from ziggurat.queries import Answer
    from ziggurat.release import Quotation, Sweep

_ENDINGS = (".csv", ".parquet", ".json")
_PICTURES = (".svg", ".png")
_REHEARSED = "This is a rehearsal: its noise was seeded, so nothing of it may be published."


def check_outputs(out: str, picture: str, truth: bool, sweep: bool) -> None:
    """Refuse what could not be written, before anything is paid for."""
    if out and Path(out).suffix.lower() not in _ENDINGS:
        raise DataError(f"The output must end in one of {', '.join(_ENDINGS)}.")
    if picture and Path(picture).suffix.lower() not in _PICTURES:
        raise DataError(f"The picture must end in one of {', '.join(_PICTURES)}.")
    if (picture or truth) and not sweep:
        raise ParameterError("--picture and --truth go with --sweep.")
    for wanted in filter(None, (out, picture)):
        if not Path(wanted).absolute().parent.is_dir():
            raise DataError(f"The folder of {wanted!r} does not exist; create it first.")


def show_answer(
    answer: Answer, cost: PureDP | ApproximateDP, left: str, *, as_json: bool, out: str, explain: bool
) -> None:
    """Print an answer with what it promises and what it cost; `left` is empty where nobody paid."""
    if as_json:
        _print_json(_answer_as_json(answer, cost, left))
    else:
        _print_answer(answer, cost, left, explain)
    if out:  # last, so that what was paid for is seen whatever becomes of the file
        _write(lambda: _flat(answer.to_arrow(), out), answer.to_dict, out)


def _print_answer(answer: Answer, cost: PureDP | ApproximateDP, left: str, explain: bool) -> None:
    typer.echo(str(answer))
    typer.echo("")
    for sentence in _sentences(answer, cost, left):
        typer.echo(sentence)
    for statement in answer.statements if explain else ():
        typer.echo(f"\n{statement};")


def _flat(table: pa.Table, out: str) -> pa.Table:
    from ziggurat.release.questions import flatten_lists

    return flatten_lists(table) if out.lower().endswith(".csv") else table


def _sentences(answer: Answer, cost: PureDP | ApproximateDP, left: str) -> list[str]:
    delta = getattr(cost, "delta", Fraction(0))
    paid = f"It cost epsilon {in_words(cost.epsilon)}" + (f" and delta {in_words(delta)}" if delta else "")
    if answer.replayed:
        paid = "It was answered before: nothing was read, and it cost nothing"
    sure = f"Each interval in brackets holds the exact value with {float(answer.confidence):.0%} confidence, as far as "
    sure += "noise goes; what else may be off is estimated below." if answer.effects else "noise goes."
    bracketed = any(each.low is not None for column in answer.estimates.values() for each in column)
    return [
        *([sure] if bracketed else []),
        *(effect.sentence for effect in answer.effects),
        *answer.notes,
        f"The promise: {cost.sentence()}",
        f"{paid}; {left} is left." if left else f"{paid}, paid by a ledger that was thrown away.",
        *([_REHEARSED] if answer.rehearsal else []),
    ]


def _answer_as_json(answer: Answer, cost: PureDP | ApproximateDP, left: str) -> dict[str, Any]:
    return {
        "rows": answer.to_arrow().to_pylist(),
        "promise": cost.sentence(),
        "epsilon": str(cost.epsilon),
        "delta": str(getattr(cost, "delta", 0)),
        "replayed": answer.replayed,
        "rehearsal": answer.rehearsal,
        "left": left or None,
        "answer": answer.to_dict(),
    }


def show_sweep(made: Sweep, left: str, *, as_json: bool, out: str, picture: str) -> None:
    """Print the answers at every epsilon, and draw them."""
    if out:
        _write(made.to_arrow, made.to_dict, out)
    if picture:
        made.save(picture)
    if as_json:
        _print_json(made.to_dict())
        return
    typer.echo(str(made))
    if picture:
        typer.echo(f"The picture is in {picture}.")
    if left:
        typer.echo(f"Every new answer was paid for; {left} is left.")
    if made.rehearsal:
        typer.echo(_REHEARSED)


def show_quotation(quoted: Quotation, as_json: bool) -> None:
    """Print what questions would cost."""
    if as_json:
        _print_json(quoted.to_dict())
    else:
        typer.echo(str(quoted))


def _write(table: Any, plain: Any, out: str) -> None:
    from ziggurat.files import write_text

    if out.lower().endswith(".json"):
        write_text(out, json.dumps(plain(), indent=2) + "\n")
    else:
        write_table(table(), out)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, default=_day))


def _day(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError
