"""What synthetic tweets are made of: invented phrases by topic and language, hashtags and users."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LANGUAGES = {"en": 0.5, "es": 0.14, "pt": 0.1, "ja": 0.1, "de": 0.08, "fr": 0.08}
"""Share of each."""

USERS = 5_000
TAG_ENDINGS = ("", "Live", "2026", "Now")
EMOJI = ("", "", "", " 😀", " 🔥", " ❤️", " 👏", " 😭", " 🌧️", " ⚽", " 🎶", " 🚀", " 👩‍🍳", " 🇧🇷", " 🤖", " 🙏🏽")

_FIRST = ("quiet", "sunny", "brave", "lazy", "silver", "north", "happy", "urban", "tiny", "wild")
_SECOND = ("fox", "harbour", "baker", "pilot", "meadow", "signal", "otter", "comet", "violin", "lantern")


class User(NamedTuple):
    """`lean` and `full`: the objects that stand for them in `includes`."""

    id: str
    name: str
    lean: dict[str, Any]
    full: dict[str, Any]


@dataclass(frozen=True)
class Topic:
    """`sentences` by language; hashtags in order of their first popularity."""

    sentences: dict[str, list[str]]
    tags: list[str]
    annotations: list[dict[str, Any]]


def load_topics() -> list[Topic]:
    content = json.loads(Path(__file__).with_name("phrases.json").read_text(encoding="utf-8"))
    return [_topic(number, each) for number, each in enumerate(content.values())]


def _topic(number: int, content: dict[str, Any]) -> Topic:
    sentences = {}
    for language in LANGUAGES:
        starts, ends = content[language]
        gap = "" if language == "ja" else " "
        joint = "、" if language == "ja" else ","
        sentences[language] = [f"{start}{joint}{gap}{end}" for start, end in product(starts, ends)]
    domain, entity = content["annotation"]
    annotations = [
        {"domain": {"id": str(40 + number), "name": domain, "description": f"Tweets about {domain.lower()}"},
         "entity": {"id": str(70_000 + number), "name": entity, "description": f"All about {entity.lower()}"}},
        {"domain": {"id": "131", "name": "Unified Twitter Taxonomy", "description": "A taxonomy of user interests."},
         "entity": {"id": str(90_000 + number), "name": entity}},
    ]
    tags = [tag + ending for ending in TAG_ENDINGS for tag in content["tags"]]
    return Topic(sentences, tags, annotations)


def make_users(random: np.random.Generator) -> list[User]:
    """USERS users with invented names."""
    ids = random.integers(10**8, 10**10, USERS)
    parts = random.integers(0, len(_FIRST), (USERS, 2))
    return [
        _user(str(user_id), f"{_FIRST[first]}_{_SECOND[second]}{number}")
        for number, (user_id, (first, second)) in enumerate(zip(ids.tolist(), parts.tolist(), strict=True))
    ]


def _user(user_id: str, username: str) -> User:
    name = username.replace("_", " ").title()
    lean = {"id": user_id, "name": name, "username": username}
    count = int(user_id) % 9973
    full = {
        **lean,
        "created_at": f"20{10 + count % 14}-0{1 + count % 9}-1{count % 10}T08:{10 + count % 50}:00.000Z",
        "description": f"{name}. Notes on everyday things, mostly about what I saw on the way home. Opinions are mine.",
        "entities": {"url": {"urls": [{"start": 0, "end": 23, "url": f"https://t.co/{user_id:0>10}",
                                       "expanded_url": f"https://{username.replace('_', '-')}.example.org",
                                       "display_url": f"{username.replace('_', '-')}.example.org"}]}},
        "location": "Somewhere by the sea", "protected": False, "verified": count % 50 == 0,
        "profile_image_url": f"https://img.example.org/profile_images/{user_id}/portrait_normal.jpg",
        "public_metrics": {"followers_count": count * 3, "following_count": count % 700,
                           "tweet_count": count * 11, "listed_count": count % 40},
        "url": f"https://t.co/{user_id:0>10}",
    }
    return User(user_id, username, lean, full)
