"""Spark: where a session is opened and with which settings, and how it reads and writes files and folders."""

from ziggurat.data.engines.spark._files import FileSeal, SparkFiles, open_files
from ziggurat.data.engines.spark._logs import quiet_logs
from ziggurat.data.engines.spark._places import SparkPlace, plan_spark
from ziggurat.data.engines.spark._sessions import OpenedSession, open_session
from ziggurat.data.engines.spark._writing import SPARK_ENDINGS, write_frame

__all__ = [
    "SPARK_ENDINGS",
    "FileSeal",
    "OpenedSession",
    "SparkFiles",
    "SparkPlace",
    "open_files",
    "open_session",
    "plan_spark",
    "quiet_logs",
    "write_frame",
]
