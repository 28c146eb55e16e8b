"""Every output comes back as it was, or is refused in a sentence; loading never runs code."""

import io
import json
import pickle
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ziggurat.errors import ArtefactError
from ziggurat.experiments._types import StoredOutput
from ziggurat.experiments.storing import DamagedError, Objects, number_in, pack, unpack, whole
from ziggurat.experiments.storing._objects import INLINE_LIMIT, digest_of

quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects(tmp_path / "objects")


def back(value: Any, objects: Objects) -> Any:
    return unpack(pack(value, objects), objects)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(
    scalars | st.binary() | st.floats(width=32).map(np.float32),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=12,
)


@quick
@given(value=values)
def test_any_tree_of_values_comes_back_with_its_types(objects: Objects, value: Any) -> None:
    assert repr(back(value, objects)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.array(3, dtype=np.uint8),
        np.array(["a", "bc"]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        np.zeros((0, 3)),
        np.asfortranarray(np.arange(6).reshape(2, 3)),
    ],
    ids=lambda value: str(value.dtype),
)
def test_arrays_come_back(objects: Objects, value: np.ndarray) -> None:
    loaded = back(value, objects)
    assert loaded.dtype == value.dtype
    np.testing.assert_array_equal(loaded, value)
    assert loaded.flags.writeable


@pytest.mark.parametrize(
    "scalar", [np.float64(0.1), np.int8(-3), np.datetime64("2020-01-01T10"), np.str_(""), np.True_]
)
def test_numpy_scalars_come_back_to_the_bit(objects: Objects, scalar: Any) -> None:
    stored = pack(scalar, objects)
    assert stored.inline is not None
    assert type(unpack(stored, objects)) is type(scalar)
    assert unpack(stored, objects) == scalar


def test_tables_come_back_as_the_same_family(objects: Objects) -> None:
    arrow = pa.table(
        {"t": pa.array([1, None], pa.timestamp("s")), "c": pa.array(["a", "b"]).dictionary_encode()},
        metadata={"unit": "person"},
    )
    assert back(arrow, objects).equals(arrow, check_metadata=True)
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"]), "n": [1.5, None]}, index=pd.Index([3, 4], name="id"))
    pd.testing.assert_frame_equal(back(frame, objects), frame)
    polars = pl.DataFrame({"e": pl.Series(["x"], dtype=pl.Enum(["x", "y"])), "l": [[1, 2]]})
    assert back(polars, objects).equals(polars)
    assert back(polars, objects).schema == polars.schema


def test_state_dicts_come_back_in_order_as_plain_tensors(objects: Objects) -> None:
    torch = pytest.importorskip("torch")
    shared = torch.arange(4.0)
    state = OrderedDict(z=shared, a=shared[:2], half=torch.ones(2, dtype=torch.bfloat16), zero=torch.tensor(1))
    loaded = back(state, objects)
    assert list(loaded) == list(state)
    assert all(torch.equal(loaded[name], state[name]) and loaded[name].dtype == state[name].dtype for name in state)
    assert torch.equal(back(torch.eye(2).t(), objects), torch.eye(2))


def test_named_weights_are_one_safe_file(objects: Objects) -> None:
    weights = {"dense/kernel": np.ones((40, 40), dtype=np.float32), "bias": np.array(2.0)}
    stored = pack(weights, objects)
    assert stored.kind == "arrays"
    loaded = unpack(stored, objects)
    assert list(loaded) == list(weights)
    np.testing.assert_array_equal(loaded["dense/kernel"], weights["dense/kernel"])
    assert loaded["bias"].shape == ()


def test_fitted_estimators_come_back_and_equal_ones_have_one_hash(objects: Objects) -> None:
    ensemble = pytest.importorskip("sklearn.ensemble")
    x = np.random.default_rng(1).normal(size=(60, 3))
    y = x[:, 0] > 0
    first, second = (ensemble.RandomForestClassifier(4, random_state=5).fit(x, y) for _ in range(2))
    stored = pack(first, objects)
    assert stored == pack(second, objects)
    np.testing.assert_array_equal(unpack(stored, objects).predict_proba(x), first.predict_proba(x))


def test_mixed_trees_keep_each_part_in_its_own_format(objects: Objects) -> None:
    value = {"a": [np.ones(3), ("x", pd.DataFrame({"q": [1]}))], "b": None, "c": b"\0" * 9000}
    loaded = back(value, objects)
    np.testing.assert_array_equal(loaded["a"][0], np.ones(3))
    assert isinstance(loaded["a"][1], tuple)
    assert loaded["c"] == value["c"]
    assert whole(pack(value, objects), objects)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "'builtins.object'.*return JSON values"),
        ({"a": [1, {"b": object()}]}, "'model.a.1.b'"),
        ({1: "x"}, "key of type 'int'"),
        ({1, 2}, "sorted list"),
        (np.array([object()]), "Python objects"),
        (np.ma.array([1], mask=[True]), "MaskedArray"),
        (pd.DataFrame({"a": [1, "Smith-1962"]}), "Parquet"),
        (pd.Series([1]), "to_frame"),
        (pl.DataFrame({"a": [object()]}), "Object columns"),
        (pl.LazyFrame({"a": [1]}), "collect"),
        (10**5000, "thousands of digits"),
        (lambda: 1, "cannot be stored"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_what_cannot_be_stored_is_refused_in_a_sentence(objects: Objects, value: Any, words: str) -> None:
    with pytest.raises(ArtefactError, match=words) as caught:
        pack(value, objects, "model")
    assert str(caught.value).startswith("The output 'model")
    assert "Smith" not in str(caught.value)
    assert not [file for file in objects.folder.rglob("*") if file.is_file()]


def test_a_value_that_contains_itself_is_refused(objects: Objects) -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ArtefactError, match="levels deep"):
        pack(endless, objects, "x")


def test_a_network_is_refused_in_favour_of_its_state_dict(objects: Objects) -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(ArtefactError, match=r"return its \.state_dict\(\)"):
        pack(torch.nn.Linear(2, 2), objects, "model")


def test_an_estimator_of_another_package_or_with_a_function_is_refused(objects: Objects) -> None:
    linear = pytest.importorskip("sklearn.linear_model")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    strange = type("Strange", (linear.LogisticRegression,), {"__module__": "__main__"})
    for estimator in (strange(), preprocessing.FunctionTransformer(np.testing.assert_equal)):
        with pytest.raises(ArtefactError, match="an estimator that"):
            pack(estimator, objects, "model")


class Bomb:
    def __reduce__(self) -> Any:
        return exec, ("raise SystemExit('code ran')",)


def planted(kind: str, data: bytes, objects: Objects) -> StoredOutput:
    """A payload with a matching hash, as someone who may write to the folder could plant it."""
    digest = digest_of(kind, data)
    path = Path(objects.path(digest))
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return StoredOutput(kind, digest, len(data))


def npy_bomb() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def skops_bomb() -> bytes:
    skops = pytest.importorskip("skops.io")
    linear = pytest.importorskip("sklearn.linear_model")
    archive = zipfile.ZipFile(io.BytesIO(skops.dumps(linear.LogisticRegression())))
    schema = json.loads(archive.read("schema.json"))
    schema |= {"__class__": "Popen", "__module__": "subprocess"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        target.writestr("schema.json", json.dumps(schema))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("kind", "make"),
    [("array", npy_bomb), ("estimator", skops_bomb), *((k, lambda: pickle.dumps(Bomb())) for k in ("arrow", "tensor"))],
    ids=["npy", "skops", "parquet", "safetensors"],
)
def test_a_planted_file_never_runs_code(objects: Objects, kind: str, make: Any) -> None:
    with pytest.raises(DamagedError, match="could not be decoded"):
        unpack(planted(kind, make(), objects), objects)


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: b"", lambda data: b"\0" + data[1:]])
def test_damage_is_noticed_and_the_file_is_removed(objects: Objects, damage: Any) -> None:
    stored = pack(np.arange(5000), objects)
    path = Path(objects.path(stored.digest))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DamagedError):
        unpack(stored, objects)
    assert not path.exists()
    assert not whole(stored, objects)


def test_a_damaged_part_of_a_tree_is_noticed(objects: Objects) -> None:
    stored = pack({"a": np.arange(5000), "b": 1}, objects)
    (path,) = (each for each in objects.folder.glob("*/*") if each.is_file())
    path.unlink()
    assert not whole(stored, objects)
    with pytest.raises(DamagedError):
        unpack(stored, objects)


def test_only_large_values_are_files(objects: Objects) -> None:
    assert pack("x" * (INLINE_LIMIT - 2), objects).inline is not None
    assert pack("x" * (INLINE_LIMIT - 1), objects).inline is None


@pytest.mark.parametrize(
    ("value", "number"),
    [(1, 1.0), (0.5, 0.5), (np.float32(0.5), 0.5), (np.int64(3), 3.0), (True, None), (np.True_, None), ("1", None)],
)
def test_numbers_are_told_from_other_values(objects: Objects, value: Any, number: float | None) -> None:
    assert number_in(pack(value, objects)) == number
    assert number_in(pack([value], objects)) is None
