"""Spark: where a session is opened and with which settings, and how it reads files and folders."""

from ziggurat.data.engines.spark._places import SparkPlace, plan_spark
from ziggurat.data.engines.spark._sessions import OpenedSession, open_session

__all__ = ["OpenedSession", "SparkPlace", "open_session", "plan_spark"]
