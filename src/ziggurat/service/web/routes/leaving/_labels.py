"""Labels of teachers: a student sends queries, and the people whose data trained the teachers are promised something.

Queries are the student's data: their digest stands in the ledger, as it must for a label to be given again, and nothing
of them in a log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from ziggurat.errors import ParameterError
from ziggurat.ledger import LedgerMark
from ziggurat.randomness import seeded
from ziggurat.service._house import ServiceHouse
from ziggurat.service.access import Caller
from ziggurat.service.catalogue import open_rows
from ziggurat.service.web._asking import Asked, PaidWork, send_told
from ziggurat.service.web._calling import Calling, House
from ziggurat.service.web.routes._bodies import Body, TableName
from ziggurat.service.web.routes._questions import RepeatKey
from ziggurat.service.web.routes.leaving._models import Rows

if TYPE_CHECKING:
    from ziggurat.release import LabelPlan, Release

router = APIRouter(prefix="/v1/labels", tags=["labels"])

_WHO = ("student", "analyst", "steward")


class LabelBody(Body):
    """Queries to be labelled."""

    teachers: TableName = Field(description="Teachers that are registered as a model.")
    rows: Rows
    aggregator: str = Field("gumbel:0.05", max_length=100, description="gumbel:0.05, gaussian:40, confident:200,150,40")
    most_answers: int | None = Field(None, ge=1, le=200_000)


@router.post("/quote")
def quote(body: LabelBody, house: House, caller: Calling) -> dict[str, Any]:
    """Say what labels would cost, and whether they fit; no teacher is asked, and nothing is spent."""
    caller.require("read", _WHO)
    plan = _plan(body, house, caller)[0]
    found = plan.labelling.quote(plan.features, most_answers=body.most_answers)
    return {**found.to_dict(), "sentence": found.sentence}


@router.post("")
async def label(
    body: LabelBody, request: Request, house: House, caller: Calling, repeat_key: RepeatKey = None
) -> JSONResponse:
    """Pay for labels and give them, at the end of a slot; queries that were labelled before cost nothing."""
    begun = house.slots.now()
    caller.require("spend", _WHO)
    said = {"labels": body.model_dump(mode="json")}
    told = await Asked(house, caller, said, lambda: _plan_work(body, house, caller), repeat_key, begun).answer()
    return send_told(told, request)


def _plan_work(body: LabelBody, house: ServiceHouse, caller: Caller) -> PaidWork:
    plan, seconds = _plan(body, house, caller)

    def pay(mark: LedgerMark | None) -> dict[str, Any]:
        return _tell(plan.labelling.release(plan.features, most_answers=plan.most_answers, mark=mark), plan)

    return PaidWork(pay, seconds)


def _plan(body: LabelBody, house: ServiceHouse, caller: Caller) -> tuple[LabelPlan, float]:
    """Plan labels from public facts; who may not see the table is told that there are no such teachers."""
    from ziggurat.pate import aggregator_named
    from ziggurat.release import Labelling

    found = house.models.seen(body.teachers, house.rights.of(caller.person))
    if found.kind != "teachers":
        raise ParameterError(f"{body.teachers!r} holds no teachers, but what is {found.kind}.")
    opened, facts = house.models.open(found), house.shelf.facts(found.table)
    source = seeded(house.settings.rehearse) if house.settings.rehearse else None
    labelling = Labelling(
        opened.model, aggregator_named(body.aggregator), house.ledger, caller.person.name, budget=facts.population,
        source=source,
    )  # fmt: skip
    features = opened.features(open_rows(body.rows, opened.asked_schema))
    return labelling.plan(features, most_answers=body.most_answers), facts.slot or house.settings.slot


def _tell(made: Release[Any], plan: LabelPlan) -> dict[str, Any]:
    answered = made.output.answered.tolist()
    labels = [int(each) if known else None for each, known in zip(made.output.labels, answered, strict=True)]
    return {
        "labels": labels, "answered": sum(answered), "queries": plan.question["queries"],
        "certificate": made.certificate.to_dict(), "sentence": made.certificate.sentence,
        "replayed": made.replayed, "rehearsal": made.seeded, "labelled": plan.labelling.look_up(made).to_dict(),
    }  # fmt: skip
