"""The real datasets; they are test material that does not travel with the code."""

import gzip
import hashlib
import io
import os

import numpy as np
import pytest

from ziggurat.data import datasets, read
from ziggurat.data.datasets import byte_matrix, content_digest
from ziggurat.data.datasets._converters import tabular

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(
        not os.environ.get("ZIGGURAT_DATA"), reason="set ZIGGURAT_DATA to the folder that holds the prepared datasets"
    ),
]

# The published files have these lengths in characters; they were learned from the repositories, not from the tables.
PUBLISHED_LENGTHS = {
    "adult.csv": 2486772,
    "Howell1.csv": 12205,
    "national2019.csv": 1990719,
    "robust_log_train.csv": 597531,
    "aecid_hdfs_train": 419093,
    "normal.txt": 3409692,
    "goodqueries.txt": 1991419,
    "data2.csv": 1518552,
}
DOWNLOADABLE = [name for name in datasets.names() if not datasets.info(name).local_only]


@pytest.mark.parametrize("name", datasets.names())
def test_each_dataset_loads_with_the_registered_size_and_content(name):
    table, info = datasets.load(name, offline=True), datasets.info(name)
    assert (table.num_rows, table.num_columns) == (info.rows, info.columns)
    assert content_digest(table) == info.content_sha256
    assert datasets.path(name, offline=True).name == info.file


@pytest.mark.parametrize("name", DOWNLOADABLE)
def test_files_rebuilt_in_the_published_format_convert_to_the_registered_content(name):
    info = datasets.info(name)
    files = REBUILD[name](datasets.load(name, offline=True))
    assert set(files) == {file.name for file in info.files}
    assert content_digest(info.convert(files)) == info.content_sha256
    for file in info.files:
        length = PUBLISHED_LENGTHS.get(file.name)
        assert length in (None, len(files[file.name].decode(errors="replace")))
        assert file.sha256 in (None, hashlib.sha256(files[file.name]).hexdigest())


def test_mnist_is_byte_for_byte_the_original_idx_files():
    files = rebuilt_mnist(datasets.load("mnist", offline=True))
    known = {
        "train-images-idx3-ubyte.gz": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte.gz": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte.gz": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte.gz": "27ae3e4e09519cfbb04c329615203637",
    }
    assert {name: hashlib.md5(gzip.decompress(body)).hexdigest() for name, body in files.items()} == known


@pytest.mark.parametrize(
    "name",
    [
        "acs2019",
        "adult_uci",
        "arx_adult",
        "foursquare_nyc_pois",
        "foursquare_nyc_visits",
        "hdfs",
        "howell1",
        "sd2011",
        "winequality_white",
    ],
)
def test_ready_made_schemas_fit_their_data(name):
    problems = read(datasets.load(name, offline=True), schema=datasets.schema(name)).validate()
    known = {"sd2011": [("bmi", 1)], "hdfs": [("seq", 22)]}.get(name, [])
    assert [(problem.column, problem.count) for problem in problems] == known


def lines(table, separator, *, end="\n", header=True, last=True):
    rows = [separator.join(_short(value) for value in row.values()) for row in table.to_pylist()]
    text = end.join(([separator.join(table.column_names)] if header else []) + rows)
    return (text + (end if last else "")).encode()


def _short(value):
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def rebuilt_adult(table):
    train, test = (part(table, "split", split).drop_columns("split") for split in ("train", "test"))
    body = lines(test, ", ", header=False, last=False).replace(b"\n", b".\n")
    return {
        "adult.data": lines(train, ", ", header=False) + b"\n",
        "adult.test": b"|1x3 Cross validator\n" + body + b".\n\n",
    }


def part(table, column, value):
    return table.filter(np.array(table[column].to_pylist(), dtype=object) == value)


def rebuilt_acs(table):
    text = {"PINCP": float}
    rows = [
        ",".join("N" if value is None else str(text.get(name, _same)(value)) for name, value in row.items())
        for row in table.to_pylist()
    ]
    return {"national2019.csv": "\r\n".join([",".join(table.column_names), *rows]).encode()}


def _same(value):
    return value


def rebuilt_howell(table):
    header = ";".join(f'"{name}"' for name in table.column_names)
    return {"Howell1.csv": f"{header}\n".encode() + lines(table, ";", header=False)}


def rebuilt_wine(table):
    header = ";".join(f'"{name.replace("_", " ")}"' for name in table.column_names)
    return {"winequality-white.csv": f"{header}\n".encode() + lines(table, ";", header=False)}


def rebuilt_hierarchies(table):
    files = {}
    for attribute in tabular.ARX_ATTRIBUTES:
        rows = part(table, "attribute", attribute).drop_columns("attribute").to_pylist()
        levels = [";".join(level for level in row.values() if level is not None) for row in rows]
        files[f"adult_hierarchy_{attribute}.csv"] = "\r\n".join(levels).encode()
    return files


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def rebuilt_visits(table):
    visits = np.column_stack([table[name].to_numpy().astype(np.int64) for name in ("user", "poi", "minute")])
    return {"NYC.npy": npy(np.random.default_rng(0).permutation(visits))}


def rebuilt_pois(table):
    return {"NYC_POI.npy": npy(np.column_stack([table[name].to_numpy() for name in table.column_names]))}


def rebuilt_votes(name):
    def rebuilt(table):
        counts = np.column_stack([table[column].to_numpy() for column in table.column_names])
        return {f"{name}_250_teachers.npy": npy(counts.astype(np.float64))}

    return rebuilt


def rebuilt_student_labels(table):
    used = np.flatnonzero(table["used_by_student"].to_numpy())
    return {
        "mnist_250_student_labels_lap_20.npy": npy(table["noisy_label_lap20"].to_numpy().astype(np.int64)),
        "mnist_250_teachers_100_indices_used_by_student.npy": npy(used[::-1]),
    }


def rebuilt_mnist(table):
    files = {}
    for stem, split in (("train", "train"), ("t10k", "test")):
        rows = part(table, "split", split)
        size = rows.num_rows.to_bytes(4, "big")
        images = b"\0\0\x08\x03" + size + (28).to_bytes(4, "big") * 2 + byte_matrix(rows, "image").tobytes()
        labels = b"\0\0\x08\x01" + size + rows["label"].to_numpy().tobytes()
        files[f"{stem}-images-idx3-ubyte.gz"] = gzip.compress(images, 1)
        files[f"{stem}-labels-idx1-ubyte.gz"] = gzip.compress(labels, 1)
    return files


def rebuilt_hdfs(table):
    def rows(split):
        return part(table, "split", split).to_pylist()

    def labelled(split):
        return "Sequence,label\n" + "".join(f"{row['seq']},{row['label']}\n" for row in rows(split))

    texts = {
        "hdfs_train": "".join(f"{row['seq']} \n" for row in rows("train")),
        "hdfs_test_abnormal": "".join(f"{row['seq']} \n" for row in rows("test_abnormal")),
        "robust_log_train.csv": labelled("logdeep_robust_train"),
        "robust_log_valid.csv": labelled("logdeep_robust_valid"),
        "aecid_hdfs_train": "".join(f"{row['block_id']},{row['seq']}\n" for row in rows("aecid_loghub_train")),
    }
    return {name: text.encode() for name, text in texts.items()}


def rebuilt_web(table):
    rows = table.to_pylist()

    def urls(source, malicious):
        return [row for row in rows if row["source"] == source and row["malicious"] == malicious]

    def csic(row):
        server = "" if row["url"].startswith("http:") else "http://localhost:8080"
        return f"{row['method'].lower()} {server}{row['url']}\n"

    def quoted(row):
        payload = row["url"].replace('"', '""')
        label = "anom" if row["malicious"] else "norm"
        return f'"{payload}",{len(row["url"])},{row["attack_type"]},{label}\n'

    texts = {
        "normal.txt": "".join(csic(row) for row in urls("csic2010", 0)),
        "anomalous.txt": "".join(csic(row) for row in urls("csic2010", 1)),
        "badqueries.txt": "".join(f"{row['url']}\r\n" for row in urls("fwaf", 1)),
        "goodqueries.txt": "\n".join(row["url"] for row in urls("fwaf", 0)),
        "payload_full.csv": "payload,length,attack_type,label\n"
        + "".join(quoted(row) for row in rows if row["source"] == "httpparams"),
        "data2.csv": "".join(f"{row['url']},bad\n" for row in urls("faizann24_data2", 1)),
    }
    return {name: text.encode() for name, text in texts.items()}


REBUILD = {
    "acs2019": rebuilt_acs,
    "adult_uci": rebuilt_adult,
    "arx_adult": lambda table: {"adult.csv": lines(table, ";")},
    "arx_adult_hierarchies": rebuilt_hierarchies,
    "foursquare_nyc_pois": rebuilt_pois,
    "foursquare_nyc_visits": rebuilt_visits,
    "hdfs": rebuilt_hdfs,
    "howell1": rebuilt_howell,
    "mnist": rebuilt_mnist,
    "pate2017_student_labels": rebuilt_student_labels,
    "pate2018_votes_adult": rebuilt_votes("adult"),
    "pate2018_votes_mnist": rebuilt_votes("mnist"),
    "web_requests": rebuilt_web,
    "winequality_white": rebuilt_wine,
}
