"""Starts the broker; before its very first start, formats its storage.

Run by the process manager as `python -m deploy.local.kafka.broker REPLICA`; becomes the broker's Java process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

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

    Without the stamp no broker of this instance ever ran, so what is there is the rest of a formatting that was killed.
    """
    own = folder(settings, replica)
    stamp = own / "formatted"
    if stamp.exists():
        return
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    cluster = cluster_id(settings).read_text()
    tool = java(settings, "64m", "kafka.tools.StorageTool", "format", "-t", cluster, "-c",
                str(configuration(settings, replica)))
    subprocess.run(tool, check=True, timeout=FORMAT_SECONDS)
    files.replace(stamp, f"the storage of cluster {cluster} was formatted\n")


if __name__ == "__main__":
    main()
