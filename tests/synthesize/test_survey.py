"""A real survey: what an analyst would do with it gives about the same on synthetic copies."""

import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ziggurat.synthesize import Synthesizer
from ziggurat.utility import pairs, regression

SURVEY = Path(os.environ.get("ZIGGURAT_DATA") or "-") / "sd2011_synthpop.parquet"


@pytest.mark.data
@pytest.mark.skipif(not SURVEY.exists(), reason="ZIGGURAT_DATA names no folder with sd2011_synthpop.parquet")
def test_trees_keep_pairs_of_columns_and_a_logistic_regression_of_a_survey() -> None:
    table = pq.read_table(SURVEY)
    codes = {name: [-8] for name in table.column_names if str(table[name].type) == "double"}
    fitted = Synthesizer(missing=codes, random_state=1).fit(table)
    copies = fitted.sample(copies=10)
    assert pairs(table, copies.tables[:3]).mean_pmse_ratio.mean < 3
    model = regression(table, copies, "smoke ~ sex + age + edu", kind="logistic")
    assert model.overlap > 0.85
    apart = Synthesizer("sample", missing=codes, random_state=1).fit(table).sample(copies=10)
    assert pairs(table, apart.tables[:1]).mean_pmse_ratio.mean > 10
    assert regression(table, apart, "smoke ~ sex + age + edu", kind="logistic").overlap < 0.5
