"""Starts the server; before its very first start, has its bookie make what it keeps.

Run by the process manager as `python -m deploy.local.pulsar.server`; becomes the server's Java process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

from common.process.child import ends_with_parent
from common.settings import Settings
from common.storage import files
from deploy.local.processes import class_data_sharing
from deploy.local.pulsar import folder, java, render_configuration

NAME = "pulsar"
"""Of the archive of its classes."""

FORMAT_SECONDS = 60


def main() -> None:
    settings = Settings.load()
    render_configuration(settings)
    format_once(settings)
    command = java(settings, options=class_data_sharing.options(settings, NAME))
    os.execv(command[0], command)


def format_once(settings: Settings) -> None:
    """Has a bookie without a broker begin in an empty folder, unless a stamp says that it was done.

    It notes its identity in the metadata and beside its ledgers, one after the other: a bookie that was killed in
    between would be refused ever after. Without the stamp no broker ever ran, so what is there is the rest of such a
    one. The stamp lies beside the folder: a server that has lost that must not begin anew by itself. Exits then.
    """
    own, stamp = folder(settings), formatted(settings)
    if stamp.exists():
        if not (own / "metadata").exists():
            raise SystemExit(f"{own} is gone, and with it what the only server held: put it back from a backup, or "
                             f"give up what is stored (`murmur down --wipe --instance {settings.instance}`)")
        return
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    known = class_data_sharing.archive_of(settings, NAME).exists()
    archive = class_data_sharing.options(settings, NAME) if known else ()
    bookie = subprocess.Popen(ends_with_parent(java(settings, "--no-broker", options=archive)))
    try:
        await_journal(bookie, own / "bookkeeper" / "current")
    finally:
        bookie.kill()
        bookie.wait()
    files.replace(stamp, "the bookie has made its folders and its metadata\n")


def formatted(settings: Settings) -> Path:
    return settings.state_dir / "pulsar-formatted"


def await_journal(bookie: subprocess.Popen[bytes], folder: Path) -> None:
    """Returns once the bookie has begun a journal, which it does last. Exits where it does not."""
    until = time.monotonic() + FORMAT_SECONDS
    while bookie.poll() is None and time.monotonic() < until:
        if any(folder.glob("*.txn")):
            return
        time.sleep(0.1)
    raise SystemExit(f"the bookie did not begin within {FORMAT_SECONDS} s")


if __name__ == "__main__":
    main()
