"""How answers, sweeps and quotations are shown and written."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import typer

from ziggurat.cli._outputs import ANSWERS, PICTURES, check_file, print_json, write_table
from ziggurat.errors import ParameterError, ZigguratError
from ziggurat.privacy import in_words

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.privacy import ApproximateDP, PureDP
    from ziggurat.queries import Answer
    from ziggurat.release import Quotation, Sweep

_ENDINGS = (*ANSWERS, ".json")
_WITHOUT_LISTS = (".csv", ".tsv", ".xlsx")
_REHEARSED = "This is a rehearsal: its noise was seeded, so nothing of it may be published."


def check_outputs(out: str, picture: str, *, truth: bool, sweep: bool, force: bool) -> None:
    """Refuse what could not be written, before anything is paid for."""
    if truth and not sweep:
        raise ParameterError("--truth goes with --sweep.")
    check_file(out, _ENDINGS, force=force)
    check_file(picture, PICTURES, force=force)


def show_answer(
    answer: Answer, cost: PureDP | ApproximateDP, left: str, *, as_json: bool, out: str, picture: str, explain: bool
) -> None:
    """Print an answer with what it promises and what it cost; `left` is empty where nobody paid.

    What was paid for is seen whatever becomes of the file.
    """
    if not as_json:
        _print_answer(answer, cost, left, explain)
        _write_files(answer, out, picture)
        if picture:
            typer.echo(f"The picture is in {picture}.")
        return
    found = _answer_as_json(answer, cost, left)
    try:
        _write_files(answer, out, picture)
    except ZigguratError as error:
        print_json(found | error.to_dict())
        raise typer.Exit(error.exit_code) from None
    print_json(found)


def _write_files(answer: Answer, out: str, picture: str) -> None:
    from ziggurat.cli.terminal import save_plot

    _write(lambda: _flatten(answer.to_arrow(), out), answer.to_dict, out)
    if picture:
        save_plot(picture, answer.plot)


def _print_answer(answer: Answer, cost: PureDP | ApproximateDP, left: str, explain: bool) -> None:
    typer.echo(str(answer))
    typer.echo("")
    for sentence in _sentences(answer, cost, left):
        typer.echo(sentence)
    for statement in answer.statements if explain else ():
        typer.echo(f"\n{statement};")


def _flatten(table: pa.Table, out: str) -> pa.Table:
    from ziggurat.release.questions import flatten_lists

    return flatten_lists(table) if out.lower().endswith(_WITHOUT_LISTS) else table


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
    _write(made.to_arrow, made.to_dict, out)
    if picture:
        made.save(picture)
    if as_json:
        print_json(made.to_dict())
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
        print_json(quoted.to_dict())
    else:
        typer.echo(str(quoted))


def _write(table: Any, plain: Any, out: str) -> None:
    from ziggurat.files import write_text

    if out.lower().endswith(".json"):
        write_text(out, json.dumps(plain(), indent=2) + "\n")
    elif out:
        write_table(table(), out)
