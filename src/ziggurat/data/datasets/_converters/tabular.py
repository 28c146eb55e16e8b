"""Converters of the small tables that are published as delimited text."""

import io
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data.datasets._converters.text import cast_columns, decode_lines, read_fields

Files = Mapping[str, bytes]

_ADULT = {
    "age": pa.int64(),
    "workclass": pa.string(),
    "fnlwgt": pa.int64(),
    "education": pa.string(),
    "education_num": pa.int64(),
    "marital_status": pa.string(),
    "occupation": pa.string(),
    "relationship": pa.string(),
    "race": pa.string(),
    "sex": pa.string(),
    "capital_gain": pa.int64(),
    "capital_loss": pa.int64(),
    "hours_per_week": pa.int64(),
    "native_country": pa.string(),
    "income": pa.string(),
}
_ARX_TEXT = (
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)
_ARX = {"sex": pa.string(), "age": pa.int64(), **dict.fromkeys(_ARX_TEXT, pa.string())}
_HOWELL = {"height": pa.float64(), "weight": pa.float64(), "age": pa.float64(), "male": pa.int64()}
_WINE_MEASURES = (
    "fixed_acidity",
    "volatile_acidity",
    "citric_acid",
    "residual_sugar",
    "chlorides",
    "free_sulfur_dioxide",
    "total_sulfur_dioxide",
    "density",
    "pH",
    "sulphates",
    "alcohol",
)
_WINE = {**dict.fromkeys(_WINE_MEASURES, pa.float64()), "quality": pa.int64()}
_ACS = {
    "PUMA": pa.string(),
    "AGEP": pa.int64(),
    "SEX": pa.int64(),
    "MSP": pa.int32(),
    "HISP": pa.int64(),
    "RAC1P": pa.int64(),
    "NOC": pa.int32(),
    "NPF": pa.int32(),
    "HOUSING_TYPE": pa.int64(),
    "OWN_RENT": pa.int64(),
    "DENSITY": pa.float64(),
    "INDP": pa.int32(),
    "INDP_CAT": pa.int32(),
    "EDU": pa.int32(),
    "PINCP": pa.int32(),
    "PINCP_DECILE": pa.int32(),
    "POVPIP": pa.int32(),
    "DVET": pa.int32(),
    "DREM": pa.int32(),
    "DPHY": pa.int32(),
    "DEYE": pa.int32(),
    "DEAR": pa.int32(),
    "PWGTP": pa.int64(),
    "WGTP": pa.int64(),
}
ARX_ATTRIBUTES = (
    "age",
    "education",
    "marital-status",
    "native-country",
    "occupation",
    "race",
    "salary-class",
    "sex",
    "workclass",
)
_LEVELS = 5


def adult(files: Files) -> pa.Table:
    """UCI Adult from `adult.data` and `adult.test`; the full stop after the test labels goes."""
    parts = [_adult_part(files[f"adult.{end}"], split) for end, split in (("data", "train"), ("test", "test"))]
    return pa.concat_tables(parts)


def _adult_part(content: bytes, split: str) -> pa.Table:
    lines = [line for line in decode_lines(content) if not line.startswith("|")]
    table = cast_columns(read_fields("\n".join(lines).encode(), names=list(_ADULT)), _ADULT)
    income = pc.utf8_rtrim(table["income"], characters=".")
    table = table.set_column(table.column_names.index("income"), "income", income)
    return table.append_column("split", pa.array([split] * table.num_rows, pa.string()))


def arx_adult(files: Files) -> pa.Table:
    """The Adult extract of ARX, separated by semicolons."""
    return cast_columns(read_fields(files["adult.csv"], delimiter=";"), _ARX)


def arx_adult_hierarchies(files: Files) -> pa.Table:
    """The nine hierarchies of ARX in long form; levels beyond an attribute's depth are null."""
    rows = [row for attribute in ARX_ATTRIBUTES for row in _hierarchy(attribute, files)]
    names = ["attribute", *(f"level{level}" for level in range(_LEVELS))]
    return pa.table({name: pa.array([row[k] for row in rows], pa.string()) for k, name in enumerate(names)})


def _hierarchy(attribute: str, files: Files) -> list[list[str | None]]:
    lines = decode_lines(files[f"adult_hierarchy_{attribute}.csv"])
    levels = [line.split(";") for line in lines]
    return [[attribute, *level, *[None] * (_LEVELS - len(level))] for level in levels]


def read_prepared_hierarchies(content: bytes) -> pa.Table:
    """The hierarchies from the prepared file, where a blank stands for an absent level."""
    table = read_fields(content)
    blank = pa.scalar(None, pa.string())
    return pa.table({name: pc.if_else(pc.equal(table[name], ""), blank, table[name]) for name in table.column_names})


def howell1(files: Files) -> pa.Table:
    """Howell's census, separated by semicolons."""
    return cast_columns(read_fields(files["Howell1.csv"], delimiter=";"), _HOWELL)


def winequality_white(files: Files) -> pa.Table:
    """White wines, as UCI publishes them (semicolons, a header) or as mirrors do (commas, none)."""
    content = files["winequality-white.csv"]
    if not content.startswith(b'"fixed acidity"'):
        return cast_columns(read_fields(content, names=list(_WINE)), _WINE)
    body = io.BytesIO(content)
    body.readline()
    return cast_columns(read_fields(body.read(), delimiter=";", names=list(_WINE)), _WINE)


def acs2019(files: Files) -> pa.Table:
    """The NIST excerpt of the ACS, in which N (not applicable) becomes null."""
    return cast_columns(read_fields(files["national2019.csv"]), _ACS, missing="N")
