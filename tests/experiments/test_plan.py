"""A plan: every run once, after what it needs, with a seed that depends on nothing but its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import ExperimentError
from ziggurat.experiments import Experiment, ExperimentPlan, Gathered, Module, Node, expand
from ziggurat.experiments._types import NodeOutput
from ziggurat.randomness import seeded


def _module(name: str, **rest: Any) -> Module:
    return Module(name, "any", **rest)


def _plan(*modules: Module, seed: int = 7) -> ExperimentPlan:
    return expand(Experiment("test", modules, seed))


def _by_id(plan: ExperimentPlan) -> dict[str, Node]:
    return {node.id: node for node in plan.nodes}


def _outputs(node: Node) -> Iterator[NodeOutput]:
    for each in node.inputs.values():
        yield from each.outputs if isinstance(each, Gathered) else (each,)


EXAMPLE = (
    _module("prepare", parameters={"rows": 10}),
    _module(
        "private",
        parameters={"epsilon": 9, "rows": 1},
        inputs={"train": "prepare.train"},
        trials=({"epsilon": 0.5}, {"epsilon": 2}),
        repeats=2,
        modules=(
            _module("again", inputs={"train": "private.train", "test": "prepare.test"}),
            _module("similar", inputs={"score": "again.accuracy"}),
        ),
    ),
    _module("end", inputs={"scores": "again.accuracy", "tables": "private.train", "test": "prepare.test"}),
)


def test_a_module_runs_for_every_trial_and_repeat_inside_every_run_around_it() -> None:
    ids = [node.id for node in _plan(*EXAMPLE).nodes]
    assert ids[:4] == [
        "prepare#0",
        "private[epsilon=0.5]#0",
        "private[epsilon=0.5]#0/again#0",
        "private[epsilon=0.5]#0/similar#0",
    ]
    assert ids[-4:] == [
        "private[epsilon=2]#1",
        "private[epsilon=2]#1/again#0",
        "private[epsilon=2]#1/similar#0",
        "end#0",
    ]
    assert len(ids) == 14


def test_a_trial_is_laid_over_the_parameters() -> None:
    node = _by_id(_plan(*EXAMPLE))["private[epsilon=0.5]#1"]
    assert node.parameters == {"epsilon": 0.5, "rows": 1}
    assert node.varied == {"private.epsilon": 0.5}
    assert node.repeats == {"private": 1}


def test_a_run_inside_knows_what_varies_around_it() -> None:
    node = _by_id(_plan(*EXAMPLE))["private[epsilon=2]#1/again#0"]
    assert node.varied == {"private.epsilon": 2}
    assert node.repeats == {"private": 1, "again": 0}
    assert node.parent == "private[epsilon=2]#1"


def test_an_ancestor_and_a_single_sibling_give_their_one_run() -> None:
    nodes = _by_id(_plan(*EXAMPLE))
    inside = nodes["private[epsilon=2]#0/again#0"]
    assert inside.inputs == {
        "train": NodeOutput("private[epsilon=2]#0", "train"),
        "test": NodeOutput("prepare#0", "test"),
    }
    sibling = nodes["private[epsilon=2]#1/similar#0"]
    assert sibling.inputs == {"score": NodeOutput("private[epsilon=2]#1/again#0", "accuracy")}


def test_from_outside_all_runs_are_gathered_in_order() -> None:
    end = _by_id(_plan(*EXAMPLE))["end#0"]
    scores = end.inputs["scores"]
    assert isinstance(scores, Gathered)
    assert [each.node for each in scores.outputs][:2] == [
        "private[epsilon=0.5]#0/again#0",
        "private[epsilon=0.5]#1/again#0",
    ]
    assert [each["private.epsilon"] for each in scores.parameters] == [0.5, 0.5, 2, 2]
    assert scores.repeats[1] == {"private": 1, "again": 0}
    assert isinstance(end.inputs["tables"], Gathered)
    assert end.inputs["test"] == NodeOutput("prepare#0", "test")


def test_inside_a_run_only_its_own_runs_are_gathered() -> None:
    inner = _module("inner", trials=({"a": 1}, {"a": 2}))
    outer = _module("outer", repeats=3, modules=(inner, _module("sum", inputs={"all": "inner.x"})))
    gathered = _by_id(_plan(outer))["outer#1/sum#0"].inputs["all"]
    assert isinstance(gathered, Gathered)
    assert [each.node for each in gathered.outputs] == ["outer#1/inner[a=1]#0", "outer#1/inner[a=2]#0"]
    assert gathered.parameters == ({"inner.a": 1}, {"inner.a": 2})
    assert gathered.repeats == ({"inner": 0}, {"inner": 0})


def test_a_module_that_gathers_is_a_list_even_with_one_run() -> None:
    plan = _plan(_module("one", gather=True), _module("two", inputs={"a": "one.x"}))
    assert plan.nodes[1].inputs["a"] == Gathered((NodeOutput("one#0", "x"),), ({},), ({"one": 0},))


def test_a_module_inside_another_is_gathered_from_outside_even_with_one_run() -> None:
    plan = _plan(_module("one", modules=(_module("in"),)), _module("two", inputs={"a": "in.x"}))
    assert isinstance(plan.nodes[2].inputs["a"], Gathered)


def test_the_same_runs_are_gathered_only_once() -> None:
    many = _module("many", repeats=5)
    plan = _plan(many, _module("use", inputs={"all": "many.x"}, repeats=3))
    assert plan.nodes[5].inputs["all"] is plan.nodes[7].inputs["all"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": "0.5"}, {"a": 0.5}),
        ({"a": "true"}, {"a": True}),
        ({"a": "null"}, {"a": None}),
        ({"a": "1,b=2"}, {"a": 1, "b": 2}),
        ({"a": "x" * 100}, {"a": "x" * 101}),
        ({"a": list(range(100))}, {"a": list(range(101))}),
        ({f"p{i}": i for i in range(50)}, {f"p{i}": i for i in range(51)}),
        ({"a": "\u202eabc"}, {"a": "\\u202eabc"}),
    ],
)
def test_different_trials_have_different_readable_ids(one: dict[str, Any], other: dict[str, Any]) -> None:
    ids = [node.id for node in _plan(_module("m", trials=(one, other))).nodes]
    assert ids[0] != ids[1]
    assert all(len(each) < 130 and each.isprintable() for each in ids)


def test_a_seed_is_derived_from_the_place_and_the_experiment() -> None:
    seeds = [node.seed for node in _plan(*EXAMPLE).nodes]
    assert seeds == [node.seed for node in _plan(*EXAMPLE).nodes]
    assert set(seeds).isdisjoint(node.seed for node in _plan(*EXAMPLE, seed=8).nodes)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_published_seeds_never_change() -> None:
    nodes = _by_id(_plan(*EXAMPLE))
    around = seeded(7).child("nodes").child("private", '{"epsilon":0.5}', 1)
    assert nodes["private[epsilon=0.5]#1/again#0"].seed == int(around.child("again", "{}", 0).words(1)[0]) // 2
    assert nodes["prepare#0"].seed == 7912123417019299448


@pytest.mark.parametrize(
    ("modules", "sentence"),
    [
        ((_module("a"), _module("a")), "Two modules are called 'a'; rename one."),
        ((_module("a", modules=(_module("a"),)),), "Two modules are called 'a'; rename one."),
        ((_module("a", inputs={"x": "a.y"}),), "Module 'a' refers to itself; refer to an earlier module."),
        ((_module("a", inputs={"x": "b.y"}), _module("b")), "Module 'b' comes later; move it before 'a'."),
        (
            (_module("a", inputs={"x": "b.y"}), _module("b", inputs={"x": "a.y"})),
            "The modules a -> b -> a refer to each other in a cycle; drop one reference.",
        ),
        (
            (_module("a", inputs={"x": "c.y"}), _module("b", inputs={"x": "a.y"}, modules=(_module("c"),))),
            "The modules a -> c -> b -> a refer to each other in a cycle; drop one reference.",
        ),
        (
            (_module("a", inputs={"x": "b.y"}, modules=(_module("b"),)),),
            "Module 'b' runs inside 'a', so 'a' cannot use its output.",
        ),
        (
            (_module("first"), _module("b", inputs={"x": "frist.y"})),
            "There is no module 'frist'; did you mean 'first'?",
        ),
        ((_module("a"), _module("b", inputs={"x": "a"})), "'a' is not a reference; write 'module.output'."),
        ((_module("a", repeats=0),), "Module 'a' needs at least one trial and one repeat."),
        ((_module("a", trials=()),), "Module 'a' needs at least one trial and one repeat."),
        (
            (_module("a", trials=({"b": 1}, {"b": 1})),),
            "Two trials of module 'a' are the same; drop one or use repeats.",
        ),
        (
            (_module("a", repeats=10**6, modules=(_module("b", repeats=10**6),)),),
            "The experiment makes 1,000,001,000,000 runs; 1,000,000 are allowed, so use fewer trials or repeats.",
        ),
        ((_module("a", trials=({"b": object()},)),), "Parameters must be JSON values"),
    ],
)
def test_what_cannot_be_planned_is_one_sentence(modules: tuple[Module, ...], sentence: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        _plan(*modules)
    assert str(caught.value).startswith(sentence)


def test_depth_is_no_limit() -> None:
    module = _module("m999", inputs={"a": "m0.x", "b": "m998.x"})
    for depth in reversed(range(999)):
        module = _module(f"m{depth}", modules=(module,))
    assert len(_plan(module).nodes) == 1000


_TRIALS = st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True).map(
    lambda values: tuple({"p": value} for value in values)
)


@st.composite
def _experiments(draw: st.DrawFn) -> Experiment:
    """Random trees of modules whose inputs refer to any module before them."""
    earlier: list[str] = []

    def module(depth: int) -> Module:
        name = f"m{len(earlier)}"
        inputs = draw(st.lists(st.sampled_from(earlier), max_size=3)) if earlier else []
        earlier.append(name)
        inside = [module(depth + 1) for _ in range(draw(st.integers(0, 2 if depth < 2 else 0)))]
        return _module(
            name,
            inputs={f"i{i}": f"{each}.x" for i, each in enumerate(inputs)},
            trials=draw(st.one_of(st.just(({},)), _TRIALS)),
            repeats=draw(st.integers(1, 2)),
            modules=tuple(inside),
        )

    return Experiment("random", tuple(module(0) for _ in range(draw(st.integers(1, 3)))), draw(st.integers(0, 99)))


@settings(deadline=None)
@given(_experiments())
def test_every_node_comes_after_what_it_needs_with_an_id_and_a_seed_of_its_own(experiment: Experiment) -> None:
    nodes = expand(experiment).nodes
    done: set[str] = set()
    for node in nodes:
        assert {each.node for each in _outputs(node)} <= done
        assert node.parent is None or node.parent in done
        assert node.id not in done
        done.add(node.id)
    assert len({node.seed for node in nodes}) == len(nodes)


@settings(deadline=None)
@given(_experiments())
def test_inputs_come_from_the_run_around_both(experiment: Experiment) -> None:
    """Whatever a node gets was made under the same trials and repeats, as far as the two share modules."""
    plan = expand(experiment)
    nodes = _by_id(plan)
    for node in plan.nodes:
        for source in (nodes[each.node] for each in _outputs(node)):
            shared = node.repeats.keys() & source.repeats.keys()
            assert all(node.repeats[name] == source.repeats[name] for name in shared)
            assert all(
                node.varied.get(key) == source.varied.get(key)
                for key in node.varied.keys() | source.varied.keys()
                if key.partition(".")[0] in shared
            )


@settings(deadline=None)
@given(_experiments())
def test_gathering_misses_no_run(experiment: Experiment) -> None:
    plan = expand(experiment)
    for node in plan.nodes:
        for given_ in (each for each in node.inputs.values() if isinstance(each, Gathered)):
            target = _by_id(plan)[given_.outputs[0].node].module.id
            fits = [each.id for each in plan.nodes if each.module.id == target and _agree(each, node)]
            assert [each.node for each in given_.outputs] == fits


def _agree(one: Node, other: Node) -> bool:
    """Whether two nodes lie in the same run of the innermost module around both."""
    theirs = other.id.split("/")
    for own, their in zip(one.id.split("/"), theirs, strict=False):
        if own != their:
            return own.partition("#")[0].partition("[")[0] != their.partition("#")[0].partition("[")[0]
    return True


@settings(deadline=None)
@given(_experiments(), st.integers(10, 20))
def test_another_trial_another_repeat_or_another_order_changes_no_seed(experiment: Experiment, value: int) -> None:
    before = {node.id: node.seed for node in expand(experiment).nodes}
    first = experiment.modules[0]
    if first.trials != ({},):
        first = replace(first, trials=({"p": value}, *first.trials))
    first = replace(first, repeats=first.repeats + 1)
    unlinked = [_without_inputs(each) for each in (*experiment.modules[1:], first)]
    after = {node.id: node.seed for node in expand(replace(experiment, modules=tuple(unlinked))).nodes}
    assert before.items() <= after.items()


def _without_inputs(module: Module) -> Module:
    return replace(module, inputs={}, modules=tuple(_without_inputs(each) for each in reversed(module.modules)))
