"""What an instance stored on a middleware: in which format, and with which settings that it cannot change any more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common.settings import ADDRESSES, Settings
from common.storage import files

FORMAT = 10
"""Of everything below `state_dir`: counts up with each change that what was stored before cannot be read with."""

FIXED = (
    "namespace", "partitions", "replicas", "stream_retention_bytes", "max_event_bytes", "middleware_uri",
    "database_url",
)
"""Settings that streams, checkpoints and stored tweets were made with, and that cannot change any more."""

KEPT = ("trending_shards",)
"""Settings that are as they were last chosen: another value is work on what is stored. All others are chosen afresh at
each start."""

SECRET = (*ADDRESSES, "ingest_token")
"""Settings that may hold a password: never shown."""


class StateRefused(Exception):
    """What is stored cannot be used so; nothing of it was touched, and the message names the way out."""


def made_with(wished: Settings) -> dict[str, Any]:
    """The settings that the state of this instance and middleware keeps, the fixed ones and those that are kept until
    the user chooses another; empty if there is none yet.

    Raises StateRefused for state of another format, and when the user chose a fixed one otherwise.
    """
    if not (found := recorded(wished)):
        return {}
    # What it does not name it was made without.
    settings = {name: found.get(name, Settings.model_fields[name].default) for name in (*FIXED, *KEPT)}
    chosen = wished.model_dump(mode="json", include=wished.model_fields_set & {*FIXED, *KEPT})
    if changed := [name for name in FIXED if name in chosen and not is_same(name, chosen[name], settings[name])]:
        named = "\n".join(f"  {name}{difference(name, settings[name], chosen[name])}" for name in changed)
        raise StateRefused(
            f"instance {wished.instance} has streams and tweets on {wished.middleware} that were made with other "
            f"settings, which cannot change any more:\n{named}\nSet them as they were, {way_out(wished)}"
        )
    return settings | chosen


def recorded(settings: Settings) -> dict[str, Any]:
    """What `record` wrote for this instance and middleware; empty if nothing is stored yet.

    Raises StateRefused for state of another format: whoever reads or starts an instance asks this first.
    """
    file = state_file(settings)
    if not file.exists():
        if is_used(settings.state_dir):
            raise other_format(settings, 1)  # which did not tell it yet
        return {}
    try:
        found = json.loads(file.read_text())
        number, fixed = found["format"], dict(found["settings"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise StateRefused(f"{file} cannot be read ({error}): {way_out(settings)}") from error
    if number != FORMAT:
        raise other_format(settings, number)
    return fixed


def is_same(name: str, wished: Any, before: Any) -> bool:
    """The URL of a database may be written in several ways."""
    if wished == before or name != "database_url" or not (wished and before):
        return bool(wished == before)
    from sqlalchemy import make_url  # an import of a tenth of a second

    return make_url(wished) == make_url(before)


def record(settings: Settings) -> None:
    """Says in which format and with which settings the state is made, before anything of it is; and what is kept of
    those of each start."""
    before = recorded(settings) if state_file(settings).exists() else {}
    noted = settings.model_dump(mode="json", include={*FIXED, *KEPT}) | {name: before[name] for name in FIXED
                                                                        if name in before}
    if noted != before:
        settings.state_dir.mkdir(parents=True, exist_ok=True)
        files.replace(state_file(settings), json.dumps({"format": FORMAT, "settings": noted}, indent=1))


def state_file(settings: Settings) -> Path:
    return settings.state_dir / "state.json"


def is_used(folder: Path) -> bool:
    return folder.is_dir() and any(not entry.name.startswith(".") for entry in folder.iterdir())


def difference(name: str, before: Any, now: Any) -> str:
    return "" if name in SECRET else f": {before}, and now {now}"


def other_format(settings: Settings, found: object) -> StateRefused:
    return StateRefused(
        f"what instance {settings.instance} stored in {settings.state_dir} is of format {found}, and this version of "
        f"Murmuration uses format {FORMAT}: go on with the version that made it, {way_out(settings)}"
    )


def way_out(settings: Settings) -> str:
    return (
        f"bring its tweets into an instance beside it (`murmur up --instance NEW`, then `murmur ingest --source replay "
        f"--instance NEW FILE...` with the files below {settings.archive_dir}, the oldest first), or give up what it "
        f"stored, on every middleware (`murmur down --wipe --instance {settings.instance}`)"
    )
