"""What a source of tweets is. A new one implements `take`; everything after it is shared."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import orjson

from common.tweets import KEY_CHARACTERS, SourceKind

KINDS: Mapping[str, SourceKind] = {
    "bluesky": "live", "wikimedia": "live", "x": "live", "http": "pushed", "replay": "recorded",
    "synthetic": "invented",
}
"""By name, what is known of the sources before one of them is imported, and of runs that ended."""

LIVE = frozenset(name for name, kind in KINDS.items() if kind == "live")
"""Sources of what people write."""

KEYLESS = ("bluesky", "wikimedia")
"""Those of LIVE that want no key, and go on where they were left."""

GROUP_BYTES = 16 << 20
"""A source that does not know how large its payloads are ends a group at this size."""


RESERVED = frozenset(("ingest", "raw_base64", "oversize"))
"""Names of ours, beside which a payload's own fields stand in an event."""

AUTHORS = (("data", "author_id"), ("data", "delete", "tweet", "author_id"), ("data", "user_delete", "user", "id"))
"""Where a payload tells its author: a tweet, the deletion of one, that of an account."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Payload(NamedTuple):
    """One tweet as it came. `tweet` is the JSON object to publish, None if `body` cannot be published as one.

    `author_id` is the routing key, which every middleware can take. `position` is where a source goes on that can be
    had from there again: the event of this payload is then the first to come. Empty: it cannot.
    """

    body: bytes
    tweet: bytes | None
    author_id: str
    position: str = ""


class Source(ABC):
    """Yields payloads in order, from one thread."""

    name: str
    ended = False
    """Whether nothing comes any more."""

    @abstractmethod
    def take(self, sent_at_us: Sequence[int]) -> list[Payload]:
        """Next payloads, at most one for each time (µs) at which one is meant to be sent; does not block for long."""

    def skip(self, count: int) -> None:
        """Passes over the payloads that an earlier process took. Sources that cannot be repeated need not."""
        raise NotImplementedError(f"a run of {self.name} cannot be continued")

    def rest(self) -> list[Payload]:
        """What was received and not taken; afterwards nothing comes any more. Empty where it can be had again."""
        return []

    def options(self) -> dict[str, Any]:
        """What makes the same source again; JSON."""
        return {}

    def left_out(self) -> Mapping[str, int]:
        """How much of what came is no payload, by the reason why; may be asked while the source is taken from."""
        return {}

    def problem(self) -> str:
        """What keeps it from bringing anything, for those who wait; empty: nothing does. May be asked like left_out."""
        return ""

    def close(self) -> None:  # noqa: B027  (most sources hold nothing open)
        """Ends what feeds the source."""


def examine(body: bytes) -> Payload:
    """Payload of bytes from outside, whatever they are. What they bring along under names of ours is taken off."""
    body = body.strip(b" \t\r\n")
    parsed = parse(body)
    if not isinstance(parsed, dict):
        return Payload(body, None, "")
    tweet: bytes | None = body
    if not RESERVED.isdisjoint(parsed):
        tweet = dump({name: value for name, value in parsed.items() if name not in RESERVED})
    elif not parsed:
        tweet = b"{}"
    return Payload(body, tweet, key(_author(parsed)))


def _author(parsed: dict[str, Any]) -> str:
    """Of a tweet, or of what a deletion is about, which so comes behind it; empty where it is no string."""
    for path in AUTHORS:
        value: Any = parsed
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, str):
            return value
    return ""


def key(text: str) -> str:
    """A routing key: such as UTF-8 can hold, and of bounded length."""
    text = text[:KEY_CHARACTERS]
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def parse(body: bytes) -> Any:
    """The JSON value, or None. Unlike orjson alone, takes lone surrogates (`\\ud800`), which X's stream may hold."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        if b"\\u" not in body:
            return None
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None


def dump(value: Any) -> bytes | None:
    """The value of `parse` as JSON; None if it cannot be written: nested too deeply, or a number that is none."""
    try:
        return orjson.dumps(value)
    except TypeError:  # a lone surrogate, an integer beyond 64 bits, or deeper than orjson writes
        pass
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, RecursionError):
        return None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
