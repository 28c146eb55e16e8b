"""Attacks that compare a model with its shadows, person by person: calibrated losses, LiRA and RMIA.

Each gives scores, the larger the likelier a member, and is a function of the model, the people and the shadows; their
cores are functions of numbers alone. `signal` is what the model says about each person, `signals` what each shadow
does, `inside` whether it was trained on them.
"""

from __future__ import annotations

import math

import numpy as np

from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows
from ziggurat.attacks.models._shadows import Inside, Shadows
from ziggurat.attacks.models._signals import find_true, measure_loss, scale_answers

FEWEST_SHADOWS = 4
"""With fewer shadows LiRA has no variance: nobody is in two of them and not in two others."""

ENOUGH_SHADOWS = 64
"""From so many shadows on LiRA gives every person a variance of their own; with fewer all share one."""

GAMMA = 2.0
"""How many times likelier somebody must be made by a model than another, for RMIA to count it (Zarifzadeh et al.)."""

_TINY = 1e-12
_NO_VOTE = 1e-9  # what rounding leaves of a probability of 0
_STEPS = 11  # values of a that RMIA tries on shadows
_TARGETS = 4  # shadows on which it tries them


def score_by_calibration(model: AttackedModel, rows: LabelledRows, shadows: Shadows) -> Floats:
    """Return how much smaller a person's loss is than in shadows that were not trained on them.

    Watson, Guo, Cormode, Sablayrolles (2022), "On the importance of difficulty calibration in membership inference
    attacks", ICLR.
    """
    usual, _ = _means(shadows.losses(rows.labels), ~shadows.inside)
    return usual - measure_loss(model.ask(rows.features), rows.labels)


def score_by_lira(model: AttackedModel, rows: LabelledRows, shadows: Shadows) -> Floats:
    """Return the online likelihood ratio of LiRA, on log odds or on a regression's errors."""
    return compare_normal(*_find_normal(model, rows, shadows), shadows.inside)


def score_by_offline_lira(model: AttackedModel, rows: LabelledRows, shadows: Shadows) -> Floats:
    """Return the offline ratio: how far the model's answer lies above those of shadows without the person."""
    return compare_normal(*_find_normal(model, rows, shadows), shadows.inside, online=False)


def compare_normal(
    signal: Floats, signals: Floats, inside: Inside, *, online: bool = True, pooled: bool | None = None
) -> Floats:
    """Return the likelihood ratio of being a member, for signals that are normal over models trained alike.

    Online, log N(s; mu_in, v_in) - log N(s; mu_out, v_out), with means and variances of the signals of the shadows that
    were trained on the person and of those that were not. Offline, (s - mu_out) / sqrt(v_out), which orders people as
    1 - P[N(mu_out, v_out) > s] does. `pooled` takes the mean of all people's variances for each of them.

    Carlini, Chien, Nasr, Song, Terzis, Tramèr (2022), "Membership inference attacks from first principles", IEEE S&P.
    """
    together = len(signals) < ENOUGH_SHADOWS if pooled is None else pooled
    out, out_variance = _normal(signals, ~inside, together)
    if not online:
        return np.asarray((signal - out) / np.sqrt(out_variance))
    within, variance = _normal(signals, inside, together)
    ratio = np.log(out_variance / variance) / 2
    return np.asarray(ratio + (signal - out) ** 2 / (2 * out_variance) - (signal - within) ** 2 / (2 * variance))


def _find_normal(model: AttackedModel, rows: LabelledRows, shadows: Shadows) -> tuple[Floats, Floats]:
    """What is about normal over models trained alike, and larger for members: the model's, and the shadows'.

    Log odds are, unless a probability is 0, as in forests, whose next larger one is a vote: then it counts as half the
    smallest one that any shadow gave. Of regressions, errors are; their sign is such that larger is nearer to the
    label than shadows without the person come on average.
    """
    answers = model.ask(rows.features)
    if model.kind == "classes":
        true = np.stack([find_true(each, rows.labels) for each in shadows.answers])
        given = np.stack([true, shadows.answers.sum(axis=2) - true])
        least = float(given[given > _NO_VOTE].min(initial=1.0)) / 2
        return scale_answers(answers, rows.labels, least), shadows.signals(rows.labels, least)
    errors = shadows.answers - rows.labels
    towards = -np.sign(_means(errors, ~shadows.inside)[0])
    return (answers - rows.labels) * towards, errors * towards


def score_by_rmia(model: AttackedModel, rows: LabelledRows, shadows: Shadows) -> Floats:
    """Return the online score of RMIA, against all of the people."""
    own, others = _likelihoods(model, rows, shadows)
    return compare_pairs(own, others, shadows.inside)


def score_by_offline_rmia(model: AttackedModel, rows: LabelledRows, shadows: Shadows) -> Floats:
    """Return the offline score of RMIA, with the `a` that is best where shadows are attacked with the other shadows."""
    own, others = _likelihoods(model, rows, shadows)
    return compare_pairs(own, others, shadows.inside, a=choose_offline(others, shadows.inside))


def compare_pairs(
    likelihood: Floats, likelihoods: Floats, inside: Inside, *, a: float | None = None, gamma: float = GAMMA
) -> Floats:
    """Return for which share of all people z the model makes the person x at least gamma times likelier, beside z.

    Pr(x) is the mean of P(x | model') over shadows that were trained on x and those that were not, alike; offline it is
    ((1 + a) P_out(x) + 1 - a) / 2 by the mean P_out over those that were not. x beats z where
    (P(x | model) / Pr(x)) / (P(z | model) / Pr(z)) >= gamma. The people z are those of the pool, whoever they are.

    Zarifzadeh, Liu, Shokri (2024), "Low-cost high-power membership inference attacks", ICML.
    """
    out, _ = _means(likelihoods, ~inside)
    if a is None:
        within, _ = _means(likelihoods, inside)
        usual = (within + out) / 2
    else:
        usual = ((1 + a) * out + 1 - a) / 2
    ratio = np.log(np.maximum(likelihood, _TINY)) - np.log(np.maximum(usual, _TINY))
    return np.searchsorted(np.sort(ratio), ratio - math.log(gamma), side="right") / len(ratio)


def choose_offline(likelihoods: Floats, inside: Inside) -> float:
    """Return the `a` by which shadows, attacked with the other shadows, tell best whom they were trained on."""
    tried = np.linspace(0, 1, _STEPS)
    targets = [at for at in range(min(len(inside), _TARGETS)) if _others_know(inside, at)]
    if not targets:
        return 0.5
    areas = [sum(_try_offline(likelihoods, inside, at, float(a)) for at in targets) for a in tried]
    return float(tried[int(np.argmax(areas))])


def _others_know(inside: Inside, at: int) -> bool:
    return bool((~np.delete(inside, at, axis=0)).any(axis=0).all())


def _try_offline(likelihoods: Floats, inside: Inside, at: int, a: float) -> float:
    """The area under the curve of one shadow attacked with the others."""
    from scipy.stats import rankdata

    rest, known = np.delete(likelihoods, at, axis=0), np.delete(inside, at, axis=0)
    ranks = rankdata(compare_pairs(likelihoods[at], rest, known, a=a))
    members = int(inside[at].sum())
    above = ranks[inside[at]].sum() - members * (members + 1) / 2
    return float(above / (members * (len(ranks) - members)))


def _likelihoods(model: AttackedModel, rows: LabelledRows, shadows: Shadows) -> tuple[Floats, Floats]:
    """How likely a model makes each label: its probability, or of a regression a normal density that is at most 1.

    Its spread is what shadows err by about people whom they were not trained on.
    """
    answers = model.ask(rows.features)
    if model.kind == "classes":
        return find_true(answers, rows.labels), np.stack([find_true(each, rows.labels) for each in shadows.answers])
    errors, own = shadows.losses(rows.labels), measure_loss(answers, rows.labels)
    spread = 2 * max(float(errors[~shadows.inside].mean()), _TINY)
    return np.exp(-own / spread), np.exp(-errors / spread)


def _means(values: Floats, chosen: Inside) -> tuple[Floats, Floats]:
    """The mean over the chosen shadows for each person, and how many they are."""
    count = chosen.sum(axis=0)
    return np.asarray((values * chosen).sum(axis=0) / count), count


def _normal(signals: Floats, chosen: Inside, pooled: bool) -> tuple[Floats, Floats]:
    """The mean of each person's signals over the chosen shadows, and the variance, their own or that of all."""
    mean, count = _means(signals, chosen)
    squares = (np.square(signals - mean) * chosen).sum(axis=0)
    if pooled:
        return mean, np.full_like(mean, squares.sum() / max(1, int((count - 1).sum())) + _TINY)
    return mean, squares / np.maximum(count - 1, 1) + _TINY
