from collections import Counter
from itertools import chain, pairwise
from pathlib import Path
from typing import get_args

import orjson
import pytest

from ingest.sources.base import Payload
from ingest.sources.content import Size, Workload
from ingest.sources.odd import Odd
from ingest.sources.phrases import LANGUAGES
from ingest.sources.synthetic import Synthetic, synthetic

WORKLOADS = get_args(Workload)
NOW = 1_790_000_000_123_456


def tweets(payloads: list[Payload]) -> list[dict]:
    return [orjson.loads(payload.body) for payload in payloads]


def times(count: int, start: int = NOW) -> list[int]:
    return [start + 100 * n for n in range(count)]


@pytest.mark.parametrize("workload", WORKLOADS)
def test_content_is_fixed_by_the_seed_alone(workload: Workload) -> None:
    """The same in groups of another size, in another run and at another time; another seed says something else."""
    first, second = Synthetic("one", seed=7, workload=workload), Synthetic("two", seed=7, workload=workload)
    texts = [tweet["data"]["text"] for tweet in tweets(first.take(times(3000)))]
    groups = [tweets(second.take(times(size, NOW * 2))) for size in (1, 1022, 2, 1975)]
    again = [tweet["data"]["text"] for group in groups for tweet in group]
    assert texts == again
    others = tweets(Synthetic("one", seed=8, workload=workload).take(times(3000)))
    assert texts != [tweet["data"]["text"] for tweet in others]


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("count", [0, 1, 1024, 2500, 4095, 4096, 20_480])
def test_skipping_leads_to_the_same_tweet(count: int, workload: Workload) -> None:
    whole, rest = Synthetic("run", workload=workload), Synthetic("run", workload=workload)
    expected = whole.take(times(20_500))[count:]
    rest.skip(count // 2)
    rest.skip(count - count // 2)
    assert rest.take(times(20_500)[count:]) == expected


@pytest.mark.parametrize("workload", WORKLOADS)
def test_what_is_made_ahead_is_the_same_and_comes_again(tmp_path: Path, workload: Workload) -> None:
    plain, ahead = Synthetic("run", workload=workload), Synthetic("run", workload=workload)
    plain.skip(300)
    ahead.skip(300)
    ahead.make_ahead(5000, tmp_path)
    assert ahead.take(times(5000)) == plain.take(times(5000))
    ahead.make_ahead(10, tmp_path)
    many = [tweet["data"]["text"] for tweet in tweets(ahead.take(times(10_000)))]
    assert many[:10] == [tweet["data"]["text"] for tweet in tweets(plain.take(times(10)))]
    assert many[10] in many[11:] or many[:10] == many[10:20]


def test_ids_are_unique_in_a_run_and_apart_between_runs() -> None:
    ids = {tweet["data"]["id"] for run in ("one", "two") for tweet in tweets(Synthetic(run).take([NOW] * 4096))}
    assert len(ids) == 2 * 4096
    assert all(0 < int(tweet_id) < 1 << 63 for tweet_id in ids)


def test_ids_and_dates_tell_the_scheduled_time() -> None:
    found = tweets(Synthetic("run").take([NOW, NOW + 1_000_000]))
    assert [tweet["data"]["created_at"] for tweet in found] == ["2026-09-21T14:13:20.123Z", "2026-09-21T14:13:21.123Z"]
    for tweet, sent in zip(found, (NOW, NOW + 1_000_000), strict=True):
        assert (int(tweet["data"]["id"]) >> 22) + 1_288_834_974_657 == sent // 1000


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("payload", ["lean", "full"])
def test_entities_point_at_what_they_name(payload: Size, workload: Workload) -> None:
    seen: Counter[str] = Counter()
    for tweet in tweets(Synthetic("run", payload=payload, workload=workload).take(times(5000))):
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


@pytest.mark.parametrize(("workload", "payload", "size"), [
    ("cached", "lean", 650), ("cached", "full", 2300), ("realistic", "lean", 790), ("realistic", "full", 2490)])
def test_size(workload: Workload, payload: Size, size: int) -> None:
    payloads = Synthetic("run", payload=payload, workload=workload).take(times(2000))
    assert sum(len(each.body) for each in payloads) / 2000 == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_the_routing_key_is_the_author(workload: Workload) -> None:
    for payload in Synthetic("run", workload=workload).take(times(50)):
        assert orjson.loads(payload.body)["data"]["author_id"] == payload.author_id


def test_hashtags_are_skewed_and_drift_and_every_language_comes() -> None:
    source = Synthetic("run", workload="cached")
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


@pytest.mark.parametrize("source", [
    Synthetic("run", 3, "full", "cached"), Synthetic("run", 3, languages={"de": 2, "ja": 1}), Odd("run", 3, 0.5)])
def test_its_options_make_the_same_source_again(source: Synthetic) -> None:
    again = synthetic("run", source.options())
    assert (type(again), again.options()) == (type(source), source.options())
    assert again.take(times(100)) == source.take(times(100))


def test_without_a_seed_a_run_says_what_no_other_says() -> None:
    """And goes on with the same, by the seed that its manifest tells."""
    def texts(source: Synthetic) -> list[str]:
        return [orjson.loads(payload.body)["data"]["text"] for payload in source.take(times(20))]

    one = synthetic("one", {"seed": None, "payload": "lean"})
    assert texts(synthetic("one", one.options())) == (said := texts(one))
    assert texts(synthetic("other", {"seed": None})) != said
    assert synthetic("one", {"seed": 0}).options()["seed"] == 0
