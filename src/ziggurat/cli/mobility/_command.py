"""`ziggurat mobility`: the group of commands about visits."""

from __future__ import annotations

import typer

from ziggurat.cli.mobility._communities import communities
from ziggurat.cli.mobility._judging import compare, risk
from ziggurat.cli.mobility._synthesize import synthesize

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Visits of people: how risky they are, trajectories with a guarantee, maps, communities.",
    help="Who was where and when: one row of a table is one visit of a person to a public place.\n\n"
    "  ziggurat mobility risk visits.csv --time minute --place place --places places.csv\n\n"
    "  ziggurat mobility synthesize visits.csv --time minute --place place --places places.csv --longest 12 "
    "--epsilon 1 --budget visits --analyst ada --out trajectories.parquet\n\n"
    "  ziggurat mobility compare visits.csv trajectories.parquet --time minute --place place --places places.csv "
    "--report maps.html\n\n"
    "Only what 'synthesize' writes, and communities with --epsilon, may leave; the rest is for the steward.",
)
for each in (risk, synthesize, compare, communities):
    app.command()(each)
