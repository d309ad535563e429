"""What Jetstream's frames say, as payloads: posts in the shape of X's v2 stream, deletions in that of its compliance
stream. Pure. The frames are those of the lexicon `network.bsky.jetstream.subscribeEvents`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from common.tweets import rfc3339
from ingest.sources.base import Payload, dump, key, parse
from ingest.sources.live import EARLIEST_US, Broken, identifier, is_address, microseconds, text_of

POSTS = "app.bsky.feed.post"
ADULT = frozenset(("porn", "sexual", "nudity", "graphic-media"))
"""Labels that authors put on their own posts, which are then left out."""

UNSETTLED = frozenset(("desynchronized", "throttled"))
"""States of an account that is not active only because servers are not in step; any other's posts are to go."""

FACETS = 100
"""So many of a post's are looked at, and of the features of each."""

CONTINUATION = bytes(range(0x80, 0xC0))
"""In UTF-8, the bytes of a character behind its first one."""

DID = re.compile(r"did:[a-z]{1,32}:[A-Za-z0-9._:%-]{1,256}")
RECORD_KEY = re.compile(r"[A-Za-z0-9._:~-]{1,512}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?=$|[-_])")


class Refused(Exception):
    """An error of the server's, by its name and what it says of it."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(f"{error}: {message}" if message else error)
        self.error = error


class Notice(NamedTuple):
    """What the server says of the stream."""

    name: str
    message: str


class Event(NamedTuple):
    """What happened at a place of a host's stream. Without a payload it is `left_out`, or of no interest."""

    seq: int
    time_us: int
    payload: Payload | None = None
    left_out: str = ""


def read(frame: bytes) -> Event | Notice:
    """Raises Broken, or Refused for an error of the server's."""
    value = parse(frame)
    if not isinstance(value, dict):
        raise Broken("it is no JSON object")
    if value.get("$type") == "error":
        name = text_of(value.get("error"))[:100] or "an error without a name"
        raise Refused(name, text_of(value.get("message"))[:500])
    event = value.get("payload")
    if value.get("$type") != "message" or not isinstance(event, dict):
        raise Broken("it is neither a message nor an error")
    kind = text_of(event.get("$type")).rpartition("#")[2]
    if kind == "info":
        return Notice(text_of(event.get("name"))[:100], text_of(event.get("message"))[:500])
    seq, did = event.get("seq"), event.get("did")
    if type(seq) is not int or not 0 <= seq < EARLIEST_US:
        raise Broken("it has no place in the stream")
    if not (isinstance(did, str) and DID.fullmatch(did)):
        raise Broken("it has no author")
    at = Event(seq, microseconds(event.get("time")))
    if kind == "commit":
        return _commit(at, did, event)
    return _account(at, did, event.get("account")) if kind == "account" else at


def _commit(at: Event, did: str, event: dict[str, Any]) -> Event:
    operation, rkey = event.get("operation"), event.get("rkey")
    if event.get("collection") != POSTS or not (isinstance(rkey, str) and RECORD_KEY.fullmatch(rkey)):
        raise Broken("it is about no post")
    post = identifier(did, rkey)
    if operation == "delete":
        deleted = {"event_at": rfc3339(at.time_us), "tweet": {"id": post, "author_id": did}}
        return at._replace(payload=_payload({"delete": deleted}, did))
    if operation == "update":
        return at._replace(left_out="updates")
    record = event.get("record")
    if operation != "create" or not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise Broken("it is no post")
    if not ADULT.isdisjoint(_labels(record.get("labels"))):
        return at._replace(left_out="adult")
    return at._replace(payload=_payload(_tweet(at, did, rkey, post, record), did))


def _account(at: Event, did: str, account: Any) -> Event:
    """The host's time is that of the deletion, as it is that of the posts: another clock might leave some of them."""
    if not isinstance(account, dict):
        raise Broken("it says nothing of the account")
    if account.get("active") is not False or text_of(account.get("status")) in UNSETTLED:
        return at
    deleted = {"event_at": rfc3339(at.time_us), "user": {"id": did}}
    return at._replace(payload=_payload({"user_delete": deleted}, did))


def _tweet(at: Event, did: str, rkey: str, post: str, record: dict[str, Any]) -> dict[str, Any]:
    text, url = record["text"], f"https://bsky.app/profile/{did}/post/{rkey}"
    if not is_address(url):  # without it nobody could tell that the account's deletion is about this post too
        raise Broken("its name is too long")
    return {
        "id": post, "author_id": did, "created_at": rfc3339(at.time_us), "text": text,
        "lang": _language(record.get("langs")), "entities": {"hashtags": list(_hashtags(text, record))},
        "url": url,
    }  # fmt: skip


def _payload(data: dict[str, Any], did: str) -> Payload:
    body = dump({"data": data})
    if body is None:
        raise Broken("it cannot be written")
    return Payload(body, body, key(did))


def _labels(labels: Any) -> set[str]:
    values = labels.get("values") if isinstance(labels, dict) else None
    return {text_of(each.get("val")) for each in _objects(values)}


def _language(langs: Any) -> str:
    first = langs[0] if isinstance(langs, list) and langs else None
    match = _LANGUAGE.match(first) if isinstance(first, str) else None
    return match[0].lower() if match else "und"


def _hashtags(text: str, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Those that are marked in the text, then those beside it, which have an empty place at its end."""
    written = text.encode("utf-8", "surrogatepass")
    for facet in islice(_objects(record.get("facets")), FACETS):
        tags = [text_of(feature.get("tag")) for feature in islice(_objects(facet.get("features")), FACETS)
                if feature.get("$type") == "app.bsky.richtext.facet#tag"]
        if any(tags):
            start, end = _place(written, facet.get("index"))
            yield from ({"start": start, "end": end, "tag": tag} for tag in tags if tag)
    beside = record.get("tags")
    for tag in islice(beside if isinstance(beside, list) else [], FACETS):
        if text_of(tag):
            yield {"start": len(text), "end": len(text), "tag": tag}


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Those of a list; none of what is no list."""
    return (each for each in (value if isinstance(value, list) else []) if isinstance(each, dict))


def _place(written: bytes, index: Any) -> tuple[int, int]:
    """From where to where, in characters: a facet counts the bytes of the text in UTF-8."""
    start, end = (_within(written, index.get(name) if isinstance(index, dict) else None)
                  for name in ("byteStart", "byteEnd"))
    return _characters(written[:start]), _characters(written[:max(start, end)])


def _within(written: bytes, at: Any) -> int:
    """What is no place is the end."""
    return at if type(at) is int and 0 <= at <= len(written) else len(written)


def _characters(written: bytes) -> int:
    """A byte within a character belongs to it as a whole: those that follow its first one do not count."""
    return len(written.translate(None, CONTINUATION))
