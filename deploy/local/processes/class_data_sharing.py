"""Application class-data sharing (AppCDS): what a JVM has read and verified of its classes spares the next one of
the same command much of the CPU time of its start.

`python -m deploy.local.processes.class_data_sharing` has every JVM of an instance for which there is no archive yet
write one, while it runs: at their end all of them at once would take half a minute for it.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil

from common import modules
from common.process.child import program, python
from common.settings import Settings
from common.storage import files
from deploy.local import instances
from deploy.local.processes.spec import background

MARK = "-Dmurmur.class-data="
"""By this option a JVM tells which archive is to be written of it."""

DUMP_SECONDS = 60

log = logging.getLogger(__name__)


def options(settings: Settings, name: str) -> tuple[str, ...]:
    """Options of a JVM whose command only `name` starts; the JVM ignores an archive that does not fit its classes.

    One that has still to write its archive listens for that from its start on: a JVM that does not would have to be
    woken by SIGQUIT, which ends the process of a client whose signals are Python's.
    """
    archive = archive_of(settings, name)
    if archive.exists():
        return f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"
    return "-XX:+RecordDynamicDumpInfo", "-XX:+StartAttachListener", "-Xlog:disable", f"{MARK}{archive}"


def of_clients(settings: Settings, writes: bool = False) -> str:
    """Options, separated by spaces, of the JVM that a middleware's client may start within a process. All of them use
    one archive, and only one of them `writes` it."""
    name = f"client-{settings.middleware}"
    own = options(settings, name) if writes or archive_of(settings, name).exists() else ()
    return " ".join((*own, *settings.jvm_options.split()))


def of_spark(settings: Settings) -> str:
    """Options, separated by spaces, of Spark's JVM."""
    return " ".join((*options(settings, f"spark-{settings.middleware}"), *settings.spark_jvm_options.split()))


def archive_of(settings: Settings, name: str) -> Path:
    return settings.home.resolve() / "class-data" / f"{name}.jsa"


def begin_writing(settings: Settings) -> None:
    """Has archives written beside everything else, by a process that ends with the instance at the latest."""
    if not any(archive_to_write(process) for process in instances.leftovers(settings)):
        return
    with files.log_file(settings.log_dir / "class-data.log", settings.log_max_bytes) as output:
        subprocess.Popen(
            background(python(modules.Deploy.CLASS_DATA_SHARING)),
            env={**os.environ, "MURMUR_SETTINGS": str(settings.settings_file),
                 "MURMUR_HOME": str(settings.home.resolve())},
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )


def end_writing(settings: Settings) -> None:
    """Ends what writes archives: it keeps a core busy, and the JVM that it asks from ending. What one has begun is
    never used."""
    for process in instances.leftovers(settings):
        with suppress(psutil.Error, ProcessLookupError):
            if modules.Deploy.CLASS_DATA_SHARING in process.cmdline():
                os.killpg(process.pid, signal.SIGKILL)  # with the program that asks the JVM


def write_missing(settings: Settings) -> None:
    for process in instances.leftovers(settings):
        archive = archive_to_write(process)
        if archive and not archive.exists():
            write(process.pid, archive)


def archive_to_write(process: psutil.Process) -> Path | None:
    """The archive that is to be written of this process, if it is a JVM that can be asked and has one to write."""
    try:
        given = [*process.cmdline(), *process.environ().get("MURMUR_JVM_OPTIONS", "").split()]
    except psutil.Error:
        return None
    marked = [option.removeprefix(MARK) for option in given if option.startswith(MARK)]
    return Path(marked[0]) if marked and Path(f"/tmp/.java_pid{process.pid}").exists() else None


def write(pid: int, archive: Path) -> None:
    """Has the JVM write its archive, which is there whole or not at all."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_suffix(".unfinished")
    unfinished.unlink(missing_ok=True)
    try:
        subprocess.run([program("jcmd"), str(pid), "VM.cds", "dynamic_dump", str(unfinished)], check=True,
                       stdout=subprocess.DEVNULL, timeout=DUMP_SECONDS)
        os.replace(unfinished, archive)
    except (OSError, subprocess.SubprocessError) as error:
        log.warning("no class-data archive of process %d for the next start: %s", pid, error)


if __name__ == "__main__":
    write_missing(Settings.load())
