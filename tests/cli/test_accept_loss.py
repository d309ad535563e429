"""What a reader has lost: the account of it, and how it is found over a middleware in memory."""

import json
from xmlrpc.client import Fault

import pytest
from click.testing import CliRunner, Result
from msgspec import structs
from redis import RedisError
from sqlalchemy.exc import OperationalError

from audit.loss import acceptance, finding
from audit.loss.acceptance import accept, find_losses
from audit.loss.finding import find
from audit.loss.lost_numbers import Run, lost
from cli import accept_loss as command
from cli.accept_loss import accept_loss
from common.settings import Settings
from common.storage.lost import read_lost
from common.tweets import ENRICHED, HASHTAG_COUNTS, RAW, REJECTED, EnrichedTweet, Ingest, RejectedEvent, to_json
from deploy.local import state
from ingest.manifest import Manifest, ManifestWriter
from middleware.readers import READERS
from search.store import Store
from tests.memory import Memory, Partition

DONE, OTHER = "one place", "another place"
SEARCH = [reader for reader in READERS if reader.name == "search-consumer"]


def run(name: str, acknowledged: int, there: range = range(0), done: range = range(0), other: range = range(0)) -> Run:
    made = Run(name, acknowledged)
    for seq in there:
        made.there(seq)
    for place, seqs in ((DONE, done), (OTHER, other)):
        for seq in seqs:
            made.done(seq, place)
    return made


def test_what_is_neither_there_nor_done_is_lost():
    runs = [run("a", 100, there=range(60, 100), done=range(20))]
    assert list(lost(runs, all_passed=True, forgets=())) == [("a", 20, 59)]


def test_of_several_runs_whole_ones_and_the_beginning_of_the_one_at_the_head():
    runs = [run("a", 10, done=range(5)), run("b", 10), run("c", 10, there=range(3, 10))]
    assert list(lost(runs, all_passed=True, forgets=())) == [("a", 5, 9), ("b", 0, 9), ("c", 0, 2)]


def test_what_has_not_come_to_an_inner_stream_yet_is_not_lost():
    runs = [run("a", 100, there=range(30, 50), done=range(10)), run("b", 100)]
    assert list(lost(runs, all_passed=False, forgets=())) == [("a", 10, 29)]
    assert list(lost(runs, all_passed=True, forgets=())) == [("a", 10, 29), ("a", 50, 99), ("b", 0, 99)]


def test_of_an_inner_stream_that_is_empty_all_has_passed():
    assert list(lost([run("a", 10, done=range(4))], all_passed=False, forgets=())) == [("a", 4, 9)]


def test_what_aged_out_after_the_reader_was_not_lost_by_it():
    runs = [run("old", 50), run("a", 100, there=range(60, 100), done=range(30, 40))]
    assert list(lost(runs, all_passed=True, forgets=[DONE])) == [("a", 40, 59)]
    assert list(lost(runs, all_passed=True, forgets=())) == [("old", 0, 49), ("a", 0, 29), ("a", 40, 59)]


def test_of_two_places_that_forget_neither_may_have_had_it():
    old, mixed = run("old", 50, other=range(5)), run("a", 100, there=range(90, 100), done=range(60, 70), other=range(3))
    assert list(lost([old, mixed], all_passed=True, forgets=[DONE, OTHER])) == [("a", 70, 89)]
    assert list(lost([old, mixed], all_passed=True, forgets=[OTHER])) == [
        ("old", 5, 49), ("a", 3, 59), ("a", 70, 89)]


@pytest.mark.parametrize("forgets", [(DONE,), ()])
def test_nothing_is_lost_where_all_is_there(forgets):
    assert list(lost([run("a", 10, there=range(10))], all_passed=True, forgets=forgets)) == []


def tweet(seq: int) -> EnrichedTweet:
    return EnrichedTweet(
        1000 + seq, "2026-01-01T00:00:00.000Z", False, [], Ingest(0, "test", "r", seq), "author", "en", "text", "text"
    )


def rejected(seq: int) -> RejectedEvent:
    return RejectedEvent("not-json", "", 0, "", Ingest(0, "test", "r", seq), "2026-01-01T00:00:00.000Z")


@pytest.fixture
def memory(tmp_path) -> Memory:
    """A run of 100 tweets, one of which was rejected; the search consumer has stored 20, and 40 events are gone."""
    settings = Settings(home=tmp_path)
    manifest = ManifestWriter.create(settings, "r", "test", {})
    manifest.acknowledged(100)
    manifest.close()
    memory = Memory(settings)
    for stream in (RAW, ENRICHED, REJECTED, HASHTAG_COUNTS):
        memory.admin.create_stream(stream, 1)
    with memory.data.producer(ENRICHED) as enriched, memory.data.producer(REJECTED) as others:
        for seq in range(100):
            if seq == 30:
                others.send("k", to_json(rejected(seq)))
            else:
                enriched.send("k", to_json(tweet(seq)))
    store = Store.open(settings)
    store.insert([tweet(seq) for seq in range(20)])
    store.close()
    with memory.data.consumer(ENRICHED, "search") as consumer:
        consumer.poll(20, 0)
        consumer.commit()
    memory.truncate(ENRICHED, 40)
    return memory


def test_a_reader_goes_on_at_the_head_and_what_it_has_lost_is_recorded_once(memory):
    (loss,) = find_losses(memory, SEARCH)
    assert [(one.run, one.first_seq, one.last_seq) for one in loss.lost] == [("r", 20, 29), ("r", 31, 40)]
    accept(memory, loss)
    assert read_lost(memory.settings) == loss.lost
    assert find_losses(memory, SEARCH) == []
    with memory.data.consumer(ENRICHED, "search") as consumer:
        assert consumer.poll(100, 0) == [to_json(tweet(seq)) for seq in range(41, 100)]

    memory.truncate(ENRICHED, 50)  # before it has committed: overtaken again
    assert [(one.first_seq, one.last_seq) for one in find(memory, loss.reader)] == [(41, 50)]


@pytest.mark.parametrize(("stage", "first_lost"), [("trending", 20), ("search-consumer", 21)])
def test_what_another_reader_parked_this_one_has_not_read(memory, stage, first_lost):
    with memory.data.producer(REJECTED) as others:
        others.send("k", to_json(structs.replace(rejected(20), reason="unreadable", stage=stage)))
    (loss,) = find_losses(memory, SEARCH)
    assert loss.lost[0].first_seq == first_lost


def publish(memory: Memory, name: str, first_id: int, stored: range) -> None:
    """A run of 100 enriched tweets that has ended."""
    manifest = ManifestWriter.create(memory.settings, name, "test", {})
    manifest.acknowledged(100)
    manifest.finish()
    manifest.close()
    enriched = [structs.replace(tweet(seq), tweet_id=first_id + seq, ingest=Ingest(0, "test", name, seq))
                for seq in range(100)]
    with memory.data.producer(ENRICHED) as producer:
        for one in enriched:
            producer.send("k", to_json(one))
    store = Store.open(memory.settings)
    store.insert([one for one in enriched if one.ingest.seq in stored])
    store.close()


def test_tweets_that_were_known_by_other_numbers_are_not_lost(memory):
    """What was read of `new` ends with 49, and some of it was known; as all of `again` was, which ended before."""
    publish(memory, "again", 1000, stored=range(0))
    publish(memory, "new", 5000, stored=range(10, 50, 2))
    end = memory.data.end(ENRICHED).offsets[0]
    memory.truncate(ENRICHED, end - 40)
    (reader,) = SEARCH
    ranges = [(one.run, one.first_seq, one.last_seq) for one in find(memory, reader)]
    assert ("new", 49, 59) in ranges
    assert {run for run, _, _ in ranges} == {"r", "new"}  # `r` did not end: more of it may come behind `new`
    assert len(ranges) == 3


@pytest.mark.parametrize("wide", [RAW, ENRICHED])
def test_where_a_stream_has_several_partitions_no_order_is_relied_upon(memory, wide):
    """Whatever the settings say of them."""
    publish(memory, "new", 5000, stored=range(10, 50, 2))
    memory.truncate(ENRICHED, memory.data.end(ENRICHED).offsets[0] - 40)
    (reader,) = SEARCH
    assert ("new", 0, 9) not in [(one.run, one.first_seq, one.last_seq) for one in find(memory, reader)]
    memory.logs[wide].partitions.append(Partition())
    assert ("new", 0, 9) in [(one.run, one.first_seq, one.last_seq) for one in find(memory, reader)]


@pytest.mark.parametrize("stream", [ENRICHED, REJECTED])
@pytest.mark.parametrize("garbage", [b"\xff", b'{"stage":"\xff"}', b"[" * 100_000])
def test_what_cannot_be_read_is_nobodys(memory, stream, garbage):
    (reader,) = SEARCH
    before = [(one.first_seq, one.last_seq) for one in find(memory, reader)]
    with memory.data.producer(stream) as producer:
        producer.send("k", garbage)
    assert [(one.first_seq, one.last_seq) for one in find(memory, reader)] == before


def test_nobody_is_overtaken_who_has_read_what_is_gone(memory):
    with memory.data.consumer(ENRICHED, "search", start="head") as consumer:
        consumer.poll(100, 0)
        consumer.commit()
    memory.truncate(ENRICHED, 70)
    assert find_losses(memory, SEARCH) == []


@pytest.fixture
def asked(memory, monkeypatch):
    """Runs the command over the memory, for the readers that need no Spark; nobody is at a terminal."""
    memory.settings.save()
    state.record(memory.settings)
    monkeypatch.setenv("MURMUR_SETTINGS", str(memory.settings.settings_file))
    monkeypatch.setenv("MURMUR_HOME", str(memory.settings.home))
    monkeypatch.setattr(command, "connect", lambda settings: memory)
    monkeypatch.setattr(command, "READERS", tuple(reader for reader in READERS if reader.kind == "group"))

    def run_command(*options: str) -> Result:
        return CliRunner().invoke(accept_loss, options)

    return run_command


def test_each_member_that_runs_is_stopped_whatever_the_shell_would_choose(memory, monkeypatch):
    """One that goes on would commit over the place that the group is moved to."""
    memory.settings.model_copy(update={"search_consumers": 2}).save()
    monkeypatch.setenv("MURMUR_HOME", str(memory.settings.home))
    monkeypatch.setenv("MURMUR_SEARCH_CONSUMERS", "1")
    assert command.processes(Settings.load(), "search-consumer") == ["search", "search-2"]


def test_it_changes_nothing_where_nobody_can_be_asked(memory, asked):
    result = asked()
    assert result.exit_code == 1
    assert "run r: 20 to 29 (10 tweets)" in result.output
    assert "--yes" in result.output
    assert read_lost(memory.settings) == []
    assert find_losses(memory, SEARCH)
    assert "--yes" in asked("--json").output


def test_it_tells_programs_what_was_lost_and_that_nothing_was(memory, asked):
    result = asked("--yes", "--json")
    told = json.loads(result.output)
    assert told["readers"] == ["search-consumer"]
    assert [(one["run"], one["first_seq"], one["last_seq"]) for one in told["lost"]] == [("r", 20, 29), ("r", 31, 40)]
    assert json.loads(asked("--yes", "--json").output) == {"readers": [], "lost": []}
    assert "nothing to accept" in asked().output


def test_what_retention_takes_during_the_question_is_recorded_too(memory, asked, monkeypatch):
    monkeypatch.setattr(command.options, "confirm", lambda *_: memory.truncate(ENRICHED, 50))
    result = asked()
    assert result.exit_code == 0, result.output
    assert [(one.first_seq, one.last_seq) for one in read_lost(memory.settings)] == [(20, 29), (31, 50)]
    assert "run r: 31 to 50" in result.output
    assert "nothing to accept" in asked().output


def test_a_reader_that_has_gone_on_meanwhile_loses_nothing(memory, asked, monkeypatch):
    """It had read what was gone, and had not committed it yet."""
    head = memory.data.head(ENRICHED)
    monkeypatch.setattr(command.options, "confirm", lambda *_: memory.admin.move_group(ENRICHED, "search", head))
    result = asked()
    assert result.exit_code == 0, result.output
    assert read_lost(memory.settings) == []


@pytest.mark.parametrize(("error", "way_out"), [
    (RedisError("refused"), "murmur status"), (OperationalError("", {}, Exception("locked")), "murmur status"),
    (FileNotFoundError(2, "No such file", "offsets/7"), "offsets/7"), (Fault(10, "BAD_NAME"), "murmur status"),
])
def test_what_cannot_be_told_says_what_to_do(memory, asked, monkeypatch, error, way_out):
    def fail(*_):
        raise error

    monkeypatch.setattr(acceptance, "find", fail)
    result = asked("--yes")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit), result.exception
    assert way_out in result.output
    assert "call it again" in result.output


def test_another_reader_is_left_alone(memory, asked):
    assert json.loads(asked("--reader", "trending-consumer", "--yes", "--json").output)["readers"] == []
    assert find_losses(memory, SEARCH)


@pytest.mark.parametrize("rejects_are_cut", [False, True])
def test_what_is_enriched_but_let_go_is_not_lost_though_old_rejects_are_there(memory, rejects_are_cut):
    """As `tweets-enriched` is cut long before `tweets-rejected` is."""
    memory.truncate(RAW, 0)
    with memory.data.producer(RAW) as raw:
        for seq in range(100):
            raw.send("k", to_json(tweet(seq)))
    with memory.data.producer(REJECTED) as others:
        others.send("k", to_json(rejected(1)))
    memory.truncate(REJECTED, int(rejects_are_cut))
    memory.truncate(RAW, 60)
    reader = next(reader for reader in READERS if reader.name == "enrich")
    assert find(memory, reader) == []


@pytest.mark.parametrize(("shown", "first"), [([3000, 3600], 3000), ([], 1395)])
def test_what_was_not_counted_may_be_late(memory, monkeypatch, shown, first):
    keys = [f"bucket:{start}" for start in shown]
    monkeypatch.setattr(finding.redis.Redis, "scan_iter", lambda *_: iter(keys))
    monkeypatch.setattr(finding, "read_manifests", lambda _: {"r": Manifest("r", "test", 1_997_000_000)})
    with memory.data.producer(HASHTAG_COUNTS) as counts:
        counts.send("k", json.dumps({"bucket_start": 4000}).encode())
    reader = next(reader for reader in READERS if reader.name == "trending-consumer")
    (one,) = find(memory, reader)
    assert (one.first_seq, one.last_seq) == (first, 4000)
