"""Edits of Wikimedia's wikis as they are made, from EventStreams over server-sent events: without a key.

The position of a payload is the id that the server gave its event, with which it is asked to go on.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import requests

from common.settings import Settings
from common.tweets import rfc3339
from ingest.sources.base import Payload, dump, key, parse
from ingest.sources.live import (
    USER_AGENT,
    Broken,
    Interrupted,
    Live,
    identifier,
    is_address,
    microseconds,
    text_of,
)
from ingest.sources.sse import events

log = logging.getLogger(__name__)

PATH = "/v2/stream/recentchange"
CONNECT_SECONDS = 5.0
CHUNK_BYTES = 4096
ID = re.compile(r"[\x20-\x7e]{1,600}")
"""What can be sent back as a header, and fits into a stamp that is read at a glance."""

EDITS = frozenset(("edit", "new"))
TITLE_TAGS = 5
_TITLE_WORD = re.compile(r"[^\W\d_]{2}[\w'’]{1,48}")
_WIKI = re.compile(
    r"([a-z]{2,3}|simple)(?:-[a-z-]+)?\.(?:m\.)?"
    r"(?:wikipedia|wiktionary|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage)\.org"
)


class Change(NamedTuple):
    """What an event is: a payload, or why it is none."""

    payload: Payload | None
    left_out: str = ""


class Wikimedia(Live):
    """Edits and new pages of all wikis. What was deleted there is not told."""

    name = "wikimedia"
    reasons = (*Live.reasons, "canaries", "no edits")

    def __init__(
        self, settings: Settings, archived: Sequence[Payload] = (), since_us: int | None = None, scale: float = 1.0
    ) -> None:
        super().__init__(archived, since_us, scale)
        self._url = settings.wikimedia_url.rstrip("/") + PATH
        self._timeouts = CONNECT_SECONDS, settings.live_silence_s
        self._last_id = self._start
        self._thread.start()

    @property
    def server(self) -> str:
        return self._url

    def connect(self) -> None:
        headers = {"User-Agent": USER_AGENT, "Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if self._last_id:
            headers["Last-Event-ID"] = self._last_id
        since = {"since": rfc3339(self._since_us)} if self._since_us and not self._last_id else {}
        try:
            with requests.get(self._url, since, headers=headers, stream=True, timeout=self._timeouts,
                              allow_redirects=False) as response:
                self._check(response)
                for sent in events(self._chunks(response)):
                    if sent and sent.data:
                        self._take_in(sent.id, sent.data)
        except (requests.RequestException, OSError, ValueError) as error:
            raise Interrupted(str(error)) from error
        raise Interrupted("closed")

    def _check(self, response: requests.Response) -> None:
        if response.status_code == 400 and self._last_id:
            log.warning("%s: the server does not go on where it was left (%s): what came since is missing",
                        self.name, self._last_id)
            self._last_id = ""
        if response.status_code != 200:
            raise Interrupted(f"HTTP {response.status_code}")

    def _chunks(self, response: requests.Response) -> Iterator[bytes]:
        for chunk in response.iter_content(CHUNK_BYTES):
            if self._closing.is_set():
                return
            yield chunk

    def _take_in(self, event_id: bytes, data: bytes) -> None:
        self.came()
        try:
            change = read(data)
        except Broken:
            self.leave_out("broken")
            return
        written = event_id.decode("latin-1")
        if ID.fullmatch(written):
            self._last_id = written
        if change.payload:
            self.receive(change.payload._replace(position=self._last_id))
        else:
            self.leave_out(change.left_out)


def read(data: bytes) -> Change:
    """A change, in the shape of X's v2 stream. Raises Broken."""
    change = parse(data)
    meta = change.get("meta") if isinstance(change, dict) else None
    if not isinstance(meta, dict):
        raise Broken("it has no meta")
    domain = text_of(meta.get("domain"))
    if domain == "canary":
        return Change(None, "canaries")
    kind, title, user, event_id = (text_of(each) for each in (
        change.get("type"), change.get("title"), change.get("user"), meta.get("id")))
    if kind and kind not in EDITS:
        return Change(None, "no edits")
    if not (kind and title and user and event_id):
        raise Broken("it is no edit")
    comment, url = text_of(change.get("comment")).strip(), meta.get("uri")
    hashtags = list(_hashtags(title, bool(change.get("namespace"))))
    body = dump({"data": {
        "id": identifier(event_id), "author_id": user, "created_at": rfc3339(microseconds(meta.get("dt"))),
        "text": f"{title}: {comment}" if comment else title, "lang": language(domain),
        "entities": {"hashtags": hashtags}, **({"url": url} if is_address(url) else {}),
    }})  # fmt: skip
    if body is None:
        raise Broken("it cannot be written")
    return Change(Payload(body, body, key(user)))


def language(domain: str) -> str:
    """That of a wiki, by its address: the first label of those that are there in many languages."""
    match = _WIKI.fullmatch(domain)
    if not match:
        return "und"
    return "en" if match[1] == "simple" else match[1]


def _hashtags(title: str, is_in_namespace: bool) -> Iterator[dict[str, Any]]:
    """The first words of the title, behind the name of its namespace, and where they are in the text."""
    begins = title.find(":") + 1 if is_in_namespace else 0
    for word in islice(_TITLE_WORD.finditer(title, begins), TITLE_TAGS):
        yield {"start": word.start(), "end": word.end(), "tag": word[0]}
