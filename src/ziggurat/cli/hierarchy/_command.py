"""`ziggurat hierarchy`: propose, look at and check how values become more general."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, InDatabase, SchemaFile, TableArgument, out_option
from ziggurat.cli._outputs import check_file, print_json
from ziggurat.cli.terminal import show_status
from ziggurat.errors import ParameterError
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.anonymize import HierarchyProposal
    from ziggurat.data import Column, Hierarchy, Table

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="How values become more general: propose, show, check.",
    help="How values become more general, from 34 to 30-39 to *: what 'ziggurat anonymize' climbs.\n\n"
    "A hierarchy is a CSV file with a row for each value, as ARX has it: the value, then ever more general labels.\n\n"
    "  34;30-34;30-39;*\n\n"
    "Have one proposed, look at it, correct it in any editor, and check that it covers the table:\n\n"
    "  ziggurat hierarchy propose patients.csv age --out age.csv\n\n"
    "  ziggurat hierarchy show age.csv\n\n"
    "  ziggurat hierarchy check age.csv patients.csv age\n\n"
    "Then name it in the schema, under the column: 'hierarchy: {file: age.csv}'.",
)

File = Annotated[str, typer.Argument(metavar="FILE", help="A CSV file of one hierarchy, or of those of many columns.")]
_LOOKING = "Looking at the table …"


@app.command()
def propose(
    data: TableArgument,
    column: Annotated[str, typer.Argument(metavar="COLUMN", help="The column to generalise.")],
    out: Annotated[str, out_option("this .csv file; by default the hierarchy is shown.")] = "",
    force: Force = False,
    width: Annotated[str, typer.Option(help="For numbers: how wide the narrowest intervals are.")] = "",
    tree: Annotated[str, typer.Option(help="For categories: a YAML file of groups, {Europe: {North: [NO, SE]}}.")] = "",
    schema: SchemaFile = "",
    table: InDatabase = "",
) -> None:
    """Propose a hierarchy for a column, and say why.

    Numbers get intervals, dates the calendar, postcodes are masked from the right ("CV1*"), ordered categories are
    grouped with their neighbours, and of many other values the rare ones are merged. Public bounds and categories of
    the schema are used if there are any; otherwise the hierarchy lists values of the data, and its file can be read by
    its owner only.

      ziggurat hierarchy propose clinic age

      ziggurat hierarchy propose patients.csv age --width 10 --out age.csv

      ziggurat hierarchy propose patients.csv country --tree world.yaml
    """
    from ziggurat.data import write_hierarchy

    check_file(out, (".csv",), force=force)
    with show_status(_LOOKING):
        made = _propose(_open(data, schema, table), column, width, tree)
    typer.echo(made.reason, err=True)
    if not out:
        _print(made.hierarchy, column)
        return
    write_hierarchy(made.hierarchy, out, mode=0o600 if made.learned else None)
    learned = "; it lists values of the data, so it is for your eyes" if made.learned else ""
    typer.echo(
        f"{count_noun(len(made.hierarchy.levels), 'value')} at {made.hierarchy.depth + 1} levels: {out}{learned}."
    )


@app.command()
def show(
    file: File,
    column: Annotated[str, typer.Option(help="Of a file of many columns, show this one only.")] = "",
    whole: Annotated[bool, typer.Option("--whole", help="Show every branch and every value.")] = False,
) -> None:
    """Show a hierarchy as a tree, the most general label first.

    Of a large one only the first branches are followed to the end; the others are named with their number of values.

      ziggurat hierarchy show age.csv

      ziggurat hierarchy show hierarchies.csv.gz --column education --whole
    """
    for name, hierarchy in _read_file(file, column).items():
        _print(hierarchy, name, whole=whole)


@app.command()
def check(
    file: File,
    data: Annotated[str, typer.Argument(metavar="[TABLE]", help="The table whose values it should cover.")] = "",
    column: Annotated[str, typer.Argument(metavar="[COLUMN]", help="The column of the table.")] = "",
    schema: SchemaFile = "",
    table: InDatabase = "",
    as_json: AsJson = False,
) -> None:
    """Check a hierarchy, and that it covers a column.

    A file is refused unless it holds a tree. Values of the table that it does not cover are counted, never shown; exit
    code 1 if there are any.

      ziggurat hierarchy check age.csv

      ziggurat hierarchy check age.csv patients.csv age
    """
    if bool(data) != bool(column):
        raise ParameterError("To check a hierarchy against data, name a table and a column of it.")
    if not data:
        _say_trees(_read_file(file, ""), as_json)
        return
    with show_status(_LOOKING):
        values, rows = _count_uncovered(file, _open(data, schema, table), column)
    if as_json:
        print_json({"covers": not values, "values": values, "rows": rows})
    elif values:
        found = f"{count_noun(values, 'value')} of column {column!r}, in {count_noun(rows, 'row')},"
        typer.echo(f"{found} {'is' if values == 1 else 'are'} not in the hierarchy; add a row for each.", err=True)
    else:
        typer.echo(f"The hierarchy covers every value of column {column!r}.")
    raise typer.Exit(1 if values else 0)


def _say_trees(found: dict[str, Hierarchy], as_json: bool) -> None:
    if as_json:
        print_json({name: {"values": len(each.levels), "levels": each.depth + 1} for name, each in found.items()})
        return
    for name, hierarchy in found.items():
        size = count_noun(len(hierarchy.levels), f"{hierarchy.kind} value")
        typer.echo(f"{name}: a tree of {size} at {hierarchy.depth + 1} levels.")


def _open(data: str, schema: str, table: str) -> Table:
    """Open a table; without a schema that was named, cells that cannot be read will do as missing ones."""
    from ziggurat.cli._tables import open_table

    return open_table(data, schema, table, lenient=not schema)


def _propose(table: Table, name: str, width: str, tree: str) -> HierarchyProposal:
    from ziggurat.anonymize import GivenTree, HierarchyProposal, Intervals, propose, reads_values

    column = _column(table, name)
    if width and tree:
        raise ParameterError("Give --width for numbers or --tree for categories, not both.")
    if tree:
        given = GivenTree.from_yaml(tree)
        return HierarchyProposal(given, given.build(_counts(table, column)), given.describe(), learned=False)
    made = propose(column, _counts(table, column) if reads_values(column) else None)
    if not width:
        return made
    equal = Intervals(_read_number(width))
    return HierarchyProposal(equal, equal.build(list(made.hierarchy.levels)), equal.describe(), made.learned)


def _column(table: Table, name: str) -> Column:
    from ziggurat.data import Role

    column = table.declared[name]
    if column.role is Role.IDENTIFIER:
        raise ParameterError(f"Column {name!r} is an identifier; it is taken out or replaced, never generalised.")
    return column


def _read_number(text: str) -> int | float:
    try:
        return int(text) if text.lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise ParameterError("The width of intervals must be a number, such as 5 or 0.5.") from None


def _counts(table: Table, column: Column) -> dict[Any, int]:
    """The values of a column with their numbers of rows; missing ones are left out."""
    from sqlglot import exp

    from ziggurat.data.expressions import is_present

    rows = exp.Count(this=exp.Star()).as_("rows of a value", quoted=True)
    answer = table.aggregate(rows, where=is_present(column), group_by=[column.name])
    return dict(zip(answer.column(0).to_pylist(), answer.column(1).to_pylist(), strict=True))


def _count_uncovered(file: str, table: Table, name: str) -> tuple[int, int]:
    from ziggurat.data import read_hierarchy

    column = _column(table, name)
    levels = read_hierarchy(file, column.storage, column=name).levels
    absent = [rows for value, rows in _counts(table, column).items() if value not in levels]
    return len(absent), sum(absent)


def _read_file(file: str, column: str) -> dict[str, Hierarchy]:
    """The hierarchies in a file by column, or that of one column."""
    from ziggurat.data import read_hierarchies

    found = read_hierarchies(file)
    if not column:
        return found
    if column not in found:
        from ziggurat.wording import nearest

        raise ParameterError(f"{file!r} holds no hierarchy of column {column!r}; {nearest(column, found)}")
    return {column: found[column]}


def _print(hierarchy: Hierarchy, name: str, *, whole: bool = False) -> None:
    from rich.console import Console

    from ziggurat.cli.hierarchy._tree import draw_tree

    Console().print(draw_tree(hierarchy, name, whole=whole))
