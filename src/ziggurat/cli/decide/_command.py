"""`ziggurat decide`: which epsilon, answered in confidence, accuracy and money."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from ziggurat.cli._options import AsJson, Force, picture_option
from ziggurat.cli._outputs import PICTURES, check_file, print_json
from ziggurat.cli.server import OnServer
from ziggurat.errors import ParameterError, PrivacyError

if TYPE_CHECKING:
    from ziggurat.privacy import CostModel, Stakeholders
    from ziggurat.privacy.cost import Decision, Wanted

Mechanism = Annotated[str, typer.Option(help="laplace, geometric (Laplace on whole numbers) or gaussian.")]
Query = Annotated[str, typer.Option(help="count, sum or mean: says how far one person moves the answer.")]
Rows = Annotated[int | None, typer.Option(min=1, help="Of a mean: the public number of people it is over.")]
Bounds = Annotated[str, typer.Option(help="Of a sum or a mean: 0:100; values beyond count as the bound.")]
Sensitivity = Annotated[str, typer.Option(help="How far one person moves what is released, if it is no query: 1.")]
Dimensions = Annotated[int, typer.Option(min=1, help="How many numbers one person moves, together by so much.")]
Delta = Annotated[str, typer.Option(help="Of Gaussian noise; 1e-6 by default.")]
Epsilons = Annotated[str, typer.Option("--epsilon", help="Candidates with commas, exact: 0.1,0.5,1.")]
People = Annotated[int | None, typer.Option(min=1, help="How many would be compensated after a breach.")]
Compensation = Annotated[str, typer.Option(help="What each would be owed without protection: '5500 EUR'.")]
Least = Annotated[str, typer.Option(help="What each is owed however private the release is: '100 EUR'.")]
Groups = Annotated[
    list[str] | None,
    typer.Option("--group", help="name:people:compensation[:least[:rate]], once for each group: staff:100:5500 EUR."),
]
Error = Annotated[str, typer.Option(help="The largest error the analyst can use, in the units of the answer.")]
Confidence = Annotated[str, typer.Option(help="How sure that error bound is.")]
Budget = Annotated[str, typer.Option(help="The most that compensation may be expected to cost: '50000 EUR'.")]
Within = Annotated[str, typer.Option(help="The epsilon whose confidence is shown; by default half of each candidate.")]
AtRisk = Annotated[str, typer.Option(help="With --within: how sure it must be that the loss stays there: 0.9.")]
Picture = Annotated[str, picture_option("error, compensation and confidence.")]
Published = Annotated[bool, typer.Option("--as-published", help="Also what Theorem 3 gives: not a guarantee.")]


def decide(
    query: Query = "",
    rows: Rows = None,
    bounds: Bounds = "",
    mechanism: Mechanism = "laplace",
    sensitivity: Sensitivity = "",
    dimensions: Dimensions = 1,
    delta: Delta = "",
    epsilon: Epsilons = "",
    people: People = None,
    compensation: Compensation = "",
    least: Least = "",
    group: Groups = None,
    error: Error = "",
    confidence: Confidence = "0.95",
    budget: Budget = "",
    within: Within = "",
    at_risk: AtRisk = "",
    picture: Picture = "",
    force: Force = False,
    as_published: Published = False,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Decide on epsilon: in confidence, accuracy and money.

    For every candidate: the error in the units of the answer, how likely the privacy loss stays smaller, the expected
    compensation, and what the best attacker believes about one person who believed 1%, 10% or 50% before. Those that
    meet your constraints are marked. No data is read.

    A health centre told that 34 of 99 people were obese, later 35 of 100: everybody knew who had joined. What if
    noise had been added, and each of 100 people were owed 5,500 dollars for a breach?

      ziggurat decide --query count --epsilon 0.5 --people 100 --compensation "5500 USD"

    The most private mean that is precise enough, and a picture:

      ziggurat decide --query mean --rows 2000 --bounds 0:100 --error 0.5 --picture decide.png

    Two groups of people, a budget, and Gaussian noise whose loss stays within 1 in 99.9% of releases:

      ziggurat decide --mechanism gaussian --within 1 --at-risk 0.999 --budget "200000 EUR"
      --group "staff:100:5500 EUR:100 EUR" --group "patients:2000:90 EUR"

    Exit code 2 if nothing meets the constraints; the sentence says which one binds, and by how much.
    """
    from ziggurat.cli.decide import _noise as _decide_noise
    from ziggurat.cli.decide import _page as _decide_page
    from ziggurat.privacy.cost import EPSILON_GRID, Decision, why_not

    check_file(picture, PICTURES, force=force)
    cost = _read_cost(people, compensation, least, group or [])
    if server:
        from ziggurat.cli.decide._remote import decide_on

        said = {"query": query, "rows": rows, "bounds": bounds.split(":") if bounds else [], "delta": delta}
        said |= {"mechanism": mechanism, "sensitivity": sensitivity, "dimensions": dimensions, "error": error}
        said |= {"confidence": confidence, "budget": budget, "within": within, "at_risk": at_risk}
        decide_on(server, {**said, "epsilon": epsilon.split(",") if epsilon else []}, cost, as_json=as_json)
        return
    asked = _decide_noise.read_release(query, sensitivity, rows, bounds, dimensions)
    noise = _decide_noise.make_noise(mechanism, asked.sensitivity, dimensions, delta)
    wanted = _read_wanted(error, confidence, budget, within, at_risk)
    decision = Decision(noise, wanted, cost)
    _check_published(decision, as_published)
    named = _read_amounts(epsilon) if epsilon else [*_read_amounts(",".join(EPSILON_GRID)), *decision.least_for_error()]
    candidates = decision.candidates(named)
    chosen = decision.recommended(candidates)
    refused = "" if any(not each.unmet for each in candidates) else why_not(decision)
    page = _decide_page.DecisionPage(asked.words, decision, candidates, chosen, refused, as_published)
    if picture:
        from ziggurat.cli.decide._picture import save_picture

        save_picture(page, picture)
    why = PrivacyError(refused) if refused else None
    if as_json:
        print_json(page.to_dict() | ({} if why is None else why.to_dict()))
        raise typer.Exit(0 if why is None else why.exit_code)
    page.show()
    if why is not None:
        raise why


def _check_published(decision: Decision, asked: bool) -> None:
    from ziggurat.privacy.cost import LaplaceNoise

    if asked and not isinstance(decision.noise, LaplaceNoise):
        raise ParameterError("Theorem 3 is about Laplace noise; leave out --as-published.")


def _read_amounts(text: str) -> list[Fraction]:
    from ziggurat.privacy import exact_epsilon

    return [exact_epsilon(part.strip()) for part in text.split(",")]


def _read_wanted(error: str, confidence: str, budget: str, within: str, at_risk: str) -> Wanted:
    from ziggurat.privacy import Money, exact_confidence, exact_epsilon, exact_positive
    from ziggurat.privacy.cost import Wanted

    return Wanted(
        exact_positive(error, "error") if error else None,
        exact_confidence(confidence),
        Money.parse(budget) if budget else None,
        exact_epsilon(within, "within") if within else None,
        exact_confidence(at_risk, "at-risk") if at_risk else None,
    )


def _read_cost(people: int | None, compensation: str, least: str, groups: list[str]) -> CostModel | None:
    from ziggurat.privacy import CostModel, Money, Stakeholders

    if bool(people) != bool(compensation) or (least and not people):
        raise ParameterError("Give --people and --compensation together, such as --people 100 --compensation '90 EUR'.")
    found = [_read_group(text) for text in groups]
    if people:
        floor = Money.parse(least) if least else None
        found.insert(0, Stakeholders(people, Money.parse(compensation), floor))
    return CostModel(found) if found else None


def _read_group(text: str) -> Stakeholders:
    from ziggurat.privacy import Money, Stakeholders, exact_positive

    parts = [part.strip() for part in text.split(":")]
    if not 3 <= len(parts) <= 5 or not parts[1].isdecimal() or not parts[0]:
        raise ParameterError("Write a group as name:people:compensation[:least[:rate]], such as 'staff:100:5500 EUR'.")
    name, people, compensation = parts[:3]
    least = Money.parse(parts[3]) if len(parts) > 3 and parts[3] else None
    rate = exact_positive(parts[4], "rate") if len(parts) > 4 else Fraction(1)
    return Stakeholders(int(people), Money.parse(compensation), least, rate, name)
