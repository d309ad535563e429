"""Reads the events of `tweets-raw` that are as they should be, by a parser that knows their shape.

It saves 3.1 µs of CPU per lean tweet and 5.0 per full one, of the 104 that a tweet costs in all. Whatever is unusual in
any way is left to raw.py; tests compare the two.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct

from common.text import hashtags, normal_hashtags
from common.tweets import Ingest
from spark_jobs.raw import INT64, UNDETERMINED, RawTweet, is_decimal, language_of, url_of


class _Tag(Struct, gc=False):
    tag: str


class _Entities(Struct, gc=False):
    hashtags: list[_Tag] | None = None


class _Data(Struct, gc=False):
    id: str
    text: str
    created_at: str
    author_id: str
    lang: str | None = None
    entities: _Entities | None = None
    url: str | None = None


class _Event(Struct, gc=False):
    ingest: Ingest
    data: _Data
    raw_base64: Any = UNSET
    oversize: Any = UNSET


_decode = msgspec.json.Decoder(_Event).decode


def is_utf8(raw: bytes) -> bool:
    """The parser looks at the characters of those strings only that it was asked for."""
    try:
        return raw.isascii() or raw.decode() is not None
    except UnicodeDecodeError:
        return False


def well_formed(raw: bytes, max_hashtags: int) -> RawTweet | None:
    """The tweet of an event that is UTF-8, with nothing unusual; None means that it has to be examined."""
    try:
        event = _decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None
    ingest, data = event.ingest, event.data
    tweet_id = int(data.id) if is_decimal(data.id) else INT64
    if not (event.raw_base64 is event.oversize is UNSET and tweet_id < INT64):
        return None
    listed = data.entities.hashtags if data.entities else None
    if listed is None:
        tags = hashtags(data.text, None, max_hashtags)
    else:
        tags = normal_hashtags([each.tag for each in listed], max_hashtags)
    lang = language_of(data.lang) if data.lang else UNDETERMINED
    url = url_of(data.url) if data.url else ""
    return RawTweet(ingest, tweet_id, data.created_at, data.author_id, lang, data.text, tags, url)
