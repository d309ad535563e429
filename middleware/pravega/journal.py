"""What the bookie that runs on this machine was told about its journal: BookKeeper cannot be asked over the net."""

from __future__ import annotations

from pathlib import Path

import psutil

from common.settings import Durability, Settings
from middleware.errors import Unreachable

BOOKIE = "org.apache.bookkeeper.server.Main"


def journal_durability(settings: Settings) -> Durability | None:
    """Durability class by `journalSyncData` in the configuration file of the instance's live bookie.

    None where Pravega lives elsewhere, or the bookie in a container of its own, whose processes nobody else sees.
    Raises Unreachable when no bookie of the instance runs.
    """
    if settings.middleware_uri or settings.service_hosts:
        return None
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if BOOKIE in words and "--conf" in words:
            file = Path(words[words.index("--conf") + 1])
            if file.is_relative_to(settings.state_dir):
                synced = properties(file.read_text()).get("journalSyncData", "true")  # by default it syncs
                return "fsync" if synced == "true" else "page-cache"
    raise Unreachable(f"no bookie of instance {settings.instance} runs: `murmur status` shows what does")


def properties(text: str) -> dict[str, str]:
    """Keys and values of a configuration file; of a repeated key the last counts."""
    pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}
