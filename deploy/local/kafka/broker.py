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
from deploy.local.processes import class_data_sharing

FORMAT_SECONDS = 60


def main() -> None:
    settings, replica = Settings.load(), int(sys.argv[1])
    format_once(settings, replica)
    archive = class_data_sharing.options(settings, name(replica))
    command = java(settings, HEAP, "kafka.Kafka", str(configuration(settings, replica)), options=archive)
    os.execv(command[0], command)


def format_once(settings: Settings, replica: int) -> None:
    """Formats the storage unless a stamp says that it was done.

    Without the stamp this broker never ran, so what is there is the rest of a formatting that was killed. The stamp
    lies beside the broker's folder: one that has lost that must not begin anew by itself. Exits then.
    """
    own, stamp = folder(settings, replica), formatted(settings, replica)
    if stamp.exists():
        if not (own / "log" / "meta.properties").exists():
            raise SystemExit(lost(settings, replica))
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


def lost(settings: Settings, replica: int) -> str:
    """What to do about a folder that is gone. Each of three brokers votes for the leader of the controllers: one that
    begins with nothing, and a second that lags, may choose a third that lacks what was acknowledged."""
    gone = f"{folder(settings, replica)} is gone"
    if settings.replicas == 1:
        return (f"{gone}, and with it what the only broker held: put it back from a backup, or give up what is stored "
                f"(`murmur down --wipe --instance {settings.instance}`)")
    return (f"{gone}: {name(replica)} may begin with an empty one only while the other two run and neither lags. How "
            f"to see that, and what to do then: docs/operations.md, \"A copy's folder is lost\"")


if __name__ == "__main__":
    main()
