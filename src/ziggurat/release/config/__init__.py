"""Releases that a file describes: read, priced or measured, run into a signed bundle, and repeated."""

from ziggurat.release.bundle import HeldBundle
from ziggurat.release.config._kinds import KINDS, plan_said_question, plan_said_workload
from ziggurat.release.config._models import (
    FORMAT,
    QuestionSaid,
    ReleaseConfig,
    ReportsSaid,
    WorkloadSaid,
    json_schema,
)
from ziggurat.release.config._reading import explain_invalid, read_config
from ziggurat.release.config._running import Outlook, bundle_of, describe_release, journal_of, run_config
from ziggurat.release.durable import ReleaseJournal

__all__ = [
    "FORMAT",
    "KINDS",
    "HeldBundle",
    "Outlook",
    "QuestionSaid",
    "ReleaseConfig",
    "ReleaseJournal",
    "ReportsSaid",
    "WorkloadSaid",
    "bundle_of",
    "describe_release",
    "explain_invalid",
    "journal_of",
    "json_schema",
    "plan_said_question",
    "plan_said_workload",
    "read_config",
    "run_config",
]
