"""Open a session: that of the process if there is one, or a new one on this machine, a cluster or a Connect server."""

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ziggurat.data.engines.spark._places import SparkPlace, plan_spark
from ziggurat.errors import EngineError, MissingExtraError

_OTHER = (
    "This process has a Spark session already, and Spark allows no other; hand that one in, or stop it before you "
    "name an address."
)


@dataclass(frozen=True)
class OpenedSession:
    """A session, and whether it was opened here and is ours to stop."""

    session: Any
    owned: bool


def open_session(address: str = "") -> OpenedSession:
    """Return the session of this process, or open one where `plan_spark` says.

    Parameters
    ----------
    address
        A master or a Connect server; then a session that is there already is not taken for it, but refused.

    Raises
    ------
    MissingExtraError
        If pyspark, or what Connect needs, is not installed.
    EngineError
        If no session could be opened.
    """
    place = plan_spark(address)
    found = _find_session()
    if found is not None:
        if address:
            raise EngineError(_OTHER)
        return OpenedSession(found, False)
    return OpenedSession(_connect(place) if place.is_connect else _start(place), True)


def _require_pyspark() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("Spark needs pyspark; add it with: pip install 'ziggurat[spark]'.") from None
    return SparkSession


def _find_session() -> Any:
    """The session of this process, whichever thread opened it."""
    spark = _require_pyspark()
    active = spark.getActiveSession()
    held = getattr(spark, "_instantiatedSession", None)
    alive = held is not None and held.sparkContext._jsc is not None
    return active if active is not None else held if alive else None


def _start(place: SparkPlace) -> Any:
    if os.environ.get("SPARK_REMOTE"):
        raise EngineError("SPARK_REMOTE is set, and then Spark opens no master; unset it, or make it an sc:// address.")
    builder = _require_pyspark().builder.appName("ziggurat")
    builder = builder.master(place.address) if place.address else builder
    for key, value in place.settings.items():
        builder = builder.config(key, value)
    cause = "is Java 17 or later installed" if place.is_local else "can the driver and its workers reach each other"
    session = _or_say(f"A Spark session could not start ({place.shown}); {cause}?", builder.getOrCreate)
    session.sparkContext.setLogLevel("OFF")
    return session


def _connect(place: SparkPlace) -> Any:
    spark = _require_pyspark()
    if any(importlib.util.find_spec(name) is None for name in ("grpc", "grpc_status", "zstandard")):
        raise MissingExtraError("Spark Connect needs grpcio; add it with: pip install 'ziggurat[connect]'.")
    sentence = f"No Spark Connect server answers at {place.shown}; does it run there, and is the token right?"
    return _or_say(sentence, lambda: _prepare(spark.builder.remote(place.address).create(), place))


def _prepare(session: Any, place: SparkPlace) -> Any:
    for key, value in place.settings.items():
        session.conf.set(key, value)
    return session


def _or_say(sentence: str, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception:  # noqa: BLE001, S110  (py4j and gRPC raise what they like)
        pass
    raise EngineError(sentence)  # outside the handler, whose message may hold the token of an address
