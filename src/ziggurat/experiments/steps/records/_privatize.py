"""`privatize`: every record is protected on its own, before anybody collects it (the local model).

Promise: for each record, epsilon-differential privacy of everything about it that leaves, its target included; two
records are neighbours when one takes the place of the other (replace-one).
Proof: only mechanisms of `ziggurat.mechanisms` touch the record; the rest is post-processing by public functions.

- `laplace`: the code lies in [-1, 1]^k, so two codes differ by at most 2k in l1; Laplace noise for that sensitivity
  takes its share of epsilon, and randomised response on the target the rest.
- `response`: the box is cut into public cells; the cell and the target together are one answer of a public list, which
  k-ary randomised response protects with the whole epsilon.
- without a generator every column gets an equal share: Laplace noise on numbers scaled by their public bounds (they
  differ by at most 1), randomised response on categories.

With a generator the promise holds given the generator. If it was trained on private records, then its own event, which
is unbounded, is part of `event`: the records it was trained on have no guarantee, the others have the stated one.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.records._generator import UNPROTECTED

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.experiments.steps.records._protection import Protection
    from ziggurat.privacy import Event

PARTS = ("train", "validation", "test")


@step("privatize", outputs=(*PARTS, "record_event", "event", "epsilon_spent", "promise"))
def privatize(
    train: pa.Table,
    validation: pa.Table,
    test: pa.Table,
    schema: Mapping[str, Any],
    epsilon: float | str,
    *,
    generator: Mapping[str, Any] | None = None,
    mechanism: str = "response",
    levels: int = 3,
    target_share: float | str = "1/2",
    target: str = "target",
    seed: int = 0,
) -> dict[str, Any]:
    """Protect every record of the three tables with `epsilon`; see the module for the promise and its proof.

    Parameters
    ----------
    train, validation, test, schema
        The tables and their public schema.
    epsilon
        What one record's answer may cost in all.
    generator
        From `train-generator`; without it the columns are protected one by one.
    mechanism
        'response' or 'laplace', for the code of the generator.
    levels
        Into how many cells 'response' cuts each coordinate of the code.
    target_share
        Which share of epsilon 'laplace' spends on the target.
    target
        The boolean column that holds what is to be predicted.

    Returns
    -------
    dict
        The three protected tables, row by row; `record_event` (what one record's answer costs, given the generator),
        `event` (the generator's training included), `epsilon_spent`, and the `promise` in words. The noise is
        seeded, as everything in an experiment: a rehearsal, never a release.
    """
    from ziggurat.privacy import compose, exact, exact_epsilon
    from ziggurat.randomness import seeded
    from ziggurat.threads import one_thread

    protection = _choose(schema, target, generator, mechanism, levels, exact_epsilon(epsilon), exact(target_share))
    given = {"train": train, "validation": validation, "test": test}
    with one_thread():
        made = {name: protection.release(part, seeded(seed).child(name)) for name, part in given.items()}
    return {
        **made,
        "record_event": protection.event.to_dict(),
        "event": _whole(protection.event, generator).to_dict(),
        "epsilon_spent": float(compose(protection.event).pure().epsilon),
        "promise": _promise(protection.event, generator),
    }


def _choose(
    schema: Mapping[str, Any],
    target: str,
    generator: Mapping[str, Any] | None,
    mechanism: str,
    levels: int,
    epsilon: Fraction,
    share: Fraction,
) -> Protection:
    from ziggurat.data.encoding import Encoding
    from ziggurat.experiments.steps.records._protection import ByColumns, ByNoisyCode, ByRandomCell

    encoding = Encoding(schema, without=[target])
    if generator is None:
        return ByColumns(encoding, target, epsilon)
    if tuple(generator["columns"]) != encoding.names:
        raise ExperimentError("The generator was trained on other columns; pass the schema it was trained with.")
    if mechanism == "response":
        return ByRandomCell(encoding, target, epsilon, generator["weights"], levels)
    if mechanism == "laplace":
        return ByNoisyCode(encoding, target, epsilon, generator["weights"], share)
    raise ExperimentError("'mechanism' must be 'response' or 'laplace'.")


def _whole(event: Event, generator: Mapping[str, Any] | None) -> Event:
    from ziggurat.privacy import ComposedEvent, UnboundedEvent

    if generator is None or generator["public"]:
        return event
    return ComposedEvent(event.neighbours, (event, UnboundedEvent(event.neighbours, UNPROTECTED)))


def _promise(event: Event, generator: Mapping[str, Any] | None) -> str:
    from ziggurat.privacy import compose

    said = f"Each record, alone: {compose(event).pure()}."
    if generator is not None and not generator["public"]:
        said += (
            " This holds given the generator, which was trained on private records without protection: the records "
            "it was trained on have no guarantee."
        )
    return f"{said} Made with seeded randomness: a rehearsal, never to be published."
