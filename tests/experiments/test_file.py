"""An experiment file is read whole, or says what is wrong with it and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Expected, Figure, Gathered, Reproduces, expand, load, schema_text, step
from ziggurat.experiments._as_json import experiment_to_dict
from ziggurat.experiments.file._figures import EXPECTED_KEYS, FIGURE_KEYS
from ziggurat.experiments.file._file import EXPERIMENT_KEYS, REPRODUCES_KEYS
from ziggurat.experiments.file._modules import MODULE_KEYS


@step("file-test-prepare", outputs=("train", "test"))
def prepare(rows: int, shares: object = None, seed: int = 0) -> dict[str, object]:
    return {"train": rows, "test": rows}


@step("file-test-privatise", outputs=("train", "spent"))
def privatise(train: object, epsilon: float, bins: int = 3) -> dict[str, object]:
    return {"train": train, "spent": epsilon}


@step("file-test-classify", outputs=("accuracy", "model"))
def classify(train: object, test: object, depth: int = 2) -> dict[str, object]:
    return {"accuracy": 0.5, "model": depth}


@step("file-test-any")
def anything(**given: object) -> dict[str, object]:
    return dict(given)


EXAMPLE = """\
name: dp-gem-example
title: "Figure 5.2: an example"
reproduces: {document: 000, where: figure 5.2}
seed: 7
quick: {prepare.rows: 300, private.repeats: 1, private.trials: [{epsilon: 1}]}
modules:
  - id: prepare
    step: file-test-prepare
    parameters: {rows: 4000, shares: [0.8, 0.2]}
  - id: control
    step: file-test-classify
    inputs: {train: prepare.train, test: prepare.test}
    metrics: [accuracy]
  - id: private
    step: file-test-privatise
    inputs: {train: prepare.train}
    trials: {grid: {epsilon: [0.5, 2]}}
    repeats: 3
    keep: [spent]
    modules:
      - id: again
        step: file-test-classify
        inputs: {train: private.train, test: prepare.test}
        metrics: [accuracy]
  - id: summary
    step: file-test-any
    inputs: {all: again.accuracy, tables: private.train}
figures:
  - {id: utility, kind: line, x: private.epsilon, y: again.accuracy}
expected:
  - {metric: again.accuracy, value: 0.93, tolerance: 0.02, where: {private.epsilon: 0.5}}
"""


def _changed(old: str, new: str) -> str:
    assert EXAMPLE.count(old) == 1
    return EXAMPLE.replace(old, new)


def test_what_people_write_is_understood() -> None:
    experiment = load(EXAMPLE)
    prepare, control, private, _ = experiment.modules
    assert experiment.reproduces == Reproduces("000", "figure 5.2")
    assert prepare.parameters == {"rows": 4000, "shares": [0.8, 0.2]}
    assert control.inputs == {"train": "prepare.train", "test": "prepare.test"}
    assert private.trials == ({"epsilon": 0.5}, {"epsilon": 2})
    assert (private.repeats, private.keep, private.modules[0].metrics) == (3, ("spent",), ("accuracy",))
    assert experiment.figures == (Figure("utility", "line", "private.epsilon", "again.accuracy"),)
    assert experiment.expected == (Expected("again.accuracy", 0.93, 0.02, {"private.epsilon": 0.5}),)


def test_a_parameter_that_was_called_otherwise_is_named_as_it_is_now() -> None:
    written = """
name: earlier
modules:
  - {id: people, step: synthesis-people, parameters: {source: acs2019}}
"""
    with pytest.raises(ExperimentError, match=r"line 4: .*takes no parameter 'source'; it is called 'dataset' now\."):
        load(written)
    assert load(written.replace("source", "dataset")).modules[0].parameters == {"dataset": "acs2019"}


def test_json_and_yaml_say_the_same(tmp_path: Path) -> None:
    data = yaml.safe_load(EXAMPLE.replace("document: 000", "document: '000'"))
    for indent in (None, 2):
        file = tmp_path / "experiment.json"
        file.write_text(json.dumps({"$schema": "experiment.schema.json", **data}, indent=indent))
        assert load(file) == load(str(file)) == load(EXAMPLE)


def test_the_digest_is_that_of_what_is_said_not_of_how() -> None:
    digest = load(EXAMPLE).digest
    assert len(digest) == 64
    assert load(EXAMPLE + "\n# a remark\n").digest == digest
    assert load(_changed("{grid: {epsilon: [0.5, 2]}}", "[{epsilon: 0.5}, {epsilon: 2}]")).digest == digest
    assert load(_changed("seed: 7", "seed: 8")).digest != digest
    assert load(EXAMPLE, quick=True).digest != digest


def test_an_experiment_survives_the_way_through_json() -> None:
    for quick in (False, True):
        experiment = load(EXAMPLE, quick=quick)
        assert load(json.dumps(experiment_to_dict(experiment))) == experiment


def test_rare_characters_survive_the_way_through_json() -> None:
    text = json.dumps({"name": "a", "title": "\U0001f600 \u00e9", "modules": [{"id": "a", "step": "file-test-any"}]})
    assert load(text).title == "\U0001f600 \u00e9"


def test_quick_changes_what_it_names_and_nothing_else() -> None:
    full, quick = load(EXAMPLE), load(EXAMPLE, quick=True)
    assert quick.modules[0].parameters == {"rows": 300, "shares": [0.8, 0.2]}
    assert (quick.modules[2].trials, quick.modules[2].repeats) == (({"epsilon": 1},), 1)
    assert quick.modules[1] == full.modules[1]
    assert (quick.seed, quick.figures) == (full.seed, full.figures)


def test_quick_leaves_a_list_a_list() -> None:
    for quick in (False, True):
        last = expand(load(EXAMPLE, quick=quick)).nodes[-1]
        assert all(isinstance(each, Gathered) for each in last.inputs.values())


def test_a_file_without_quick_is_quick_as_it_is() -> None:
    text = _changed("quick: {prepare.rows: 300, private.repeats: 1, private.trials: [{epsilon: 1}]}\n", "")
    assert load(text, quick=True) == load(text)


def test_random_trials_are_drawn_from_the_seed() -> None:
    draws = "{random: {count: 4, draws: {epsilon: {log_uniform: [0.1, 10]}}}}"
    text = _changed("{grid: {epsilon: [0.5, 2]}}", draws)
    trials = load(text).modules[2].trials
    assert len(trials) == 4
    assert trials == load(text).modules[2].trials
    assert trials != load(text.replace("seed: 7", "seed: 8")).modules[2].trials


@pytest.mark.parametrize(
    ("line", "old", "new", "sentence"),
    [
        (1, "name: dp-gem-example", "name: 3", "'name' must be text; put quotes around it."),
        (1, "name: dp-gem-example", "name: a b", "The name must be letters, digits"),
        (2, "title:", "titel:", "Unknown key 'titel'; did you mean 'title'?"),
        (3, "where: figure 5.2", "were: figure 5.2", "Unknown key 'were'; did you mean 'where'?"),
        (3, ", where: figure 5.2", "", "'reproduces' needs 'where'."),
        (4, "seed: 7", "seed: -1", "'seed' must be a whole number from 0"),
        (4, "seed: 7", "seed: 7.5", "'seed' must be a whole number from 0"),
        (5, "prepare.rows", "prepair.rows", "There is no module 'prepair'; did you mean 'prepare'?"),
        (5, "prepare.rows", "prepare.row", "takes no parameter 'row'; did you mean 'rows'?"),
        (5, "prepare.rows", "prepare", "'prepare' overrides nothing; write 'module.parameter'"),
        (5, "private.repeats: 1", "private.repeats: 0", "'repeats' must be a whole number from 1"),
        (5, "private.trials: [{epsilon: 1}]", "private.trials: []", "There are no trials here"),
        (5, "private.trials: [{epsilon: 1}]", "private.epsilon: 1", "override 'private.trials' instead"),
        (7, "- id: prepare", "- id: Prepare", "'Prepare' cannot be an id; use at most 64 lower-case"),
        (7, "- id: prepare", "- idd: prepare", "Unknown key 'idd'; did you mean 'id'?"),
        (7, "    step: file-test-prepare\n", "", "Entry 1 of 'modules' needs 'step'."),
        (
            8,
            "file-test-prepare",
            "file-test-prepair",
            "There is no step 'file-test-prepair'; did you mean 'file-test-prep",
        ),
        (8, "file-test-prepare", "no_module_here:f", "'no_module_here:f' is a path to code, which no file may name"),
        (9, "{rows: 4000,", "{row: 4000,", "Step 'file-test-prepare' takes no parameter 'row'; did you mean 'rows'?"),
        (
            7,
            "{rows: 4000, shares",
            "{shares",
            "Step 'file-test-prepare' needs 'rows'; give it as a parameter or an input.",
        ),
        (9, "rows: 4000", "rows: .inf", "'rows' must be text, a finite number, true, false or null."),
        (9, "rows: 4000", "rows: 2024-01-01", "'rows' must be text, a finite number, true, false or null."),
        (9, "rows: 4000", "rows: 1, seed: 4", "'seed' is set by the plan; drop it"),
        (9, "rows: 4000", "rows: 4000, 1: 2", "A name must be text; put quotes around it."),
        (21, "id: control", "id: again", "Two modules are called 'again'; rename one."),
        (
            12,
            "{train: prepare.train, test: prepare.test}",
            "{trian: a.b}",
            "takes no input 'trian'; did you mean 'train'?",
        ),
        (12, "{train: prepare.train, test: prepare.test}", "[a.b]", "'inputs' must be an object"),
        (12, "{train: prepare.train, test: prepare.test}", "{train: prepare.trn, test: again.x}", "comes later"),
        (12, "{train: prepare.train, test: prepare.test}", "{train: control.model, test: prepare.test}", "to itself"),
        (16, "{train: prepare.train}", "{train: prepare.tain}", "has no output 'tain'; did you mean 'train'?"),
        (16, "{train: prepare.train}", "{train: prepar.train}", "There is no module 'prepar'; did you mean 'prepare'?"),
        (16, "{train: prepare.train}", "{train: 3}", "'train' must be text"),
        (
            16,
            "{train: prepare.train}",
            "{train: again.model}",
            "Module 'again' runs inside 'private', so 'private' cannot",
        ),
        (
            17,
            "{grid: {epsilon: [0.5, 2]}}",
            "{grid: {epsilo: [1]}}",
            "takes no parameter 'epsilo'; did you mean 'epsilon'",
        ),
        (17, "{grid: {epsilon: [0.5, 2]}}", "{grid: {train: [1]}}", "'train' is an input and a parameter; drop one"),
        (14, "{grid: {epsilon: [0.5, 2]}}", "[{epsilon: 1}, {bins: 2}]", "needs 'epsilon' in every trial"),
        (17, "{grid: {epsilon: [0.5, 2]}}", "{grid: {}}", "There are no trials here"),
        (18, "repeats: 3", "repeats: 0", "'repeats' must be a whole number from 1"),
        (18, "repeats: 3", "repeats: true", "'repeats' must be a whole number from 1"),
        (19, "keep: [spent]", "keep: [spend]", "has no output 'spend'; did you mean 'spent'?"),
        (19, "keep: [spent]", "keep: [spent, spent]", "must be a list of different names; drop 'spent'"),
        (19, "keep: [spent]", "gather: 1", "'gather' must be true or false."),
        (29, "kind: line", "kind: lien", "'kind' cannot be 'lien'; did you mean 'line'?"),
        (29, "kind: line", "kind: heatmap", "A heat map needs 'value'"),
        (29, "y: again.accuracy", "y: again.accuracy, reference: again.acuracy", "has no metric 'acuracy' in its"),
        (
            29,
            "x: private.epsilon",
            "x: private.epsilno",
            "'private' has no 'epsilno' in its parameters, trials or metrics; did",
        ),
        (29, "x: private.epsilon", "x: epsilon", "'epsilon' names nothing; write 'module.metric'"),
        (
            29,
            "y: again.accuracy",
            "y: again.acuracy",
            "has no metric 'acuracy' in its 'metrics'; did you mean 'accuracy'?",
        ),
        (
            29,
            "y: again.accuracy",
            "y: control.accuracy",
            "says nothing about 'control', which does not run inside 'private'",
        ),
        (29, "y: again.accuracy", "y: private.spent", "has no metric 'spent' in its 'metrics'; none is known."),
        (29, "y: again.accuracy", "y: again.accuracy, series: private.bin", "Module 'private' has no 'bin'"),
        (31, "metric: again", "metric: agian", "There is no module 'agian'; did you mean 'again'?"),
        (31, "tolerance: 0.02", "tolerance: -1", "'tolerance' must be at least 0."),
        (31, "value: 0.93", "value: high", "'value' must be a finite number."),
        (31, ", tolerance: 0.02", "", "Entry 1 of 'expected' needs 'tolerance'."),
        (31, "private.epsilon: 0.5}}", "private.eps: 0.5}}", "Module 'private' has no 'eps'"),
        (31, "private.epsilon: 0.5}}", "private.epsilon: [1]}}", "'private.epsilon' must be text, a finite number"),
    ],
)
def test_an_error_names_the_file_the_line_and_what_to_change(
    tmp_path: Path, line: int, old: str, new: str, sentence: str
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(_changed(old, new))
    with pytest.raises(ExperimentError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("line", "text", "sentence"),
    [
        (2, '{\n\t"name": "a"\n}', "a tab stands where only spaces are allowed; indent with spaces"),
        (3, '{\n "name": "a",\n "name": "b"\n}', "'name' is given twice"),
        (3, '{\n "name": "a"\n "title": "b"}', "not valid YAML"),
        (2, 'name: a\ntitle: "\\ud800"\n', "a value is not what it looks like"),
        (2, "name: a\ntitle: \x01\n", "a control character is not allowed"),
        (3, "name: &x a\nmodules:\n  - *x\n", "aliases are not allowed"),
        (1, "- a\n- b\n", "The experiment must be an object"),
        (1, "title: a\nmodules: []\n", "The experiment needs 'name'."),
        (2, "name: a\nmodules: []\n", "An experiment needs at least one module."),
        (2, "name: a\nmodules: 3\n", "'modules' must be a list."),
        (3, "name: a\nmodules:\n  - 3\n", "Entry 1 of 'modules' must be an object"),
    ],
)
def test_text_that_is_no_experiment_is_refused_at_its_line(line: int, text: str, sentence: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        load(text)
    assert str(caught.value).startswith(f"experiment, line {line}: ")
    assert sentence in str(caught.value)


@pytest.mark.parametrize("name", ["absent.json", "", "a\0b", "\ud800"])
def test_an_absent_file_is_one_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(ExperimentError, match="does not exist or cannot be read"):
        load(tmp_path / name)


def test_a_file_that_is_not_text_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ExperimentError, match="does not exist or cannot be read"):
        load(tmp_path / "a.json")


def test_an_empty_file_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    with pytest.raises(ExperimentError, match="The experiment must be an object"):
        load(tmp_path / "a.json")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ExperimentError, match="nested too deeply"):
        load("{name: a, modules: " + "[" * 20_000)


def test_modules_nest_deeply() -> None:
    inside = ""
    for depth in reversed(range(30)):
        inside = f"[{{id: m{depth}, step: file-test-any{', modules: ' + inside if inside else ''}}}]"
    assert len(expand(load(f"{{name: deep, modules: {inside}}}")).nodes) == 30


def test_an_experiment_far_too_large_is_refused_when_planned() -> None:
    text = "{name: a, modules: [{id: a, step: file-test-any, repeats: 1000000, trials: {grid: {x: [1, 2]}}}]}"
    with pytest.raises(ExperimentError, match="makes 2,000,000 runs"):
        expand(load(text))


SCHEMA = json.loads(schema_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def test_the_published_schema_is_sound_and_accepts_the_example() -> None:
    VALIDATOR.check_schema(SCHEMA)
    VALIDATOR.validate(yaml.safe_load(EXAMPLE.replace("document: 000", "document: '000'")))
    VALIDATOR.validate(experiment_to_dict(load(EXAMPLE, quick=True)))


def test_the_published_schema_knows_the_keys_that_are_read() -> None:
    parts = SCHEMA["$defs"]
    assert set(SCHEMA["properties"]) == set(EXPERIMENT_KEYS)
    assert set(parts["module"]["properties"]) == set(MODULE_KEYS)
    assert set(parts["figure"]["properties"]) == set(FIGURE_KEYS)
    assert set(parts["expected"]["properties"]) == set(EXPECTED_KEYS)
    assert set(parts["reproduces"]["properties"]) == set(REPRODUCES_KEYS)


_JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_characters="\x7f", exclude_categories=["Cs"]), max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abc.", max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
_PARAMETERS = st.dictionaries(st.sampled_from("abc"), _JSON, max_size=2)


@st.composite
def _files(draw: st.DrawFn) -> dict[str, Any]:
    """Random experiments that are right: any step's parameters, references to whatever comes earlier."""
    earlier: list[str] = []

    def module(depth: int) -> dict[str, Any]:
        name = f"m{len(earlier)}"
        inputs = draw(st.lists(st.sampled_from(earlier), max_size=2)) if earlier else []
        earlier.append(name)
        found: dict[str, Any] = {"id": name, "step": "file-test-any", "parameters": draw(_PARAMETERS)}
        found["inputs"] = {f"i{i}": f"{each}.x" for i, each in enumerate(inputs)}
        found["repeats"] = draw(st.integers(1, 2))
        found["metrics"] = ["x"]
        found["trials"] = draw(
            st.one_of(
                st.lists(_PARAMETERS, min_size=1, max_size=3, unique_by=lambda each: json.dumps(each, sort_keys=True)),
                st.just({"grid": {"d": [1, 2.5]}}),
                st.just({"random": {"count": 2, "draws": {"d": {"uniform": [0, 1]}, "e": {"integers": [0, 9]}}}}),
            )
        )
        found["modules"] = [module(depth + 1) for _ in range(draw(st.integers(0, 2 if depth < 2 else 0)))]
        return found

    modules = [module(0) for _ in range(draw(st.integers(1, 3)))]
    seed = draw(st.integers(0, 2**63 - 1))
    expected = [{"metric": "m0.x", "value": 1, "tolerance": 0}]
    return {"name": "random", "seed": seed, "modules": modules, "quick": {"m0.repeats": 1}, "expected": expected}


@settings(deadline=None, max_examples=40)
@given(_files(), st.booleans())
def test_what_is_right_is_read_and_survives_the_way_through_json(data: dict[str, Any], quick: bool) -> None:
    experiment = load(json.dumps(data), quick=quick)
    VALIDATOR.validate(data)
    written = json.dumps(experiment_to_dict(experiment))
    assert load(written) == experiment
    assert [node.id for node in expand(load(written)).nodes] == [node.id for node in expand(experiment).nodes]


_LINES = st.sampled_from(
    [*EXAMPLE.splitlines(), "  - id: x", "    step: math:sqrt", "quick: 3", "\t- {", "'", "modules:"]
)


@settings(deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(_LINES, max_size=40).map("\n".join)))
def test_any_text_is_an_experiment_or_an_experiment_error(text: str) -> None:
    with pytest.raises(ExperimentError):
        load(text + "\nnonsense: true\n")


def _spots(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(spot for key, value in children for spot in _spots(value, (*path, key)))]


_RIGHT = yaml.safe_load(EXAMPLE)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(_spots(_RIGHT)[1:]), _JSON)
def test_any_change_of_one_value_is_an_experiment_or_an_experiment_error(spot: tuple[Any, ...], value: Any) -> None:
    data = json.loads(json.dumps(_RIGHT))
    inside = data
    for key in spot[:-1]:
        inside = inside[key]
    inside[spot[-1]] = value
    sentence = ""
    try:
        load(json.dumps(data))
    except ExperimentError as error:
        sentence = str(error)
    assert "\n" not in sentence
    assert sentence.startswith("experiment, line 1: ") or VALIDATOR.is_valid(data)
