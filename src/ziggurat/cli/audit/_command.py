"""`ziggurat audit`: what runs on invented neighbours prove about promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, out_option
from ziggurat.cli._outputs import check_file, print_json, write_table
from ziggurat.cli.terminal import show_steps
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table as Shown

    from ziggurat.attacks.audits import AuditedRow

_ENDINGS = (".md", ".csv")
_REFUTED = 1


def audit(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WHAT]...",
            help="mechanisms.Laplace, local (all of a package), or a folder that 'model fit' wrote; else everything.",
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option(help="The epsilon that is promised; a model has its own.")] = "1",
    runs: Annotated[int | None, typer.Option(help="How often to run on each neighbour; else as each needs.")] = None,
    seed: Annotated[int | None, typer.Option(help="Repeats the runs; secure randomness without.")] = None,
    faults: Annotated[
        bool, typer.Option("--faults", help="Also look for the smallest fault that each audit sees; slower.")
    ] = False,
    only_list: Annotated[bool, typer.Option("--list", help="Name the audits, and stop.")] = False,
    out: Annotated[str, out_option("a .md or .csv file, also.")] = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Audit promises on invented data: run what promises often on two neighbours, and bound epsilon from below.

    Everything that promises something, in a few minutes:

      ziggurat audit

    One name, or all of a package, at another epsilon, with the smallest fault that would be seen:

      ziggurat audit mechanisms.Laplace local --epsilon 0.5 --faults

    A model with its own settings, on invented rows; its private rows are not needed:

      ziggurat audit fitted --runs 2000

    A bound above the promise is a proof that it is false (a chance of one in a million aside): report it. A bound below
    proves nothing. Exit code 1 if a promise is refuted.
    """
    from ziggurat.attacks.audits import show_audited

    check_file(out, _ENDINGS, force=force)
    if only_list:
        _print_names(_select(what or []), as_json)
        return
    with show_steps() as tell:
        rows = list(_audit_all(what or [], epsilon, runs, seed, faults, tell))
    if out:
        _write(rows, out)
    if as_json:
        print_json([row.to_dict() for row in rows])
    else:
        _print(show_audited(rows), rows)
    if any(row.audited.refuted for row in rows):
        raise typer.Exit(_REFUTED)


def _is_folder(name: str) -> bool:
    """Whether a model lies there; what the catalogue has a name for is that."""
    from ziggurat.release.audits import list_audits

    return Path(name).is_dir() and not any(_is_named(case.name, name) for case in list_audits())


def _select(names: Sequence[str]) -> list[Any]:
    """The cases of names and packages, in the order of the catalogue; all if none is named."""
    from ziggurat.release.audits import list_audits
    from ziggurat.wording import nearest

    cases = list_audits()
    for name in names:
        if not any(_is_named(case.name, name) for case in cases):
            known = sorted({case.name for case in cases} | {case.name.split(".")[0] for case in cases})
            raise ParameterError(f"There is no audit of {name!r}; {nearest(name, known)}")
    return [case for case in cases if not names or any(_is_named(case.name, name) for name in names)]


def _is_named(case: str, name: str) -> bool:
    return case == name or case.startswith((f"{name}.", f"{name} "))


def _audit_all(
    names: Sequence[str], epsilon: str, runs: int | None, seed: int | None, faults: bool, tell: Callable[[str], None]
) -> Iterator[AuditedRow]:
    from ziggurat.attacks.audits import audit_row

    given: dict[str, Any] = {"random_state": seed, "progress": tell}
    folders = [name for name in names if _is_folder(name)]
    others = [name for name in names if not _is_folder(name)]
    chosen = _select(others) if others or not folders else []
    for folder in folders:
        case, claimed = _model_case(folder, runs or 1000, tell)
        yield audit_row(case, claimed, faults=faults, **given)
    for case in chosen:
        yield audit_row(case, epsilon, runs=runs, faults=faults, **given)


def _model_case(folder: str, runs: int, tell: Callable[[str], None]) -> tuple[Any, Any]:
    from ziggurat.attacks.audits import make_estimator_case, state_claim
    from ziggurat.cli.model import load_model

    task, model = load_model(folder)
    case = make_estimator_case(model, columns=task.width, runs=runs, progress=tell)
    return case, state_claim(model, columns=task.width)


def _print_names(cases: Sequence[Any], as_json: bool) -> None:
    if as_json:
        print_json([{"name": case.name, "pair": case.pair, "delta": str(case.delta)} for case in cases])
        return
    for case in cases:
        typer.echo(f"{case.name}: {case.pair}")


def _print(shown: Any, rows: Sequence[AuditedRow]) -> None:
    from rich.console import Console
    from rich.table import Table

    table: Shown = Table(box=None)
    for name in shown.column_names:
        table.add_column(name)
    for line in shown.to_pylist():
        table.add_row(*(str(cell) for cell in line.values()))
    Console(width=None if len(shown.column_names) < 9 else 160).print(table)
    for row in rows:
        if row.audited.refuted or len(rows) == 1:
            typer.echo(row.audited.sentence)
    refuted = sum(row.audited.refuted for row in rows)
    if refuted:
        typer.echo(f"{refuted} of {len(rows)} promises are refuted.")
    else:
        typer.echo(f"None of {len(rows)} promises is refuted; that proves none of them.")


def _write(rows: Sequence[AuditedRow], out: str) -> None:
    from ziggurat.attacks.audits import show_audited, write_markdown
    from ziggurat.files import write_text

    if Path(out).suffix.lower() == ".csv":
        write_table(show_audited(rows), out)
    else:
        write_text(Path(out), write_markdown(rows))
