"""Starts the broker; before its very first start, formats its storage.

Run by the process manager as `python -m deploy.local.kafka.broker REPLICA`; becomes the broker's Java process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from common.settings import Settings
from common.storage import files
from deploy.local.kafka import HEAP, cluster_id, configuration, folder, java, name
from deploy.local.middlewares import FolderLost
from deploy.local.processes import class_data_sharing

FORMAT_SECONDS = 60


def main() -> None:
    settings, replica = Settings.load(), int(sys.argv[1])
    format_once(settings, replica)
    archive = class_data_sharing.options(settings, name(replica))
    command = java(settings, HEAP[settings.store_tuning], "kafka.Kafka", str(configuration(settings, replica)),
                   options=archive)
    os.execv(command[0], command)


def format_once(settings: Settings, replica: int) -> None:
    """Formats the storage unless a stamp says that it was done.

    Without the stamp this broker never ran, so what is there is the rest of a formatting that was killed. The stamp
    lies beside the broker's folder: one that has lost that must not begin anew by itself. Exits then.
    """
    own, stamp = folder(settings, replica), formatted(settings, replica)
    if stamp.exists():
        if not (own / "log" / "meta.properties").exists():
            raise lost(settings, replica)
        return
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    cluster = cluster_id(settings).read_text()
    tool = java(settings, "64m", "kafka.tools.StorageTool", "format", "-t", cluster, "-c",
                str(configuration(settings, replica)))
    subprocess.run(tool, check=True, timeout=FORMAT_SECONDS)
    files.replace(stamp, f"the storage of cluster {cluster} was formatted\n")


def formatted(settings: Settings, replica: int) -> Path:
    return settings.state_dir / f"{name(replica)}-formatted"


def lost(settings: Settings, replica: int) -> SystemExit:
    """What to do about a folder that is gone. Each of three brokers votes for the leader of the controllers: one that
    begins with nothing, and a second that lags, may choose a third that lacks what was acknowledged."""
    if settings.replicas == 1:
        return FolderLost(settings, folder(settings, replica))
    return SystemExit(f"{folder(settings, replica)} is gone: {name(replica)} may begin with an empty one only while "
                      f"the other two run and neither lags. How to see that, and what to do then: docs/operations.md, "
                      f"\"A copy's folder is lost\"")


if __name__ == "__main__":
    main()
