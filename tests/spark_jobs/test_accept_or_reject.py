from __future__ import annotations

import base64
import hashlib
import json
from datetime import datetime
from typing import Any, get_args

import msgspec
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.tweets import ENRICHED, REJECTED, REJECTED_EVENT_BYTES, Reason, RejectedEvent, enriched_tweet
from spark_jobs.accept_or_reject import Outcome, Rules, enrich_event
from tests.spark_jobs.odd_events import odd_events

NOW_US = 1_795_000_000_000_000  # 2026-11-18T11:06:40Z
RULES = Rules(max_event_bytes=1 << 20, allowed_lateness_s=600, future_tolerance_s=120, max_hashtags=100)
STAMP = {"sent_at_us": NOW_US, "source": "test", "run": "r", "seq": 7}
DATA = {"id": "1234567890123456789", "text": "Hi #All", "created_at": "2026-11-18T11:06:40.000Z", "author_id": "42"}


def envelope(**changes: Any) -> bytes:
    """An event of `tweets-raw`; `...` removes a field of the tweet."""
    data = {name: value for name, value in (DATA | changes).items() if value is not ...}
    return json.dumps({"ingest": STAMP, "data": data}).encode()


def unusable(payload: bytes) -> bytes:
    return json.dumps({"ingest": STAMP, "raw_base64": base64.b64encode(payload).decode()}).encode()


def enriched(raw: bytes) -> dict[str, Any]:
    outcome = enrich_event(raw, RULES, NOW_US)
    assert (outcome.stream, outcome.reason) == (ENRICHED, None), outcome
    tweet = json.loads(outcome.event)
    assert outcome.key == str(tweet.get("deleted_id", tweet["tweet_id"]))
    assert outcome.late is tweet["late"]
    return tweet


def rejected(raw: bytes) -> dict[str, Any]:
    outcome = enrich_event(raw, RULES, NOW_US)
    assert outcome.stream == REJECTED, outcome
    event = json.loads(outcome.event)
    assert event["reason"] == outcome.reason
    assert list(event) == ["reason", "event", "bytes", "sha256", "ingest", "rejected_at", "stage", "position"]
    assert (event["stage"], event["position"]) == ("enrich", "")
    assert event["rejected_at"] == "2026-11-18T11:06:40.000Z"
    return event


def test_a_tweet_becomes_exactly_the_contract():
    entities = {"hashtags": [{"start": 3, "end": 7, "tag": "All"}, {"start": 8, "end": 9, "tag": "ALL"}]}
    raw = envelope(text="RT @a: Tom &amp; Jerry  #All #ALL https://t.co/x", lang="en", entities=entities)
    assert enriched(raw) == {
        "tweet_id": 1234567890123456789,
        "created_at": "2026-11-18T11:06:40.000Z",
        "author_id": "42",
        "lang": "en",
        "text": "RT @a: Tom &amp; Jerry  #All #ALL https://t.co/x",
        "clean_text": "Tom & Jerry #All #ALL",
        "hashtags": ["all"],
        "late": False,
        "ingest": STAMP,
    }


URL = "https://bsky.app/profile/did:plc:x/post/3k"


def test_a_tweet_without_a_url_is_written_as_ever_and_one_with_it_ends_with_it():
    assert list(enriched(envelope())) == [
        "tweet_id", "created_at", "late", "hashtags", "ingest", "author_id", "lang", "text", "clean_text",
    ]
    with_url = enrich_event(envelope(url=URL), RULES, NOW_US).event
    assert with_url == enrich_event(envelope(), RULES, NOW_US).event[:-1] + f',"url":"{URL}"}}'.encode()


@pytest.mark.parametrize(("url", "kept"), [
    (URL, True), ("http://example.org/%20?a=b&c#d", True), ("https://例え.jp/道", True),
    ("https://a/" + "x" * 502, True), ("https://a/" + "x" * 503, False), ("javascript:alert(1)", False),
    ("https://", False), ("//example.org", False),
    ("https://a b", False), ("https://a\nb", False), ("https://a\0", False), ('https://a"onclick=', False),
    ("https://a<b>", False), ("https://a\u2028b", False), ("https://a\ud83d", False), (" https://a", False),
    ("ftp://a", False), (7, False), (None, False), (["https://a"], False),
], ids=str)
def test_only_an_address_on_the_web_is_kept(url, kept):
    assert enriched(envelope(url=url)).get("url") == (url if kept else None)


def deletion(kind: str = "delete", **changes: Any) -> bytes:
    """A deletion of one tweet; `...` removes a field of it."""
    named = {"tweet": {"id": DATA["id"], "author_id": "42"}} if kind == "delete" else {"user": {"id": "42"}}
    content = {"event_at": DATA["created_at"], **named} | changes
    return json.dumps({"ingest": STAMP, "data": {kind: {k: v for k, v in content.items() if v is not ...}}}).encode()


def test_a_deletion_passes_by_those_who_count_and_follows_its_tweet():
    found = enriched(deletion())
    own_id = found.pop("tweet_id")
    assert found == {
        "created_at": DATA["created_at"], "late": True, "hashtags": [], "ingest": STAMP, "author_id": "42",
        "lang": "und", "text": "", "clean_text": "", "deletes": "tweet", "deleted_id": int(DATA["id"]),
    }
    assert 0 <= own_id < 1 << 63
    assert own_id == enriched(deletion())["tweet_id"]
    others = [deletion(event_at="2026-11-18T11:06:39Z"), deletion(tweet={"id": "5", "author_id": "42"})]
    assert len({own_id, *(enriched(other)["tweet_id"] for other in others)}) == 3
    assert enrich_event(deletion(), RULES, NOW_US).key == DATA["id"] == enrich_event(envelope(), RULES, NOW_US).key


def test_the_deletion_of_an_account_names_its_author():
    outcome = enrich_event(deletion("user_delete"), RULES, NOW_US)
    found = enriched_tweet(outcome.event)
    assert (found.deletes, found.author_id, found.deleted_id, found.late) == ("author", "42", 0, True)
    assert (outcome.key, outcome.late, outcome.stream) == ("42", True, ENRICHED)
    assert enrich_event(deletion("user_delete", user={"id": "x" * 99}), RULES, NOW_US).key == "x" * 64


def test_what_has_an_id_is_a_tweet_whatever_else_it_has():
    both = json.loads(deletion())["data"] | DATA
    assert "deletes" not in enriched(json.dumps({"ingest": STAMP, "data": both}).encode())


@pytest.mark.parametrize(("raw", "reason"), [
    (deletion(event_at=...), "missing-field"), (deletion(event_at=None), "missing-field"),
    (deletion(event_at=5), "wrong-type"), (deletion(event_at="yesterday"), "wrong-type"),
    (deletion(event_at="2030-01-01T00:00:00Z"), "future"), (deletion(tweet=...), "missing-field"),
    (deletion(tweet=[]), "wrong-type"), (deletion(tweet={"author_id": "42"}), "missing-field"),
    (deletion(tweet={"id": "12x", "author_id": "42"}), "wrong-type"), (deletion(tweet={"id": "12"}), "missing-field"),
    (deletion(tweet={"id": "12", "author_id": []}), "wrong-type"), (deletion("user_delete", user=...), "missing-field"),
    (deletion("user_delete", user="42"), "wrong-type"), (deletion("user_delete", user={}), "missing-field"),
    (deletion("user_delete", user={"id": True}), "wrong-type"),
    (deletion("user_delete", user={"id": "\x01" * (1 << 18)}), "too-large"),
    (json.dumps({"ingest": STAMP, "data": {"delete": "x"}}).encode(), "wrong-type"),
    (json.dumps({"ingest": STAMP, "data": {"delete": None}}).encode(), "missing-field"),
], ids=lambda value: value if isinstance(value, str) else value[100:170].decode())
def test_a_malformed_deletion_is_rejected_with_its_reason(raw, reason):
    event = rejected(raw)
    assert (event["reason"], event["ingest"]) == (reason, STAMP)


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"text": ""}, "clean_text", ""),
        ({"text": ""}, "hashtags", []),
        ({"text": "a\x00b"}, "text", "a\x00b"),
        ({"text": "a\x00b"}, "clean_text", "a b"),
        ({"text": "\ud83d alone"}, "text", "\ufffd alone"),
        ({"text": "\ud83d\ude00"}, "text", "😀"),
        ({"id": 12}, "tweet_id", 12),
        ({"id": "0"}, "tweet_id", 0),
        ({"id": 2**63 - 1}, "tweet_id", 2**63 - 1),
        ({"id": str(2**63 - 1)}, "tweet_id", 2**63 - 1),
        ({"author_id": 42}, "author_id", "42"),
        ({"lang": ...}, "lang", "und"),
        ({"lang": None}, "lang", "und"),
        ({"lang": 3}, "lang", "und"),
        ({"lang": "x" * 1000}, "lang", "und"),
        ({"lang": "zh-TW"}, "lang", "zh-TW"),
        ({"entities": "none"}, "hashtags", ["all"]),
        ({"created_at": "2026-11-18T12:06:40+01:00"}, "created_at", "2026-11-18T11:06:40.000Z"),
        ({"created_at": "2026-11-18 11:06:40.1239z"}, "created_at", "2026-11-18T11:06:40.123Z"),
        ({"created_at": "2026-11-18T11:08:40Z"}, "late", False),
        ({"created_at": "2026-11-18T10:56:40Z"}, "late", False),
        ({"created_at": "2026-11-18T10:56:39.999Z"}, "late", True),
        ({"created_at": "1970-01-01T00:00:00Z"}, "late", True),
        ({"created_at": "0001-01-01T00:00:00Z"}, "created_at", "0001-01-01T00:00:00.000Z"),
    ],
    ids=str,
)
def test_unusual_tweets_are_tweets(changes, field, value):
    assert enriched(envelope(**changes))[field] == value


REJECTED_WITH_STAMP: list[tuple[bytes, Reason]] = [
    (unusable(b'{"data": {"id": "1"'), "not-json"),
    (unusable(b""), "not-json"),
    (unusable(b'{"data": {"id": NaN}}'), "not-json"),
    (unusable(b"[" * 100_000 + b"]" * 100_000), "not-json"),
    (unusable(b'{"a":' * 100_000 + b"1" + b"}" * 100_000), "not-json"),
    (unusable(b'{"data": {"text": "\xff\xfe"}}'), "invalid-utf8"),
    (unusable(b"[1, 2, 3]"), "not-an-object"),
    (unusable(b"null"), "not-an-object"),
    (envelope(id=...), "missing-field"),
    (envelope(text=...), "missing-field"),
    (envelope(created_at=...), "missing-field"),
    (envelope(author_id=...), "missing-field"),
    (envelope(author_id=None), "missing-field"),
    (json.dumps({"ingest": STAMP}).encode(), "missing-field"),
    (json.dumps({"ingest": STAMP, "data": [1]}).encode(), "wrong-type"),
    (envelope(id={"not": "an id"}), "wrong-type"),
    (envelope(id=True), "wrong-type"),
    (envelope(id=1.5), "wrong-type"),
    (envelope(id="12x"), "wrong-type"),
    (envelope(id="-1"), "wrong-type"),
    (envelope(id="١٢"), "wrong-type"),
    (envelope(id=2**63), "wrong-type"),
    (envelope(id=10**400), "wrong-type"),
    (envelope(id=str(2**63)), "wrong-type"),
    (envelope(text=["a"]), "wrong-type"),
    (envelope(author_id=False), "wrong-type"),
    (envelope(created_at=1_795_000_000), "wrong-type"),
    (envelope(created_at="Wed Nov 18 11:06:40 +0000 2026"), "wrong-type"),
    (envelope(created_at="2026-11-18T11:06:40"), "wrong-type"),
    (envelope(created_at="2026-13-18T11:06:40Z"), "wrong-type"),
    (envelope(created_at="0001-01-01T00:00:00+01:00"), "wrong-type"),
    (envelope(created_at="9999-12-31T23:59:59-01:00"), "wrong-type"),
    (envelope(created_at="0000-01-01T00:00:00Z"), "wrong-type"),
    (envelope(created_at="2026-11-18T11:06:60Z"), "wrong-type"),
    (envelope(created_at="2026-11-18T11:06:40+24:00"), "wrong-type"),
    (envelope(created_at="２０２６-11-18T11:06:40Z"), "wrong-type"),
    (envelope(id="+1"), "wrong-type"),
    (envelope(id=" 1"), "wrong-type"),
    (envelope(id="1_000"), "wrong-type"),
    (envelope(id=""), "wrong-type"),
    (envelope(id=-1), "wrong-type"),
    (envelope(created_at="2026-11-18T11:08:40.001Z"), "future"),
    (envelope(created_at="2030-01-01T00:00:00Z"), "future"),
    (envelope(text="x" * (1 << 20)), "too-large"),
    (envelope(text="\x01" * 200_000), "too-large"),
    (json.dumps({"ingest": STAMP, "raw_base64": "not base64!"}).encode(), "wrong-type"),
    (json.dumps({"ingest": STAMP, "oversize": 3}).encode(), "wrong-type"),
]


@pytest.mark.parametrize(
    ("raw", "reason"),
    REJECTED_WITH_STAMP,
    ids=lambda value: value if isinstance(value, str) else value[:90].decode(),
)
def test_what_is_no_tweet_is_rejected_with_its_reason(raw, reason):
    event = rejected(raw)
    assert event["reason"] == reason
    assert event["ingest"] == STAMP


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "not-json"),
        (b"\x00", "not-json"),
        (b"{", "not-json"),
        (b"\xff\xfe", "invalid-utf8"),
        (b"[]", "not-an-object"),
        (b'{"data": {}}', "missing-field"),
        (b'{"ingest": null}', "missing-field"),
        (b'{"ingest": "x"}', "wrong-type"),
        (b'{"ingest": {"source": "s", "run": "r", "seq": 1}}', "missing-field"),
        (b'{"ingest": {"sent_at_us": "1", "source": "s", "run": "r", "seq": 1}}', "wrong-type"),
        (b'{"ingest": {"sent_at_us": true, "source": "s", "run": "r", "seq": 1}}', "wrong-type"),
        (b'{"ingest": {"sent_at_us": 1e30, "source": "s", "run": "r", "seq": 1}}', "wrong-type"),
        (b'{"ingest": {"sent_at_us": 9007199254740992, "source": "s", "run": "r", "seq": 1}}', "wrong-type"),
        (b'{"ingest": {"sent_at_us": 1, "source": "s", "run": "r", "seq": -1}}', "wrong-type"),
    ],
    ids=str,
)
def test_without_a_readable_stamp_the_event_is_rejected_with_none(raw, reason):
    event = rejected(raw)
    assert (event["reason"], event["ingest"]) == (reason, None)
    assert base64.b64decode(event["event"]) == raw
    assert enrich_event(raw, RULES, NOW_US).sent_at_us is None


def test_every_reason_is_tested():
    by_enrich = set(get_args(Reason)) - {"unreadable"}  # of an inner stream, which enrich does not read
    assert {reason for _, reason in REJECTED_WITH_STAMP} == by_enrich


def test_a_stamp_from_the_future_would_push_the_watermark_too():
    ahead = json.loads(envelope(created_at="2030-01-01T00:00:00Z"))
    ahead["ingest"]["sent_at_us"] = 1_893_456_000_000_000
    assert rejected(json.dumps(ahead).encode())["reason"] == "future"


def test_rejection_keeps_the_first_64_kib_of_the_original_and_the_digest_of_all():
    payload = b"x\xff" * 100_000
    event = rejected(unusable(payload))
    assert base64.b64decode(event["event"]) == payload[:REJECTED_EVENT_BYTES]
    assert event["bytes"] == len(payload)
    assert event["sha256"] == hashlib.sha256(payload).hexdigest()


def test_oversize_is_known_by_size_and_digest_only():
    raw = json.dumps({"ingest": STAMP, "oversize": {"bytes": 2_000_000, "sha256": "ab" * 32}}).encode()
    event = rejected(raw)
    assert (event["reason"], event["event"], event["bytes"]) == ("too-large", "", 2_000_000)
    assert (event["sha256"], event["ingest"]) == ("ab" * 32, STAMP)


def test_a_payload_that_only_the_ingester_could_not_read_is_a_tweet():
    payload = json.dumps({"data": DATA | {"text": "\ud83d"}}).encode()
    assert enriched(unusable(payload))["text"] == "\ufffd"


def test_of_repeated_keys_the_last_counts():
    raw = envelope().replace(b'"text": "Hi #All"', b'"text": 3, "text": "last"')
    assert enriched(raw)["text"] == "last"


def test_of_a_megabyte_of_hashtags_the_first_hundred_are_kept():
    text = " ".join(f"#t{n}" for n in range(40_000))
    assert enriched(envelope(text=text))["hashtags"] == [f"t{n}" for n in range(100)]
    listed = {"hashtags": [{"tag": f"t{n}"} for n in (1, 1, *range(50_000))]}
    assert enriched(envelope(entities=listed))["hashtags"] == [f"t{n}" for n in (1, 0, *range(2, 100))]


def test_a_stamp_from_the_future_counts_as_none():
    """Whatever the event is rejected for: as the newest of all it would hide that anything waits."""
    for data in (DATA, DATA | {"id": "x"}):
        event = json.dumps({"ingest": STAMP | {"sent_at_us": (1 << 53) - 1}, "data": data}).encode()
        outcome = enrich_event(event, RULES, NOW_US)
        assert (outcome.stream, outcome.sent_at_us) == (REJECTED, None)
        assert json.loads(outcome.event)["ingest"]["sent_at_us"] == (1 << 53) - 1


def test_what_else_lies_in_the_stamp_does_not_travel_on():
    raw = json.dumps({"ingest": STAMP | {"extra": 1}, "data": DATA}).encode()
    assert enriched(raw)["ingest"] == STAMP


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["1", DATA["created_at"]]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*DATA, "entities"]), inner),
    max_leaves=8,
)


@given(st.binary() | json_values.map(json.dumps).map(str.encode))
def test_no_event_is_an_error(raw):
    check(enrich_event(raw, RULES, NOW_US))


@given(st.fixed_dictionaries({}, optional={"ingest": st.just(STAMP) | json_values, "data": json_values,
                                           "raw_base64": json_values, "oversize": json_values}))
def test_no_envelope_is_an_error(event):
    check(enrich_event(json.dumps(event).encode(), RULES, NOW_US))


@given(st.sampled_from([*DATA, "lang", "entities"]), json_values)
def test_no_field_is_an_error(field, value):
    check(enrich_event(envelope(**{field: value}), RULES, NOW_US))


@given(odd_events())
@settings(max_examples=300)
def test_no_odd_event_is_an_error(raw):
    check(enrich_event(raw, RULES, NOW_US))


def check(outcome: Outcome) -> None:
    """What is written can be read by whoever comes next: texts are UTF-8, ids 64 bits, dates those of a database."""
    assert len(outcome.event) <= RULES.max_event_bytes
    assert outcome.key.encode().decode() == outcome.key
    if outcome.stream == REJECTED:
        rejection = msgspec.json.decode(outcome.event, type=RejectedEvent)
        assert rejection.reason == outcome.reason in get_args(Reason)
        assert len(base64.b64decode(rejection.event, validate=True)) <= REJECTED_EVENT_BYTES
        return
    tweet = enriched_tweet(outcome.event)
    assert (outcome.stream, outcome.reason) == (ENRICHED, None)
    assert 0 <= tweet.tweet_id < 1 << 63
    assert datetime.fromisoformat(tweet.created_at).isoformat(timespec="milliseconds")[:-6] + "Z" == tweet.created_at
    assert len(set(tweet.hashtags)) == len(tweet.hashtags) <= RULES.max_hashtags
    orjson.dumps([tweet.text, tweet.clean_text, tweet.lang, tweet.author_id, *tweet.hashtags])
