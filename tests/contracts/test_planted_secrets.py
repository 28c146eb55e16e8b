"""Nothing that an analyst sees, by name or drawn, holds a cell: secrets are planted in a table and looked for."""

import io
from datetime import date

import pytest

import ziggurat
from ziggurat.data import Bounds, Categories, Column, Kind, Provenance, Schema, Unit
from ziggurat.errors import ZigguratError
from ziggurat.privacy import Neighbours
from ziggurat.randomness import seeded

WORDS = [f"secret{letter}town" for letter in "qwxyz"]
NUMBERS = [7_310_417 + 1_009 * place for place in range(5)]
DAY = date(1931, 7, 13)
PATHS = "hiddenfolder"
SECRETS = [*WORDS, *map(str, NUMBERS), *(f"{each:,}" for each in NUMBERS), DAY.isoformat(), PATHS]
TERMS = {"rows_per_unit": 1}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp(PATHS)
    rows = [f"p{place},{WORDS[place % 5]},{NUMBERS[place % 5]},{DAY},{'fm'[place % 2]}" for place in range(500)]
    file = folder / "people.csv"
    file.write_text("\n".join(["who,town,income,born,sex", *rows]) + "\n")
    learned = Provenance.LEARNED
    schema = Schema(
        (
            Column("who", Kind.TEXT),
            Column("town", Kind.CATEGORY, categories=Categories(tuple(WORDS), learned)),
            Column("income", Kind.INTEGER, bounds=Bounds(NUMBERS[0], NUMBERS[-1], learned)),
            Column("born", Kind.DATE, bounds=Bounds(DAY, DAY, learned)),
            Column("sex", Kind.CATEGORY, categories=Categories(("f", "m"))),
        ),
        Unit.person("who"),
        "people",
    )
    return ziggurat.read(str(file), schema)


@pytest.fixture(scope="module")
def session(table, tmp_path_factory):
    with ziggurat.Ledger.open(tmp_path_factory.mktemp("books") / "ledger.db") as ledger:
        ledger.create_budget("people", 100, "1e-6", Neighbours(table.unit))
        ledger.grant("people", "ada", 100, "1e-6")
        yield ziggurat.Session(ledger, "ada", {"people": table}, source=seeded(3))


def tell(thing):
    """Every way in which a thing tells of itself: by name, as text, as a card, as a picture."""
    told = [repr(thing), str(thing)]
    if hasattr(thing, "_repr_html_"):
        told.append(thing._repr_html_())
    if hasattr(thing, "plot"):
        axes = thing.plot()
        buffer = io.BytesIO()
        (axes[0] if isinstance(axes, list) else axes).figure.savefig(buffer, format="svg")
        told.append(buffer.getvalue().decode())
    return told


def find_secrets(thing):
    """The planted cells that a thing tells."""
    return [secret for told in tell(thing) for secret in SECRETS if secret in told]


def fail(session, question, **terms):
    with pytest.raises(ZigguratError) as caught:
        session.ask(question, 1, **terms)
    return caught.value


def seen_by_an_analyst(session, table):
    by_sex = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    terms = {**TERMS, "groups_per_unit": 1}
    release = session.release(by_sex, 1, **terms)
    together = session.ask(ziggurat.Workload(table.schema).marginals(1, ["sex"]), 1, rows_per_unit=1)
    return {
        "session": session,
        "tables": session.tables,
        "view": session["people"],
        "schema": session.schema(),
        "quotation": session.quote(by_sex, 1, **terms),
        "plan": session.plan(by_sex, 1, **terms),
        "answer": release.output,
        "number": session.ask("SELECT COUNT(*) AS n FROM people", 1, **TERMS),
        "clamped": session.ask("SELECT AVG(income) AS x FROM people", 1, bounds={"income": (0, 9)}, **TERMS),
        "certificate": release.certificate,
        "together": together,
        "group": together.groups[0],
        "history": session.history(),
        "table": table,
        "no such column": fail(session, "SELECT AVG(nothing) AS x FROM people"),
        "not public": fail(session, "SELECT AVG(income) AS x FROM people", **TERMS),
        "no such value": fail(session, "SELECT town, COUNT(*) AS n FROM people GROUP BY town", **terms),
    }


def test_nothing_that_an_analyst_sees_holds_a_cell(session, table):
    found = {name: find_secrets(each) for name, each in seen_by_an_analyst(session, table).items()}
    assert {name: secrets for name, secrets in found.items() if secrets} == {}


def test_the_secrets_would_be_found(table):
    rows = table.raw.rows(limit=5).to_pylist()
    assert WORDS[0] in str(rows)
    assert str(NUMBERS[0]) in str(rows)
    assert find_secrets(rows)
    assert find_secrets(table.preview()), "the steward's preview shows learned bounds, and says that it is private"


def test_the_preview_says_for_whom_it_is_and_shows_no_row(table):
    preview = table.preview()
    assert "private: steward only" in repr(preview)
    assert "private: steward only" in preview._repr_html_()
    assert "private: steward only" in str(preview)
    assert not [told for told in tell(preview) if "p17" in told]
    assert preview.rows == 500
