"""What an experiment file may not do: name code, have a module imported, or write outside of the store."""

import json
import os
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import ArtefactError, ExperimentError
from ziggurat.experiments import (
    Cache,
    Experiment,
    Figure,
    Module,
    Results,
    draw_all,
    expand,
    load,
    resolve,
    run_plan,
    step_names,
)
from ziggurat.experiments.storing._estimators import read_estimator
from ziggurat.pate.training._classifiers import read_classifier

ZIGGURAT = str(Path(sys.executable).parent / "ziggurat")
MARK = "from pathlib import Path\nPath(__file__).with_suffix('.ran').touch()\n"
OWN = """
import subprocess
from ziggurat.experiments import step

@step("{name}")
def given(x: int) -> dict:
    return {{"y": helper(x)}}

def helper(x: int) -> int:
    return 2 * x
"""


def written(tmp_path: Path, step: str, **parameters: Any) -> Path:
    module = {"id": "a", "step": step, "parameters": parameters}
    file = tmp_path / "hostile.json"
    file.write_text(json.dumps({"name": "hostile", "modules": [module]}))
    return file


def own(tmp_path: Path, module: str, name: str) -> Path:
    file = tmp_path / f"{module}.py"
    file.write_text(OWN.format(name=name))
    return file


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    clean = {**os.environ, "HOME": str(folder), "COLUMNS": "200"}
    return subprocess.run([ZIGGURAT, *arguments], cwd=folder, env=clean, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "reference",
    ["subprocess:getoutput", "shutil:rmtree", "ziggurat.experiments.steps:classify", "os.path:join", "a:b:c", ":f"],
)
def test_a_path_to_code_is_no_step(tmp_path: Path, reference: str) -> None:
    before = set(sys.modules)
    with pytest.raises(ExperimentError, match=r"hostile.json, line \d+: .* is a path to code, which no file may name"):
        load(written(tmp_path, reference, cmd="touch ran"))
    assert not {each for each in set(sys.modules) - before if not each.startswith("ziggurat.")}


@pytest.mark.parametrize("what", ["plan", "run"])
@pytest.mark.parametrize("reference", ["beside:touch", "beside", "subprocess:getoutput"])
def test_the_command_line_imports_nothing_beside_a_file(tmp_path: Path, what: str, reference: str) -> None:
    (tmp_path / "beside.py").write_text(MARK)
    done = command(tmp_path, "experiment", what, str(written(tmp_path, reference, cmd="touch hostile.ran")))
    assert done.returncode == 2
    assert "no file may name" in done.stderr or "There is no step" in done.stderr
    assert not list(tmp_path.glob("*.ran"))


def test_results_and_compare_import_nothing_either(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text(MARK)
    file = str(written(tmp_path, "beside:touch"))
    (tmp_path / ".ziggurat").mkdir()
    for what in (("results", file), ("compare", file, file)):
        assert command(tmp_path, "experiment", *what).returncode == 2
    assert not list(tmp_path.glob("*.ran"))


def test_steps_come_from_modules_that_the_user_names(tmp_path: Path) -> None:
    file, steps = written(tmp_path, "hostile-given", x=3), own(tmp_path, "hostile_given", "hostile-given")
    with pytest.raises(ExperimentError, match=r"There is no step 'hostile-given'.*--steps"):
        load(file)
    path = list(sys.path)
    plan = expand(load(file, steps=[steps]))
    assert sys.path == path
    for executor in ("inline", "processes"):
        (record,) = run_plan(plan, Cache(tmp_path / executor), executor=executor, progress=False)
        assert record.status == "done", record.error


def test_of_a_named_module_only_what_it_registers_is_a_step(tmp_path: Path) -> None:
    steps = own(tmp_path, "hostile_partly", "hostile-partly")
    load(written(tmp_path, "hostile-partly", x=3), steps=[steps])
    for reference in ("helper", "hostile_partly:helper", "hostile_partly:given", "given"):
        with pytest.raises(ExperimentError, match=r"no file may name|There is no step"):
            load(written(tmp_path, reference, x=3), steps=[steps])


def test_a_named_module_may_lean_on_its_neighbours_and_is_imported_once(tmp_path: Path) -> None:
    (tmp_path / "hostile_neighbour.py").write_text("VALUE = 5\n")
    steps = tmp_path / "hostile_leaning.py"
    steps.write_text(
        "from hostile_neighbour import VALUE\nfrom ziggurat.experiments import step\n"
        "@step('hostile-leaning')\ndef f() -> dict:\n    return {'value': VALUE}\n"
    )
    for _ in range(2):
        load(written(tmp_path, "hostile-leaning"), steps=[str(steps)])
    (record,) = run_plan(
        expand(Experiment("a", (Module("m", "hostile-leaning", metrics=("value",)),))),
        Cache(tmp_path / "cache"),
        executor="processes",
        progress=False,
    )
    assert record.metrics == {"value": 5.0}


@pytest.mark.parametrize(
    ("named", "content", "sentence"),
    [
        ("nowhere.py", None, "There is no file"),
        ("json.py", "", "Another module is called 'json'; rename the file"),
        ("not-a-name.py", "", "cannot be the name of a module"),
        ("hostile_broken.py", "1 / 0", r"cannot be imported \(ZeroDivisionError\)"),
        ("hostile_leaving.py", "import sys; sys.exit(3)", r"cannot be imported \(SystemExit\)"),
        ("no_such_module_here", None, r"cannot be imported \(ModuleNotFoundError\)"),
        ("..a", None, "write a Python file"),
        ("subprocess:getoutput", None, "write a Python file"),
    ],
)
def test_a_module_that_cannot_give_steps_is_one_sentence(
    tmp_path: Path, named: str, content: str | None, sentence: str
) -> None:
    if content is not None:
        (tmp_path / named).write_text(content)
    given = tmp_path / named if named.endswith(".py") else named
    with pytest.raises(ExperimentError, match=sentence):
        load(written(tmp_path, "curve"), steps=[given])
    assert Path(named).stem not in sys.modules or named == "json.py"


def test_a_named_module_takes_no_shipped_name(tmp_path: Path) -> None:
    steps = own(tmp_path, "hostile_taking", "classify")
    with pytest.raises(ExperimentError, match="'classify' is registered twice"):
        load(written(tmp_path, "curve"), steps=[steps])
    assert resolve("classify").function.__module__ == "ziggurat.experiments.steps.records._classify"
    assert "classify" in step_names()


@pytest.mark.parametrize(
    "name", ["../../escaped", "/tmp/escaped", "a/b", "..", ".hidden", "a\\b", "a\nb", "", "x" * 101]
)
def test_a_figure_writes_nowhere_but_into_its_folder(tmp_path: Path, name: str) -> None:
    content = {
        "name": "hostile",
        "modules": [
            {"id": "a", "step": "gaussian-sigma", "metrics": ["sigma"], "trials": {"grid": {"epsilon": [1, 2]}}}
        ],
        "figures": [{"id": name, "kind": "line", "x": "a.epsilon", "y": "a.sigma"}],
    }
    with pytest.raises(ExperimentError, match="figure"):
        load(json.dumps(content, indent=1))


def test_a_figure_of_an_experiment_made_in_python_stays_inside_too(tmp_path: Path) -> None:
    figure = Figure("../escaped", "line", "m.p", "m.value")
    said: list[str] = []
    draw_all(Results(Experiment("a", (), figures=(figure,)), []), tmp_path / "figures", ("svg",), said.append)
    assert said
    assert not list(tmp_path.glob("escaped*"))


@pytest.mark.parametrize("name", ["numpy.f2py.__main__.Anything", "numpy.f2py.crackfortran.myeval", "os.system"])
def test_a_stored_estimator_makes_nothing_run(tmp_path: Path, name: str) -> None:
    module, _, kind = name.rpartition(".")
    held = {"__class__": kind, "__module__": module, "__loader__": "ObjectNode", "__id__": 1, "content": None}
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", json.dumps({**held, "protocol": 1, "_skops_version": "0.11"}))
    file = tmp_path / "hostile.skops"
    file.write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match=kind):
        read_estimator(buffer.getvalue())
    with pytest.raises(ArtefactError):
        read_classifier(file)
    assert "numpy.f2py.__main__" not in sys.modules
