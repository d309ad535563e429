"""A typed tweet that does not come through; one that does is typed in tests/browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask import Flask
from werkzeug.serving import make_server

from common.experiments import experimenting
from common.settings import Port, Settings
from ingest.endpoint.http import create_app
from tests.control.conftest import Ask


@contextmanager
def serving(settings: Settings, app: Flask) -> Iterator[None]:
    server = make_server("127.0.0.1", settings.port(Port.INGEST), app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_an_experiment_is_not_disturbed(settings: Settings, opened: Ask) -> None:
    with experimenting(settings):
        answer = opened("tweets", {"text": "hello"})
    assert (answer.status_code, "an experiment runs" in answer.json["detail"]) == (409, True)


@pytest.mark.parametrize(("token", "why"), [("another", "401 "), ("t0ken", "503 ")])
def test_what_the_endpoint_refuses_is_not_the_fault_of_who_asked(
    settings: Settings, opened: Ask, token: str, why: str
) -> None:
    app = create_app(settings.model_copy(update={"ingest_token": token, "middleware": "kafka"}))
    try:
        with serving(settings, app):
            answer = opened("tweets", {"text": "hello"})
    finally:
        app.extensions["inbox"].close()
    assert (answer.status_code, answer.mimetype) == (502, "application/problem+json")
    assert why in answer.json["detail"]


def test_whatever_answers_there_is_understood(settings: Settings, opened: Ask) -> None:
    app = Flask("other")
    app.register_error_handler(404, lambda error: ("<h1>none of ours</h1>", 404))
    with serving(settings, app):
        answer = opened("tweets", {"text": "hello"})
    assert (answer.status_code, "404 NOT FOUND" in answer.json["detail"]) == (502, True)


def test_nobody_knows_what_became_of_it_without_an_answer(opened: Ask) -> None:
    answer = opened("tweets", {"text": "hello"})
    assert (answer.status_code, "nobody knows" in answer.json["detail"]) == (503, True)
