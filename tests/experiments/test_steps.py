"""Steps are found by the name they are registered under, and say what they take."""

import functools
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import ExperimentError
from ziggurat.experiments import resolve, step, step_names, take_steps


@step("steps-test-shuffle", outputs=("table", "rows"))
def shuffle(table: object, *, rows: int = 3, seed: int = 0) -> dict[str, object]:
    return {"table": table, "rows": rows}


@step("steps-test-any")
def anything(**given: object) -> dict[str, object]:
    return dict(given)


@pytest.fixture
def module(tmp_path: Path) -> Any:
    """Write a module that registers functions, and take its steps."""

    def write(name: str, **functions: str) -> Path:
        registered = (f"@step({each!r})\n{text}\n" for each, text in functions.items())
        file = tmp_path / f"{name}.py"
        file.write_text("\n\n".join(["from ziggurat.experiments import step", *registered]))
        take_steps([file])
        return file

    return write


def test_a_registered_step_says_what_it_takes() -> None:
    found = resolve("steps-test-shuffle")
    assert found.function is shuffle
    assert found.takes_seed
    assert (found.parameters, found.required) == (("table", "rows"), ("table",))
    assert found.outputs == ("table", "rows")
    assert not found.takes_any


def test_a_function_of_a_module_that_was_taken_is_a_step(module: Any) -> None:
    module("steps_mine", double="def double(x, *more, y=2):\n    return {'z': x * y}\n")
    found = resolve("double")
    assert found.function(x=3) == {"z": 6}
    assert (found.parameters, found.takes_seed, found.outputs) == (("x", "y"), False, None)


def test_a_step_may_take_any_name() -> None:
    assert resolve("steps-test-any").takes_any


def test_names_are_sorted() -> None:
    names = step_names()
    assert names == sorted(names)
    assert {"steps-test-any", "steps-test-shuffle"} <= set(names)


def test_the_version_changes_with_the_file_and_with_the_name(module: Any) -> None:
    text = "def f():\n    return {}\n"
    module("steps_v1", v1=text, v2=text)
    module("steps_v3", v3=text, v4=text)
    versions = {resolve(each).version for each in ("v1", "v2", "v3", "v4")}
    assert len(versions) == 4
    assert all(len(version) == 64 for version in versions)


def test_the_version_of_code_in_memory_does_not_change_with_its_file(module: Any) -> None:
    file = module("steps_edited", edited="def f():\n    return {}\n")
    before = resolve("edited").version
    file.write_text("def f():\n    return {'a': 1}\n")
    take_steps([file])
    assert resolve("edited").version == before


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("steps-test-shufle", "There is no step 'steps-test-shufle'; did you mean 'steps-test-shuffle'?"),
        ("", "There is no step ''"),
        ("textwrap:indent", "is a path to code, which no file may name; register the function with @step"),
    ],
)
def test_what_cannot_be_resolved_is_one_sentence(reference: str, sentence: str) -> None:
    with pytest.raises(ExperimentError, match=sentence):
        resolve(reference)


def test_a_function_without_source_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("def typed_by_hand(): return {}", names)
    with pytest.raises(ExperimentError, match=r"source of step 'steps-test-hand' cannot be read.*define it in"):
        step("steps-test-hand")(names["typed_by_hand"])
    assert "steps-test-hand" not in step_names()


def test_what_is_no_function_is_refused() -> None:
    for odd in (len, dict, functools.partial(shuffle, rows=1)):
        with pytest.raises(ExperimentError, match="not a function written in Python"):
            step("steps-test-odd")(odd)


def test_a_wrapped_function_is_its_own_step() -> None:
    @functools.wraps(shuffle)
    def wrapped(*given: Any, **named: Any) -> Any:
        return shuffle(*given, **named)

    step("steps-test-wrapped")(wrapped)
    assert resolve("steps-test-wrapped").parameters == ("table", "rows")


def test_positional_only_parameters_are_refused() -> None:
    def odd(x: int, /) -> dict[str, int]:
        return {"x": x}

    with pytest.raises(ExperimentError, match="takes 'x' by position only"):
        step("steps-test-position")(odd)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ExperimentError, match="'steps-test-any' is registered twice"):
        step("steps-test-any")(shuffle)
    assert step("steps-test-any")(anything) is anything


@pytest.mark.parametrize("name", ["", "Upper", "a b", "a:b", "a.b", "1a", "a\n"])
def test_a_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(ExperimentError, match="cannot name a step"):
        step(name)


def test_outputs_are_a_list() -> None:
    with pytest.raises(ExperimentError, match="must be a list of names"):
        step("steps-test-outputs", outputs="table")
