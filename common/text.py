"""The one specification of clean text and hashtags; `text_vectors.json` beside it holds test vectors.

Clean text is made in this order, and the order matters:

1. invisible characters (bidirectional controls, zero-width space, soft hyphen, BOM) vanish, lone surrogates become
   U+FFFD; ZWJ and ZWNJ stay, they are part of emoji and of Persian words,
2. HTML entities are decoded, so that a URL or mention hidden in entities is still seen,
3. control characters become spaces and whitespace is folded,
4. leading `RT @name:` prefixes go,
5. URLs, then mentions, become spaces, which are folded again.

Whatever is removed after step 1 leaves a space, so nothing new can grow together, and cleaning twice is cleaning once.
Every step is linear in the length of the text. Empty clean text is fine: a tweet may be a bare URL.

Hashtags follow X's twitter-text: a letter, combining mark, digit or underscore each, at least one of them no digit,
not glued to a word before, not cut off by an ellipsis. They are NFKC-normalised and case-folded. What is longer than
MAX_HASHTAG characters then is none. Of more than MAX_HASHTAGS different ones in a tweet, the first are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from html.entities import html5
from typing import Any

from common.remembered import remembered

MAX_HASHTAG = 140
"""Longer hashtags are none: X allows 100 characters, and NFKC may expand some."""

MAX_HASHTAGS = 100
"""How many different ones a tweet has at most, unless set otherwise: each is an event and a row of its own later on.
X's 280 characters hold 93 of two."""

ENTITY_DEPTH = 3
"""Entities within entities (`&amp;lt;`) are decoded this deep; deeper ones lose their ampersand."""

# Combining marks belong to words (vowel signs of Hindi, Arabic diacritics) but not to Python's \w. Variation selectors
# and enclosing keycaps belong to emoji instead. No script in common use has marks beyond the basic plane.
_MARKS = "".join(
    character
    for character in map(chr, range(0x300, 0xFE00))
    if unicodedata.category(character).startswith("M") and not "\u20d0" <= character <= "\u20ff"
)
_LINK_CHARACTERS = "!#-;=?-~À-ɏ"  # not whitespace, quotes or angle brackets, and no script written without spaces

_INVISIBLE = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]+")
_ENTITY = re.compile("&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));")
_RETWEET = re.compile(r"\A(?:RT [@＠][A-Za-z0-9_]+ ?: ?)+")
# One class of characters to begin with, no alternative and no look-behind: Python then skips the rest at full speed.
_LINK = re.compile(
    rf"[hHwW](?:(?<=[hH])[tT][tT][pP][sS]?(?:://[{_LINK_CHARACTERS}]*…?|:?/?…)"
    rf"|(?<=[wW])(?<!\w[wW])[wW][wW]\.[{_LINK_CHARACTERS}]+…?)"
)
_MENTION = re.compile(r"[@＠](?<!\w[@＠])[A-Za-z0-9_]++(?:[@＠][A-Za-z0-9_.-]+)*")
_HASHTAG = re.compile(
    rf"(?<![\w{_MARKS}&#＃])[#＃]((?=[\d_]*+[^\W\d_])[\w{_MARKS}\u200c\u200d]++)(?![…#＃]|://)"
)


def clean_text(text: str) -> str:
    """Text for search and display: no URLs, mentions, RT prefix or control characters; idempotent."""
    text = _RETWEET.sub("", _fold(_decode(text)))
    return _fold(_MENTION.sub(" ", _LINK.sub(" ", text)))


def hashtags(text: str, entities: Any = None, most: int = MAX_HASHTAGS) -> list[str]:
    """Normalised hashtags in order, each once, without '#'; the first `most`.

    `entities` is the tweet's own (X's shape): its list `hashtags`, even an empty one, decides; without such a list the
    text does. Whatever in it is not of X's shape is passed over.
    """
    listed = entities.get("hashtags") if isinstance(entities, dict) else None
    if isinstance(listed, list):
        tags = (tag["tag"] for tag in listed if isinstance(tag, dict) and isinstance(tag.get("tag"), str))
        return normal_hashtags(tags, most)
    return normal_hashtags((tag[1] for tag in _HASHTAG.finditer(_LINK.sub(" ", _decode(text)))), most)


def normal_hashtags(tags: Iterable[str], most: int = MAX_HASHTAGS) -> list[str]:
    """Hashtags as they are listed → normalised, in order, each once. Beyond the first `most` none is looked at."""
    found: dict[str, None] = {}
    for tag in map(normal_hashtag, tags):
        if tag:
            found[tag] = None
            if len(found) >= most:
                break
    return list(found)


@remembered(16_384)
def normal_hashtag(tag: str) -> str:
    """NFKC, case-folded, without '#'; empty if it is no hashtag: digits only, or too long."""
    tag = unicodedata.normalize("NFKC", readable(tag)).casefold()
    tag = unicodedata.normalize("NFKC", tag).strip("# \u200c\u200d")
    return tag if len(tag) <= MAX_HASHTAG and not tag.replace("_", "").isdigit() and tag.strip("_") else ""


def readable(text: str) -> str:
    """Text that can be written as UTF-8: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _fold(text: str) -> str:
    """Step 3."""
    return " ".join((text if text.isprintable() else _CONTROL.sub(" ", text)).split())


def _decode(text: str) -> str:
    """Steps 1 and 2. Printable texts hold nothing invisible and no surrogates: to ask saves 2.1 µs, with `_fold`."""
    if not text.isprintable():
        text = _INVISIBLE.sub("", readable(text))
    if "&" not in text:
        return text
    for _ in range(ENTITY_DEPTH):
        text, decoded = _ENTITY.subn(_entity, text)
        if not decoded:
            return text
    return _ENTITY.sub(lambda entity: entity[0] if _entity(entity) == entity[0] else " ", text)


def _entity(entity: re.Match[str]) -> str:
    decimal, hexadecimal, name = entity.groups()
    if name:
        return _INVISIBLE.sub(" ", html5.get(name + ";", entity[0]))
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return "\ufffd" if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF else _INVISIBLE.sub(" ", chr(code))
