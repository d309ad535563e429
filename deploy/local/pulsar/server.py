"""Starts the server, after a bookie that makes what it keeps or ends what an earlier one has left.

Run by the process manager as `python -m deploy.local.pulsar.server`; becomes the server's Java process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from pathlib import Path

from common.process.child import ends_with_parent
from common.settings import Settings
from common.storage import files
from deploy.local.disk import await_room
from deploy.local.middlewares import FolderLost
from deploy.local.processes import class_data_sharing
from deploy.local.pulsar import folder, java, render_configuration

NAME = "pulsar"
"""Of the archive of its classes."""

BOOKIE_SECONDS = 200
CREATED = "has been created"
"""What the log says of a bookie that is there, and registered."""


def main() -> None:
    settings = Settings.load()
    await_room(folder(settings))
    render_configuration(settings)
    if formatted(settings).exists():
        require_folder(settings)
        run_bookie(settings)
    else:
        format_folder(settings)
    command = java(settings, options=class_data_sharing.options(settings, NAME))
    os.execv(command[0], command)


def format_folder(settings: Settings) -> None:
    """Has a bookie without a broker begin in an empty folder, and notes by a stamp that it was done.

    It writes its identity into the metadata and beside its ledgers, one after the other: a bookie that was killed in
    between would be refused ever after. Without the stamp no broker ever ran, so what is there is the rest of such a
    one. The stamp lies beside the folder: a server that has lost that must not begin anew by itself.
    """
    shutil.rmtree(folder(settings), ignore_errors=True)
    folder(settings).mkdir(parents=True)
    run_bookie(settings)
    files.replace(formatted(settings), "the bookie has made its folders and its metadata\n")


def require_folder(settings: Settings) -> None:
    """Exits where what the server held is gone."""
    if not (folder(settings) / "metadata").exists():
        raise FolderLost(settings, folder(settings))


def formatted(settings: Settings) -> Path:
    return settings.state_dir / "pulsar-formatted"


def run_bookie(settings: Settings) -> None:
    """Starts a bookie without a broker, and ends it in an orderly way once it is registered. Exits where it does not.

    The registration of a bookie that was killed stays in the metadata until the next one replaces it. Now and then,
    about each fifth time, Pulsar 4.0.7 then takes the removal of the old one for that of the new one, and goes on
    replacing it for ever: that takes a core, and a broker that finds no bookie meanwhile refuses to create topics.
    Behind an orderly end there is nothing to be replaced.
    """
    known = class_data_sharing.archive_of(settings, NAME).exists()
    archive = class_data_sharing.options(settings, NAME) if known else ()
    bookie = subprocess.Popen(
        ends_with_parent(java(settings, "--no-broker", options=archive)), stdout=subprocess.PIPE, text=True
    )
    too_late = threading.Timer(BOOKIE_SECONDS, bookie.kill)
    too_late.start()
    created = False
    try:
        for line in bookie.stdout or ():
            print(line, end="", flush=True)
            if CREATED in line and not created:
                created = True
                bookie.terminate()
        bookie.wait()
    finally:
        too_late.cancel()
        bookie.kill()
        bookie.wait()
    if not created:
        raise SystemExit(f"the bookie did not begin within {BOOKIE_SECONDS} s")


if __name__ == "__main__":
    main()
