from __future__ import annotations

import json
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common import text as specification
from common.text import clean_text, hashtags, normal_hashtag, readable

VECTORS = json.loads(Path(specification.__file__).with_name("text_vectors.json").read_text())

# What the specification treats specially, so that random texts are full of it.
PIECES = [
    "RT @a: ", "RT@b:", "RT ", "@", "＠", "@ab", "@ñ", "http://", "https://t.co/x", "www.", "www.a", "…", "://",
    "&", "amp;", "&amp;", "&#38;", "&#35;", "#", "＃", "38;", "lt;", "&lt;", "&shy;", "&rlm;", "&#0;",
    "&NewLine;", "&#x61;", "&colon;",
    "\x00", "\n", "\u00ad", "\u200b", "\u200d", "\u200c", "\ufeff", "\ud83d", "\ude00", "É", "日本", "ी",
    "e\u0301", "🔥", "ß", "İ", "1", "_", "a", " ", ":", "/", ".",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=12).map("".join)


@pytest.mark.parametrize("vector", VECTORS["clean_text"], ids=lambda vector: vector["why"])
def test_clean_text_vector(vector):
    assert clean_text(vector["text"]) == vector["clean"]


@pytest.mark.parametrize("vector", VECTORS["hashtags"], ids=lambda vector: vector["why"])
def test_hashtags_vector(vector):
    assert hashtags(vector["text"], vector["entities"]) == vector["hashtags"]


@given(texts)
@example("&&#97;mp;lt;")
@example("http://x RT@a: b")
def test_cleaning_twice_is_cleaning_once(text):
    assert clean_text(clean_text(text)) == clean_text(text)


@given(texts)
def test_clean_text_is_writable_and_free_of_what_is_removed(text):
    clean = clean_text(text)
    clean.encode()
    assert clean == " ".join(clean.split())
    assert not any(unicodedata.category(character) == "Cc" for character in clean)
    assert "http://" not in clean


@given(texts)
def test_hashtags_are_normal_and_distinct(text):
    tags = hashtags(text)
    assert len(set(tags)) == len(tags)
    assert all(normal_hashtag(tag) == tag for tag in tags)
    assert hashtags("", {"hashtags": [{"tag": tag} for tag in tags]}) == tags


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20))
def test_text_without_surrogates_is_readable_as_it_is(text):
    assert readable(text) == text


def test_surrogate_pair_is_joined():
    assert readable("\ud83d\ude00!") == "😀!"


def test_every_character_normalises_in_one_step():
    characters = (chr(code) for code in range(sys.maxunicode + 1))
    unstable = [c for c in characters if (once := normal_hashtag("x" + c)) != normal_hashtag(once)]
    assert unstable == []


@pytest.mark.parametrize(
    "text", ["&amp;" + "amp;" * 200_000, "&#38;" * 200_000, "@" * 500_000, "#" * 500_000, "#1" * 300_000,
             "RT @a: " * 100_000, "http" * 200_000, "#" + "_" * 500_000, "&a" * 300_000,
             "@a" * 300_000, "#a" * 300_000, "www." * 200_000],
    ids=lambda text: text[:8],
)  # fmt: skip
def test_hostile_text_costs_linear_time(text):
    def seconds(hostile: str) -> float:
        started = time.process_time()
        clean_text(hostile)
        hashtags(hostile)
        return time.process_time() - started

    # Quadratic work on a megabyte would take minutes; the bound only tells the two apart.
    assert seconds(text) < 10
