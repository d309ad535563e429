from collections import Counter
from itertools import chain, pairwise

import orjson
import pytest

from ingest.sources.base import Payload
from ingest.sources.phrases import LANGUAGES
from ingest.sources.synthetic import Size, Synthetic

NOW = 1_790_000_000_123_456


def tweets(payloads: list[Payload]) -> list[dict]:
    return [orjson.loads(payload.body) for payload in payloads]


def times(count: int, start: int = NOW) -> list[int]:
    return [start + 100 * n for n in range(count)]


def test_content_is_fixed_by_the_seed_alone() -> None:
    """The same in groups of another size, in another run and at another time; another seed says something else."""
    first, second = Synthetic("one", seed=7), Synthetic("two", seed=7)
    texts = [tweet["data"]["text"] for tweet in tweets(first.take(times(3000)))]
    groups = [tweets(second.take(times(size, NOW * 2))) for size in (1, 1022, 2, 1975)]
    again = [tweet["data"]["text"] for group in groups for tweet in group]
    assert texts == again
    assert texts != [tweet["data"]["text"] for tweet in tweets(Synthetic("one", seed=8).take(times(3000)))]


@pytest.mark.parametrize("count", [0, 1, 1024, 2500])
def test_skipping_leads_to_the_same_tweet(count: int) -> None:
    whole, rest = Synthetic("run"), Synthetic("run")
    expected = whole.take(times(2600))[count:]
    rest.skip(count)
    assert rest.take(times(2600)[count:]) == expected


def test_ids_are_unique_in_a_run_and_apart_between_runs() -> None:
    ids = {tweet["data"]["id"] for run in ("one", "two") for tweet in tweets(Synthetic(run).take([NOW] * 4096))}
    assert len(ids) == 2 * 4096
    assert all(0 < int(tweet_id) < 1 << 63 for tweet_id in ids)


def test_ids_and_dates_tell_the_scheduled_time() -> None:
    found = tweets(Synthetic("run").take([NOW, NOW + 1_000_000]))
    assert [tweet["data"]["created_at"] for tweet in found] == ["2026-09-21T14:13:20.123Z", "2026-09-21T14:13:21.123Z"]
    for tweet, sent in zip(found, (NOW, NOW + 1_000_000), strict=True):
        assert (int(tweet["data"]["id"]) >> 22) + 1_288_834_974_657 == sent // 1000


@pytest.mark.parametrize("payload", ["lean", "full"])
def test_entities_point_at_what_they_name(payload: Size) -> None:
    seen: Counter[str] = Counter()
    for tweet in tweets(Synthetic("run", payload=payload).take(times(3000))):
        text, entities = tweet["data"]["text"], tweet["data"]["entities"]
        for entity in entities.get("hashtags", []):
            assert text[entity["start"]:entity["end"]] == "#" + entity["tag"]
        for entity in entities.get("mentions", []):
            assert text[entity["start"]:entity["end"]] == "@" + entity["username"]
        for entity in entities.get("urls", []):
            assert text[entity["start"]:entity["end"]] == entity["url"]
        tags = [entity["tag"] for entity in entities.get("hashtags", [])]
        assert len(tags) == len(set(tags))
        seen.update(entities.keys())
        seen["retweets"] += text.startswith("RT @")
        seen["emoji"] += any(character > "\U0001f000" for character in text)
    assert min(seen[kind] for kind in ("hashtags", "mentions", "urls", "retweets", "emoji")) > 100


@pytest.mark.parametrize(("payload", "size"), [("lean", 650), ("full", 2300)])
def test_size(payload: Size, size: int) -> None:
    payloads = Synthetic("run", payload=payload).take(times(2000))
    assert sum(len(each.body) for each in payloads) / 2000 == pytest.approx(size, rel=0.1)


def test_the_routing_key_is_the_author() -> None:
    for payload in Synthetic("run").take(times(50)):
        assert orjson.loads(payload.body)["data"]["author_id"] == payload.author_id


def test_hashtags_are_skewed_and_drift_and_every_language_comes() -> None:
    source = Synthetic("run")
    found = tweets(source.take(times(82_000)))
    tags = [[tag["tag"] for tag in tweet["data"]["entities"].get("hashtags", [])] for tweet in found]
    stretches = [Counter(chain.from_iterable(tags[start:start + 20_480])) for start in range(0, 81_920, 20_480)]
    for stretch in stretches:
        ranked = [count for _, count in stretch.most_common()]
        assert len(ranked) > 200
        assert ranked[0] > 15 * ranked[len(ranked) // 2]
    favourites = [{tag for tag, _ in stretch.most_common(10)} for stretch in stretches]
    assert all(one != other for one, other in pairwise(favourites))
    assert {tweet["data"]["lang"] for tweet in found} == set(LANGUAGES)
