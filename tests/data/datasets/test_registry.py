import re

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import datasets
from ziggurat.errors import DataError

READY = (
    "acs2019",
    "adult_uci",
    "arx_adult",
    "foursquare_nyc_pois",
    "foursquare_nyc_visits",
    "hdfs",
    "howell1",
    "sd2011",
    "winequality_white",
)


def test_names_are_sorted_and_each_has_facts():
    assert list(datasets.names()) == sorted(datasets.names())
    for name in datasets.names():
        info = datasets.info(name)
        assert info.name == name
        assert all((info.title, info.citation, info.licence, info.origin, info.file))
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in (info.file_sha256, info.content_sha256))


def test_a_dataset_is_downloadable_or_local_only_and_says_so():
    local = {name for name in datasets.names() if datasets.info(name).local_only}
    assert local == {"mitbih", "sd2011", "uci_news"}
    assert all(bool(datasets.info(name).files) != (name in local) for name in datasets.names())


def test_files_are_fetched_encrypted_and_repositories_are_pinned():
    urls = [url for name in datasets.names() for file in datasets.info(name).files for url in file.urls]
    assert all(url.startswith("https://") for url in urls)
    pinned = [url for url in urls if "githubusercontent" in url]
    assert all(re.search(r"/[0-9a-f]{40}/", url) for url in pinned)


@pytest.mark.parametrize(("wrong", "right"), [("adult_uc", "adult_uci"), ("MNIST", "mnist"), ("howel", "howell1")])
def test_an_unknown_name_suggests_the_nearest(wrong, right):
    with pytest.raises(DataError, match=f"There is no dataset '{wrong}'; did you mean '{right}'"):
        datasets.load(wrong)


@pytest.mark.parametrize("name", READY)
def test_ready_made_schemas_load(name):
    schema = datasets.schema(name)
    assert schema.name == name
    assert len(tuple(schema.columns)) == datasets.info(name).columns


def test_a_dataset_without_schema_names_those_that_have_one():
    with pytest.raises(DataError, match=", ".join(READY)):
        datasets.schema("mnist")


def test_byte_matrix_reads_slices_and_chunks():
    table = pa.table({"b": pa.array([b"ab", b"cd", b"ef"], pa.binary(2))})
    pieces = pa.concat_tables([table.slice(1), table.slice(0, 1)])
    assert np.array_equal(datasets.byte_matrix(pieces, "b"), [[99, 100], [101, 102], [97, 98]])
    assert datasets.byte_matrix(table.slice(0, 0), "b").shape == (0, 2)


def test_byte_matrix_refuses_other_columns():
    table = pa.table({"beat": [1], "hole": pa.array([None], pa.binary(2))})
    for column in ("beat", "hole"):
        with pytest.raises(DataError, match="not a fixed-size binary column"):
            datasets.byte_matrix(table, column)
    with pytest.raises(DataError, match="did you mean 'beat'"):
        datasets.byte_matrix(table, "beet")


def test_the_public_surface_is_this():
    assert set(datasets.__all__) == {
        "DatasetInfo", "PublishedFile", "byte_matrix", "content_digest", "info", "load", "names", "path", "schema",
    }  # fmt: skip
