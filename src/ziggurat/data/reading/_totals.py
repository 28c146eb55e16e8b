"""Rows at the end of a file that are no rows of the table: sums of the others, which would count as somebody."""

from sqlglot import exp

from ziggurat.data.engines import Engine, table_named
from ziggurat.data.expressions import reference
from ziggurat.data.schema import Kind, Schema
from ziggurat.wording import count_noun

_MOST = 3  # where the word stands more often, it is a value of the column
_WORDS = (
    "sum", "total", "totals", "grand total", "summe", "gesamt", "gesamtsumme", "insgesamt", "zusammen", "somme",
    "ensemble", "total général", "suma", "total general", "somma", "totale", "totaal",
)  # fmt: skip


def note_totals(engine: Engine, relation: str, schema: Schema) -> tuple[str, ...]:
    """Say how many rows begin with a word for a sum, and where; nothing if none does.

    Parameters
    ----------
    engine, relation
        Where the file is held.
    schema
        As it was guessed; the first column is looked at.
    """
    first = schema.columns[0]
    if first.storage is not Kind.TEXT:
        return ()
    word = exp.Lower(this=exp.Trim(this=exp.cast(reference(first), "TEXT")))
    total = exp.Paren(this=word.isin(*_WORDS))
    asked = exp.select(exp.Count(this=exp.Star()).as_("rows")).from_(table_named(relation)).where(total)
    count = int(engine.query(asked).column("rows")[0].as_py())
    if not 0 < count <= _MOST:
        return ()
    lines = engine.lines(relation, total, _MOST)
    where = f" ({', '.join(lines)})" if lines else ""
    return (
        f"{count_noun(count, 'row begins', 'rows begin')} with a word for a sum{where}: if the table ended before, "
        "leave out what stands below it with skip_last=1 (--skip-last 1), or as many rows as there are.",
    )
