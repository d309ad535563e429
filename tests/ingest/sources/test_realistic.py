"""The realistic workload: held against figures of real tweets, and what makes it so."""

from __future__ import annotations

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.settings import Settings
from common.text import clean_text, hashtags
from ingest.sources.phrases import load_topics, make_users
from ingest.sources.realistic import ahead
from ingest.sources.realistic.characters import Characters
from ingest.sources.realistic.outbreaks import LASTING, STRETCH, Spread
from ingest.sources.realistic.texts import Texts
from ingest.sources.realistic.vocabulary import LANGUAGES, RANKED, SYLLABIC, vocabulary
from ingest.sources.synthetic import Synthetic
from search.encoder import Encoder
from tests.ingest.sources import tweet_figures
from tests.ingest.sources.tweet_figures import GROWTH, QUANTILES, RANKS, between, quantiles, share_below

REAL_TWEETS = "REAL_TWEETS"
"""Variable of the environment."""

NOW = 1_790_000_000_000_000
TWEETS = 900
"""Of one sample: somewhat more than the larger set of real ones."""

SEEDS = (21, 22, 23, 24, 25, 26)
PLACES = (0, 50_000, 200_000, 700_000)
MANY = 2_400_000
SHARES = ("retweet", "url", "mention", "pictograph", "clean_text_seen_before", "no_hashtag")


def taken(seed: int, count: int, skip: int = 0, **options: Any) -> list[dict[str, Any]]:
    source = Synthetic("run", seed, **options)
    source.skip(skip)
    return tweet_figures.tweets_of(payload.body for payload in source.take([NOW] * count))


@pytest.fixture(scope="module")
def samples() -> list[dict[str, Any]]:
    return [tweet_figures.figures(taken(seed, TWEETS, skip)) for seed in SEEDS for skip in PLACES]


def mean(samples: list[dict[str, Any]], *path: Any) -> float:
    def value(sample: Any) -> float:
        for name in path:
            sample = sample[name]
        return float(sample)

    return sum(map(value, samples)) / len(samples)


def test_the_intervals_are_those_of_the_numbers() -> None:
    for each in tweet_figures.real_sets().values():
        assert {name: tuple(found) for name, found in each["intervals"].items()} == tweet_figures.intervals(each)


@pytest.mark.parametrize("words", GROWTH)
def test_the_vocabulary_grows_as_that_of_real_tweets(samples: list[dict[str, Any]], words: int) -> None:
    low, high = between(f"different_words_after.{words}")
    assert low <= mean(samples, "different_words_after", words) <= high


@pytest.mark.parametrize("name", SHARES)
def test_shares_are_those_of_real_tweets(samples: list[dict[str, Any]], name: str) -> None:
    low, high = between(f"share.{name}")
    assert low <= mean(samples, "share", name) <= high


@pytest.mark.parametrize("name", ["hashtags_per_tweet", "hashtags_different_per_tweet"])
def test_there_are_as_many_hashtags(samples: list[dict[str, Any]], name: str) -> None:
    low, high = between(name)
    assert low <= mean(samples, name) <= high


@pytest.mark.parametrize("rank", RANKS)
def test_hashtags_are_as_skewed(samples: list[dict[str, Any]], rank: int) -> None:
    low, high = between(f"share_with_hashtag_of_rank.{rank}")
    assert low <= mean(samples, "share_with_hashtag_of_rank", rank) <= high


@pytest.mark.parametrize("percent", QUANTILES)
@pytest.mark.parametrize("unit", ["characters", "words"])
def test_lengths_are_those_of_real_tweets(samples: list[dict[str, Any]], unit: str, percent: int) -> None:
    """Not too many are below the lowest quantile of the sets, and not too few below the highest or at it."""
    (lowest, highest), (low, high) = quantiles(unit, percent), between(f"{unit}_below.{percent}")
    below, up_to = (np.mean([share_below(sample[unit], length) for sample in samples])
                    for length in (lowest, highest + 1))
    assert below <= high
    assert up_to >= low


@pytest.mark.parametrize("mix", [LANGUAGES, {"en": 0.83, "ko": 0.09, "es": 0.05, "in": 0.03}, {"ja": 1}])
def test_languages_have_the_shares_that_are_asked_for(mix: dict[str, float]) -> None:
    found = Counter(tweet["lang"] for tweet in taken(3, 20_000, languages=mix))
    assert set(found) == set(mix)
    for language, share in mix.items():  # outbreaks and what is passed on are few, and each has one language
        assert found[language] / 20_000 == pytest.approx(share / sum(mix.values()), abs=0.12)


@pytest.mark.skipif(REAL_TWEETS not in os.environ, reason=f"{REAL_TWEETS} names no file of real tweets")
def test_real_tweets_have_the_figures_that_are_written_down() -> None:
    """The measuring itself, on the sample of 300, as JSON lines."""
    lines = Path(os.environ[REAL_TWEETS]).read_bytes().splitlines()
    found, real = tweet_figures.figures(tweet_figures.tweets_of(lines)), tweet_figures.real_sets()["sample_of_300"]
    assert found["different_words_after"] == pytest.approx(
        {int(n): count for n, count in real["different_words_after"].items()}, abs=3)
    for unit in ("characters", "words"):
        assert np.quantile(found[unit], np.array(QUANTILES) / 100) == pytest.approx(
            real[f"{unit}_quantiles_5_25_50_75_95"], abs=1)
    assert {name: found["share"][name] for name in SHARES} == pytest.approx(
        {name: real["share"][name] for name in SHARES}, abs=0.01)
    assert found["hashtags_per_tweet"] == pytest.approx(real["hashtags_per_tweet_mean"], abs=0.01)
    assert found["languages"] == pytest.approx(real["languages"], abs=0.001)


def test_no_text_comes_twice_but_in_retweets() -> None:
    assert repeated(taken(77, 40_000)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_short_texts_differ(language: str) -> None:
    texts = [tweet for tweet in taken(5, 10_000, languages={language: 1}) if len(tweet["text"]) < 70]
    assert len(texts) > 300
    assert repeated(texts) == []


def repeated(tweets: list[dict[str, Any]]) -> list[str]:
    own = Counter(clean_text(tweet["text"]) for tweet in tweets if not tweet["text"].startswith("RT @"))
    return [text for text, count in own.items() if count > 1]


def test_what_a_hashtag_is_in_text_and_entities_is_one() -> None:
    for tweet in taken(9, 5000):
        listed = hashtags(tweet["text"], tweet["entities"])
        assert set(hashtags(tweet["text"])) <= set(listed)
        assert len(listed) == len({tag["tag"].casefold() for tag in tweet["entities"].get("hashtags", [])})


def test_a_tweet_is_as_long_as_x_allows() -> None:
    for tweet in taken(10, 5000):
        text = tweet["text"]
        assert len(text) <= (140 if text.startswith("RT @") or tweet["lang"] in SYLLABIC else 280)
        assert clean_text(text) != ""


@pytest.mark.parametrize("language", LANGUAGES)
def test_new_words_follow_the_characters_of_their_language(language: str) -> None:
    """Whatever stands side by side in one that is made up does so in one of the language's own, or where two meet."""
    words = vocabulary(language)
    known = [word.lower() for word in words._known]
    pairs = {pair for word in known for pair in zip(f" {word}", f"{word} ", strict=True)}
    made = Characters(known, 3 - words.width).words(np.random.default_rng(8), 5000)
    assert {pair for word in made for pair in zip(f" {word}", f"{word} ", strict=True)} <= pairs
    assert len(set(made)) > 1000 or words.width == 2
    new = words.new(np.random.default_rng(9), 5000)
    assert len(set(new)) > 2400
    assert sum(word.isdigit() for word in new) < 500
    assert all(word and not set(word) & set(' "\\\\%@#') for word in new)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_has_one_rank(language: str) -> None:
    ranked = vocabulary(language).words[:RANKED].tolist()
    assert len(ranked) == len(set(ranked)) == RANKED


@given(st.floats(0, 1, exclude_max=True))
def test_every_draw_has_a_rank_or_none(uniform: float) -> None:
    (rank,) = vocabulary("en").ranks(np.array([uniform]))
    assert -1 <= rank < RANKED


@pytest.fixture(scope="module")
def spread() -> Spread:
    topics, users = load_topics(), make_users(np.random.default_rng(1))
    shares = np.array(list(LANGUAGES.values()))
    return Spread(4, Texts(list(LANGUAGES), topics, users), list(LANGUAGES), shares / shares.sum(), topics, users)


def test_a_topic_breaks_out_and_fades(spread: Spread) -> None:
    found = [each for stretch in range(60) if (each := spread.outbreak(stretch))]
    assert 30 < len(found) < 55
    assert any(each.language >= 0 for each in found)
    assert any(each.language < 0 for each in found)
    for each in found:
        share = each.share(each.begins + np.arange(-100, LASTING * STRETCH))
        assert (share[0], share.max()) == (0, pytest.approx(each.peak, rel=0.01))
        assert share[-STRETCH:].max() < 0.05 * each.peak


def test_an_outbreak_spreads_through_replies_and_retweets_in_its_language() -> None:
    """One that stays within a language, found in the tweets around its height by its hashtag."""
    maker = Synthetic("run", 4)._maker
    found = next(each for stretch in range(1, 60) if (each := maker._spread.outbreak(stretch)) and each.language >= 0
                 and each.peak > 0.15)
    around = taken(4, 4000, int(found.begins + found.rise) - 2000)
    before = taken(4, 4000, found.begins - 4000)
    tagged = [tweet for tweet in around if found.tag in tags_of(tweet)]
    assert len(tagged) > 200
    assert sum(found.tag in tags_of(tweet) for tweet in before) < 5  # the word may be somebody's hashtag anyway
    assert {tweet["lang"] for tweet in tagged} == {list(LANGUAGES)[found.language]}
    kinds = Counter(tweet.get("referenced_tweets", [{"type": "own"}])[0]["type"] for tweet in tagged)
    assert min(kinds.values()) > 10
    assert set(kinds) == {"own", "retweeted", "replied_to"}
    assert max(Counter(tweet["text"] for tweet in tagged).values()) > 20


def tags_of(tweet: dict[str, Any]) -> set[str]:
    return {tag["tag"] for tag in tweet["entities"].get("hashtags", [])}


def test_retweets_of_one_text_refer_to_one_tweet() -> None:
    references: dict[str, set[str]] = defaultdict(set)
    for tweet in taken(12, 10_000):
        if tweet["text"].startswith("RT @"):
            references[tweet["text"]].add(tweet["referenced_tweets"][0]["id"])
    assert all(len(found) == 1 for found in references.values())


def test_every_topic_can_be_found_by_its_phrases() -> None:
    texts = [clean_text(tweet["text"]) for tweet in taken(13, 12_000, languages={"en": 1})]
    for phrase in ("goalkeeper", "umbrella", "album", "budget", "sourdough", "satellites", "nurses", "laptop", "ferry",
                   "investors"):
        assert sum(phrase in text for text in texts) > 5


@pytest.mark.parametrize("left", [0, 1, 2 * ahead.BLOCK, -1])
def test_a_block_that_was_cut_off_is_made_anew(tmp_path: Path, left: int) -> None:
    """As after the machine has gone in the middle."""
    expected = [Synthetic("run").take([5]) for _ in range(1)]
    Synthetic("run").make_ahead(100, tmp_path)
    [block] = tmp_path.rglob("*.block")
    whole = block.read_bytes()
    block.write_bytes(whole[:left])
    source = Synthetic("run")
    source.make_ahead(100, tmp_path)
    assert block.read_bytes() == whole
    assert [source.take([5])] == expected


def test_other_tweets_made_ahead_by_other_code_go(tmp_path: Path) -> None:
    """And those of this code stay, and are not made again."""
    old = tmp_path / "0123456789ab-00000000-1"
    old.mkdir()
    source = Synthetic("run")
    source.make_ahead(100, tmp_path)
    ahead.make_room(tmp_path, [], 1 << 30)
    (folder,) = tmp_path.iterdir()
    (block,) = folder.iterdir()
    written = block.stat()
    Synthetic("run").make_ahead(5000, tmp_path)
    assert (block.stat().st_ino, block.stat().st_mtime_ns) == (written.st_ino, written.st_mtime_ns)
    assert len(list(folder.iterdir())) == 2
    shutil.rmtree(folder)


def test_a_block_that_could_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    def parts() -> Iterator[ahead.Part]:
        yield b"text", 1, 2, 3, 4
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        ahead.write(tmp_path / "within" / "1.block", parts())
    assert list(tmp_path.rglob("*.*")) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", [31_337, 424_242])
def test_two_million_tweets_hold_no_text_twice_and_words_without_end(seed: int) -> None:
    """Of those of the last 500,000, 8 % are none of the encoder's last 100,000 different ones, by its own counter."""
    encoder, source = Encoder.load(Settings().encoder_dir), Synthetic("run", seed)
    seen: set[int] = set()
    own = words = found_out = 0
    for at in range(0, MANY, 10_000):
        if at == MANY - 500_000:
            words, found_out = encoder.words, encoder.found_out
        texts = [orjson.loads(payload.body)["data"]["text"] for payload in source.take([NOW] * 10_000)]
        cleaned = list(map(clean_text, texts))
        encoder.encode(cleaned)
        mine = [hash(clean) for text, clean in zip(texts, cleaned, strict=True) if not text.startswith("RT @")]
        seen.update(mine)
        own += len(mine)
    assert len(seen) == own
    assert (encoder.found_out - found_out) / (encoder.words - words) >= 0.08
