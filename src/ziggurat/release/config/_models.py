"""What a file may say about a release: one model for every kind, and a JSON schema of all of them.

Amounts (epsilon, delta, shares) are read as text, so that they stay exact: 0.1 and "1/3" mean what they say.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ziggurat.errors import ParameterError
from ziggurat.privacy import exact

FORMAT = "ziggurat/release/1"
"""What a release file gives as its `format`."""
_FEWEST_RUNS = 200  # below, an audit sees nothing


def _as_text(value: object) -> object:
    """A number as it was written; YAML has made a number of it, whose shortest text is the one that was written."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("an amount is a number, or a text such as '1/3'")
    text = str(value)
    try:
        exact(text, "an amount")
    except ParameterError:
        raise ValueError("an amount is a number that can be meant, or a text such as '1/3'") from None
    return text


def _as_day(value: object) -> object:
    """A day as JSON writes it; YAML has made a day of it already."""
    if isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError("a bound is a number, or a day such as 2024-01-31") from None
    return value


Exact = Annotated[str, BeforeValidator(_as_text, json_schema_input_type=str | int | float)]
Bound = int | float | Annotated[date, BeforeValidator(_as_day)]
TableFile = Annotated[
    str,
    Field(
        pattern=r"^[^./\\\x00][^/\\\x00]*\.(parquet|csv|tsv|xlsx|dta|sav|jsonl|arrow|feather)$",
        description="What the file is called in the bundle: a name such as table.parquet, .csv, .xlsx, .dta or .sav, "
        "without a folder.",
    ),
]
StreamedFile = Annotated[
    str,
    Field(
        pattern=r"^[^./\\\x00][^/\\\x00]*\.(parquet|csv|tsv|jsonl|arrow|feather)$",
        description="What the file is called in the bundle: a name ending in .parquet, .csv, .tsv, .jsonl, .arrow or "
        ".feather, without a folder.",
    ),
]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class QuestionSaid(_Said):
    """The answer to a question in SQL, with a guarantee."""

    kind: Literal["question"]
    sql: str = Field(description="SELECT … FROM the name of the table.")
    epsilon: Exact = Field(description="What it may cost, exact.")
    delta: Exact = "0"
    rows_per_unit: int | None = Field(None, description="How many rows of one unit count, in each group.")
    groups_per_unit: int | None = Field(None, description="In how many groups one unit counts.")
    bounds: dict[str, list[Bound]] = Field(default_factory=dict, description="column: [lower, upper].")
    learn: list[str] = Field(default_factory=list, description="Columns whose bounds are learned, out of epsilon.")
    shares: dict[str, Exact] = Field(default_factory=dict, description="Which part of the cost a column gets.")
    bounding: Literal["weigh", "lot"] = "weigh"
    noise: Literal["laplace", "gaussian"] = "laplace"
    effects: Exact = "0.1"
    confidence: Exact = "0.95"


class WorkloadSaid(_Said):
    """Many counts that are answered together, with a guarantee."""

    kind: Literal["workload"]
    marginals: list[list[str]] = Field(min_length=1, description="Sets of columns whose joint counts are wanted.")
    total: bool = Field(False, description="Also count everybody.")
    bins: dict[str, int] = Field(default_factory=dict, description="Into how many even bins numbers are cut.")
    epsilon: Exact
    delta: Exact = "0"
    rows_per_unit: int | None = None
    noise: Literal["laplace", "gaussian"] | None = None
    confidence: Exact = "0.95"


class ReportsSaid(_Said):
    """A report of every row, each protected on its own, with a guarantee under replace-one."""

    kind: Literal["reports"]
    columns: dict[str, Exact] = Field(min_length=1, description="column: its epsilon.")
    method: Literal["auto", "response", "unary", "hashing", "choice"] = "auto"
    missing: bool = Field(False, description="Let missing values be reported, too.")


class ModelSaid(_Said):
    """A private model, with a guarantee."""

    kind: Literal["model"]
    label: str = Field(description="The column to be predicted.")
    epsilon: Exact
    delta: Exact = "1e-6"
    model: str = Field("auto", description="linear, ridge, lasso, elastic-net; logistic, naive-bayes, tree, forest.")
    columns: list[str] = Field(default_factory=list, description="The columns to learn from; else all.")
    expected_rows: int | None = Field(None, ge=1, description="About how many rows there are, as is publicly known.")
    holdout: float = Field(0, ge=0, lt=1, description="The share of people kept back as a control for attacks.")
    audit: int = Field(
        0, ge=0, description="Audit the promise before it is paid for: so many fits on invented rows, at least 200."
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Further parameters of the model.")

    @model_validator(mode="after")
    def _require_enough_runs(self) -> ModelSaid:
        if 0 < self.audit < _FEWEST_RUNS:
            raise ValueError(f"'audit' is 0, or at least {_FEWEST_RUNS} fits, such as 1000")
        return self


class ForeignModelSaid(_Said):
    """A model that was trained without a guarantee on the people in the table; nothing bounds what it tells."""

    kind: Literal["foreign model"]
    model: str = Field(
        description="The .skops file of a fitted model of scikit-learn, or the .safetensors file of a network of "
        "PyTorch, with the .json beside it that describes an MLP or a CNN."
    )
    others: str = Field(description="A table of people whom it was not trained on, with the columns of the table.")
    label: str = Field(description="The column that it predicts.")
    columns: list[str] = Field(default_factory=list, description="The columns it was trained on, in order; else all.")
    scaled: bool = Field(
        True, description="Cells become numbers as for our own models; false: columns of numbers as they are."
    )
    random_split: bool = Field(False, description="Whether table and others were drawn at random from the same people.")
    sensitive: list[str] = Field(default_factory=list, description="Columns that attackers want to know.")
    shadows: int = Field(16, ge=0, description="How many models attackers train to compare with.")
    questions: int = Field(0, ge=0, description="How many questions they ask in order to copy it.")
    out: str = Field(
        "",
        pattern=r"^([^./\\\x00][^/\\\x00]*\.(skops|safetensors))?$",
        description="What the file is called; by default model.skops or model.safetensors.",
    )


class LabelsSaid(_Said):
    """Labels of queries by teachers, with a guarantee to the people whose data trained them."""

    kind: Literal["labels"]
    teachers: str = Field(description="The folder that 'ziggurat pate teach' wrote.")
    queries: str = Field(description="A table with the teachers' columns.")
    aggregator: str = Field("gumbel:0.05", description="gumbel:0.05, laplace:0.05, gaussian:40, confident:200,150,40.")
    most_answers: int | None = Field(None, ge=1)


class DiversitySaid(_Said):
    """How many different values every class must have."""

    amount: float | int
    kind: Literal["distinct", "entropy", "recursive"] = "distinct"
    c: float | int | None = None
    missing_is_a_value: bool = False


class ClosenessSaid(_Said):
    """How close the values of every class must be to those of the table."""

    amount: float | int
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    missing_is_a_value: bool = False


class AnonymizedSaid(_Said):
    """An anonymised table; nothing bounds what it tells."""

    kind: Literal["anonymized table"]
    out: TableFile = "table.parquet"
    k: int | None = Field(None, ge=1)
    diversity: dict[str, DiversitySaid] = Field(default_factory=dict, description="By sensitive column.")
    closeness: dict[str, ClosenessSaid] = Field(default_factory=dict, description="By sensitive column.")
    highest_risk: float | None = None
    average_risk: float | None = None
    quasi_identifiers: list[str] = Field(default_factory=list, description="By default by the schema.")
    keep: dict[str, str] = Field(default_factory=dict, description="column: why it may leave as it is.")
    drop: list[str] = Field(default_factory=list)
    suppression: Exact = "0"
    metric: Literal["loss", "entropy", "precision", "discernibility", "class-size"] = "loss"
    weights: dict[str, float | int] = Field(default_factory=dict)
    hierarchies: list[str] = Field(default_factory=list, description="Files of hierarchies, or folders of them.")
    recoding: Literal["global", "local", "mondrian"] = "global"


class MaskedSaid(_Said):
    """A masked table; nothing bounds what it tells."""

    kind: Literal["masked table"]
    out: TableFile = "table.parquet"
    techniques: dict[str, Any] = Field(default_factory=dict, description="For each column its technique.")
    safe_harbor: bool = Field(False, description="Plan by HIPAA's list of eighteen instead, from the schema.")

    @model_validator(mode="after")
    def _one_of_both(self) -> MaskedSaid:
        if bool(self.techniques) == self.safe_harbor:
            raise ValueError("give 'techniques' or 'safe_harbor: true', one of the two")
        return self


class SyntheticSaid(_Said):
    """Synthetic copies of a table: with a guarantee by aim or mst, and without one by other methods."""

    kind: Literal["synthetic table"]
    out: TableFile = "table.parquet"
    method: Literal["cart", "forest", "linear", "network", "sample", "aim", "mst"] = "cart"
    epsilon: Exact | None = Field(None, description="With aim or mst: what it may cost.")
    delta: Exact | None = None
    copies: int = Field(1, ge=1)
    rows: int | None = Field(None, ge=1)
    holdout: float = Field(0.1, ge=0, lt=1, description="The share of people kept back as a control for attacks.")
    known: list[str] = Field(default_factory=list, description="The columns attackers know; else by the schema.")
    secret: list[str] = Field(default_factory=list, description="The columns they want; else by the schema.")
    leave_out: list[str] = Field(default_factory=list)
    options: dict[str, Any] = Field(default_factory=dict, description="Further parameters of the method.")

    @model_validator(mode="after")
    def _require_epsilon(self) -> SyntheticSaid:
        private = self.method in ("aim", "mst")
        if private != (self.epsilon is not None):
            raise ValueError("'epsilon' goes with the methods aim and mst, and they need it")
        return self

    @property
    def private(self) -> bool:
        """Whether it carries a guarantee."""
        return self.method in ("aim", "mst")


class SequencesSaid(_Said):
    """Sequences drawn from a model of logs, with a guarantee."""

    kind: Literal["sequences"]
    out: StreamedFile = "sequences.parquet"
    method: Literal["markov", "recurrent"] = "markov"
    epsilon: Exact = Field(description="What it may cost, exact.")
    delta: Exact | None = None
    sequence: str = Field("", description="The column with the sequences; of a long table, what tells them apart.")
    token: str = Field("", description="Of a long table: the column of the symbols.")
    order: str = Field("", description="Of a long table: the number, date or time that puts symbols in order.")
    label: str = Field("", description="The column of the classes, if sequences have one.")
    longest: int | None = Field(None, ge=1, description="How many symbols of a sequence count; else by the schema.")
    sequences_per_unit: int | None = Field(None, ge=1, description="How many sequences of one owner count.")
    count: int | None = Field(None, ge=1, description="How many are drawn; else as many as there seem to be.")
    sizes: dict[str, int] = Field(default_factory=dict, description="class: how many of it are drawn.")
    holdout: float = Field(0.1, ge=0, lt=1, description="The share of units kept back as a control for attacks.")
    canaries: int = Field(0, ge=0, description="Of a rehearsal: random sequences that are planted and looked for.")
    options: dict[str, Any] = Field(default_factory=dict, description="Further parameters of the method.")


class PlacesSaid(_Said):
    """Which places are public: a table of them, or the cells of a grid over a box."""

    table: str = Field("", description="A public table of places, beside this file.")
    name: str = Field("", description="Its column with the names; by default as the visits call it, or place or name.")
    latitude: str = Field("", description="Its column of degrees; by default latitude or lat.")
    longitude: str = Field("", description="Its column of degrees; by default longitude, lon or lng.")
    regions: list[str] = Field(default_factory=list, description="Its columns of a hierarchy, finest first.")
    box: list[float | int] = Field(default_factory=list, description="[west, south, east, north] in degrees.")
    grid: int | None = Field(None, ge=1, description="Cells of so many columns and rows over the box are the places.")


class CalendarSaid(_Said):
    """How times are written."""

    epoch: str = Field("", description="A public local date and time that numbers are counted from.")
    tick: Exact | None = Field(None, description="How many minutes one unit of a number is: 60, or '1/60'.")
    zone: str = Field("", description="The time zone of the places, for moments in UTC: America/New_York.")
    pattern: str = Field("", description="How texts write times: YYYY-MM-DD hh:mm.")


class VisitsSaid(_Said):
    """Where visits stand in the table, and which places are public."""

    time: str = Field(description="The column that says when a visit was.")
    place: str = Field("", description="The column that names the place; or latitude and longitude.")
    latitude: str = ""
    longitude: str = ""
    trip: str = Field("", description="The column that tells the trips of a person apart.")
    cut: Literal["day", "gap", "trip", "never"] | None = Field(
        None, description="Where a trajectory ends; by default with the day, or by trip or gap if one is said."
    )
    gap: int | None = Field(None, ge=1, description="More than how many minutes between two visits part them.")
    starts: int = Field(0, ge=0, lt=1440, description="The minute after midnight at which a day begins.")
    least: int = Field(1, ge=1, description="How many visits make a trajectory.")
    longest: int = Field(100, ge=1, description="How many visits of a trajectory count; the first ones do.")
    within: float | None = Field(None, gt=0, description="How many kilometres at most a point is laid on a place.")
    calendar: CalendarSaid = Field(default_factory=lambda: CalendarSaid.model_validate({}))
    places: PlacesSaid = Field(
        default_factory=lambda: PlacesSaid.model_validate({}),
        description="The public places; by default the categories of the place column.",
    )


class TrajectoriesSaid(VisitsSaid):
    """Trajectories drawn from a model of visits, with a guarantee to whoever the unit of the schema is."""

    kind: Literal["trajectories"]
    out: StreamedFile = "trajectories.parquet"
    method: Literal["markov"] = "markov"
    epsilon: Exact = Field(description="What it may cost, exact.")
    delta: Exact | None = None
    trajectories_per_person: int | None = Field(None, ge=1, description="How many trajectories of one person count.")
    count: int | None = Field(None, ge=1, description="How many are drawn; else as many as there seem to be.")
    holdout: float = Field(0.1, ge=0, lt=1, description="The share of people kept back as a control for attacks.")
    canaries: int = Field(0, ge=0, description="Of a rehearsal: invented people who are planted and looked for.")
    options: dict[str, Any] = Field(default_factory=dict, description="Further parameters of the method.")


class CommunitiesSaid(VisitsSaid):
    """Communities of people, described by their places and hours, with a guarantee."""

    kind: Literal["communities"]
    out: StreamedFile = "communities.parquet"
    epsilon: Exact = Field(description="What it may cost, exact.")
    delta: Exact | None = None
    communities: int = Field(10, ge=1, description="How many there are.")
    visits_per_person: int | None = Field(None, ge=1, description="How many visits of a person count.")
    options: dict[str, Any] = Field(default_factory=dict, description="Further parameters of the model.")


Said = Annotated[
    QuestionSaid
    | WorkloadSaid
    | ReportsSaid
    | ModelSaid
    | ForeignModelSaid
    | LabelsSaid
    | AnonymizedSaid
    | MaskedSaid
    | SyntheticSaid
    | SequencesSaid
    | TrajectoriesSaid
    | CommunitiesSaid,
    Field(discriminator="kind"),
]


class GateSaid(_Said):
    """What stops the release."""

    level: Exact = Field("0.05", description="How often the gate may stop a release that gives nobody away.")
    thresholds: dict[str, float | int | None] = Field(
        default_factory=dict, description="By attack: the largest figure that passes."
    )


class ReleaseConfig(_Said):
    """A release, described whole: from which table, to whose account, what leaves, and what stops it."""

    format: Literal["ziggurat/release/1"] = Field(description="The version of this format.")
    table: str = Field("", description="A file beside this one, or an invented table or public dataset by name.")
    schema_: str = Field("", alias="schema", description="The schema; by default the .yaml file beside the table.")
    name: str = Field("", description="What questions call the table; by default the file's name.")
    unreadable: Exact = Field("0", description="The share of a column's cells that may be unreadable.")
    public: dict[str, str] = Field(default_factory=dict, description="Tables that are no secret, for joins.")
    ledger: str = Field("", description="A file or postgresql://…; by default that of this user.")
    population: str = Field("", description="Whose account; by default the table's name.")
    analyst: str = Field("", description="Who pays, of a release with a guarantee.")
    release: Said
    gate: GateSaid = Field(default_factory=lambda: GateSaid.model_validate({}))
    looked: bool = Field(
        False, description="Whether settings were chosen by looking at the private table: then say so."
    )
    note: str = Field("", description="What it is for, in a sentence.", max_length=1_000)
    bundle: str = Field("", description="The folder or .zip file to write; by default named after this file.")
    rehearse: int | None = Field(None, description="A seed: repeatable, marked, and never signed.")

    @model_validator(mode="before")
    @classmethod
    def _respell(cls, said: Any) -> Any:
        """Files written before have another spelling of a kind."""
        about = said.get("release") if isinstance(said, dict) else None
        if not isinstance(about, dict) or about.get("kind") != "anonymised table":
            return said
        return {**said, "release": {**about, "kind": "anonymized table"}}


def json_schema() -> dict[str, Any]:
    """Give the JSON schema of the format, for editors and for other programs."""
    made = ReleaseConfig.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": FORMAT, **made}
