"""Where Spark runs, and with what: nothing is started here."""

from pathlib import Path

import pytest

from ziggurat.data.engines import plan_spark
from ziggurat.data.engines.spark import _places
from ziggurat.errors import ParameterError

GIB = 2**30


@pytest.mark.parametrize(
    ("address", "variables", "where", "who"),
    [
        ("", {}, "local[*]", "on this machine"),
        ("", {"SPARK_REMOTE": "sc://host"}, "sc://host", "by SPARK_REMOTE"),
        ("", {"PYSPARK_GATEWAY_PORT": "1", "SPARK_REMOTE": "sc://host"}, "", "by spark-submit"),
        ("", {"ZIGGURAT_SPARK": "spark://a:7077", "SPARK_REMOTE": "sc://b"}, "spark://a:7077", "by ZIGGURAT_SPARK"),
        ("local[4]", {"ZIGGURAT_SPARK": "spark://a:7077"}, "local[4]", "as given"),
    ],
)
def test_the_nearest_word_says_where(address: str, variables: dict[str, str], where: str, who: str) -> None:
    place = plan_spark(address, variables)
    assert (place.address, place.told_by) == (where, who)


def test_the_heap_is_half_of_what_is_at_hand_from_1_to_31() -> None:
    sizes = {GIB // 2: 1, 3 * GIB: 1, 16 * GIB: 8, 23 * GIB: 11, 500 * GIB: 31}
    assert {size: _places.choose_heap(size) for size in sizes} == sizes


def test_a_container_that_has_less_than_its_machine_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = (tmp_path / "most", tmp_path / "used")
    monkeypatch.setattr(_places, "_MEMORY_FILES", files)
    unlimited = _places.memory_at_hand()
    files[0].write_text("max\n")
    files[1].write_text("0\n")
    assert _places.memory_at_hand() > GIB // 4
    files[0].write_text(f"{unlimited // 8}\n")
    files[1].write_text(f"{unlimited // 16}\n")
    assert _places.memory_at_hand() == unlimited // 8 - unlimited // 16


def test_a_heap_that_was_told_goes_before_ours() -> None:
    for address in ("local[2]", "spark://host:7077"):
        assert plan_spark(address, {"ZIGGURAT_HEAP": "3G"}).settings["spark.driver.memory"] == "3g"
    assert "spark.driver.memory" not in plan_spark("spark://host:7077", {}).settings
    with pytest.raises(ParameterError, match="a size such as 4g"):
        plan_spark("local[2]", {"ZIGGURAT_HEAP": "much"})


def test_sums_fail_when_they_overflow_and_dates_are_those_of_utc_wherever_a_session_is_opened() -> None:
    for address in ("local[2]", "spark://host:7077", "yarn", "sc://host:15002"):
        settings = plan_spark(address, {}).settings
        assert settings["spark.sql.ansi.enabled"] == "true"
        assert settings["spark.sql.session.timeZone"] == "UTC"


def test_on_this_machine_nobody_listens_from_outside_and_what_is_spilled_is_private() -> None:
    settings = plan_spark("local[*]", {}).settings
    assert settings["spark.driver.bindAddress"] == settings["spark.driver.host"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"
    for name in ("spark.local.dir", "spark.sql.warehouse.dir"):
        assert Path(settings[name]).parent.stat().st_mode & 0o077 == 0
    assert "spark.local.dir" not in plan_spark("spark://host:7077", {}).settings


def test_no_token_or_password_is_shown() -> None:
    said = plan_spark("sc://ada:secret@host:15002/;token=secret", {}).describe()
    assert "secret" not in said
    assert "sc://host:15002" in said
