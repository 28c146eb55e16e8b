"""What a served model promises and what it does not, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ziggurat.privacy import Event, Guarantee, Relation, compose, exact_delta

if TYPE_CHECKING:
    from ziggurat.learn import Private

KINDS = {
    "kernel-density": "KernelDensity",
    "histogram": "ServedHistogram",
    "svm": "KernelSVM",
    "gaussian-process": "GaussianProcessRegression",
    "cloaked": "CloakedRegression",
}
"""Models that stay and answer, by their names on the command line."""

_INPUTS = (
    "The inputs, which are all columns but the label, are public and not protected at all: they shape the answers and "
    "their noise. Only the labels are protected."
)
_NUMBER = "The number of rows is public, and so is every parameter of the model."
_PARAMETERS = "Every parameter of the model is public."
_BY_ROW = "Somebody with several rows is protected one row at a time, not as a whole."
_PATH = (
    "The folder holds the rows, or what was learned from them without noise, and must stay secret. A copy of it that "
    "answers as well, or an older copy put in its place, breaks the promise, which holds up to floating point."
)
_FIXED = "Questions other than those stated before fitting are not answered."
_REHEARSAL = "This is a rehearsal: whoever knows the seed can take the noise off, so nobody is protected."


def promised(event: Event, delta: Any) -> Guarantee:
    """The promise of an event at this failure probability: pure where it is 0."""
    account, most = compose(event), exact_delta(delta)
    return account.approximate(most) if most else account.pure()


def not_protected(model: Private, event: Event) -> list[str]:
    """Say what the promise does not cover, one sentence each."""
    whom, labels = event.neighbours, event.neighbours.unit.name == "label"
    said = {
        _REHEARSAL: model.random_state is not None,
        _INPUTS: labels,
        _NUMBER: whom.relation is Relation.REPLACE_ONE,
        _PARAMETERS: whom.relation is not Relation.REPLACE_ONE,
        _BY_ROW: whom.unit.is_row,
        _FIXED: hasattr(model, "questions"),
        _PATH: getattr(model, "path", None) is not None,
    }
    return [sentence for sentence, holds in said.items() if holds]
