"""Which epsilon: answered in confidence, accuracy and money; no data is read."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field

from ziggurat.errors import ParameterError
from ziggurat.privacy import (
    GaussianNoise,
    GeometricNoise,
    LaplaceNoise,
    Money,
    PricedNoise,
    Stakeholders,
    exact,
    exact_confidence,
    exact_delta,
    exact_epsilon,
    exact_positive,
    in_words,
)
from ziggurat.privacy.cost import EPSILON_GRID, PRIORS, CostModel, Decision, EpsilonCandidate, Wanted, why_not
from ziggurat.service.web._calling import Calling
from ziggurat.service.web.routes._bodies import Body, ExactAmount

router = APIRouter(prefix="/v1", tags=["deciding"])

MoneyText = Annotated[str, Field(max_length=60, description="Such as '5500 EUR'.")]


class GroupBody(Body):
    """People who would be compensated after a breach."""

    name: str = Field("", max_length=100)
    people: int = Field(ge=1, le=10**12)
    compensation: MoneyText
    least: MoneyText | None = Field(None, description="What each is owed however private the release is.")
    rate: ExactAmount = "1"


class DecideBody(Body):
    """What is released, with which noise, and what is wanted of it."""

    query: Literal["count", "sum", "mean"] | None = Field(None, description="Says how far one person moves the answer.")
    rows: int | None = Field(None, ge=1, le=10**15, description="Of a mean: the public number of people it is over.")
    bounds: tuple[ExactAmount, ExactAmount] | None = None
    sensitivity: ExactAmount | None = None
    dimensions: int = Field(1, ge=1, le=10**6)
    mechanism: Literal["laplace", "geometric", "gaussian"] = "laplace"
    delta: ExactAmount | None = None
    epsilon: list[ExactAmount] = Field(default_factory=list, max_length=64)
    groups: list[GroupBody] = Field(default_factory=list, max_length=64)
    error: ExactAmount | None = Field(None, description="The largest error that can be used.")
    confidence: ExactAmount = "0.95"
    budget: MoneyText | None = None
    within: ExactAmount | None = None
    at_risk: ExactAmount | None = None


@router.post("/decide")
def decide(body: DecideBody, caller: Calling) -> dict[str, Any]:
    """For each epsilon: error, confidence that the loss stays smaller, what is owed, and what attackers may believe."""
    caller.require("read")
    moved = _find_sensitivity(body)
    wanted = Wanted(
        None if body.error is None else exact_positive(body.error, "error"), exact_confidence(body.confidence),
        None if body.budget is None else Money.parse(body.budget),
        None if body.within is None else exact_epsilon(body.within, "within"),
        None if body.at_risk is None else exact_confidence(body.at_risk),
    )  # fmt: skip
    decision = Decision(_make_noise(body, moved), wanted, CostModel([_group(each) for each in body.groups])
                        if body.groups else None)  # fmt: skip
    named = [exact_epsilon(each) for each in body.epsilon or EPSILON_GRID]
    candidates = decision.candidates(named if body.epsilon else [*named, *decision.least_for_error()])
    chosen = decision.recommended(candidates)
    refused = "" if any(not each.unmet for each in candidates) else why_not(decision)
    return {
        "sensitivity": in_words(moved), "noise": decision.noise.words,
        "candidates": [_tell(each, wanted.anything) for each in candidates],
        "recommended": None if chosen is None else in_words(chosen.epsilon),
        "promise": "" if chosen is None else decision.noise.at_risk(chosen.epsilon).sentence(chosen.epsilon),
        "refused": refused,
    }  # fmt: skip


def _find_sensitivity(body: DecideBody) -> Fraction:
    if body.query is None:
        if body.rows is not None or body.bounds is not None:
            raise ParameterError("'rows' and 'bounds' describe a query; say 'query', too: count, sum or mean.")
        return exact_positive(body.sensitivity or "1", "sensitivity")
    if body.sensitivity is not None or body.dimensions != 1:
        raise ParameterError("A query knows its sensitivity; leave 'sensitivity' and 'dimensions' out.")
    if body.query == "count":
        return Fraction(1)
    if body.bounds is None:
        raise ParameterError("A sum or a mean needs 'bounds', such as ['0', '100'].")
    low, high = (exact(each, "a bound") for each in body.bounds)
    if low >= high:
        raise ParameterError("The first of 'bounds' is less than the second.")
    if body.query == "sum":
        return max(abs(low), abs(high))
    if body.rows is None:
        raise ParameterError("A mean needs 'rows', the public number of people it is over.")
    return (high - low) / body.rows


def _make_noise(body: DecideBody, moved: Fraction) -> PricedNoise:
    if body.mechanism == "gaussian":
        allowed = exact_delta(body.delta or "1e-6")
        if not allowed:
            raise ParameterError("Gaussian noise needs a delta above 0.")
        return GaussianNoise(moved, allowed)
    if body.delta is not None:
        raise ParameterError("Only Gaussian noise has a delta; leave it out.")
    if body.mechanism == "laplace":
        return LaplaceNoise(moved, body.dimensions)
    if body.dimensions != 1 or moved.denominator != 1:
        raise ParameterError("Noise on whole numbers is for one number with a whole sensitivity; use laplace.")
    return GeometricNoise(moved)


def _group(said: GroupBody) -> Stakeholders:
    least = None if said.least is None else Money.parse(said.least)
    return Stakeholders(
        said.people, Money.parse(said.compensation), least, exact_positive(said.rate, "rate"), said.name
    )  # fmt: skip


def _tell(each: EpsilonCandidate, marked: bool) -> dict[str, Any]:
    owed = each.compensation
    return {
        "epsilon": in_words(each.epsilon), "expected_error": each.error, "error_within": each.within,
        "loss_within": in_words(each.promised), "confidence": each.confidence,
        "compensation": None if owed is None else {"amount": f"{owed.amount:f}", "currency": owed.currency},
        "posteriors": dict(zip(PRIORS, each.posteriors, strict=True)),
        "meets": not each.unmet if marked else None, "unmet": list(each.unmet),
    }  # fmt: skip
