"""Where Spark runs, and the settings that suit a laptop and a cluster."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ziggurat.data.engines._private_folder import private_folder
from ziggurat.errors import ParameterError
from ziggurat.jobs import count_processors
from ziggurat.wording import count_noun

_GIB = 2**30
_LEAST_HEAP, _MOST_HEAP = 1, 31  # GiB: beyond 31 Java's references double
_MEMORY_FILES = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current"))
_HEAP = re.compile(r"[1-9][0-9]*[mgt]")

# Whoever opens a session for us is promised this: sums fail when they overflow, moments have their dates in UTC, and
# neither the driver nor a worker writes cells into a log.
_EVERYWHERE = {
    "spark.executor.syncLogLevel.enabled": "true",
    "spark.log.level": "OFF",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
}
# Of a server that others share, only what a session may set for itself.
_BY_SESSION = ("spark.sql.ansi.enabled", "spark.sql.execution.arrow.pyspark.enabled", "spark.sql.session.timeZone")


@dataclass(frozen=True)
class SparkPlace:
    """Where a session will be opened, and with which settings.

    Attributes
    ----------
    address
        A master ("local[*]", "spark://host:7077", "yarn"), a Connect server ("sc://host:15002"), or nothing where
        spark-submit has said it.
    settings
        What we set; the rest is Spark's own, from spark-defaults.conf or spark-submit.
    told_by
        Who said where.
    """

    address: str
    settings: Mapping[str, str]
    told_by: str

    @property
    def is_connect(self) -> bool:
        """Whether a server runs Spark, and this process is only its client."""
        return self.address.startswith("sc://")

    @property
    def is_local(self) -> bool:
        """Whether all workers are on this machine."""
        return self.address.startswith("local")

    @property
    def shown(self) -> str:
        """The address without passwords and tokens."""
        return re.sub(r"//[^/;]*@", "//", self.address.partition(";")[0]).rstrip("/") or "as spark-submit says"

    def describe(self) -> str:
        """Say where, who said so, and with how much memory the driver starts."""
        if self.is_connect:
            return f"Connect server {self.shown} ({self.told_by}), whose settings are its own"
        heap = self.settings.get("spark.driver.memory", "as Spark is told")
        cores = f", {count_noun(count_processors(), 'core')}" if self.is_local else ""
        return f"{self.shown} ({self.told_by}), driver heap {heap}{cores}"


def plan_spark(address: str = "", environment: Mapping[str, str] | None = None) -> SparkPlace:
    """Return where Spark would run and with which settings; nothing is started.

    Parameters
    ----------
    address
        A master or a Connect server. By default what ZIGGURAT_SPARK says, then what spark-submit said, then
        SPARK_REMOTE; otherwise all cores of this machine.
    environment
        The variables of the process, unless others are to be tried.
    """
    known = os.environ if environment is None else environment
    given, told_by = _find_address(address, known)
    if given.startswith("sc://"):
        return SparkPlace(given, {key: _EVERYWHERE[key] for key in _BY_SESSION}, told_by)
    here = _on_this_machine() if given.startswith("local") else {}
    return SparkPlace(given, {**_EVERYWHERE, **here, **_heap_if_told(known)}, told_by)


def _find_address(address: str, known: Mapping[str, str]) -> tuple[str, str]:
    if address:
        return address, "as given"
    if known.get("ZIGGURAT_SPARK"):
        return known["ZIGGURAT_SPARK"], "by ZIGGURAT_SPARK"
    if "PYSPARK_GATEWAY_PORT" in known:
        return "", "by spark-submit"
    if known.get("SPARK_REMOTE"):
        return known["SPARK_REMOTE"], "by SPARK_REMOTE"
    return "local[*]", "on this machine"


def _on_this_machine() -> dict[str, str]:
    """All workers are here: nobody listens from outside, and what is spilled lies where only this user can read."""
    folder = private_folder()
    return {
        "spark.driver.memory": f"{choose_heap(memory_at_hand())}g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder / "spark"),
        "spark.sql.shuffle.partitions": str(count_processors()),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }


def _heap_if_told(known: Mapping[str, str]) -> dict[str, str]:
    told = known.get("ZIGGURAT_HEAP", "").lower()
    if told and not _HEAP.fullmatch(told):
        raise ParameterError("ZIGGURAT_HEAP must be a size such as 4g or 1500m.")
    return {"spark.driver.memory": told} if told else {}


def choose_heap(memory: int) -> int:
    """Return how many GiB of heap the driver gets where so many bytes are at hand: half of them, from 1 to 31."""
    return max(_LEAST_HEAP, min(_MOST_HEAP, memory // 2 // _GIB))


def memory_at_hand() -> int:
    """Return how many bytes a new process may take: what the machine has free, or its container if that is less."""
    return min(_memory_of_machine(), _memory_of_container())


def _memory_of_machine() -> int:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pages = os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 0
        return pages * os.sysconf("SC_PAGE_SIZE") if pages > 0 else 4 * _GIB


def _memory_of_container() -> int:
    try:
        most, used = (int(file.read_text(encoding="ascii")) for file in _MEMORY_FILES)
        return max(0, most - used)
    except (OSError, ValueError):  # no container, or one without a limit ("max")
        return 2**63
