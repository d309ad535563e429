"""Spark on one machine: both queries in one application."""

from __future__ import annotations

import sys

from common import modules
from common.process.child import python
from common.settings import Settings
from deploy.local.processes import class_data_sharing, health_checks
from deploy.local.processes.spec import READERS, Process


def process(settings: Settings) -> Process:
    return Process(
        "spark", python(modules.Deploy.SPARK), stage=READERS, ready_seconds=240, stop_seconds=2, early=True,
        memory_mib=3072, data=settings.checkpoint_dir,
        ready=health_checks.written_since_start(settings.state_dir / "spark.ready"),
        environment={"PYSPARK_PYTHON": sys.executable,
                     "MURMUR_JVM_OPTIONS": class_data_sharing.of_clients(settings),
                     "MURMUR_SPARK_JVM_OPTIONS": class_data_sharing.of_spark(settings),
                     # Or else RocksDB's threads have up to eight heaps of the C library for each core, each of
                     # which keeps what it once had to hold.
                     "MALLOC_ARENA_MAX": "2"},
    )
