"""Settings of stream stores that matter to a comparison: what is equal, what is each store's own and why, and what its
documentation recommends otherwise. Values are read from what is in use, as far as a file or a client tells them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from common.settings import Settings

ELSEWHERE = "not known: the server runs elsewhere"


class Source(NamedTuple):
    """A page of the store's own documentation."""

    title: str
    address: str


JAVA = Source("The java command, -XX:+TieredCompilation",
              "https://docs.oracle.com/en/java/javase/17/docs/specs/man/java.html")


@dataclass(frozen=True)
class Setting:
    """One that is in use, by the name that the store gives it."""

    name: str
    value: str
    why: str
    source: Source


@dataclass(frozen=True)
class Alternative:
    """What the store's documentation recommends or offers and is not in use: `effect` says what would change, or why
    it is not. `by_tuning`: it is in use where `store_tuning` is `documented`."""

    name: str
    value: str
    recommended: str
    effect: str
    source: Source
    by_tuning: bool = False


@dataclass(frozen=True)
class Compared:
    """Of one store."""

    settings: tuple[Setting, ...]
    alternatives: tuple[Alternative, ...]


NOTHING = Compared((), ())


class Equal(NamedTuple):
    """A setting of ours, which is the same on every store."""

    name: str
    value: str
    why: str


def equal(settings: Settings) -> tuple[Equal, ...]:
    """Those of which each binding makes the store's own."""
    compression = "none" if settings.store_tuning == "laptop" else "none, unless among the store's own settings"
    trigger = f"{settings.max_events_per_trigger} events" if settings.max_events_per_trigger else "each binding's own"
    return (
        Equal("durability", settings.durability, "what an acknowledgement means: on disk, or in the page cache"),
        Equal("replicas", str(settings.replicas), "copies of each event"),
        Equal("partitions", str(settings.partitions), "segments or partitions of each stream"),
        Equal("stream_retention_bytes", f"{settings.stream_retention_bytes:,}", "bound of each stream"),
        Equal("max_event_bytes", f"{settings.max_event_bytes:,}", "largest event"),
        Equal("publish_group_ms", str(settings.publish_group_ms), "how long the publisher groups events, in ms"),
        Equal("compression", compression, "of what is sent and stored; tweets are compressed in the archive alone"),
        Equal("trigger_interval_ms", str(settings.trigger_interval_ms), "interval of enrich's micro-batches, in ms"),
        Equal("max_events_per_trigger", trigger, "what a micro-batch reads at most"),
    )


def configured(settings: Settings, file: str, key: str, unset: str) -> str:
    """What the configuration file of a local server says of a key, in the form `key=value` or `key: value`; `unset`
    where it does not name it, and ELSEWHERE where there is no such file. Raises OSError for one that cannot be read."""
    path = settings.state_dir / "conf" / file
    if not path.exists():
        return ELSEWHERE
    wanted = re.compile(rf"(?<![\w.]){re.escape(key)}\s*[=:]\s*\"?([^\s\"}}]+)")
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith(("#", "!"))]
    found = [match[1] for line in lines if (match := wanted.search(line))]
    return found[-1] if found else unset


def in_use(found: Compared, settings: Settings) -> Compared:
    """Where the documented tuning is chosen, what it takes of the alternatives stands among the settings, once."""
    if settings.store_tuning != "documented":
        return found
    taken = {each.name: Setting(each.name, each.value, f"documented: {each.recommended}; {each.effect}", each.source)
             for each in found.alternatives if each.by_tuning}
    others = tuple(each for each in found.settings if each.name not in taken)
    return Compared(others + tuple(taken.values()), tuple(each for each in found.alternatives if not each.by_tuning))


def as_json(found: Compared, settings: Settings) -> dict[str, Any]:
    """As it is written to results."""
    return {"equal": [each._asdict() for each in equal(settings)], **asdict(in_use(found, settings))}
