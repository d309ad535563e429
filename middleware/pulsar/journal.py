"""What the bookie was told about its journal: neither it nor the broker can be asked over the net."""

from __future__ import annotations

from pathlib import Path

import psutil

from common.settings import Durability, Settings
from middleware.errors import Unreachable

SERVER, OPTION = "org.apache.pulsar.PulsarStandaloneStarter", "--config="


def journal_durability(settings: Settings) -> Durability | None:
    """Durability class by `journalSyncData` in the configuration file of the instance's live server, which is written
    at each start of that.

    None where Pulsar lives elsewhere. Where the server is a host of its own, whose processes nobody else sees, the file
    counts. Raises Unreachable when no server of the instance runs.
    """
    if settings.middleware_uri:
        return None
    if settings.service_hosts:
        return of_file(settings.state_dir / "conf" / "standalone.conf")
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if SERVER in words:
            file = Path(next((word for word in words if word.startswith(OPTION)), "").removeprefix(OPTION))
            if file.is_relative_to(settings.state_dir):
                return of_file(file)
    raise Unreachable(f"no server of instance {settings.instance} runs: `murmur status` shows what does")


def of_file(file: Path) -> Durability:
    """Raises Unreachable where there is none."""
    try:
        lines = [line.partition("=") for line in file.read_text().splitlines() if not line.lstrip().startswith("#")]
    except OSError as error:
        raise Unreachable(f"the server's configuration cannot be read: {error}") from error
    told = {key.strip(): value.strip() for key, _, value in lines}
    if told.get("journalWriteData", "true") != "true":
        return "page-cache"
    return "fsync" if told.get("journalSyncData", "true") == "true" else "page-cache"
