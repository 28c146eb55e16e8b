"""One question at several epsilons: what precision costs, in numbers and in a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from ziggurat.cards import Shown
from ziggurat.data import Kind
from ziggurat.drawing import NOISY, TRUE, encode, sheet
from ziggurat.errors import ParameterError, QuestionError
from ziggurat.files import write_bytes
from ziggurat.frames import GivenAsFrame
from ziggurat.privacy import Amount, exact_epsilon, in_words
from ziggurat.queries import Aggregate, Answer, Measure, in_figures
from ziggurat.queries.language import Query
from ziggurat.randomness import secure
from ziggurat.release._plan import Progress
from ziggurat.release._purse import Purse
from ziggurat.release.questions._asking import AnswerPlan, AskedQuestion, TermOptions, tell_terms
from ziggurat.release.questions._session import Session
from ziggurat.wording import printable

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

_NEXT_TO_NO_NOISE = 10**6
_WIDEST_TITLE = 74


@dataclass(frozen=True)
class Sweep(Shown, GivenAsFrame):
    """The answers to one question at several epsilons, each of them paid for.

    Attributes
    ----------
    epsilons, answers
        What each answer cost, and the answer.
    truth
        The values without noise, by aggregate; None unless the steward asked for them.
    """

    epsilons: tuple[Fraction, ...]
    answers: tuple[Answer, ...]
    truth: Mapping[str, float] | None = None

    @property
    def rehearsal(self) -> bool:
        """Whether any answer comes from seeded noise, so that the picture may not be published."""
        return any(answer.rehearsal for answer in self.answers)

    def series(self, name: str) -> list[tuple[float, float, float]]:
        """Value, low and high of one aggregate, in the order of `epsilons`."""
        return [_numbers(answer, name) for answer in self.answers]

    def draw(self, format: Literal["svg", "png"] = "svg") -> bytes:  # noqa: A002
        """Draw noisy values with their intervals against epsilon, one panel for each aggregate.

        The same answers give the same bytes; the truth is a dashed line if it is known.
        """
        if format not in ("svg", "png"):
            raise ParameterError("A picture is drawn as 'svg' or 'png'.")
        names = self.answers[0].aggregates
        with sheet(6.8, 0.9 + 2.6 * len(names)) as page:
            panels = page.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
            for name, axes in zip(names, panels, strict=True):
                self._panel(axes, name)
            panels[0].set_title(self._title(), fontsize=9)
            panels[-1].set_xlabel("epsilon of the question (a larger one protects less)")
            return encode(page, format)

    def to_arrow(self) -> pa.Table:
        """One row for each epsilon and aggregate: epsilon, aggregate, value, low and high."""
        import pyarrow as pa

        rows = [
            dict(zip(("epsilon", "aggregate", "value", "low", "high"), (float(epsilon), name, *numbers), strict=True))
            for name in self.answers[0].aggregates
            for epsilon, numbers in zip(self.epsilons, self.series(name), strict=True)
        ]
        return pa.Table.from_pylist(rows)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form: every epsilon, exact, with its answer."""
        answers = [
            {"epsilon": str(epsilon), "answer": answer.to_dict()}
            for epsilon, answer in zip(self.epsilons, self.answers, strict=True)
        ]
        return {"answers": answers, "truth": None if self.truth is None else dict(self.truth)}

    def save(self, path: str | Path) -> None:
        """Draw into a file, as PNG if its name ends so and otherwise as SVG; an existing one is replaced."""
        write_bytes(path, self.draw("png" if Path(path).suffix.lower() == ".png" else "svg"))

    def __str__(self) -> str:
        """One line for each epsilon."""
        names = self.answers[0].aggregates
        lines = []
        for epsilon, answer in zip(self.epsilons, self.answers, strict=True):
            numbers = (_numbers(answer, name) for name in names)
            shown = (f"{printable(name)} {in_figures(v)} [{in_figures(low)}, {in_figures(high)}]"
                     for name, (v, low, high) in zip(names, numbers, strict=True))  # fmt: skip
            lines.append(f"epsilon {in_words(epsilon)}: {', '.join(shown)}")
        return "\n".join(lines)

    def _title(self) -> str:
        question = self.answers[0].question
        text = textwrap.fill(question, _WIDEST_TITLE, max_lines=3, placeholder=" …")
        return f"Rehearsal, not for publication\n{text}" if self.rehearsal else text

    def _panel(self, axes: Axes, name: str) -> None:
        places = [float(each) for each in self.epsilons]
        values, lows, highs = zip(*self.series(name), strict=True)
        below = [value - low for value, low in zip(values, lows, strict=True)]
        above = [high - value for value, high in zip(values, highs, strict=True)]
        confidence = f"{float(self.answers[0].confidence):.0%}"
        axes.errorbar(places, values, yerr=[below, above], fmt="o", color=NOISY, capsize=4, linewidth=1.6,
                      label=f"noisy value, {confidence} interval")  # fmt: skip
        if self.truth is not None:
            axes.axhline(self.truth[name], color=TRUE, linestyle="--", linewidth=1.4, label="value without noise")
        axes.set_xscale("log")
        axes.set_xticks(places, [in_words(each) for each in self.epsilons])
        axes.minorticks_off()
        axes.grid(axis="y")
        axes.set_ylabel(name)
        axes.legend(frameon=False, fontsize=9)


@tell_terms
def sweep(
    session: Session,
    question: str | Query,
    epsilons: Sequence[Amount],
    delta: Amount = 0,
    *,
    truth: bool = False,
    progress: Progress | None = None,
    **terms: Unpack[TermOptions],
) -> Sweep:
    """Ask one question at several epsilons; all are paid for, or none is if they do not all fit.

    Parameters
    ----------
    session
        Who pays.
    question
        Without groups: every aggregate becomes a panel of the picture.
    epsilons
        What each answer may cost.
    truth
        Also compute the values without noise, for a steward who may see them. That is a release without a guarantee,
        and the ledger is told so for ever.
    """
    amounts = tuple(sorted({exact_epsilon(each) for each in epsilons}))
    if not amounts:
        raise ParameterError("Give at least one epsilon.")
    _require_numbers(session.plan(question, amounts[0], delta, **terms))
    answers = session.ask_all([question] * len(amounts), amounts, delta, progress=progress, **terms)
    given = tuple(each for each in answers if isinstance(each, Answer))
    return Sweep(amounts, given, _truth(session, question, delta, terms) if truth else None)


def _require_numbers(asking: AnswerPlan[Any]) -> None:
    if not isinstance(asking, AskedQuestion):
        raise QuestionError("A workload has many answers; ask for a single number at several epsilons.")
    question = asking.plan.question
    drawn = all(each.measure not in (Measure.MODE, Measure.TOP) and not _is_date(each) for each in question.aggregates)
    if question.keys or not drawn:
        raise QuestionError("Only numbers can be drawn against epsilon; leave GROUP BY, MODE, TOP_K and dates out.")


def _is_date(aggregate: Aggregate) -> bool:
    return aggregate.measure is Measure.QUANTILE and aggregate.value is not None and aggregate.value.kind is Kind.DATE


def _truth(session: Session, question: str | Query, delta: Amount, terms: TermOptions) -> dict[str, float]:
    """The values with next to no noise, which is written down as a release without a guarantee first."""
    quiet: TermOptions = {**terms, "noise": "laplace", "effects": 0}
    asking = session.plan(question, _NEXT_TO_NO_NOISE, delta, **quiet)
    Purse(session.ledger, session.budget).remember(f"The value without noise, for a picture: {asking.text}")
    answer = asking.run(secure(), None)
    return {name: _numbers(answer, name)[0] for name in answer.aggregates}


def _numbers(answer: Answer, name: str) -> tuple[float, float, float]:
    (estimate,) = answer.estimates[name]
    numbers: list[Any] = [estimate.value, estimate.low, estimate.high]
    value, low, high = (float(estimate.value if each is None else each) for each in numbers)  # type: ignore[arg-type]
    return value, low, high
