"""Converters of log sequences and of web requests, which are published line by line."""

import csv
import io
from collections.abc import Iterable, Mapping

import pyarrow as pa

from ziggurat.data.datasets._converters.text import decode_lines, read_fields

Files = Mapping[str, bytes]
Request = tuple[str, str, str, int, str]

_SERVER = "http://localhost:8080"


def hdfs(files: Files) -> pa.Table:
    """Sequences of HDFS log keys from the three repositories that publish them."""
    parts = [
        _plain_sequences("train", 0, files["hdfs_train"]),
        _plain_sequences("test_abnormal", 1, files["hdfs_test_abnormal"]),
        _read_labelled("logdeep_robust_train", files["robust_log_train.csv"]),
        _read_labelled("logdeep_robust_valid", files["robust_log_valid.csv"]),
        _read_named("aecid_loghub_train", files["aecid_hdfs_train"]),
    ]
    return pa.concat_tables(parts)


def _sequences(split: str, labels: list[int], blocks: list[str], sequences: list[str]) -> pa.Table:
    return pa.table(
        {
            "split": pa.array([split] * len(sequences), pa.string()),
            "label": pa.array(labels, pa.int64()),
            "block_id": pa.array(blocks, pa.string()),
            "seq": pa.array([sequence.strip() for sequence in sequences], pa.string()),
        }
    )


def _plain_sequences(split: str, label: int, content: bytes) -> pa.Table:
    lines = decode_lines(content)
    return _sequences(split, [label] * len(lines), [""] * len(lines), lines)


def _read_labelled(split: str, content: bytes) -> pa.Table:
    table = read_fields(content)
    sequences = table["Sequence"].to_pylist()
    labels = [int(label) for label in table["label"].to_pylist()]
    return _sequences(split, labels, [""] * len(sequences), sequences)


def _read_named(split: str, content: bytes) -> pa.Table:
    pairs = [line.split(",", 1) for line in decode_lines(content)]
    return _sequences(split, [0] * len(pairs), [pair[0] for pair in pairs], [pair[1] for pair in pairs])


def web_requests(files: Files) -> pa.Table:
    """Requests of four collections; what a collection does not state is an empty string."""
    requests: list[Request] = [
        *_csic(files["normal.txt"], 0),
        *_csic(files["anomalous.txt"], 1),
        *(("fwaf", "", line, 1, "") for line in decode_lines(files["badqueries.txt"])),
        *(("fwaf", "", line, 0, "") for line in decode_lines(files["goodqueries.txt"])),
        *_parameters(files["payload_full.csv"]),
        *_bad_urls(files["data2.csv"]),
    ]
    collection, method, url, malicious, attack = zip(*requests, strict=True)
    return pa.table(
        {
            "source": pa.array(collection, pa.string()),
            "method": pa.array(method, pa.string()),
            "url": pa.array(url, pa.string()),
            "malicious": pa.array(malicious, pa.uint8()),
            "attack_type": pa.array(attack, pa.string()),
        }
    )


def _csic(content: bytes, malicious: int) -> Iterable[Request]:
    for line in decode_lines(content):
        method, url = line.split(" ", 1)
        yield "csic2010", method.upper(), url.removeprefix(_SERVER), malicious, ""


def _parameters(content: bytes) -> Iterable[Request]:
    for row in csv.DictReader(io.StringIO(content.decode("utf-8", errors="replace"), newline="")):
        yield "httpparams", "", row["payload"], int(row["label"] != "norm"), row["attack_type"]


def _bad_urls(content: bytes) -> Iterable[Request]:
    for line in decode_lines(content):
        yield "faizann24_data2", "", line.rpartition(",")[0], 1, ""
