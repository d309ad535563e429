from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from common.settings import Settings
from ingest.endpoint.http import create_app
from ingest.manifest import read_manifests
from tests.conformance.servers import Servers
from tests.ingest.reading import published
from tests.stack import eventually

pytestmark = [pytest.mark.server, pytest.mark.timeout(240)]


@pytest.fixture
def settings(servers: Servers) -> Settings:
    return servers.settings().model_copy(update={"ingest_token": "token"})


@pytest.fixture
def client(settings: Settings) -> Iterator[FlaskClient]:
    app = create_app(settings)
    client = app.test_client()
    eventually("it is ready", lambda: client.get("/readyz").status_code == 200)
    yield client
    app.extensions["inbox"].close()


AUTHORISED = {"Authorization": "Bearer token"}


def test_good_lines_are_published_and_bad_ones_named(client: FlaskClient, settings: Settings) -> None:
    body = b'{"data":{"id":"1"}}\n\n[1]\n{bad\n"\xff"\n{"a":"' + b"x" * settings.max_event_bytes + b'"}\n{"data":{}}'
    answer = client.post("/api/v1/tweets", data=body, headers=AUTHORISED)
    assert answer.status_code == 200
    assert answer.json == {"accepted": 2, "refused": [
        {"line": 3, "reason": "not-an-object"}, {"line": 4, "reason": "not-json"},
        {"line": 5, "reason": "invalid-utf8"}, {"line": 6, "reason": "too-large"},
    ]}
    run = max((m for m in read_manifests(settings).values() if m.source == "http"), key=lambda m: m.started_at_us)
    assert (run.acknowledged, run.finished) == (2, False)
    assert [event["data"] for event in sorted(published(settings, run.run), key=lambda e: e["ingest"]["seq"])] == [
        {"id": "1"}, {}]
    client.application.extensions["inbox"].close()
    assert read_manifests(settings)[run.run].total == 2


@pytest.mark.parametrize("header", [
    {}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic " + base64.b64encode(b"token").decode()},
    {"Authorization": "Bearer "},
])
def test_the_token_is_needed(client: FlaskClient, header: dict[str, str]) -> None:
    answer = client.post("/api/v1/tweets", data=b"{}", headers=header)
    assert (answer.status_code, answer.content_type) == (401, "application/problem+json")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_body_that_is_too_large(client: FlaskClient, settings: Settings) -> None:
    body = b" " * (settings.ingest_max_body_bytes + 1)
    answer = client.post("/api/v1/tweets", data=body, headers=AUTHORISED)
    assert (answer.status_code, answer.content_type) == (413, "application/problem+json")


def test_without_a_middleware_it_says_so(settings: Settings) -> None:
    app = create_app(settings.model_copy(update={"port_base": 1024, "port_block": 0}))
    client = app.test_client()
    assert client.get("/healthz").status_code == 200
    for answer in (client.get("/readyz"), client.post("/api/v1/tweets", data=b"{}", headers=AUTHORISED)):
        assert (answer.status_code, answer.content_type) == (503, "application/problem+json")
        assert int(answer.headers["Retry-After"]) > 0
    app.extensions["inbox"].close()
