import hashlib
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from ziggurat.data import datasets
from ziggurat.data.datasets import PublishedFile, content_digest
from ziggurat.data.datasets._registry import REGISTRY
from ziggurat.data.datasets._store import _convert, obtain
from ziggurat.errors import DataError

HOWELL = b'"height";"weight";"age";"male"\n151.765;47.8256065;63;1\n139.7;36.4858065;63;0\n'
TABLE = pa.table({"height": [151.765, 139.7], "weight": [47.8256065, 36.4858065], "age": [63.0, 63.0], "male": [1, 0]})


def small(url, **changes):
    """The registered Howell dataset, as if its publisher offered two rows at `url`."""
    entry = replace(
        REGISTRY["howell1"], files=(PublishedFile("Howell1.csv", (url,)),), content_sha256=content_digest(TABLE)
    )
    return replace(entry, **changes)


def get(info, *, folder=None, offline=False):
    return obtain(info, folder=folder, progress=False, offline=offline)


def left_over(folder):
    return sorted(path.name for path in folder.glob("*")) if folder.exists() else []


def test_a_download_is_converted_checked_and_cached(server, cache):
    path, table = get(small(server.offer("Howell1.csv", HOWELL)))
    assert table.equals(TABLE)
    assert path == cache / "howell1.parquet"
    assert left_over(cache) == ["howell1.parquet"]


def test_the_cache_answers_without_the_network(server, cache):
    info = small(server.offer("Howell1.csv", HOWELL))
    get(info)
    assert get(info, offline=True)[1].equals(TABLE)
    assert server.asked == ["/Howell1.csv"]


def test_a_damaged_cache_is_downloaded_again(server, cache):
    info = small(server.offer("Howell1.csv", HOWELL))
    get(info)[0].write_bytes(b"PAR1 damaged")
    assert get(info)[1].equals(TABLE)
    parquet.write_table(TABLE.slice(1), cache / "howell1.parquet")
    assert get(info)[1].equals(TABLE)
    assert server.asked == ["/Howell1.csv"] * 3


def test_other_content_is_refused_and_nothing_is_cached(server, cache):
    info = small(server.offer("Howell1.csv", HOWELL.replace(b"63;0", b"64;0")))
    with pytest.raises(DataError, match="differs from the registered content; nothing was kept"):
        get(info)
    assert left_over(cache) == []


def test_a_wrong_checksum_of_the_download_is_refused_before_conversion(server, cache):
    source = PublishedFile("Howell1.csv", (server.offer("Howell1.csv", HOWELL),), "0" * 64)
    with pytest.raises(DataError, match="does not have the registered checksum; nothing was kept"):
        get(small("", files=(source,)))
    assert left_over(cache) == []


def test_an_interrupted_download_leaves_nothing(server, cache):
    info = small(server.offer("Howell1.csv", HOWELL))
    server.stated["/Howell1.csv"] = len(HOWELL) + 1
    with pytest.raises(DataError, match="cut short"):
        get(info)
    assert left_over(cache) == []


def test_offline_says_which_file_to_put_where(cache):
    with pytest.raises(
        DataError, match=r"downloads are off; put howell1\.parquet into the folder named by ZIGGURAT_DATA"
    ):
        datasets.load("howell1", offline=True)


@pytest.mark.parametrize("name", [name for name in datasets.names() if datasets.info(name).local_only])
def test_a_local_only_dataset_names_its_file_and_its_origin(name, cache):
    with pytest.raises(DataError) as caught:
        datasets.load(name)
    assert datasets.info(name).file in str(caught.value)
    assert datasets.info(name).origin in str(caught.value)


def prepared(folder, table=TABLE):
    folder.mkdir()
    parquet.write_table(table, folder / "howell1.parquet")
    return folder, hashlib.sha256((folder / "howell1.parquet").read_bytes()).hexdigest()


def test_the_explicit_folder_goes_before_the_named_one(cache, tmp_path, monkeypatch):
    named, _ = prepared(tmp_path / "named", TABLE.slice(1))
    folder, checksum = prepared(tmp_path / "folder")
    monkeypatch.setenv("ZIGGURAT_DATA", str(named))
    path, table = get(small("", file_sha256=checksum), folder=folder, offline=True)
    assert path == folder / "howell1.parquet"
    assert table.equals(TABLE)


def test_the_named_folder_is_used_when_the_explicit_one_lacks_the_file(cache, tmp_path, monkeypatch):
    named, checksum = prepared(tmp_path / "named")
    monkeypatch.setenv("ZIGGURAT_DATA", str(named))
    assert get(small("", file_sha256=checksum), folder=tmp_path, offline=True)[1].equals(TABLE)


def test_a_prepared_file_with_another_checksum_is_refused(cache, tmp_path):
    folder, _ = prepared(tmp_path / "folder")
    with pytest.raises(DataError, match=r"howell1\.parquet' does not have the registered checksum"):
        datasets.load("howell1", folder=folder)


def test_a_folder_that_is_none_is_refused(cache, tmp_path):
    with pytest.raises(DataError, match="is not a folder; give the folder that holds howell1"):
        datasets.load("howell1", folder=tmp_path / "absent")


def test_a_named_folder_that_is_none_is_refused(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("ZIGGURAT_DATA", str(tmp_path / "absent"))
    with pytest.raises(DataError, match=r"ZIGGURAT_DATA names .*absent', which is not a folder"):
        datasets.load("howell1", offline=True)


def test_a_cache_that_cannot_be_written_is_named(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ZIGGURAT_CACHE", str(tmp_path / "file"))
    monkeypatch.delenv("ZIGGURAT_DATA", raising=False)
    with pytest.raises(DataError, match="cannot be written; make room or name another one by ZIGGURAT_CACHE"):
        get(small(server.offer("Howell1.csv", HOWELL)))


def outcome(name, content):
    """What the converter makes of `content` in the place of every file: a table, or the error."""
    try:
        return _convert(name, REGISTRY[name].convert, dict.fromkeys(SOURCES[name], content))
    except DataError as error:
        return error


SOURCES = {name: [file.name for file in info.files] for name, info in sorted(REGISTRY.items()) if not info.local_only}


@given(st.binary(max_size=80), st.sampled_from(list(SOURCES)))
def test_converters_refuse_any_other_bytes_with_one_sentence(content, name):
    made = outcome(name, content)
    if isinstance(made, DataError):
        assert made.__cause__ is None
        assert len(str(made).splitlines()) == 1
    else:
        assert content_digest(made) != REGISTRY[name].content_sha256
