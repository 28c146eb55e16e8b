"""Surveys of a server, in which people protect their own answers, and what everybody may read about a population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ziggurat.cards import Card, Shown
from ziggurat.client._calls import ServerCalls, in_path
from ziggurat.client._effects import Steps, WireRequest
from ziggurat.client._exchange import exchange
from ziggurat.client._operation import operation
from ziggurat.client._shelves import read_schema_text
from ziggurat.data import Schema
from ziggurat.plain import to_plain
from ziggurat.privacy import Amount, exact
from ziggurat.release import Quotation


@dataclass(frozen=True)
class ServedSurvey(Shown):
    """A survey of a server.

    Attributes
    ----------
    name, population
        What people call it, and whom it is about.
    state
        open, or closed.
    epsilon
        What a report costs its sender, exact.
    facts
        All that everybody may know of it, as JSON: how each answer is protected.
    """

    name: str
    population: str
    state: str
    epsilon: str
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def _card(self) -> Card:
        return Card(f"ServedSurvey {self.name}", f"about {self.population}, epsilon {self.epsilon}, {self.state}")


class SurveySteps(ServerCalls):
    """Surveys: priced, published, answered by invitation, estimated from."""

    @operation
    def quote_survey(
        self,
        name: str,
        columns: Mapping[str, Amount],
        *,
        table: str = "",
        population: str = "",
        schema: Schema | str | Path = "",
        method: str = "auto",
        missing: bool = False,
    ) -> Steps[Quotation]:
        """Say what a survey would cost whoever answers it, how exact it would be, and whether it fits; for stewards.

        Parameters
        ----------
        name
            What people will call it.
        columns
            For each column its epsilon, exact.
        table
            A table of the server whose schema says what is public about the columns; or else:
        population, schema
            Whose account pays, and what is publicly known, where there is no table.
        method
            For categories: response, unary, hashing, choice, or auto for the most precise.
        missing
            Whether missing values may be reported, too.
        """
        body = _say_survey(name, columns, table, population, schema, method, missing)
        request = WireRequest("POST", "/v1/surveys/quote", body=body, harmless=True)
        return Quotation.from_dict((yield from exchange(request, self._patience)))

    @operation
    def publish_survey(
        self,
        name: str,
        columns: Mapping[str, Amount],
        *,
        table: str = "",
        population: str = "",
        schema: Schema | str | Path = "",
        method: str = "auto",
        missing: bool = False,
    ) -> Steps[ServedSurvey]:
        """Pay for a survey, once, and open it; the same survey again is told again. For stewards.

        Parameters
        ----------
        name, columns, table, population, schema, method, missing
            As for `quote_survey`.
        """
        body = _say_survey(name, columns, table, population, schema, method, missing)
        request = WireRequest("POST", "/v1/surveys", body=body, harmless=True)  # its name stands for one for ever
        return _read_survey((yield from exchange(request, self._patience)))

    @operation
    def surveys(self) -> Steps[list[ServedSurvey]]:
        """List the surveys that a steward looks after."""
        return [_read_survey(each) for each in (yield from self._get("/v1/surveys"))["surveys"]]

    @operation
    def survey(self, name: str) -> Steps[ServedSurvey]:
        """Say how answers to a survey are protected, and what that promises; open to everybody."""
        return _read_survey((yield from self._get(f"/v1/surveys/{in_path(name)}")))

    @operation
    def invite(self, survey: str, count: int) -> Steps[list[str]]:
        """Make links of invitations, one for each person, which are told this once; for the survey's stewards."""
        told = yield from self._send("POST", f"/v1/surveys/{in_path(survey)}/invitations", {"count": count})
        return list(told["links"])

    @operation
    def close_survey(self, survey: str) -> Steps[ServedSurvey]:
        """Take no more reports; for the survey's stewards."""
        request = WireRequest("POST", f"/v1/surveys/{in_path(survey)}/close", harmless=True)
        return _read_survey((yield from exchange(request, self._patience)))

    @operation
    def estimate_survey(
        self, survey: str, confidence: Amount = "0.95", *, population: bool = False
    ) -> Steps[dict[str, Any]]:
        """Estimate from the reports, with intervals; while a survey is open, from those of days that are over.

        Parameters
        ----------
        survey
            Its name.
        confidence
            With which each interval holds its truth.
        population
            Whether the intervals are about those from whom the people were drawn at random.
        """
        said = {"confidence": str(exact(confidence, "confidence")), "population": population}
        found: dict[str, Any] = yield from self._get(f"/v1/surveys/{in_path(survey)}/estimates", **said)
        return found

    @operation
    def survey_reports(self, survey: str) -> Steps[dict[str, Any]]:
        """Give the reports, in an order that says nothing, and how they were made; for the survey's stewards."""
        found: dict[str, Any] = yield from self._get(f"/v1/surveys/{in_path(survey)}/reports")
        return found


class PopulationSteps(ServerCalls):
    """What was promised about people, and budgets about those of whom there is no table."""

    @operation
    def promise(self, population: str) -> Steps[dict[str, Any]]:
        """Say in words what was promised and spent about these people, once a steward opened it to everybody."""
        found: dict[str, Any] = yield from self._get(f"/v1/populations/{in_path(population)}/promise")
        return found

    @operation
    def open_population(self, population: str, open_to_all: bool = True) -> Steps[None]:
        """Let everybody read what was promised about a population, or nobody; for stewards of a table of it."""
        yield from self._send("PUT", f"/v1/populations/{in_path(population)}", {"open": open_to_all})

    @operation
    def make_people_budget(
        self,
        population: str,
        epsilon: Amount,
        delta: Amount = 0,
        *,
        name: str = "",
        person: str = "",
        relation: Literal["add-or-remove-one", "replace-one"] = "replace-one",
    ) -> Steps[dict[str, str]]:
        """Set what may be spent on people of whom there is no table, for surveys; for chief stewards.

        Parameters
        ----------
        population
            What the account is called.
        epsilon, delta
            In all, exact.
        name
            What the budget is called; by default as the population.
        person
            The column that tells people apart; else a row is one.
        relation
            replace-one or add-or-remove-one.
        """
        said = {"epsilon": str(exact(epsilon, "epsilon")), "delta": str(exact(delta, "delta")), "relation": relation}
        said |= {each: value for each, value in (("name", name), ("person", person)) if value}
        found: dict[str, str] = yield from self._send("POST", f"/v1/populations/{in_path(population)}/budgets", said)
        return found


def _say_survey(
    name: str, columns: Mapping[str, Amount], table: str, population: str, schema: Schema | str | Path, method: str,
    missing: bool,
) -> dict[str, Any]:  # fmt: skip
    asked = {each: str(exact(amount, f"The epsilon of {each}")) for each, amount in columns.items()}
    whom: Sequence[tuple[str, Any]] = [("table", table), ("population", population)]
    said: dict[str, Any] = {"name": name, **{each: value for each, value in whom if value}}
    if schema:
        said["schema"] = read_schema_text(schema)
    found: dict[str, Any] = to_plain(
        {**said, "reports": {"kind": "reports", "columns": asked, "method": method, "missing": missing}}
    )
    return found


def _read_survey(told: Mapping[str, Any]) -> ServedSurvey:
    named = {each: str(told.get(each, "")) for each in ("name", "population", "state", "epsilon")}
    return ServedSurvey(**named, facts=dict(told))
