"""How a model is attacked: who it was trained on, whose rows it holds, what it tells, and how it is copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.privacy import Relation
from ziggurat.release._evidence import Evidence
from ziggurat.release._plan import promise_at
from ziggurat.release.models._attacking import INSPECTION, MEMBERSHIP, KeptBack, label_rows, meet_model

if TYPE_CHECKING:
    from fractions import Fraction

    from ziggurat.attacks.models import AttackedModel, LabelledRows
    from ziggurat.findings import Finding
    from ziggurat.privacy import Event

EXTRACTION, REBUILDING = "extraction", "rebuilding rows"
_NO_MODEL = "Only the answers of the model are there, and not the model."
_NOBODY = "Nobody was kept back by chance, so there is no control to tell a risk from chance."
_MOST_VALUES = 20
_FEW_SHADOWS = 8
_TARGETS = 50
_STEPS = (0.03, 0.1, 0.3, 1.0)

Told = Callable[[str], None]


@dataclass(frozen=True)
class SensitiveColumn(Shown):
    """An attribute that attackers want to know of people.

    Attributes
    ----------
    name
        What it is called.
    places
        Where it stands in a row of features: one place, or those of a one-hot group.
    candidates
        Every value that it may have, as numbers; one row for each where it is a group.
    """

    name: str
    places: tuple[int, ...]
    candidates: tuple[tuple[float, ...], ...]

    @classmethod
    def among(cls, name: str, places: Sequence[int], *groups: LabelledRows) -> SensitiveColumn:
        """An attribute whose values are those that people have; ParameterError if there are too many to be tried."""
        values = np.unique(np.vstack([each.features[:, list(places)] for each in groups]), axis=0)
        if not 2 <= len(values) <= _MOST_VALUES:
            raise ParameterError(f"The sensitive column {name!r} must have 2 to {_MOST_VALUES} different values.")
        return cls(name, tuple(places), tuple(tuple(value) for value in values.tolist()))


@dataclass(frozen=True)
class ModelExam(Shown):
    """Which attacks are made on a model, and what is promised of it.

    Attributes
    ----------
    random_split
        Whether members and others were drawn at random from the same people: only then is there a verdict.
    attacks
        Which attacks on membership, by name; all that there is cause for if empty.
    shadows
        How many models attackers train to compare with, where they know how.
    sensitive
        What attackers want to know of people besides.
    questions
        How many questions they ask in order to copy the model; 0 asks none.
    epsilon, delta
        What is promised about adding or removing one person, if anything.
    kept_back
        The probability with which a coin kept each person back; None if a fixed number was drawn.
    random_state
        A seed of the attackers' own draws.
    """

    random_split: bool
    attacks: tuple[str, ...] = ()
    shadows: int = 16
    sensitive: tuple[SensitiveColumn, ...] = ()
    questions: int = 0
    epsilon: Fraction | str | int | None = None
    delta: Fraction | str | int = 0
    kept_back: float | None = None
    random_state: int | None = None

    def names(self, *, whole: bool) -> tuple[str, ...]:
        """Say which attacks will be tried, as the evidence will call them; `whole` is a model one can look into."""
        wanted = [f"inferring {each.name}" for each in self.sensitive]
        inside = (INSPECTION, REBUILDING) if whole else ()
        return (MEMBERSHIP, *inside, *wanted, *((EXTRACTION,) if self.questions else ()))

    def examine(
        self,
        met: AttackedModel,
        members: LabelledRows,
        others: LabelledRows,
        *,
        estimator: Any = None,
        told: Told | None = None,
    ) -> Evidence:
        """Attack a model; what cannot be tried is skipped, with the reason.

        Parameters
        ----------
        met
            The model as attackers meet it.
        members, others
            People it was trained on, and people it was not.
        estimator
            The fitted model itself, to be looked into; None if there are answers only.
        told
            Called with a few words before every step that may take long.
        """
        if members.features.shape[1] != others.features.shape[1]:
            raise DataError("Members and others need the same columns.")
        said = told or _say_nothing
        findings, skipped = {}, {}
        for name, attack in self._attacks(met, members, others, estimator, said):
            try:
                findings[name] = attack()
            except (ParameterError, DataError) as error:
                if name == MEMBERSHIP:
                    raise
                skipped[name] = str(error)
        if estimator is None:
            skipped |= dict.fromkeys((INSPECTION, REBUILDING), _NO_MODEL)
        return Evidence(findings, skipped)

    def _attacks(
        self, met: AttackedModel, members: LabelledRows, others: LabelledRows, estimator: Any, told: Told
    ) -> Iterator[tuple[str, Callable[[], Finding]]]:
        yield MEMBERSHIP, lambda: self._membership(met, members, others, told)
        if estimator is not None:
            yield INSPECTION, lambda: _inspect(estimator, members, told)
            yield REBUILDING, lambda: self._rebuild(estimator, members, told)
        for each in self.sensitive:
            yield f"inferring {each.name}", partial(self._infer, each, met, members, others, told)
        if self.questions:
            yield EXTRACTION, lambda: self._extract(met, others, told)

    def _membership(self, met: AttackedModel, members: LabelledRows, others: LabelledRows, told: Told) -> Finding:
        from ziggurat.attacks.models import attack_membership

        told("asking the model about everybody")
        promised: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "kept_back": self.kept_back}
        return attack_membership(
            met, members, others, random_split=self.random_split, **promised, attacks=self.attacks or None,
            shadows=self.shadows, random_state=self.random_state,
            progress=lambda done, of: told(f"training shadow models: {done} of {of}"),
        )  # fmt: skip

    def _infer(
        self, each: SensitiveColumn, met: AttackedModel, members: LabelledRows, others: LabelledRows, told: Told
    ) -> Finding:
        from ziggurat.attacks.models.inversion import infer_attribute

        told(f"inferring {each.name}")
        values = np.array(each.candidates)
        return infer_attribute(
            met, members, others, each.places if len(each.places) > 1 else each.places[0],
            values if len(each.places) > 1 else values[:, 0],
            random_split=self.random_split, attribute=each.name, random_state=self.random_state,
        )  # fmt: skip

    def _rebuild(self, estimator: Any, members: LabelledRows, told: Told) -> Finding:
        """Rebuild rows from the parameters of a linear model, where members are all that it was fitted on."""
        from ziggurat.attacks.models.inversion import reconstruct_rows

        told("rebuilding rows from parameters")
        return reconstruct_rows(estimator, members, targets=_TARGETS, random_state=self.random_state)

    def _extract(self, met: AttackedModel, others: LabelledRows, told: Told) -> Finding:
        """Ask within the ranges of people who are no members, whose rows themselves are not asked about."""
        from ziggurat.attacks.models.extraction import draw_within, extract_model

        told("copying the model")
        ranges = np.array([others.features.min(axis=0), others.features.max(axis=0)])
        steps = sorted({max(10, round(self.questions * share)) for share in _STEPS})
        return extract_model(met, draw_within(ranges), questions=steps, random_state=self.random_state)


def attack_fitted(
    model: Any, features: Any, targets: Any, back: KeptBack, planned: Event, told: Told | None
) -> Evidence:
    """Attack a model of ours with those kept back as the control; `planned` is what its fit promises.

    Only a promise about adding or removing a row is one that membership can refute (see `_attacking`).
    """
    facts = {"kept_back": len(back)}
    if not len(back) or not len(features):
        return Evidence(skipped={MEMBERSHIP: _NOBODY}, facts=facts)
    promised: dict[str, Any] = {}
    whom = planned.neighbours
    if whom.relation is Relation.ADD_OR_REMOVE_ONE and whom.unit.is_row:
        said: Any = promise_at(planned, model.delta)
        promised = {"epsilon": said.epsilon, "delta": getattr(said, "delta", 0)}
    kept = None if back.drawn else back.share
    shadows = 0 if hasattr(model, "candidates") or hasattr(model, "module_") else _FEW_SHADOWS
    exam = ModelExam(True, shadows=shadows, kept_back=kept, random_state=model.random_state, **promised)
    people = label_rows(model, features, targets), label_rows(model, back.features, back.targets)
    found = exam.examine(meet_model(model), *people, estimator=model, told=told)
    return replace(found, facts=facts)


def _inspect(estimator: Any, members: LabelledRows, told: Told) -> Finding:
    from ziggurat.attacks.models.inspection import inspect_model

    told("looking through the model for rows of people")
    return inspect_model(estimator, members.features)


def _say_nothing(what: str) -> None:
    """Report nothing."""
