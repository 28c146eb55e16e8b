"""Curator A: the holder of the teachers, who answers queries under a budget."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ziggurat.data import Unit, write_csv
from ziggurat.errors import DataError, LedgerUseError, MixedNeighboursError, ParameterError, QuestionError
from ziggurat.ledger import Ledger, LedgerMark
from ziggurat.pate import UNANSWERED, Aggregator, Ballot, Labels, PateAccount, Teachers, Votes, account
from ziggurat.pate.teachers import digest_of_body
from ziggurat.privacy import Amount, Event, Neighbours, whole_number
from ziggurat.queries.answering import QuotedPart
from ziggurat.randomness import Source
from ziggurat.release._certificate import best_promise
from ziggurat.release._plan import Plan, Progress, ShownPlan
from ziggurat.release._purse import Purse, run_paid
from ziggurat.release._quotation import Quotation
from ziggurat.release.labels._described import describe_step, features_digest, is_own
from ziggurat.release.labels._labelled import Labelled, LabellingFacts, labels_from_dict, labels_to_dict

if TYPE_CHECKING:
    from ziggurat.release._release import Release

MOST_QUERIES = 200_000
"""The most queries of one labelling: the labels of more might not fit into one entry of the ledger."""

_SIX_HOURS = 6 * 3600.0  # for as long an ensemble may vote; afterwards an unanswered question may be asked again


@dataclass(frozen=True, eq=False)
class LabelPlan(ShownPlan, Plan[Labels]):
    """Labels of queries, before a teacher is asked; make one with `Labelling.plan`.

    Without features it can be priced, and nothing more.
    """

    labelling: Labelling
    features: Any
    event: Event
    question: Mapping[str, Any]
    most_answers: int | None
    kind = "labels"
    lifetime = _SIX_HOURS

    @property
    def text(self) -> str:
        """How many labels, by whom."""
        queries, voters = self.question["queries"], self.question["voters"]
        return f"Labels of at most {self.most_answers or queries:,} of {queries:,} queries by {voters:,} teachers"

    @property
    def rehearsal(self) -> bool:
        """Whether the teachers were trained with a seed."""
        return self.labelling.rehearsal

    def parts(self, group_size: int = 0) -> tuple[QuotedPart, ...]:  # noqa: ARG002
        """How often noise names another class, where the winner leads by a tenth of the teachers."""
        voters, aggregator = int(self.question["voters"]), self.labelling._aggregator
        most = (voters + max(1, voters // 10) + 1) // 2
        counts = np.zeros((1, int(self.question["classes"])))
        counts[0, :2] = most, voters - most
        wrong = max(0.0, 1 - float(np.exp(aggregator.log_law(counts))[0, 0]))
        note = (
            f"where {most:,} teachers say one class and {voters - most:,} another, {wrong:.2g} of the labels are wrong"
        )
        delta = self.labelling._purse.grant(self.event.neighbours).grant.delta
        return (QuotedPart("labels", repr(aggregator), best_promise(self.event, delta).epsilon, None, note=note),)

    @property
    def reads(self) -> tuple[str, ...]:
        """The votes of the teachers, who are private."""
        return ("the votes of the teachers",)

    def identity(self) -> dict[str, Any] | None:
        """The features, the teachers and the aggregator, by their digests."""
        return None if self.features is None else dict(self.question)

    def ready(self) -> None:
        """Refuse a plan of nothing but a number."""
        if self.features is None:
            raise ParameterError("Only the number of queries is known; plan the labels of their features.")

    def run(self, source: Source, progress: Progress | None) -> Labels:
        """Let the teachers vote; what is given now is what the ledger gives ever after."""
        drawn = self.labelling._draw(self.features, self.most_answers, source, progress)
        return labels_from_dict(labels_to_dict(drawn), self.rehearsal)

    def to_ledger(self, output: Labels) -> dict[str, Any]:
        """The labels."""
        return labels_to_dict(output)

    def again(self, stored: Mapping[str, Any]) -> Labels:
        """The labels that the ledger keeps."""
        return labels_from_dict(stored, self.rehearsal)

    def artefacts(self, output: Labels, folder: Path) -> list[Path]:
        """One line for each query: its number and its label, which is empty where none was given."""
        file = folder / "labels.csv"
        given = [None if label == UNANSWERED else int(label) for label in output.labels]
        write_csv(pa.table({"query": range(len(given)), "label": pa.array(given, pa.int64())}), file)
        return [file]

    @property
    def not_protected(self) -> tuple[str, ...]:
        """How many teachers there are and how many queries were asked is public; so are the queries."""
        return ("The queries, how many they are, how many teachers voted and by which rule are public.",)

    def details(self, output: Labels) -> dict[str, Any]:
        """What was asked, and how many labels were given, which they show."""
        return {"question": dict(self.question), "answered": int(output.answered.sum())}


class Labelling:
    """Teachers label queries, and the people whose data trained them are promised something for it.

    Formal guarantee: what a labelling can cost is planned without a look at a vote (`Aggregator.planned` with the most
    answers) and is reserved in the ledger before a teacher is asked, so that all labels of one analyst, on whatever
    queries and however chosen, keep together what the analyst's grant promises to the unit of the teachers' partition.
    The budget's relation decides: teachers dealt out by a keyed hash move one vote if somebody is added or removed, and
    two if somebody takes another's place (`Ballot.under`); evenly dealt ones pay from replace-one budgets alone. Labels
    given before are given again from the ledger at no cost.

    Parameters
    ----------
    teachers
        Trained on the partition whose unit the budget protects.
    aggregator
        How votes become labels.
    ledger, analyst, budget
        Who pays, and out of what.
    organisation, teachers_owned
        A unit that owns so many teachers: accounts state what it is promised beside the promise to the unit of the
        partition. The budget protects the latter.
    source
        Where noise comes from: secure unless a rehearsal passes a seeded one.

    Raises
    ------
    MixedNeighboursError
        The budget protects another unit than the partition, or somebody added or removed where the split is balanced.
    """

    def __init__(
        self,
        teachers: Teachers,
        aggregator: Aggregator,
        ledger: Ledger,
        analyst: str,
        *,
        budget: str,
        organisation: Unit | None = None,
        teachers_owned: int = 1,
        source: Source | None = None,
    ) -> None:
        self._dealt = _ballot_of(teachers)
        if not isinstance(aggregator, Aggregator):
            raise ParameterError("Give an aggregator of ziggurat.pate, such as GumbelNoisyMax('0.05').")
        self._teachers, self._aggregator, self._ledger = teachers, aggregator, ledger
        self._analyst, self._budget = analyst, budget
        self._organisation, self._owned = organisation, _require_owned(organisation, teachers_owned, teachers)
        self._purse = Purse(ledger, budget, analyst, source)
        self._ballot = self._protect()

    @property
    def rehearsal(self) -> bool:
        """Whether the noise is seeded, or the teachers are, so that no label may be published."""
        return self._purse.rehearsal or self._teachers.origin_ != "secure"

    def quote(self, queries: Any, *, most_answers: int | None = None) -> Quotation:
        """Price queries, by their features or by their number, as `label` would pay; nothing is read or spent."""
        return self._purse.quote(self.plan(queries, most_answers=most_answers))

    def account(self, queries: int, *, delta: Amount | None = None, most_answers: int | None = None) -> PateAccount:
        """Account for so many queries, of which at most so many are answered; nothing in it depends on votes.

        The epsilon is stated at the grant's own delta, unless another is asked for.
        """
        self._plan_event(whole_number(queries, "queries"), most_answers)
        return account(
            self._aggregator, self._ballot, queries=queries, answered=most_answers or queries,
            delta=self._purse.grant(self._ballot.neighbours).grant.delta if delta is None else delta,
            organisation=self._organisation, teachers_owned=self._owned,
        )  # fmt: skip

    def label(
        self,
        X: Any,  # noqa: N803 - as in scikit-learn
        *,
        most_answers: int | None = None,
        progress: Progress | None = None,
    ) -> Labelled:
        """Pay for the labels of queries and give them.

        Parameters
        ----------
        X
            The features of the queries as the student sent them, a row each: public, or privatised by curator B.
            Their digest is kept.
        most_answers
            How many of those that pass the aggregator's test are answered at most: fewer cost less. Only with a test.
        progress
            Called with a few words before every step that may take long.

        Raises
        ------
        DataError, ParameterError
            The features or numbers are not what they must be; nothing was spent.
        BudgetExceededError
            The labels cost more than is left; no teacher was asked and nothing was spent.
        """
        return self.look_up(self.release(X, most_answers=most_answers, progress=progress))

    def look_up(self, release: Release[Labels]) -> Labelled:
        """Give labels that were released with the facts of what they cost, as the ledger has them."""
        if release.entry is None:
            raise LedgerUseError("No ledger holds these labels.")
        return Labelled(release.output, LabellingFacts.at(self._ledger, release.entry), release.replayed)

    def plan(self, X: Any, *, most_answers: int | None = None) -> LabelPlan:  # noqa: N803
        """Plan the labels of queries, as `label` takes them, or of so many, to be priced; no teacher is asked."""
        features = None if isinstance(X, int | np.integer) else self._teachers.check(X)
        queries = whole_number(X, "queries") if features is None else len(features)
        event = self._plan_event(queries, most_answers)
        if features is not None:
            _require_room(queries)
        asked = self._question(None if features is None else X, queries, most_answers)
        return LabelPlan(self, features, event, asked, most_answers)

    def release(
        self,
        X: Any,  # noqa: N803
        *,
        most_answers: int | None = None,
        progress: Progress | None = None,
        mark: LedgerMark | None = None,
    ) -> Release[Labels]:
        """As `label`, with the certificate of the labels and what else a release has; see `Purse.release`."""
        return self._purse.release(self.plan(X, most_answers=most_answers), progress=progress, mark=mark)

    def steward_view(self, X: Any, labelled: Labelled, delta: Amount | None = None) -> PateAccount:  # noqa: N803
        """Show the steward every account of labels that were given, the data-dependent ones included.

        At the delta of the grant that paid, unless another is asked for, and as the teachers were dealt out: for one
        moved vote, also where the budget is about replacing somebody and two were paid for.

        The teachers vote again on the same features, which gives the same votes. Nothing is spent, because nothing
        leaves: the data-dependent epsilons are `PrivateEpsilon`s, which only the steward may open, and which are in no
        certificate. To publish one, release it with `ziggurat.pate.sanitize`.
        """
        facts = labelled.facts
        self._teachers.check(X)
        asked = {**self._question(X, facts.queries, facts.question["most_answers"]), "once": facts.question["once"]}
        if asked != dict(facts.question):
            raise DataError("These labels were given for other features, by other teachers or with other noise.")
        votes = run_paid(lambda: self._votes(self._teachers.check(X)), "nothing was spent")
        at = facts.grant.delta if delta is None else delta
        return account(
            self._aggregator, votes, delta=at, answered=labelled.labels.answered,
            organisation=self._organisation, teachers_owned=self._owned,
        )  # fmt: skip

    def __repr__(self) -> str:
        kind = "Rehearsal of a labelling" if self.rehearsal else "Labelling"
        return f"<{kind} for {self._analyst!r} by {self._aggregator!r}, paid by the budget {self._budget!r}>"

    def _plan_event(self, queries: int, most_answers: int | None) -> Event:
        if _ballot_of(self._teachers) != self._dealt:
            raise DataError("The teachers were trained again on another kind of split; make a new Labelling.")
        most = queries if most_answers is None else whole_number(most_answers, "most_answers")
        return self._aggregator.planned(self._ballot, queries, most)

    def _question(self, features: Any, queries: int, most_answers: int | None) -> dict[str, Any]:
        """What tells these labels from all others; the digest of the teachers is keyed, so it shows nothing of them."""
        return {
            "kind": "labels",
            "manifest": self._teachers.manifest_["digest"],
            "teachers": self._teachers.fingerprint_,
            "neighbours": self._ballot.neighbours.to_dict(),
            # Named only where it is not one, so that labels which were paid for before there was a second are known.
            **({"moved": self._ballot.moved} if self._ballot.moved > 1 else {}),
            "classes": self._ballot.classes,
            "aggregator": describe_step(self._aggregator),
            "queries": queries,
            "features": None if features is None else features_digest(features),
            "most_answers": None if most_answers is None else int(most_answers),
            "voters": len(self._teachers.manifest_["teachers"]),
            # What an aggregator of somebody else's depends on is not known, so its labels are never given again.
            "once": None if is_own(self._aggregator) else secrets.token_hex(16),
        }

    def _votes(self, features: Any) -> Votes:
        dealt = self._dealt
        return Votes.from_labels(
            self._teachers.votes(features), dealt.classes, unit=dealt.unit, relation=dealt.relation
        )

    def _draw(self, features: Any, most_answers: int | None, source: Source, progress: Progress | None) -> Labels:
        if progress is not None:
            progress(f"asking {len(self._teachers.seen_)} teachers about {len(features):,} queries")
        votes = self._votes(features)
        drawn = self._aggregator.release(votes, source, most_answers=most_answers)
        planned = self._plan_event(len(features), most_answers)
        _require_as_planned(drawn, len(features), most_answers, self._ballot.classes)
        return replace(drawn, event=planned, origin="seeded" if self.rehearsal else drawn.origin)

    def _protect(self) -> Ballot:
        """The votes as the budget's people see them."""
        dealt = self._dealt
        budgeted = self._purse.protects(dealt.neighbours)
        if budgeted.unit != dealt.unit:
            raise MixedNeighboursError(
                f"The budget {self._budget!r} protects {budgeted}, but labels of these teachers protect "
                f"{dealt.neighbours}; name a budget for the unit of their partition (ziggurat ledger budget with "
                "--person or --unit), or teach by its unit."
            )
        try:
            return dealt.under(budgeted.relation)
        except MixedNeighboursError as refused:
            raise MixedNeighboursError(
                f"{refused} The budget {self._budget!r} protects {budgeted}: teach again without --split balanced, or "
                f"pay from a budget of the same people with --relation {dealt.relation}."
            ) from None


def _ballot_of(teachers: Teachers) -> Ballot:
    """Whose vote moves, as the manifest of the partition says; a manifest that was edited is refused."""
    manifest = getattr(teachers, "manifest_", None)
    if not isinstance(teachers, Teachers) or manifest is None:
        raise ParameterError("Give trained Teachers; call their `fit` first.")
    body = {key: value for key, value in manifest.items() if key != "digest"}
    if manifest.get("digest") != digest_of_body(body):
        raise DataError("The manifest of these teachers is damaged or was edited; load the original.")
    about = Neighbours.from_dict(manifest["neighbours"])
    return Ballot(teachers.classes, about.unit, relation=about.relation)


def _require_as_planned(drawn: Labels, queries: int, most_answers: int | None, classes: int) -> None:
    """Refuse what an aggregator of somebody else's answered beyond what was paid for, before it is kept."""
    given = drawn.labels
    fitting = given.shape == drawn.answered.shape == (queries,) and bool(((given >= 0) == drawn.answered).all())
    if not fitting or bool((given < UNANSWERED).any()) or bool((given >= classes).any()):
        raise ParameterError("The aggregator gave labels that are no classes, or not one for each query.")
    if int(drawn.answered.sum()) > (queries if most_answers is None else most_answers):
        raise ParameterError("The aggregator answered more queries than it was allowed to.")


def _require_owned(organisation: Unit | None, teachers_owned: int, teachers: Teachers) -> int:
    owned = whole_number(teachers_owned, "teachers_owned")
    if organisation is None and owned > 1:
        raise ParameterError("Say which organisation owns several teachers, such as Unit.of('site', 'hospital').")
    if owned > len(teachers.manifest_["teachers"]):
        raise ParameterError("An organisation cannot own more teachers than there are.")
    return owned


def _require_room(queries: int) -> None:
    if queries > MOST_QUERIES:
        raise QuestionError(
            f"There are {queries:,} queries, and at most {MOST_QUERIES:,} are labelled in one go; label them in parts."
        )
