"""Fits that belong together: those of a model and of all its copies.

Each fit is a release about its rows, whoever asked for it: `GridSearchCV` with ten candidates in five folds and a
refit makes 51. What leaves is a function of all of them together, so the promise is that of their composition, for the
unit and relation of the models: n fits of one event cost that event n times (`RepeatedEvent`), fits of different ones
their sum, at the sum of their deltas. That is proven whatever rows the fits share (adaptive composition; Dwork &
Roth 2014, Theorem 3.16). Folds overlap, and a fit cannot see which of its rows another had, so nothing is taken off.

Not covered by any number of fits: what was *chosen* among them by exact scores of private rows.

A copy belongs to the family if it was made by `sklearn.base.clone`, `copy` or `deepcopy`, by a pickle or a file. The
count is kept in the process. A copy that leaves it unfitted, as to a worker of joblib, may be fitted there, and nobody
here hears of that: the family then refuses to state a promise. Counts of several places are kept apart and merged by
their maxima when a pickle comes back, so none is counted twice.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import warnings
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import Any
from weakref import WeakValueDictionary

from ziggurat.errors import PrivacyError
from ziggurat.privacy import Event, Guarantee, RepeatedEvent, as_replace_one, compose, compose_events, event_from_dict

Cost = tuple[Event, Fraction]


class SeveralFitsWarning(UserWarning):
    """A private model and its copies were fitted more than once; `guarantee_` is that of all fits together."""


class UnpaidWarning(UserWarning):
    """Something around a private model sees the rows, and no promise covers that."""


def warn_of_unpaid(learned: Iterable[str], choosers: Iterable[str]) -> None:
    """Say what around a model sees the rows for nothing; all of it is public."""
    words = [*learned, *(f"{name} compares fits by exact scores of private rows" for name in choosers)]
    if words:
        warnings.warn(f"No promise covers this: {'; '.join(sorted(words))}.", UnpaidWarning, stacklevel=4)


class Family:
    """The fits of a model and of its copies, as far as this process knows."""

    def __init__(self, token: str = "") -> None:
        self.token, self._home, self._mark = token or secrets.token_hex(16), os.getpid(), secrets.token_hex(8)
        self.unpaid: set[str] = set()
        self.paid = 0
        self._fits: Counter[tuple[str, Event, Fraction]] = Counter()
        self._left: Counter[str] = Counter()
        self._lock = threading.RLock()
        _LIVE[self.token] = self

    @property
    def fits(self) -> int:
        """How many fits are known."""
        return sum(self._fits.values())

    @property
    def left(self) -> int:
        """How many copies left for other processes unfitted, or were fitted on the far side of a fork."""
        return sum(self._left.values())

    @property
    def _here(self) -> str:
        """Whose count this is: that of this family as it was made or unpickled here, or of a fork of the process."""
        return self._mark if os.getpid() == self._home else f"{self._mark}.{os.getpid()}"

    def note(self, event: Event, delta: Fraction, unpaid: Iterable[str] = ()) -> None:
        """Write a fit down, once it was made, and what around it saw the rows for nothing."""
        with self._lock:
            self._fits[self._here, event, delta] += 1
            self._left[self._here] += os.getpid() != self._home
            self.unpaid.update(unpaid)
            fits = self.fits
        if fits > 1 and fits & (fits - 1) == 0:
            warnings.warn(
                f"This model and its copies were now fitted {fits} times, and each fit is a release about its rows: "
                "guarantee_ is that of all together. A choice among them by exact scores is not covered; PrivateSearch "
                "pays for its choice. For rows about other people take model.fresh().",
                SeveralFitsWarning,
                stacklevel=4,
            )

    def leave(self) -> None:
        """Note that a copy leaves this process before it was fitted."""
        with self._lock:
            self._left[self._here] += 1

    def guarantee(self) -> Guarantee:
        """The promise that all fits keep together.

        Raises
        ------
        PrivacyError
            If some fits are not known here, something unpaid saw the rows, or no promise is proven.
        """
        if self.unpaid:
            raise PrivacyError(f"No promise covers this model: {'; '.join(sorted(self.unpaid))}.")
        if self.left:
            raise PrivacyError(
                f"This model left its process unfitted {self.left} times, as to workers of joblib; how often it was "
                f"fitted there is not known here, beside {self.fits} fits that are. Use n_jobs=1, or start with "
                "model.fresh(); fit_guarantee_ is that of this fit alone."
            )
        costs = self._costs()
        account = compose(compose_events(_alike([_times(event, count) for (event, _), count in costs.items()])))
        delta = sum((delta * count for (_, delta), count in costs.items()), Fraction(0))
        return account.approximate(delta) if delta else account.pure()

    def _costs(self) -> Counter[Cost]:
        found: Counter[Cost] = Counter()
        with self._lock:
            for (_, event, delta), count in self._fits.items():
                found[event, delta] += count
        return found

    def to_json(self, *, left: bool = True) -> str:
        """Give what is known, in text, with or without who left; nothing in it depends on a row."""
        with self._lock:
            fits = [[here, event.to_dict(), str(delta), count] for (here, event, delta), count in self._fits.items()]
            gone = {here: count for here, count in self._left.items() if left and count}
            known = {"fits": fits, "left": gone, "unpaid": sorted(self.unpaid), "paid": self.paid}
        return json.dumps({"token": self.token, **known})

    @classmethod
    def from_json(cls, text: str) -> Family:
        """Read what `to_json` gave, into the family of that name if it lives in this process."""
        told = json.loads(text)
        family = _LIVE.get(told["token"]) or cls(told["token"])
        family._merge(told)
        return family

    def _merge(self, told: dict[str, Any]) -> None:
        with self._lock:
            for here, event, delta, count in told["fits"]:
                key = (here, event_from_dict(event), Fraction(delta))
                self._fits[key] = max(self._fits[key], int(count))
            self._left |= Counter(told["left"])
            self.unpaid.update(told["unpaid"])
            self.paid = max(self.paid, told["paid"])


_LIVE: WeakValueDictionary[str, Family] = WeakValueDictionary()


class Passage:
    """How a copy takes its family along: shared by `copy` and `deepcopy`, told in words through a pickle."""

    def __init__(self, family: Family, *, fitted: bool) -> None:
        self.family, self.fitted = family, fitted

    def __deepcopy__(self, _memo: object) -> Passage:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        text = self.family.to_json(left=self.fitted)  # one that leaves is the same, however often it left before
        if not self.fitted:
            self.family.leave()
        return _arrive, (text, self.fitted)


def _arrive(text: str, fitted: bool) -> Passage:
    known = json.loads(text)["token"] in _LIVE
    family = Family.from_json(text)
    if not fitted and not known:
        family.leave()  # others may have gone elsewhere
    return Passage(family, fitted=fitted)


def _times(event: Event, count: int) -> Event:
    return event if count == 1 else RepeatedEvent(event.neighbours, event, count)


def _alike(events: list[Event]) -> list[Event]:
    """Events about one relation: where both occur all are restated for replace-one, which the other implies."""
    several = len({event.neighbours.relation for event in events}) > 1
    return [as_replace_one(event) for event in events] if several else events
