"""Whoever is not a page of ours with a session changes nothing, and learns no token."""

from __future__ import annotations

import logging
import stat

import pytest
from flask import Flask

from common import control
from common.settings import Port, Settings
from control.access import is_own
from tests.control.conftest import Ask

ACTIONS = {
    "experiments": {"rate_per_s": 100, "seconds": 60},
    "failures": {"kind": "kill", "process": "redis"},
    "tweets": {"text": "hello"},
}


def test_every_action_is_tried_here(app: Flask) -> None:
    changing = {rule.rule for rule in app.url_map.iter_rules() if rule.methods and "POST" in rule.methods}
    assert changing == {f"/control/{path}" for path in (*ACTIONS, "session")}


@pytest.mark.parametrize("path", ACTIONS)
def test_nothing_is_done_without_a_session(ask: Ask, path: str) -> None:
    assert ask(path, ACTIONS[path]).status_code == 401
    assert ask("session", {"token": "wrong"}).status_code == 401
    assert ask(path, ACTIONS[path]).status_code == 401
    assert ask(path, ACTIONS[path], Cookie="murmur_control_21000=eyJpZCI6IjEifQ.aaaa.bbbb").status_code == 401


@pytest.mark.parametrize("path", [*ACTIONS, "session"])
@pytest.mark.parametrize("origin", [
    None, "null", "", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", "http://[", "file://"
])
def test_nothing_is_done_for_the_page_of_another_server(opened: Ask, path: str, origin: str | None) -> None:
    answer = opened(path, ACTIONS.get(path, {"token": "any"}), Origin=origin)
    assert (answer.status_code, answer.mimetype) == (403, "application/problem+json")


@pytest.mark.parametrize("path", [*ACTIONS, "session"])
def test_nothing_is_done_by_a_name_that_somebody_else_has_pointed_here(opened: Ask, path: str) -> None:
    answer = opened(path, ACTIONS.get(path), Host="evil.example:21000", Origin="http://evil.example:21000")
    assert (answer.status_code, answer.mimetype) == (421, "application/problem+json")


@pytest.mark.parametrize("path", ACTIONS)
def test_nothing_is_done_by_get_or_by_a_form(opened: Ask, path: str) -> None:
    answer = opened(path, method="GET")
    assert (answer.status_code, set(answer.headers["Allow"].split(", "))) == (405, {"OPTIONS", "POST"})
    assert opened(path, None, **{"Content-Type": "application/x-www-form-urlencoded"}).status_code == 415
    assert opened(path, None, **{"Content-Type": "text/plain"}).status_code == 415


def test_the_cookie_is_for_the_browser_alone_and_for_this_site(ask: Ask, settings: Settings) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("control.actions.names", lambda settings: [])
        answer = ask("session", {"token": control.token_file(settings).read_text()})
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"murmur_control_{settings.port(Port.PAGE)}=")
    assert {"HttpOnly", "Path=/control", "SameSite=Strict"} <= set(cookie.split("; "))
    assert control.token_file(settings).read_text() not in cookie


def test_a_session_ends_with_the_start_of_the_instance(opened: Ask, app: Flask, settings: Settings) -> None:
    assert opened("session", method="GET").status_code == 503  # there is a session, and no process manager
    control.make(settings)
    app.secret_key = control.secret_file(settings).read_text()
    assert opened("session", method="GET").json == {"open": False, "refused": None, "actions": []}


def test_each_action_is_told_and_the_token_is_not(
    ask: Ask, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    token = control.token_file(settings).read_text()
    ask("session", {"token": token})
    ask("session", {"token": token, "more": 1})
    ask("failures", ACTIONS["failures"], **{"X-Forwarded-For": "192.0.2.7"})
    assert "192.0.2.7, session" in caplog.text
    assert "POST /control/failures: 503" in caplog.text
    assert token not in caplog.text


def test_what_opens_the_controls_is_for_the_owner_only(settings: Settings) -> None:
    for file in (control.token_file(settings), control.secret_file(settings)):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert len(file.read_text()) >= 32
    assert control.token_file(settings).read_text() != control.secret_file(settings).read_text()
    settings.save()
    assert control.token_file(settings).read_text() not in settings.settings_file.read_text()


def test_the_token_is_in_the_fragment(settings: Settings) -> None:
    assert control.page(settings) == f"{settings.url}/#token={control.token_file(settings).read_text()}"


@pytest.mark.parametrize(("origin", "host", "own"), [
    ("https://murmur.example", "murmur.example", True), ("http://LOCALHOST:21000", "localhost:21000", True),
    ("http://localhost:21000", "127.0.0.1:21000", False), ("http://user@localhost:1", "localhost:1", False),
])
def test_a_page_is_ours_by_name_and_port(origin: str, host: str, own: bool) -> None:
    assert is_own(origin, host) is own


def test_nobody_writes_lines_of_the_log(ask: Ask, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    ask("x%0a10.0.0.1, session deadbeef: POST /control/failures: 202%1b[2J", {})
    assert len(caplog.messages) == 1
    assert caplog.messages[0].isprintable()
