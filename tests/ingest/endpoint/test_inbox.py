"""The endpoint for pushed tweets and its publishing thread, over a middleware in memory."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from werkzeug.test import TestResponse

from common.settings import Settings
from common.storage.disk import DiskFull
from common.tweets import RAW
from ingest.endpoint import inbox, pending_requests
from ingest.endpoint.http import create_app
from ingest.endpoint.inbox import Inbox
from ingest.endpoint.pending_requests import Pushed, Waiting
from ingest.manifest import Manifest, ManifestWriter, read_manifests
from ingest.publisher import Publisher
from ingest.sources.base import Payload
from middleware.errors import Unreachable
from tests.ingest.endpoint.bodies import bodies
from tests.ingest.over_memory import each_once, eventually, memory, payloads, seqs
from tests.memory import Memory
from web.openapi import PUSH

AUTHORISED = {"Authorization": "Bearer token"}
TWEET = b'{"data":{"id":"1","author_id":"2"}}'


@pytest.fixture
def middleware(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Memory:
    made = memory(settings)
    monkeypatch.setattr("ingest.endpoint.inbox.connect", lambda _: made)
    monkeypatch.setattr("ingest.endpoint.inbox.RETRY_SECONDS", 0.01)
    monkeypatch.setattr("ingest.endpoint.inbox.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("ingest.endpoint.inbox.ANSWER_SECONDS", 10.0)
    monkeypatch.setattr("ingest.endpoint.heartbeat.ASK_SECONDS", 0.01)
    monkeypatch.setattr("ingest.publisher.FIRST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr("ingest.resume.READY_SECONDS", 0.0)
    return made


@pytest.fixture
def impatient(middleware: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for what will not be published gives up soon."""
    monkeypatch.setattr("ingest.endpoint.inbox.ANSWER_SECONDS", 0.3)


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set instead of ending the process of the tests."""
    event = threading.Event()
    monkeypatch.setattr("ingest.endpoint.inbox.os._exit", lambda _: event.set())
    monkeypatch.setattr("ingest.endpoint.inbox.ANSWERS_SECONDS", 0.0)
    return event


@pytest.fixture
def client(settings: Settings, middleware: Memory) -> Iterator[FlaskClient]:
    app = create_app(settings)
    made = app.test_client()
    assert eventually(lambda: made.get("/readyz").status_code == 200)
    yield made
    app.extensions["inbox"].close()


def push(client: FlaskClient, body: bytes = TWEET, headers: Mapping[str, str] = AUTHORISED) -> TestResponse:
    answer = client.post("/api/v1/tweets", data=body, headers=headers)
    described = PUSH["responses"][answer.status_code]
    assert {*answer.headers.keys()} - {"Content-Type", "Content-Length"} == {*described.get("headers", {})}
    assert answer.status_code == 200 or answer.content_type == "application/problem+json"
    return answer


def test_who_has_no_token_is_told_how_to_send_one(client: FlaskClient) -> None:
    assert push(client, headers={}).status_code == 401


def run_of(settings: Settings) -> Manifest:
    return list(read_manifests(settings).values())[-1]


def test_pushes_at_once_are_published_each_once(
    client: FlaskClient, settings: Settings, middleware: Memory
) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: push(client.application.test_client()).json, range(40)))
    assert answers == [{"accepted": 1, "refused": []}] * 40
    client.application.extensions["inbox"].close()
    assert seqs(middleware, run_of(settings).run) == each_once(40)
    assert run_of(settings).total == 40


@examples(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(bodies, max_size=4))
def test_whatever_is_pushed_the_next_one_is_published(
    client: FlaskClient, middleware: Memory, pushed: list[bytes]
) -> None:
    before = len(middleware.events(RAW))
    answer = push(client, b"\n".join([*pushed, TWEET]))
    assert answer.status_code == 200
    assert answer.json
    assert len(middleware.events(RAW)) - before == answer.json["accepted"] >= 1


def test_an_error_that_nobody_expected_ends_the_process_and_answers_everybody(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, ended: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    going_on, wait = threading.Event(), threading.Event()

    def fail(*_: object) -> None:
        going_on.set()
        wait.wait(10)
        raise RuntimeError("nobody expected this")

    monkeypatch.setattr("ingest.publisher.Publisher.keep", fail)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(push, client.application.test_client())
        going_on.wait(10)
        second = pool.submit(push, client.application.test_client())
        inbox_ = client.application.extensions["inbox"]
        assert eventually(lambda: len(inbox_._waiting._queue) == 1)
        wait.set()
        assert [each.result(10).status_code for each in (first, second)] == [503, 503]
    assert ended.wait(10)
    [said] = [record for record in caplog.records if record.levelname == "CRITICAL"]
    assert said.getMessage() == "publishing failed, so this process ends: nobody expected this"
    assert said.exc_info
    assert client.get("/readyz").status_code == 503
    assert push(client).status_code == 503
    inbox_.close()


def test_an_outage_is_answered_at_once_and_what_it_left_is_recovered(
    client: FlaskClient, settings: Settings, middleware: Memory
) -> None:
    assert push(client).status_code == 200
    middleware.down = True
    answer = push(client)
    assert answer.status_code == 503
    assert "may be published" in answer.json["detail"]  # type: ignore[index]
    assert client.get("/readyz").status_code == 503
    answer = push(client)
    assert "none of the tweets was taken" in answer.json["detail"]  # type: ignore[index]
    assert int(answer.headers["Retry-After"]) > 0
    middleware.down = False
    assert eventually(lambda: client.get("/readyz").status_code == 200)
    [run] = read_manifests(settings).values()
    assert (run.total, seqs(middleware, run.run)) == (2, each_once(2))
    assert push(client).status_code == 200


def test_it_is_not_ready_in_an_outage_in_which_nobody_pushes(client: FlaskClient, middleware: Memory) -> None:
    for _ in range(2):
        middleware.down = True
        assert eventually(lambda: client.get("/readyz").status_code == 503)
        middleware.down = False
        assert eventually(lambda: client.get("/readyz").status_code == 200)
    assert push(client).status_code == 200


def test_a_store_that_is_held_makes_it_not_ready_and_holds_up_neither_a_push_nor_the_end(
    client: FlaskClient, middleware: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer does not come, as behind a SIGSTOP."""
    held = threading.Event()
    monkeypatch.setattr("ingest.endpoint.heartbeat.SILENT_SECONDS", 0.05)
    monkeypatch.setattr("ingest.endpoint.heartbeat.CLOSE_SECONDS", 0.05)
    monkeypatch.setattr("ingest.readback.CLOSE_SECONDS", 0.05)
    monkeypatch.setattr(middleware.data, "end", lambda _: held.wait(60))
    assert eventually(lambda: client.get("/readyz").status_code == 503)
    assert push(client).status_code == 200
    assert client.get("/readyz").status_code == 200  # that was an answer
    inbox_: Inbox = client.application.extensions["inbox"]
    began = time.monotonic()
    inbox_.close()
    assert time.monotonic() - began < 30
    assert not inbox_._thread.is_alive()
    held.set()


def test_an_answer_that_nobody_expected_makes_it_not_ready_and_no_more(
    client: FlaskClient, middleware: Memory, monkeypatch: pytest.MonkeyPatch, ended: threading.Event
) -> None:
    with monkeypatch.context() as odd:
        odd.setattr(middleware.data, "end", lambda _: 1 / 0)
        assert eventually(lambda: client.get("/readyz").status_code == 503)
    assert eventually(lambda: client.get("/readyz").status_code == 200)
    assert push(client).status_code == 200
    assert not ended.is_set()


def test_a_recovery_that_fails_is_tried_again_and_is_not_ready(settings: Settings, middleware: Memory) -> None:
    with Publisher(settings, middleware, ManifestWriter.create(settings, "left", "http", {})) as publisher:
        publisher.keep([5] * 3, payloads(3))
    attempts, healed = Counter[str](), threading.Event()

    def fail() -> None:
        attempts["read"] += 1
        if not healed.is_set():
            raise Unreachable("not now")
    middleware.on_poll = fail
    app = create_app(settings)
    client = app.test_client()
    assert eventually(lambda: attempts["read"] > 3)
    assert client.get("/readyz").status_code == push(client).status_code == 503
    healed.set()
    assert eventually(lambda: client.get("/readyz").status_code == 200)
    assert seqs(middleware, "left") == each_once(3)
    assert read_manifests(settings)["left"].total == 3
    app.extensions["inbox"].close()


def test_a_full_disk_is_507_and_the_run_goes_on_when_there_is_room(
    client: FlaskClient, settings: Settings, middleware: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert push(client).status_code == 200
    with monkeypatch.context() as full:
        full.setattr("ingest.archive.writing.write_at", _no_room)
        answer = push(client)
        assert answer.status_code == 507
        assert int(answer.headers["Retry-After"]) > 0
    assert push(client).status_code == 200
    [run] = read_manifests(settings).values()
    assert seqs(middleware, run.run) == each_once(2)


def _no_room(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_it_is_not_ready_on_a_disk_without_room_for_a_push(client: FlaskClient, settings: Settings) -> None:
    settings.ingest_max_body_bytes = 1 << 62
    assert client.get("/readyz").status_code == 507


class Blocked:
    """A middleware whose flush waits."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.go_on = threading.Event(), threading.Event()
        flush = Publisher._send

        def send(publisher: Publisher, events: dict[int, tuple[str, bytes]]) -> None:
            self.began.set()
            self.go_on.wait(20)
            flush(publisher, events)
        monkeypatch.setattr("ingest.publisher.Publisher._send", send)


@pytest.mark.usefixtures("impatient")
def test_a_request_that_nobody_waits_for_any_more_is_not_published(
    client: FlaskClient, settings: Settings, middleware: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = Blocked(monkeypatch)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(push, client.application.test_client())
        blocked.began.wait(10)
        second = push(client)
        assert "may be published" in first.result(10).json["detail"]  # type: ignore[index]
        assert "none of the tweets was taken" in second.json["detail"]  # type: ignore[index]
        blocked.go_on.set()
    client.application.extensions["inbox"].close()
    assert len(middleware.events(RAW)) == run_of(settings).total == 1


@pytest.mark.usefixtures("impatient")
def test_closing_does_not_hang(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.endpoint.inbox.CLOSE_SECONDS", 0.05)
    blocked = Blocked(monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        pending = pool.submit(push, client.application.test_client())
        blocked.began.wait(10)
        inbox_: Inbox = client.application.extensions["inbox"]
        inbox_.close()
        assert inbox_._thread.is_alive()
        assert pending.result(10).status_code == 503
        blocked.go_on.set()
        inbox_._thread.join(10)
    assert run_of(settings).finished


def test_what_waits_is_bounded_in_bytes_and_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending_requests, "QUEUED_BYTES", 100)
    monkeypatch.setattr(pending_requests, "QUEUED_REQUESTS", 3)
    of: Callable[[int], Pushed] = lambda size: Pushed([], size)  # noqa: E731
    queue = Waiting()
    large, small = of(1000), of(60)
    assert queue.put(large)
    assert not queue.put(small)
    assert queue.take(0) is large
    assert [queue.put(each) for each in (small, of(50), of(30), of(10), of(0))] == [True, False, True, True, False]
    assert queue.withdraw(small)
    assert not queue.withdraw(small)
    assert queue.put(of(60))
    assert [pushed.size for pushed in iter(lambda: queue.take(0), None)] == [30, 10, 60]


def test_a_group_is_bounded_in_bytes(
    settings: Settings, middleware: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "GROUP_BYTES", 100)
    sizes: list[int] = []
    keep = Publisher.keep

    def noting(publisher: Publisher, sent: list[int], group: list[Payload]) -> object:
        sizes.append(sum(len(payload.body) for payload in group))
        return keep(publisher, sent, group)
    monkeypatch.setattr("ingest.publisher.Publisher.keep", noting)
    of_inbox = Inbox(settings.model_copy(update={"publish_group_ms": 50}))
    assert eventually(lambda: of_inbox._recovered)
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(of_inbox.publish, [payloads(1)] * 20))
    of_inbox.close()
    assert max(sizes) < 100 + 60
    assert sum(sizes) > 20 * 20


def test_foreign_host_names_are_refused(client: FlaskClient) -> None:
    answer = client.get("/readyz", headers={"Host": "rebound.example"})
    assert (answer.status_code, answer.content_type) == (421, "application/problem+json")


def test_full_is_the_word_of_the_system() -> None:
    from common.storage.disk import needing_room
    with pytest.raises(DiskFull, match="x could not"), needing_room("x"):
        _no_room()
    with pytest.raises(PermissionError), needing_room("x"):
        raise PermissionError(13, "no")
