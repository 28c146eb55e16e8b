"""Every public name that promises something has an audit: it refutes no promise that holds, and sees its fault.

Seeded, so that each passes or fails for good; were the seeds fresh, a promise that holds would be refuted once in a
million runs.
"""

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from ziggurat.attacks.audits import audit_case
from ziggurat.attacks.audits.catalogue import find_case, list_cases
from ziggurat.errors import ParameterError
from ziggurat.release.audits import list_audits

DOORS = Path(__file__).parents[2] / "contracts/doors.txt"
# What promises: it does something to data, and says what that was; or its docstring states a formal guarantee.
_DOES = ("release", "privatize", "run", "fit", "fit_predict", "label", "aggregate", "draw", "synthesize", "answer")
_SAYS = ("event", "event_", "planned", "guarantee", "guarantee_")
_STATES = "Formal guarantee"
# Found by that rule, and audited by another name or not at all.
_PAYS = "reads a ledger's grant, and pays for and runs what is audited by its own name"
EXCEPTIONS = {
    "mechanisms.AdditiveNoise": "a base: Laplace, Gaussian and DiscreteGaussian are audited",
    "local.Privatizer": "a base of all",
    "pate.Aggregator": "a base: every aggregator is audited",
    "sequences.SequenceGenerator": "a base: MarkovSequences and RecurrentSequences are audited",
    "sequences.mobility.TrajectoryGenerator": "a base: MarkovTrajectories is audited",
    "sequences.tokens.SequencePrivatizer": "a base: every privatiser is audited",
    "sequences.tokens.SequenceAutoencoder": "promises nothing of its own, and says what its training promised",
    "synthesize.marginals.PrivateSynthesis": "a base: AIM and MST are audited",
    "pate.Student": "sees noisy labels alone, which are audited; the rest is post-processing",
    "pate.Partition": "adds no noise: it deals people out, which the audit of pate.Teachers goes through",
    "learn.guarantee_of": "adds up what was done, by the accountants; adds no noise",
    "ledger.Ledger": "adds no noise: it refuses, which the audit of release.Session goes through",
    "release.Purse": "adds no noise: it pays and runs a plan, which the audit of release.Session goes through",
    "release.Plan": "a base of all plans",
    "release.ModelPlan": _PAYS,
    "release.models.TableModelPlan": _PAYS,
    "release.FittedModel": "a model of learn that was paid for; the models are audited",
    "release.Serving": "a served model of learn that was paid for; the models are audited",
    "release.LabelPlan": _PAYS,
    "release.Labelling": _PAYS,
    "release.StudentPlan": "adds no noise: what its labels promised, which are audited; the rest is post-processing",
    "release.CollectionPlan": "makes reports by local.WholeRecord, which is audited",
    "release.ForeignModelPlan": "promises nothing: it has no event",
    "release.MaskedPlan": "promises nothing: it has no event",
    "release.questions.AnswerPlan": "what a Session answers; a whole Session is audited",
    "service.surveys.SurveyPlan": "reads nothing: people make their reports by local.WholeRecord, which is audited",
    "release.tables.AnonymizedPlan": "promises nothing: it has no event",
}


def _says(kind, name):
    return hasattr(kind, name) or any(name in vars(each).get("__annotations__", {}) for each in kind.__mro__)


def _assigns(kind, name):
    """Whether some `__init__` names it, as one does that sets it."""
    starts = (each.__init__ for each in kind.__mro__ if "__init__" in vars(each) and each.__module__.startswith("zig"))
    return any(name in start.__code__.co_names for start in starts)


def _promises(thing):
    if _STATES in (vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__ or "") or "":
        return True
    if not inspect.isclass(thing) or not any(hasattr(thing, verb) for verb in _DOES):
        return False
    return any(_says(thing, word) or _assigns(thing, word) for word in _SAYS)


@cache
def _promising():
    """All names, with their doors, of every public class and function that promises something."""
    known = {}
    for line in DOORS.read_text().splitlines():
        if line.startswith("ziggurat"):
            door = line.strip()
        elif line.strip() and not door.startswith("ziggurat.cli"):
            thing = getattr(import_module(door), line.strip())
            if inspect.isclass(thing) or inspect.isfunction(thing):
                known.setdefault(thing, []).append(f"{door}.{line.strip()}".removeprefix("ziggurat."))
    return [names for thing, names in known.items() if _promises(thing)]


def test_every_public_name_that_promises_something_has_an_audit():
    audited = [case.name for case in list_audits()]

    def has_one(name):
        return name in EXCEPTIONS or any(re.match(rf"{re.escape(name)}(?!\w)", each) for each in audited)

    assert [names for names in _promising() if not any(map(has_one, names))] == []


def test_the_rule_finds_what_promises():
    """The control of the test above: without a case of its own every one of these would be missing."""
    found = {name for names in _promising() for name in names}
    assert {"mechanisms.Laplace", "mechanisms.TopK", "mechanisms.PartitionSelection", "local.WholeRecord"} <= found
    assert {"queries.QuestionPlan", "queries.WorkloadPlan", "synthesize.AIM", "utility.count_errors_privately"} <= found
    assert {"learn.Lasso", "learn.PrivateSGDClassifier", "pate.GaussianNoisyMax", "pate.ThresholdTest"} <= found
    assert {"sequences.tokens.MarkovSequences", "sequences.mobility.communities.PrivateSTLDA"} <= found
    assert set(EXCEPTIONS) <= found


def test_names_tell_audits_apart():
    names = [case.name for case in list_cases()]
    assert len(set(names)) == len(names)
    assert find_case(names[0]).name == names[0]
    with pytest.raises(ParameterError, match="There is no audit"):
        find_case("mechanisms.Nothing")


@pytest.mark.statistical
@pytest.mark.parametrize("case", list_audits(), ids=lambda case: case.name)
def test_no_promise_is_refuted_and_the_planted_fault_is_seen(case):
    honest = audit_case(case, 1, random_state=1)
    assert not honest.refuted, honest.sentence
    assert audit_case(case, 1, spent=case.fault, random_state=2).refuted
