"""Tweets that are late, repeated or broken, by a share."""

from collections import Counter
from datetime import datetime

import orjson
import pytest

from ingest.sources.base import Payload
from ingest.sources.odd import LATE, Odd
from ingest.sources.synthetic import Synthetic

NOW = 1_790_000_000_000_000
TWEETS = 6000
TIMES = [NOW + 1000 * n for n in range(TWEETS)]


def kind(odd: Payload, sound: Payload, before: set[bytes]) -> str:
    if odd == sound:
        return "sound"
    if odd.body in before:
        return "repeated"
    try:
        data = orjson.loads(odd.tweet or b"")["data"]
        tweet_id, text = int(data["id"]), data["text"]
    except (KeyError, ValueError):
        return "broken"
    expected = orjson.loads(sound.body)["data"]
    assert text == expected["text"]
    assert data["created_at"] < expected["created_at"]
    assert tweet_id < int(expected["id"])
    return "late"


def kinds(share: float) -> Counter[str]:
    odd, sound = Odd("run", 5, share).take(TIMES), Synthetic("run", 5).take(TIMES)
    before: set[bytes] = set()
    found: Counter[str] = Counter()
    for one, other in zip(odd, sound, strict=True):
        found[kind(one, other, before)] += 1
        before.add(one.body)
    return found


def test_without_a_share_all_are_sound() -> None:
    assert kinds(0.0) == {"sound": TWEETS}


def test_each_kind_has_a_third_of_the_share() -> None:
    found = kinds(0.3)
    assert {name: count / TWEETS for name, count in found.items()} == pytest.approx(
        {"sound": 0.7, "late": 0.1, "repeated": 0.1, "broken": 0.1}, abs=0.02)


def test_half_of_the_late_ones_are_late_by_more_than_a_minute() -> None:
    late = [sent - datetime.fromisoformat(orjson.loads(payload.body)["data"]["created_at"]).timestamp() * 1e6
            for sent, payload, (kind, _) in zip(TIMES, Odd("run", 5, 0.3).take(TIMES), Odd("run", 5, 0.3)._kinds,
                                                strict=False) if kind == LATE]
    assert min(late) >= 999_000
    assert max(late) <= 3_600_001_000
    assert sum(each > 60_000_000 for each in late) / len(late) == pytest.approx(0.5, abs=0.06)


def test_only_a_repeated_one_has_the_id_of_another() -> None:
    bodies = {payload.body for payload in Odd("run", 5, 0.5).take(TIMES) if payload.tweet}
    ids = [data["id"] for data in (orjson.loads(body).get("data") for body in bodies) if data]
    assert len(ids) == len(set(ids))


def test_which_ones_are_odd_does_not_depend_on_the_groups() -> None:
    whole, rest = Odd("run", 5, 0.3), Odd("run", 5, 0.3)
    expected = whole.take(TIMES)
    rest.skip(1500)
    found = [*rest.take(TIMES[1500:1501]), *rest.take(TIMES[1501:])]
    settled = next(n for n, each in enumerate(found) if each == expected[1500 + n])
    assert found[settled + 20:] == expected[1520 + settled:]
