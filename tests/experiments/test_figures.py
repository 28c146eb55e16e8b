"""Figures: the same results give the same bytes, and a name that means nothing is refused in words."""

import struct
import subprocess
import sys
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Expected, Experiment, Figure, Module, NodeRecord, Results, draw
from ziggurat.experiments.showing._axes import levels, marks, points, reference

EPSILONS, MODELS = (0.01, 0.1, 10), ("tree", "forest")
AGAIN = Module("again", "classify", trials=tuple({"model": model} for model in MODELS), metrics=("accuracy",))
SIMILAR = Module("similarity", "similarity", metrics=("hamming",))
PRIVATE = Module(
    "private", "privatize", {"clip": 3}, trials=tuple({"epsilon": e} for e in EPSILONS), repeats=3,
    modules=(AGAIN, SIMILAR),
)  # fmt: skip
PRINTED = (
    Expected("again.accuracy", 0.8, 0.05, {"private.epsilon": 0.1, "again.model": "tree"}),
    Expected("again.accuracy", 0.7, 0.05, {"again.model": "tree"}),
)
EXPERIMENT = Experiment("example", (Module("control", "classify", metrics=("accuracy",)), PRIVATE), expected=PRINTED)


def record(node, varied=None, status="done", **metrics):
    module = node.rpartition("/")[2].partition("[")[0].partition("#")[0]
    parent = node.rpartition("/")[0] or None
    return NodeRecord(node, module, varied or {}, {}, parent, status, False, "", 0.5, None, metrics, {}, "k")


def runs():
    found = [record("control#0", accuracy=0.95)]
    for epsilon in EPSILONS:
        for i in range(3):
            node, varied = f"private[epsilon={epsilon}]#{i}", {"private.epsilon": epsilon}
            found.append(record(node, varied))
            found.append(record(f"{node}/similarity#0", varied, hamming=epsilon + i))
            for model in MODELS:
                score = 0.6 + 0.01 * i + (0.1 if model == "tree" else 0.0)
                varied_here = {**varied, "again.model": model}
                found.append(record(f"{node}/again[model={model}]#0", varied_here, accuracy=score))
    return found


RESULTS = Results(EXPERIMENT, runs())
FIGURES = [
    Figure("a", "line", "private.epsilon", "again.accuracy", "Lines", series="again.model"),
    Figure("b", "box", "private.epsilon", "again.accuracy", "Boxes", series="again.model"),
    Figure("c", "bar", "again.model", "again.accuracy", "Bars", x_label="which model", y_label="how good"),
    Figure("d", "heatmap", "private.epsilon", "again.model", "Heat", value="again.accuracy"),
    Figure("e", "scatter", "similarity.hamming", "again.accuracy", "Cloud", series="private.epsilon"),
]


def words(picture):
    return [element.text for element in ElementTree.fromstring(picture).iter() if element.tag.endswith("}text")]


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.kind)
def test_every_kind_is_the_same_svg_each_time_with_its_words_as_text(figure):
    picture = draw(figure, RESULTS)
    assert picture == draw(figure, RESULTS)
    assert figure.title in words(picture)
    assert (figure.x_label or f"{figure.x.split('.')[1]} ({figure.x.split('.')[0]})") in words(picture)
    for secret in (b"<metadata", b"<dc:", b"Matplotlib v", b"<image"):
        assert secret not in picture


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.kind)
def test_every_kind_is_a_png_at_150_dots_per_inch(figure):
    picture = draw(figure, RESULTS, format="png")
    assert struct.unpack(">II", picture[16:24]) == (1020, 630)
    assert picture == draw(figure, RESULTS, format="png")


def test_the_process_keeps_its_own_plotting_state():
    code = "import matplotlib as m; m.rcParams['font.size'] = 31\n"
    code += f"import importlib.util as u; s = u.spec_from_file_location('h', {__file__!r})\n"
    code += "h = u.module_from_spec(s); s.loader.exec_module(h); h.draw(h.FIGURES[0], h.RESULTS)\n"
    code += "import sys; print('matplotlib.pyplot' in sys.modules, m.rcParams['font.size'])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ended.stdout.split() == ["False", "31.0"], ended.stderr


def test_an_axis_is_logarithmic_beyond_two_decades_only():
    wide = words(draw(FIGURES[0], RESULTS))
    assert {"0.01", "0.1", "10"} <= set(wide)
    assert "0.00" not in wide
    narrow = Figure("n", "line", "private.epsilon", "similarity.hamming")
    few = [each for each in runs() if each.varied.get("private.epsilon") != 10]
    assert "0.05" not in words(draw(narrow, Results(EXPERIMENT, few)))
    assert {"0.01", "0.1"} <= set(words(draw(narrow, Results(EXPERIMENT, few))))


def test_metrics_of_two_modules_meet_under_their_nearest_common_ancestor():
    found = points(Figure("f", "scatter", "similarity.hamming", "again.accuracy"), RESULTS)
    assert len(found) == 18
    assert {(round(point.x - 0.01), round(point.value, 2)) for point in found if point.x < 0.05} == {(0, 0.6), (0, 0.7)}
    assert sorted({point.x for point in found}) == sorted(e + i for e in EPSILONS for i in range(3))


def test_a_metric_from_outside_is_the_same_for_all_inside():
    found = points(Figure("f", "scatter", "control.accuracy", "again.accuracy"), RESULTS)
    assert {point.x for point in found} == {0.95}


def test_several_runs_under_the_ancestor_give_their_median():
    found = points(Figure("f", "scatter", "again.accuracy", "similarity.hamming"), RESULTS)
    assert {round(point.x, 3) for point in found} == {0.65, 0.66, 0.67}


def test_expected_values_stand_where_their_filter_says():
    (mark,) = marks(FIGURES[0], RESULTS)
    assert (mark.x, mark.series, mark.value, mark.tolerance) == (0.1, "tree", 0.8, 0.05)
    assert marks(FIGURES[4], RESULTS) == []
    assert "expected" in words(draw(FIGURES[0], RESULTS))
    assert "expected" in words(draw(FIGURES[2], RESULTS))
    assert "expected" not in words(draw(FIGURES[4], RESULTS))


def test_a_reference_is_a_dashed_line_at_the_median_of_its_metric():
    figure = replace(FIGURES[1], reference="similarity.hamming")
    assert reference(figure, RESULTS) == 2.01
    assert reference(FIGURES[1], RESULTS) is None
    assert reference(figure, Results(EXPERIMENT, runs()[:1])) is None
    assert "hamming (similarity)" in words(draw(figure, RESULTS))
    assert "hamming (similarity)" not in words(draw(FIGURES[1], RESULTS))


def test_a_metric_that_nobody_measured_is_refused_with_the_nearest_name():
    with pytest.raises(ExperimentError, match=r"^Figure 'f' shows 'again\.acuracy', which no run measured; did you"):
        draw(Figure("f", "line", "private.epsilon", "again.acuracy"), RESULTS)
    with pytest.raises(ExperimentError, match=r"names 'private\.epsilom', which is neither .* did you mean"):
        draw(Figure("f", "line", "private.epsilom", "again.accuracy"), RESULTS)
    with pytest.raises(ExperimentError, match="needs 'value'"):
        draw(Figure("f", "heatmap", "private.epsilon", "again.model"), RESULTS)
    with pytest.raises(ExperimentError, match="'svg' or 'png', not 'gif'"):
        draw(FIGURES[0], RESULTS, format="gif")


def test_a_module_whose_runs_all_failed_is_said_to_have_failed():
    results = Results(EXPERIMENT, [record("again#0", status="failed")])
    with pytest.raises(ExperimentError, match="but every run of 'again' failed or was skipped"):
        draw(FIGURES[0], results)


def test_a_single_run_is_enough_for_every_kind():
    one = Results(EXPERIMENT, [each for each in runs() if each.node.startswith("private[epsilon=10]#0")])
    for figure in FIGURES:
        assert draw(figure, one).startswith(b"<?xml")


def test_missing_cells_and_negative_or_zero_values_can_be_drawn():
    some = [each for each in runs() if each.varied.get("private.epsilon") != 10 or "forest" not in each.node]
    assert "no run" in words(draw(FIGURES[3], Results(EXPERIMENT, some)))
    low = [record(f"control#{i}", accuracy=value) for i, value in enumerate((-5.0, 0.0, 1e6))]
    experiment = Experiment("e", (Module("control", "s", {"rows": 1}),))
    assert draw(Figure("f", "bar", "control.rows", "control.accuracy"), Results(experiment, low))


@settings(deadline=None, max_examples=15)
@given(st.text(min_size=1, max_size=60))
def test_any_text_may_stand_in_a_figure(text):
    experiment = Experiment("e", (Module("m", "s", trials=({"p": text}, {"p": "b"})),))
    found = [record("m#0", {"m.p": text}, a=1.0), record("m#1", {"m.p": "b"}, a=2.0)]
    ElementTree.fromstring(draw(Figure("f", "line", "m.p", "m.a", text, y_label=text), Results(experiment, found)))


def test_levels_are_numbers_in_order_and_names_as_they_come():
    assert levels([2, 0.5, 2.0, 10]) == [0.5, 2, 10]
    assert levels(["b", "a", "b"]) == ["b", "a"]
    assert levels([1, "1", True]) == [1, "1", True]
