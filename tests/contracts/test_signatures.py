"""`help` and completion show the names that are understood: no public function takes `**options`, but for a reason."""

import importlib
import inspect
import sys
from pathlib import Path

import pytest

from ziggurat.signatures import take_options_of

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))

import house as measuring  # noqa: E402

DOORS = measuring.House(ROOT).doors()
ANY_NAME = {
    "AskedSession.ask": "a protocol: whatever the session takes",
    "Query.group_by": "the names of new columns",
    "Query.per_unit": "the names of new columns",
    "render": "what the template shows",
    "take_options_of": "the names of further options",
    "TruncatedGeometric.calibrated": "refuses whatever it is given",
    "TruncatedGeometric.for_error": "refuses whatever it is given",
    "Artefact.at": "the fields that a subclass adds",
    "Release.for_steward": "facts by name",
    "SequenceRequest.generator": "the parameters of the generator that is named",
    "VisitRequest.generator": "the parameters of the generator that is named",
    "curve": "a step of experiments: its settings are those of the function that it names",
    "spread_of_runs": "a step of experiments: its settings are those of the model that it names",
    "choose_measure": "a step of experiments: every measure by its name",
}


def functions_of(thing):
    """The functions of a door's name, by the name they are called."""
    if inspect.isfunction(thing):
        return [thing]
    if not inspect.isclass(thing) or not thing.__module__.startswith("ziggurat"):
        return []
    held = [inspect.getattr_static(thing, name) for name in dir(thing) if name == "__init__" or name[0] != "_"]
    found = [each.__func__ if isinstance(each, classmethod | staticmethod) else each for each in held]
    return [each for each in found if inspect.isfunction(each) and each.__module__.startswith("ziggurat")]


def takes_any(function):
    """Whether a signature says that it takes any name."""
    return any(each.kind is each.VAR_KEYWORD for each in inspect.signature(function).parameters.values())


@pytest.mark.parametrize("door", [name for name in sorted(DOORS) if not name.startswith("ziggurat.cli")])
def test_no_option_is_hidden(door):
    module = importlib.import_module(door)
    named = (getattr(module, name) for name in DOORS[door])
    hiding = {each.__qualname__ for thing in named for each in functions_of(thing) if takes_any(each)}
    assert {name for name in hiding if name not in ANY_NAME} == set()


def test_a_question_shows_its_terms():
    from ziggurat import Session

    for method in (Session.ask, Session.quote, Session.release, Session.plan, Session.ask_all):
        shown = inspect.signature(method).parameters
        assert {"rows_per_unit", "groups_per_unit", "noise", "confidence", "bounds"} <= set(shown)


def test_what_is_shown_is_what_is_taken():
    """Every name that is shown for a session is one of `TermOptions`, and the other way round."""
    from ziggurat import Session
    from ziggurat.release.questions import TermOptions

    own = {"self", "question", "epsilon", "delta", "progress"}
    assert set(inspect.signature(Session.ask).parameters) - own == set(TermOptions.__annotations__)


def test_options_of_another_stand_in_place_of_any():
    def owner(a, b=2, *, c=3): ...

    @take_options_of(owner, leave_out=("a",), d=4)
    def taker(x, **options): ...

    assert str(inspect.signature(taker)) == "(x, *, b=2, c=3, d=4)"
    assert not takes_any(taker)


def test_a_hidden_option_is_found():
    def hiding(x, **options): ...

    assert takes_any(hiding)
