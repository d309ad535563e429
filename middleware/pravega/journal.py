"""What the bookie was told about its journal: BookKeeper cannot be asked over the net."""

from __future__ import annotations

from pathlib import Path

import psutil

from common.settings import Durability, Settings
from middleware.errors import Unreachable

BOOKIE = "org.apache.bookkeeper.server.Main"


def journal_durability(settings: Settings) -> Durability | None:
    """Durability class by `journalSyncData` in the configuration file of the instance's live bookie.

    None where Pravega lives elsewhere. Where the bookie is a host of its own, whose processes nobody else sees, the
    file counts that each bookie begins with. Raises Unreachable when no bookie of the instance runs.
    """
    if settings.middleware_uri:
        return None
    if settings.service_hosts:
        return of_file(settings.state_dir / "conf" / "bookkeeper.conf")
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if BOOKIE in words and "--conf" in words:
            file = Path(words[words.index("--conf") + 1])
            if file.is_relative_to(settings.state_dir):
                return of_file(file)
    raise Unreachable(f"no bookie of instance {settings.instance} runs: `murmur status` shows what does")


def of_file(file: Path) -> Durability:
    """Raises Unreachable where there is none."""
    try:
        synced = properties(file.read_text()).get("journalSyncData", "true")  # by default it syncs
    except OSError as error:
        raise Unreachable(f"the bookie's configuration cannot be read: {error}") from error
    return "fsync" if synced == "true" else "page-cache"


def properties(text: str) -> dict[str, str]:
    """Keys and values of a configuration file; of a repeated key the last counts."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}
