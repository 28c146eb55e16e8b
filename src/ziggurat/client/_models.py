"""Models and teachers of a server: registered, asked for nothing, and paid for labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ziggurat.cards import Card, Shown
from ziggurat.client._calls import ServerCalls, in_path
from ziggurat.client._effects import Steps, WireRequest
from ziggurat.client._exchange import exchange, once
from ziggurat.client._facts import ServedModel
from ziggurat.client._operation import operation
from ziggurat.errors import ParameterError
from ziggurat.plain import from_plain, to_plain
from ziggurat.release import Quotation


@dataclass(frozen=True)
class ServedLabels(Shown):
    """Labels that teachers of a server gave.

    Attributes
    ----------
    labels
        For each query the number of its class; None where none was given.
    answered, queries
        How many were given, of how many that were asked for.
    certificate, sentence
        What was promised to the teachers' people, as JSON and in words.
    replayed
        Whether they had been given before, so that they cost nothing.
    rehearsal
        Whether noise is seeded, so that they may not be published.
    labelled
        The same as the file that 'ziggurat pate label' writes, from which a student learns.
    """

    labels: tuple[int | None, ...]
    answered: int
    queries: int
    certificate: Mapping[str, Any] = field(repr=False)
    sentence: str
    replayed: bool
    rehearsal: bool
    labelled: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def _card(self) -> Card:
        return Card(f"ServedLabels {self.answered:,} of {self.queries:,}", self.sentence)


class ModelSteps(ServerCalls):
    """Models, and labels of teachers."""

    @operation
    def models(self) -> Steps[list[ServedModel]]:
        """List the models about tables that whoever asks may see."""
        return [from_plain(ServedModel, each) for each in (yield from self._get("/v1/models"))["models"]]

    @operation
    def model(self, name: str) -> Steps[dict[str, Any]]:
        """Say what is publicly known of a model: `facts` has what it is asked, and what it promises."""
        found: dict[str, Any] = yield from self._get(f"/v1/models/{in_path(name)}")
        return found

    @operation
    def publish_model(self, name: str, release: str) -> Steps[ServedModel]:
        """Let the model of a release predict under a name, which stands for it for ever; for its table's stewards."""
        said = {"kind": "published", "name": name, "release": release}
        made: ServedModel = from_plain(ServedModel, (yield from self._send("POST", "/v1/models", {"model": said})))
        return made

    @operation
    def register_model(
        self, name: str, table: str, folder: str, kind: Literal["served", "teachers"] = "served"
    ) -> Steps[ServedModel]:
        """Register a folder that whoever runs the server put into its folder `models`; for chief stewards.

        Parameters
        ----------
        name
            What questions call it; it stands for it for ever.
        table
            The table that it is about.
        folder
            Its bare name in the folder `models` of the server.
        kind
            served for what `model serve` wrote, teachers for what `pate teach` did.
        """
        said = {"kind": kind, "name": name, "table": table, "folder": folder}
        made: ServedModel = from_plain(ServedModel, (yield from self._send("POST", "/v1/models", {"model": said})))
        return made

    @operation
    def remove_model(self, name: str) -> Steps[None]:
        """Forget a model; its folder stays. For the stewards of its table."""
        yield from self._send("DELETE", f"/v1/models/{in_path(name)}")

    @operation
    def predict(self, model: str, rows: Any) -> Steps[list[Any]]:
        """Predict by a published model: free, because the model has left already.

        Parameters
        ----------
        model
            Its name.
        rows
            A frame, or a list of mappings from the names of columns to cells.
        """
        return list((yield from self._ask_model(model, "predict", rows))["predictions"])

    @operation
    def answer(self, model: str, rows: Any) -> Steps[list[Any]]:
        """Answer by a served model: free, as often as one likes, and the same for the same question for ever."""
        return list((yield from self._ask_model(model, "answer", rows))["answers"])

    @operation
    def quote_labels(
        self, teachers: str, rows: Any, aggregator: str = "gumbel:0.05", most_answers: int | None = None
    ) -> Steps[Quotation]:
        """Price labels by teachers of the server; no teacher is asked, and nothing is spent.

        Parameters
        ----------
        teachers
            The name under which they are registered.
        rows
            A frame, or a list of mappings from the names of columns to cells.
        aggregator
            gumbel:0.05, laplace:0.05, gaussian:40 or confident:200,150,40.
        most_answers
            How many are answered at most, with confident.
        """
        body = _say_labels(teachers, rows, aggregator, most_answers)
        request = WireRequest("POST", "/v1/labels/quote", body=body, harmless=True)
        return Quotation.from_dict((yield from exchange(request, self._patience)))

    @operation
    def label(
        self, teachers: str, rows: Any, aggregator: str = "gumbel:0.05", most_answers: int | None = None
    ) -> Steps[ServedLabels]:
        """Pay for the labels of queries and give them; sent again after a lost connection they are paid once.

        Parameters
        ----------
        teachers, rows, aggregator, most_answers
            As for `quote_labels`.
        """
        body = _say_labels(teachers, rows, aggregator, most_answers)
        told = yield from exchange(once(WireRequest("POST", "/v1/labels", body=body)), self._patience)
        made: ServedLabels = from_plain(ServedLabels, told)
        return made

    def _ask_model(self, model: str, verb: str, rows: Any) -> Steps[Any]:
        request = WireRequest(
            "POST", f"/v1/models/{in_path(model)}/{verb}", body={"rows": _read_rows(rows)}, harmless=True
        )  # fmt: skip
        return (yield from exchange(request, self._patience))


def _say_labels(teachers: str, rows: Any, aggregator: str, most_answers: int | None) -> dict[str, Any]:
    said = {"teachers": teachers, "rows": _read_rows(rows), "aggregator": aggregator}
    return said | ({} if most_answers is None else {"most_answers": most_answers})


def _read_rows(rows: Any) -> list[dict[str, Any]]:
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        return [to_plain(dict(each)) for each in rows]
    import narwhals as nw

    try:
        table = nw.from_native(rows).lazy().collect("pyarrow").to_native()
    except TypeError:
        raise ParameterError("Give a frame (pandas, Polars, Arrow), or a list of mappings.") from None
    found: list[dict[str, Any]] = to_plain(table.to_pylist())
    return found
