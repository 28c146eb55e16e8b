"""`ziggurat attack`: what attackers learn from a model about the people it was trained on, before it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, Report, SchemaFile, with_records
from ziggurat.cli._outputs import PAGES, check_file, print_json, write_page
from ziggurat.cli.server import OnServer
from ziggurat.cli.terminal import show_steps
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from rich.table import Table as Shown

    from ziggurat.attacks.models import MembershipReport
    from ziggurat.cli.attack._people import ModelCase
    from ziggurat.findings import Finding
    from ziggurat.release import Evidence, ModelExam, Verdict

_STOPPED = 5
NO_SPLIT = (
    "Members and others were not said to be drawn at random from the same people, so that there is no verdict: any "
    "difference between the groups looks like membership. The attack without the model shows how much of it."
)
UNPROTECTED = "These figures are exact and unprotected: they are for the steward."


@dataclass(frozen=True)
class AttackedCase:
    """What was found, for the screen and for the page.

    Attributes
    ----------
    name
        What the model is called.
    told
        What is said of its promise.
    evidence, verdict
        What attacks found, and what a gate with the default thresholds makes of it.
    epsilon, delta
        The promise that was tested, if any.
    """

    name: str
    told: str
    evidence: Evidence
    verdict: Verdict
    epsilon: Any = None
    delta: Any = 0

    @property
    def membership(self) -> MembershipReport:
        """What attacks on membership found."""
        found: Any = self.evidence.findings["membership"]
        report: MembershipReport = found
        return report

    @property
    def others(self) -> dict[str, Finding]:
        """What the other attacks found."""
        return {name: each for name, each in self.evidence.findings.items() if name != "membership"}

    @property
    def learned(self) -> str:
        """What an attacker with these tools learned, in a sentence."""
        return self.membership.sentence

    def to_dict(self) -> dict[str, Any]:
        """Everything as values that JSON can hold."""
        promised = None if self.epsilon is None else {"epsilon": str(self.epsilon), "delta": str(self.delta)}
        facts = {"model": self.name, "learned": self.learned, "promised": promised, "random_split": self._split}
        return {**facts, "evidence": self.evidence.to_dict(), "verdict": self.verdict.to_dict()}

    @property
    def _split(self) -> bool:
        return self.membership.random_split


@dataclass(frozen=True)
class AttackOptions:
    """Who is asked about, what is promised, and how hard attackers try."""

    members: Annotated[str, typer.Option(help="A table of the people that the model was trained on.")]
    others: Annotated[str, typer.Option(help="A table of people that it was not trained on.")]
    label: Annotated[str, typer.Option(help="The column that it predicts; our own models know theirs.")] = ""
    schema: SchemaFile = ""
    answers: Annotated[
        str, typer.Option(help="Without MODEL: the columns of its answers, p_CLASS for each class, with commas.")
    ] = ""
    random_split: Annotated[
        bool, typer.Option("--random-split", help="Both were drawn at random from the same people; else no verdict.")
    ] = False
    epsilon: Annotated[str, typer.Option(help="What is promised; our own models say so themselves.")] = ""
    delta: Annotated[str, typer.Option(help="The failure probability of that promise.")] = "0"
    attack: Annotated[
        str, typer.Option(help="Attacks on membership, with commas: loss,lira,rmia …; by default all that fit.")
    ] = ""
    shadows: Annotated[int, typer.Option(help="How many models attackers train to compare with.", min=0)] = 16
    sensitive: Annotated[
        list[str] | None, typer.Option(help="A column that attackers want to know, once for each.")
    ] = None
    questions: Annotated[int, typer.Option(help="How many questions they ask to copy it; 0: none.", min=0)] = 0
    network: Annotated[
        str,
        typer.Option(help="Of a .safetensors file that no .json beside it describes: mlp:64,32, its hidden layers."),
    ] = ""
    seed: Annotated[int | None, typer.Option(help="The same draws of the attackers again.")] = None


@with_records
def attack(
    given: AttackOptions,
    model: Annotated[
        str,
        typer.Argument(
            help="A folder of 'model fit' or 'pate student', a .skops or .safetensors file; none with --answers."
        ),
    ] = "",
    report: Report = "",
    force: Force = False,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Attack a model before it leaves: does it tell who it was trained on?

    Keep people back at random before you train, and name both groups:

      ziggurat attack forest.skops --members trained.csv --others kept.csv --label ill --random-split --report page.html

      ziggurat attack m --members in.csv --others out.csv --random-split --sensitive smoker --questions 1000

    The second is a model of 'model fit': its promise is read from its folder, and tested. Of any other model, give what
    it says about everybody, in columns of both tables:

      ziggurat attack --answers p_no,p_yes --members in.csv --others out.csv --label ill --random-split

    Without --random-split there is no verdict. Files that run code when they are read (.pkl, .joblib, .pt) are refused:
    write skops.io.dump(model, "model.skops") instead, and of a network of PyTorch its weights as .safetensors, which
    'release_model' describes in a .json beside them, or --network does. Without --schema the columns of such models
    must be numbers, as they were trained on them. Attacks that find nothing prove nothing: only a guarantee bounds what
    others would find. Nothing leaves here. Exit code 5 if the gate would stop the model.

    On a server --members is a table there, and --others another one or a file; they and MODEL, a .skops file, are sent,
    and it is a job for the stewards of the table.
    """
    if server:
        from ziggurat.cli.attack._remote import attack_on

        attack_on(server, model, given, as_json=as_json)
        return
    check_file(report, PAGES, force=force)
    with show_steps() as told:
        found = _find(model, given, told)
    if report:
        from ziggurat.cli.attack._page import page

        write_page(page(found), report)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)
        if report:
            typer.echo(f"The report is in {report}; it holds exact figures about people, so do not publish it.")
    if found.verdict.stopped:
        raise typer.Exit(_STOPPED)


def _find(model: str, given: AttackOptions, told: Any) -> AttackedCase:
    """Read, attack and judge."""
    from ziggurat.cli.attack._models import GivenModel, open_model
    from ziggurat.cli.attack._people import read_answers, read_case
    from ziggurat.release import Gate

    if bool(model) == bool(given.answers):
        raise ParameterError("Give either a MODEL or the columns of its --answers.")
    told("reading the model and the people")
    if given.answers:
        if given.network:
            raise ParameterError("--network is of a MODEL; answers alone need none.")
        if not given.label:
            raise ParameterError("Name the column that the model predicts with --label.")
        opened = GivenModel("the model behind the answers", None)
        case = read_answers(given.members, given.others, given.label, given.answers)
    else:
        opened = open_model(model, given.network)
        case = read_case(opened, given.members, given.others, given.label, given.schema)
    exam = _plan_exam(given, case, opened)
    evidence = exam.examine(case.met, case.members, case.others, estimator=case.estimator, told=told)
    promised = exam.epsilon is not None and given.random_split
    verdict = Gate().judge(evidence, guaranteed=promised)
    return AttackedCase(opened.name, opened.told, evidence, verdict, exam.epsilon, exam.delta)


def _plan_exam(given: AttackOptions, case: ModelCase, opened: Any) -> ModelExam:
    from ziggurat.privacy import exact_delta, exact_epsilon
    from ziggurat.release import ModelExam

    if given.answers and given.questions:
        raise ParameterError("--questions needs a model that can be asked; answers alone are not enough.")
    stated = (exact_epsilon(given.epsilon), exact_delta(given.delta)) if given.epsilon else None
    epsilon, delta = stated or (opened.epsilon, opened.delta)
    return ModelExam(
        given.random_split,
        attacks=tuple(each.strip() for each in given.attack.split(",") if each.strip()),
        shadows=given.shadows,
        sensitive=tuple(case.hide(name) for name in given.sensitive or ()),
        questions=given.questions,
        epsilon=epsilon,
        delta=delta,
        random_state=given.seed,
    )


def sentences(found: AttackedCase) -> Iterator[str]:
    """What was found, in sentences for a steward."""
    yield found.learned
    for each in found.others.values():
        yield each.sentence
    if found.told:
        yield found.told
    if not found.membership.random_split:
        yield NO_SPLIT


def _show(found: AttackedCase) -> None:
    from rich.console import Console

    from ziggurat.cli.terminal import Printed as Text

    console = Console()
    console.print(_attacks(found))
    for each in sentences(found):
        console.print(Text(each))
    for why, names in tell_skipped(found).items():
        console.print(Text(f"Not tried ({names}): {why}.", "dim"))
    console.print(Text(tell_verdict(found), "bold"))
    console.print(Text(UNPROTECTED, "dim"))


def tell_skipped(found: AttackedCase) -> dict[str, str]:
    """Why attacks were not tried, and which."""
    reasons: dict[str, list[str]] = {}
    for name, why in {**found.membership.skipped, **found.evidence.skipped}.items():
        reasons.setdefault(why.rstrip("."), []).append(name)
    return {why: ", ".join(names) for why, names in reasons.items()}


def tell_verdict(found: AttackedCase) -> str:
    """What the gate makes of it: what stops it by name, or what it would pass."""
    verdict = found.verdict
    if verdict.stopped:
        names = dict.fromkeys(_shorten(each.attack) for each in verdict.stopped)
        refuted = " Its promise is refuted." if verdict.refuted else ""
        return f"The gate would stop this model: {', '.join(names)}.{refuted}"
    if not verdict.passed:
        return "There is no verdict: nothing could be judged."
    return f"The gate would let this model go: {len(verdict.passed)} figures judged, and within the thresholds."


def _shorten(attack: str) -> str:
    """Many attacks on membership say the same."""
    if attack.startswith("membership, epsilon"):
        return "more shown than epsilon allows"
    if attack.startswith("membership"):
        return "it tells who the members are"
    return "it holds rows of people" if attack == "inspection" else attack


def _attacks(found: AttackedCase) -> Shown:
    from rich.table import Table as Shown

    shown = Shown(header_style="dim", box=None, padding=(0, 1))
    shown.add_column("attack on membership", overflow="fold")
    for head in ("area under the curve", "members named at 1% of others", "chance"):
        shown.add_column(head, justify="right", no_wrap=True)
    for name, each in listed_attacks(found):
        named = str(each.readings[0]) if each.readings else "–"
        luck = f"{min(each.even.chance, each.surest.chance):.2g}" if each.random_split else "–"
        shown.add_row(name, str(each.area), named, luck)
    return shown


def listed_attacks(found: AttackedCase) -> list[tuple[str, Any]]:
    """The attacks by name, the strongest first, and last the one without the model."""
    report = found.membership
    made = sorted(report.attacks.items(), key=lambda item: -item[1].area.rate)
    return [*made, *([] if report.blind is None else [("blind: without the model", report.blind)])]
