"""Tweets as they should not be, and bytes that are none: from a seed, each one different, cheap enough for a fuzzer."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

Tweet = dict[str, Any]
Oddity = Callable[[random.Random, Tweet], bytes | None]
"""Spoils a tweet in place; returns bytes where the result is no longer JSON of that tweet."""

ODD_CHARACTERS = "\0\x01\x1f\x7f\x85\u200b\u200d\u202e\u2028\ufeff\ufffd\uffff\U0010fffd😀👩‍👩‍👧ﬁİıſß①Ａ٣कि"
SURROGATES = "\ud800\udbff\udc00\udfff"
ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1 << 63, -(1 << 63) - 1, 10**400, 0.5, -0.0, "", " ", "\0", "x" * 70_000, [], {}, [[]],
    [None], {"": ""}, {"\ud800": "\udfff"}, "NaN", "9" * 19, "9" * 400, "١٢٣", "+5", "0x10", "1_000",
]
ODD_TIMES = [
    "0000-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2026-02-30T00:00:00Z",
    "2016-12-31T23:59:60Z", "1969-12-31T23:59:59Z", "2026-01-01", "2026-01-01T00:00:00+23:59", "yesterday", "",
    "2026-01-01T00:00:00.123456789Z", "٢٠٢٦-01-01T00:00:00Z",
]


def payloads(seed: int) -> Iterator[bytes]:
    """One payload after the other: about half of them sound tweets with odd content, the rest spoilt in some way."""
    chance = random.Random(seed)
    number = 0
    while True:
        tweet = sound(chance, number)
        spoil = chance.choice(SPOILT) if chance.random() < 0.5 else None
        spoilt = spoil(chance, tweet) if spoil else None
        yield (as_json(chance, tweet) if spoilt is None else spoilt).replace(b"\n", b" ")
        number += 1


def sound(chance: random.Random, number: int) -> Tweet:
    """A tweet that is accepted, dated to now, with an id as other data sets have them."""
    ids = [number + 1, chance.getrandbits(62) + 1, (int(time.time() * 1000) - 1_288_834_974_657) << 22 | number % 4096]
    tags = [text(chance, 12) for _ in range(chance.choice([0, 1, 2, 5, 300]))]
    return {"data": {
        "id": str(chance.choice(ids)),
        "text": f"{number} {text(chance, 200)} " + " ".join(f"#{tag}" for tag in tags[:3]),
        "author_id": chance.choice([str(number % 97), text(chance, 8), "\ud800", ""]),
        "created_at": written(-chance.choice([0, 0, 5, 3600])),
        "lang": chance.choice(["en", "und", "", "x" * 40, "\0"]),
        "entities": {"hashtags": [{"start": 0, "end": 1, "tag": tag} for tag in tags]},
    }}


def written(seconds: float) -> str:
    """The time so many seconds from now, as X writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + seconds))


def text(chance: random.Random, length: int) -> str:
    alphabet = chance.choice(["abc ", "aé漢 &amp;", ODD_CHARACTERS, ODD_CHARACTERS + SURROGATES])
    return "".join(chance.choices(alphabet, k=chance.randrange(length)))


def as_json(chance: random.Random, value: Any) -> bytes:
    """Lone surrogates survive as escapes, or as bytes that are no UTF-8."""
    if chance.random() < 0.7:
        return json.dumps(value, ensure_ascii=True).encode()
    return json.dumps(value, ensure_ascii=False).encode("utf-8", chance.choice(["replace", "surrogatepass"]))


def odd_field(chance: random.Random, tweet: Tweet) -> None:
    tweet["data"][chance.choice(list(tweet["data"]))] = chance.choice(ODD_VALUES)


def missing_field(chance: random.Random, tweet: Tweet) -> None:
    del tweet["data"][chance.choice(list(tweet["data"]))]


def odd_time(chance: random.Random, tweet: Tweet) -> None:
    tweet["data"]["created_at"] = chance.choice(ODD_TIMES)


def future(chance: random.Random, tweet: Tweet) -> None:
    tweet["data"]["created_at"] = written(chance.randrange(3600, 10**8))


def odd_entities(chance: random.Random, tweet: Tweet) -> None:
    tweet["data"]["entities"] = {"hashtags": [{chance.choice(["tag", "x"]): chance.choice(ODD_VALUES)}]}


def own_stamp(chance: random.Random, tweet: Tweet) -> None:
    tweet["ingest"] = chance.choice([{"run": "other", "seq": 5}, *ODD_VALUES])


def other_keys(chance: random.Random, tweet: Tweet) -> None:
    tweet[chance.choice(["raw_base64", "oversize", "includes", "\ud800", ""])] = chance.choice(ODD_VALUES)


def odd_whole(chance: random.Random, tweet: Tweet) -> bytes:
    return as_json(chance, [tweet, chance.choice(ODD_VALUES)])


def repeated_key(chance: random.Random, tweet: Tweet) -> bytes:
    return b'{"data":%b,"data":%b}' % (as_json(chance, tweet["data"]), as_json(chance, chance.choice(ODD_VALUES)))


def nested(chance: random.Random, tweet: Tweet) -> bytes:
    depth = chance.choice([10, 200, 1100, 20_000])
    opening, closing = chance.choice([(b"[", b"]"), (b'{"a":', b"}")])
    inner = b"0" if opening != b"[" else b""
    return as_json(chance, tweet)[:-1] + b',"deep":' + opening * depth + inner + closing * depth + b"}"


def no_json(chance: random.Random, tweet: Tweet) -> bytes:
    whole = as_json(chance, tweet)
    return chance.choice([
        whole[: chance.randrange(1, len(whole))], b"\xef\xbb\xbf" + whole, whole + whole,
        b'{"data":NaN,"n":%d}' % chance.getrandbits(40),
        whole.replace(b'"id": "', b'"id": Infinity, "was": "'), whole.replace(b": ", b"\0: "), b"\xff" + whole,
    ])


def large(chance: random.Random, tweet: Tweet) -> None:
    """Too large itself, or too large once it is enriched: seldom, for the sake of the others."""
    if chance.random() < 0.02:
        tweet["data"]["text"] += "x" * chance.choice([600_000, 1_100_000])


def noise(chance: random.Random, tweet: Tweet) -> bytes:
    return chance.randbytes(chance.randrange(8, 400)) + b"x"


SPOILT: list[Oddity] = [
    odd_field, odd_field, missing_field, odd_time, future, odd_entities, own_stamp, other_keys, odd_whole, repeated_key,
    nested, no_json, large, noise,
]
