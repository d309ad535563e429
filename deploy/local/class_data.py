"""Class data sharing: what a JVM has read and verified of its classes spares the next one of the same command much of
the CPU time of its start. A process for which there is no archive yet writes one when it ends in good order.
"""

from __future__ import annotations

from pathlib import Path

from common.settings import Settings

MAGIC_BYTES = 4
"""The JVM writes the header of an archive last: a zero there tells of one that was left unfinished."""


def options(settings: Settings, name: str) -> tuple[str, ...]:
    """Options of a JVM whose command only `name` starts; the JVM ignores an archive that does not fit its classes."""
    archive = archive_of(settings, name)
    archive.parent.mkdir(parents=True, exist_ok=True)
    use = "SharedArchiveFile" if is_complete(archive) else "ArchiveClassesAtExit"
    return f"-XX:{use}={archive}", "-Xlog:disable"


def of_clients(settings: Settings, writes: bool = False) -> str:
    """Options, separated by spaces, of the JVM that a middleware's client may start within a process. All of them use
    one archive, and only one of them `writes` it."""
    name = f"client-{settings.middleware}"
    own = options(settings, name) if writes or is_complete(archive_of(settings, name)) else ()
    return " ".join((*own, *settings.jvm_options.split()))


def of_spark(settings: Settings) -> str:
    """Options, separated by spaces, of Spark's JVM."""
    return " ".join((*options(settings, f"spark-{settings.middleware}"), *settings.spark_jvm_options.split()))


def archive_of(settings: Settings, name: str) -> Path:
    return settings.home.resolve() / "class-data" / f"{name}.jsa"


def is_complete(archive: Path) -> bool:
    try:
        with archive.open("rb") as file:
            return any(file.read(MAGIC_BYTES))
    except FileNotFoundError:
        return False
