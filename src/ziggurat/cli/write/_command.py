"""`ziggurat write`: headlines from three words and a topic, marked as synthetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, OutFile, Rehearse, rehearsal_seed, with_records
from ziggurat.cli._outputs import TABLES, check_file, print_json, write_table
from ziggurat.cli.terminal import show_bar
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import check_output

if TYPE_CHECKING:
    from ziggurat.sequences.text import HeadlineWriter, WrittenHeadline

_INVENTED = "headlines"
_INVENTED_TITLES = 2_000
# A writer of invented titles learns enough in a few seconds.
_SMALL: dict[str, Any] = {
    "embedding": 32,
    "hidden": 64,
    "dropout": 0.2,
    "batch": 64,
    "learning_rate": 4e-3,
    "epochs": 4,
}


@dataclass(frozen=True)
class TrainingOptions:
    """What a writer is trained on, and how."""

    train: Annotated[
        str, typer.Option(help="Train on the titles of this table: a file, a public dataset, or headlines (invented).")
    ] = ""
    title: Annotated[str, typer.Option(help="Its column of titles.")] = "title"
    label: Annotated[str, typer.Option(help="Its column of topics, by name or as b, t, e, m.")] = "category"
    architecture: Annotated[str, typer.Option(help="baseline, clstm, cgru, sclstm or scgru.")] = "sclstm"
    embedding: Annotated[int, typer.Option(help="How wide the vectors of words are.", min=1)] = 200
    hidden: Annotated[int, typer.Option(help="How wide the recurrent layer is.", min=1)] = 512
    epochs: Annotated[int, typer.Option(help="How often titles are read at most.", min=1)] = 50
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto.")] = "auto"
    save: Annotated[str, typer.Option(help="Keep the trained writer in this file.")] = ""

    def make(self, seed: int | None) -> HeadlineWriter:
        """A writer that is yet to be trained."""
        from ziggurat.sequences.text import HeadlineWriter

        if not self.train:
            return HeadlineWriter(self.architecture, random_state=seed, device=self.device, **_SMALL)
        sizes: dict[str, Any] = {"embedding": self.embedding, "hidden": self.hidden, "epochs": self.epochs}
        return HeadlineWriter(self.architecture, random_state=seed, device=self.device, **sizes)

    def read(self) -> tuple[list[str], list[str]]:
        """The headlines and their topics."""
        from ziggurat.cli._tables import open_table
        from ziggurat.data.generators import headlines
        from ziggurat.sequences.text import prepare_headlines

        if self.train in ("", _INVENTED):
            rows = headlines(_INVENTED_TITLES)
        else:
            table = open_table(self.train)
            missing = [name for name in (self.title, self.label) if name not in table.schema]
            if missing:
                raise DataError(f"The table has no column {missing[0]!r}; name its columns by --title and --label.")
            rows = table.raw.rows([self.title, self.label])
        kept = rows.select([self.title, self.label]).drop_null()
        prepared, places = prepare_headlines(kept[self.title].to_pylist())
        topics = kept[self.label].to_pylist()
        return prepared, [str(topics[place]) for place in places]


@with_records
def write(
    given: TrainingOptions,
    topic: Annotated[str, typer.Option(help="business, technology, entertainment or medicine.")] = "business",
    seed: Annotated[str, typer.Option(help="The first words, three at least.")] = "",
    model: Annotated[str, typer.Option(help="A writer that --save kept.")] = "",
    count: Annotated[int, typer.Option(help="How many headlines.", min=1)] = 3,
    words: Annotated[int, typer.Option(help="How many words to append.", min=1)] = 10,
    temperature: Annotated[
        str, typer.Option(help="How much to dare: 1 draws words as learned, less is safer.")
    ] = "0.4",
    rehearse: Rehearse = "",
    out: OutFile = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write headlines about a topic that begin as you say; they are synthetic, and marked so.

    A network reads the last three words and names the next, again and again. Without a trained writer a small one
    learns from invented titles, in seconds:

      ziggurat write --topic business --seed "kim jong un"

      ziggurat write --train titles.csv --save news.writer

      ziggurat write --model news.writer --topic technology --seed "obama says that" --count 10

    A writer promises nothing to whoever its titles are about or by, and may repeat rare ones word by word. Private
    writers are trained in Python (`ziggurat.sequences.text.HeadlineWriter`).
    """
    check_file(out, TABLES, force=force)
    if given.save:
        check_output(given.save, force=force)
    if model and (given.train or given.save):
        raise ParameterError("Give either a trained writer by --model, or titles to --train one on.")
    if not seed and not given.save:
        raise ParameterError('Say how headlines shall begin, by three words: --seed "kim jong un".')
    drawn = rehearsal_seed(rehearse)
    writer = _load(model, given.device) if model else _train(given, drawn, silent=as_json)
    if given.save:
        writer.save(given.save)
    written = writer.write(topic, seed, words, temperature, count=count, random_state=drawn) if seed else []
    if out:
        _write_out(written, out)
    _say(writer, written, given.save, as_json)


def _load(model: str, device: str) -> HeadlineWriter:
    from ziggurat.sequences.text import HeadlineWriter

    return HeadlineWriter.load(model, device=device)


def _train(given: TrainingOptions, seed: int | None, *, silent: bool) -> HeadlineWriter:
    headlines, topics = given.read()
    with show_bar("Learning to write …", silent=silent) as bar:
        tell = (lambda _what, done, of: bar(None, done, of)) if bar is not None else None
        return given.make(seed).fit(headlines, topics, progress=tell)


def _write_out(written: list[WrittenHeadline], out: str) -> None:
    import pyarrow as pa

    rows = [(str(each), each.topic, each.note) for each in written]
    columns = {name: [row[at] for row in rows] for at, name in enumerate(("headline", "topic", "note"))}
    write_table(pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()}), out)


def _say(writer: HeadlineWriter, written: list[WrittenHeadline], saved: str, as_json: bool) -> None:
    from ziggurat.sequences.text import NOTE

    promise = writer.guarantee_
    sentence = "Nothing is promised to whoever the titles are about or by." if promise is None else promise.sentence()
    if as_json:
        print_json(
            {
                "headlines": [str(each) for each in written],
                "note": NOTE,
                "promise": None if promise is None else sentence,
                "rehearsal": writer.rehearsal_,
                "saved": saved or None,
            }
        )
        return
    typer.echo("\n".join([*written, f"({NOTE}. {sentence})"]))
    if writer.rehearsal_:
        typer.echo("REHEARSAL: seeded randomness, not to be published.")
    if saved:
        typer.echo(f"The writer is in {saved!r}.")
