"""Tweets for tests."""

from __future__ import annotations

from typing import Any

from common.text import clean_text
from common.tweets import EnrichedTweet, Ingest


def tweet(tweet_id: int, text: str = "a text", **other: Any) -> EnrichedTweet:
    content = {
        "tweet_id": tweet_id,
        "created_at": "2026-03-01T10:00:00.250Z",
        "author_id": "7",
        "lang": "en",
        "text": text,
        "clean_text": clean_text(text),
        "hashtags": [],
        "late": False,
        "ingest": Ingest(sent_at_us=1, source="test", run="r", seq=tweet_id),
    }
    return EnrichedTweet(**{**content, **other})
