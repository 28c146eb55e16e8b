"""Converters on hand-made samples in the publishers' own formats."""

import gzip
import io
import struct

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data.datasets import byte_matrix
from ziggurat.data.datasets._converters import arrays, sequences, tabular
from ziggurat.errors import DataError

PERSON = "39, State-gov, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 2174, 0, 40, Cuba, <=50K"


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def idx(array):
    head = bytes([0, 0, 8, array.ndim]) + b"".join(struct.pack(">I", size) for size in array.shape)
    return gzip.compress(head + array.astype(np.uint8).tobytes())


def test_adult_joins_both_parts_and_cleans_the_test_labels():
    train = f"{PERSON}\n\n".encode()
    test = f"|1x3 Cross validator\n{PERSON.replace('<=50K', '>50K.')}\n\n".encode()
    table = tabular.adult({"adult.data": train, "adult.test": test})
    assert table["income"].to_pylist() == ["<=50K", ">50K"]
    assert table["split"].to_pylist() == ["train", "test"]
    assert table["workclass"].to_pylist() == ["State-gov"] * 2
    assert table["occupation"].to_pylist() == ["?"] * 2
    assert table.schema.field("fnlwgt").type == pa.int64()


def test_arx_adult_reads_semicolons():
    header = "sex;age;race;marital-status;education;native-country;workclass;occupation;salary-class"
    body = f"{header}\nMale;39;White;Never-married;Bachelors;United-States;State-gov;Adm-clerical;<=50K\n"
    (row,) = tabular.arx_adult({"adult.csv": body.encode()}).to_pylist()
    assert row["age"] == 39
    assert row["salary-class"] == "<=50K"


def test_arx_hierarchies_pad_short_ones_with_missing_levels():
    files = {f"adult_hierarchy_{attribute}.csv": b"a;*\r\n" for attribute in tabular.ARX_ATTRIBUTES}
    files["adult_hierarchy_age.csv"] = b"1;0-4;0-9;0-19;*\n"
    rows = tabular.arx_adult_hierarchies(files).to_pylist()
    assert list(rows[0].values()) == ["age", "1", "0-4", "0-9", "0-19", "*"]
    assert list(rows[-1].values()) == ["workclass", "a", "*", None, None, None]


def test_howell_keeps_every_digit():
    body = b'"height";"weight";"age";"male"\n91.44;12.927372;0.599999999999909;1\n'
    table = tabular.howell1({"Howell1.csv": body})
    assert table.to_pylist() == [{"height": 91.44, "weight": 12.927372, "age": 0.599999999999909, "male": 1}]


def test_wine_is_the_same_from_the_publisher_and_from_the_mirror():
    names = '"fixed acidity";"volatile acidity";"citric acid";"residual sugar";"chlorides";"free sulfur dioxide"'
    names += ';"total sulfur dioxide";"density";"pH";"sulphates";"alcohol";"quality"'
    values = "7;0.27;0.36;20.7;0.045;45;170;1.001;3;0.45;8.8;6"
    published = tabular.winequality_white({"winequality-white.csv": f"{names}\n{values}\n".encode()})
    mirrored = tabular.winequality_white({"winequality-white.csv": values.replace(";", ",").encode()})
    assert published.equals(mirrored)
    assert published.column_names[0] == "fixed_acidity"
    assert published["quality"].to_pylist() == [6]


def test_acs_turns_not_applicable_into_missing():
    header = ",".join(tabular._ACS)
    row = "01-01301,27,1,6,0,1,N,N,3,0,2731.2,3291,4,7,15400.0,4,116,N,2,2,2,2,5,0"
    (person,) = tabular.acs2019({"national2019.csv": f"{header}\r\n{row}".encode()}).to_pylist()
    assert person["PINCP"] == 15400
    assert person["DVET"] is None
    assert person["PUMA"] == "01-01301"


def test_a_fraction_where_a_whole_number_belongs_is_refused():
    with pytest.raises(ValueError, match="truncated"):
        tabular.howell1({"Howell1.csv": b"height;weight;age;male\n1;2;3;0.5\n"})


def test_a_missing_column_is_named():
    with pytest.raises(DataError, match="no column 'weight'"):
        tabular.howell1({"Howell1.csv": b"height;age;male\n1;2;0\n"})


def test_foursquare_visits_are_ordered_and_their_columns_named():
    table = arrays.foursquare_visits({"NYC.npy": npy(np.array([[2, 7, 50], [1, 9, 60], [1, 8, 60], [1, 5, 10]]))})
    assert table.to_pydict() == {"user": [1, 1, 1, 2], "minute": [10, 60, 60, 50], "poi": [5, 8, 9, 7]}


def test_foursquare_places_keep_their_coordinates():
    table = arrays.foursquare_pois({"NYC_POI.npy": npy(np.array([[1.0, 40.73359624463056, -74.00313913822173]]))})
    assert table.to_pylist() == [{"poi": 1, "lat": 40.73359624463056, "lon": -74.00313913822173}]


def test_votes_become_one_column_per_class():
    table = arrays.votes({"any.npy": npy(np.array([[250.0, 0.0], [28.0, 222.0]]))})
    assert table.to_pydict() == {"c0": [250, 28], "c1": [0, 222]}
    assert table.schema.field("c0").type == pa.uint8()


@pytest.mark.parametrize("votes", [[[0.5, 1]], [[256, 0]], [[-1, 0]], [[np.nan, 0]]])
def test_votes_that_are_no_counts_are_refused(votes):
    with np.errstate(invalid="ignore"), pytest.raises(DataError, match="do not fit"):
        arrays.votes({"any.npy": npy(np.array(votes))})


def test_student_labels_mark_the_used_ones():
    files = {
        "mnist_250_student_labels_lap_20.npy": npy(np.array([7, 2, 1])),
        "mnist_250_teachers_100_indices_used_by_student.npy": npy(np.array([2, 0])),
    }
    assert arrays.student_labels(files)["used_by_student"].to_pylist() == [True, False, True]


def test_arrays_of_python_objects_are_never_loaded():
    with pytest.raises(DataError, match="Python objects, which are never loaded"):
        arrays.load_array(npy(np.array([{"a": 1}], dtype=object)))


def mnist_files(images, labels):
    return {
        f"{stem}-{kind}-ubyte.gz": body
        for stem in ("train", "t10k")
        for kind, body in (("images-idx3", idx(images)), ("labels-idx1", idx(labels)))
    }


def test_mnist_reads_idx_files():
    images = np.arange(2 * 784).reshape(2, 28, 28).astype(np.uint8)
    table = arrays.mnist(mnist_files(images, np.array([5, 0])))
    assert table["label"].to_pylist() == [5, 0, 5, 0]
    assert table["split"].to_pylist() == ["train", "train", "test", "test"]
    assert np.array_equal(byte_matrix(table, "image")[2:].reshape(2, 28, 28), images)


def test_mnist_refuses_images_without_labels_and_damaged_files():
    images = np.zeros((2, 28, 28), dtype=np.uint8)
    with pytest.raises(DataError, match="do not fit together"):
        arrays.mnist(mnist_files(images, np.array([5])))
    with pytest.raises(DataError, match="IDX file is damaged"):
        arrays._idx(gzip.compress(b"\0\0\x08\x01\0\0\0\x05ab"), 1)


def test_hdfs_reads_the_three_publishers_formats():
    files = {
        "hdfs_train": b"5 5 22 \n22 5\n",
        "hdfs_test_abnormal": b"5 22 7 \n",
        "robust_log_train.csv": b"Sequence,label\n5 5 5,0\n5 9,1\n",
        "robust_log_valid.csv": b"Sequence,label\n5 11,1\n",
        "aecid_hdfs_train": b"blk_-9,5 5 22\n",
    }
    table = sequences.hdfs(files)
    assert table["seq"].to_pylist() == ["5 5 22", "22 5", "5 22 7", "5 5 5", "5 9", "5 11", "5 5 22"]
    assert table["label"].to_pylist() == [0, 0, 1, 0, 1, 1, 0]
    assert table["block_id"].to_pylist() == [""] * 6 + ["blk_-9"]


def test_web_requests_keep_attack_strings_exactly():
    files = {
        "normal.txt": b"get http://localhost:8080/a?b=\xf1 \nput http://localhost:8080/c\n",
        "anomalous.txt": b"get http://localhost:9090/x\n",
        "badqueries.txt": b"/top.php?a='x\x0b y\r\n\r\n",
        "goodqueries.txt": b"/good",
        "payload_full.csv": b'payload,length,attack_type,label\n"a,""b""",5,sqli,anom\nel,2,norm,norm\n',
        "data2.csv": b"evil.com/a,b,bad\n",
    }
    table = sequences.web_requests(files)
    urls = [
        "/a?b=\ufffd ",
        "/c",
        "http://localhost:9090/x",
        "/top.php?a='x\x0b y",
        "/good",
        'a,"b"',
        "el",
        "evil.com/a,b",
    ]
    assert table["url"].to_pylist() == urls
    assert table["method"].to_pylist() == ["GET", "PUT", "GET", *[""] * 5]
    assert table["malicious"].to_pylist() == [0, 0, 1, 1, 0, 1, 0, 1]
    assert table["attack_type"].to_pylist() == ["", "", "", "", "", "sqli", "norm", ""]
