"""Every public name that promises something has an audit: it refutes no promise that holds, and sees its fault.

Seeded, so that each passes or fails for good; were the seeds fresh, a promise that holds would be refuted once in a
million runs.
"""

import inspect
import re
from importlib import import_module

import pytest

from ziggurat.attacks.audits import audit_case
from ziggurat.attacks.audits.catalogue import find_case, list_cases
from ziggurat.errors import ParameterError

# The packages whose public names all have audits; one that joins the catalogue is added here.
AUDITED = ("mechanisms", "local", "queries", "synthesize", "sequences.text", "sequences.mobility.communities")
# What promises: it does something to data, and says what that was.
_DOES = ("release", "privatize", "run", "fit", "fit_predict", "label", "aggregate", "draw", "synthesize", "answer")
_SAYS = ("event", "event_", "planned", "guarantee", "guarantee_")
# Found by that rule, and audited by another name or not at all.
EXCEPTIONS = {
    "mechanisms.AdditiveNoise": "a base: Laplace, Gaussian and DiscreteGaussian are audited",
    "local.Privatizer": "a base of all",
}


def _says(kind, name):
    return hasattr(kind, name) or any(name in vars(each).get("__annotations__", {}) for each in kind.__mro__)


def _assigns(kind, name):
    """Whether some `__init__` names it, as one does that sets it."""
    starts = (each.__init__ for each in kind.__mro__ if "__init__" in vars(each) and each.__module__.startswith("zig"))
    return any(name in start.__code__.co_names for start in starts)


def _promising(package):
    door = import_module(f"ziggurat.{package}")
    for name in door.__all__:
        kind = getattr(door, name)
        if not inspect.isclass(kind) or not any(hasattr(kind, verb) for verb in _DOES):
            continue
        if any(_says(kind, word) or _assigns(kind, word) for word in _SAYS):
            yield f"{package}.{name}"


@pytest.mark.parametrize("package", AUDITED)
def test_every_public_name_that_promises_something_has_an_audit(package):
    names = [case.name for case in list_cases()]
    missing = [
        found
        for found in _promising(package)
        if found not in EXCEPTIONS and not any(re.match(rf"{re.escape(found)}(?!\w)", name) for name in names)
    ]
    assert missing == []


def test_the_rule_finds_what_promises():
    """The control of the test above: without a case of its own every one of these would be missing."""
    assert {"mechanisms.Laplace", "mechanisms.TopK", "mechanisms.PartitionSelection"} <= set(_promising("mechanisms"))
    assert {"local.Response", "local.WholeRecord"} <= set(_promising("local"))
    assert {"queries.QuestionPlan", "queries.WorkloadPlan"} <= set(_promising("queries"))
    for package in AUDITED:
        assert {each for each in EXCEPTIONS if each.startswith(f"{package}.")} <= set(_promising(package))


def test_names_tell_audits_apart():
    names = [case.name for case in list_cases()]
    assert len(set(names)) == len(names)
    assert find_case(names[0]).name == names[0]
    with pytest.raises(ParameterError, match="There is no audit"):
        find_case("mechanisms.Nothing")


@pytest.mark.statistical
@pytest.mark.parametrize("case", list_cases(), ids=lambda case: case.name)
def test_no_promise_is_refuted_and_the_planted_fault_is_seen(case):
    honest = audit_case(case, 1, random_state=1)
    assert not honest.refuted, honest.sentence
    assert audit_case(case, 1, spent=case.fault, random_state=2).refuted
