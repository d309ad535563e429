"""Starts the broker; before its very first start, formats its storage.

Run by the process manager as `python -m deploy.local.kafka.broker`; becomes the broker's Java process.
"""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import uuid

from common.settings import Settings
from common.storage import files
from deploy.local.kafka import HEAP, java
from deploy.local.processes import class_data_sharing

FORMAT_SECONDS = 60


def main() -> None:
    settings = Settings.load()
    format_once(settings)
    archive = class_data_sharing.options(settings, "kafka")
    command = java(settings, HEAP, "kafka.Kafka", configuration(settings), options=archive)
    os.execv(command[0], command)


def configuration(settings: Settings) -> str:
    return str(settings.state_dir / "conf" / "server.properties")


def format_once(settings: Settings) -> None:
    """Formats the storage unless a stamp says that it was done.

    Without the stamp no broker of this instance ever ran, so what is there is the rest of a formatting that was killed.
    """
    folder = settings.state_dir / "kafka"
    stamp = folder / "formatted"
    if stamp.exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    cluster = cluster_id()
    tool = java(settings, "64m", "kafka.tools.StorageTool", "format", "-t", cluster, "-c", configuration(settings))
    subprocess.run(tool, check=True, timeout=FORMAT_SECONDS)
    files.replace(stamp, f"the storage of cluster {cluster} was formatted\n")


def cluster_id() -> str:
    """A random id as the tool takes it: base64 that must not look like an option."""
    while (text := base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()).startswith("-"):
        pass
    return text


if __name__ == "__main__":
    main()
