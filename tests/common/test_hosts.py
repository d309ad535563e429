import pytest
from flask import Flask
from pydantic import ValidationError

from common.hosts import refuse_foreign_hosts
from common.settings import Settings


def status(host: str | None, **settings: str) -> int:
    app = Flask(__name__)
    refuse_foreign_hosts(app, Settings(**settings))
    app.add_url_rule("/", view_func=lambda: "ok")
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/", "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80",
               "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": "http"}
    if host is not None:
        environ["HTTP_HOST"] = host
    found: list[int] = []
    app.wsgi_app(environ, lambda line, headers: found.append(int(line.split()[0])))
    return found[0]


@pytest.mark.parametrize("host", ["localhost", "LocalHost:21003", "127.0.0.1", "127.0.0.1:80", "[::1]:21003", "[::1]"])
def test_loopback_names_are_answered(host: str) -> None:
    assert status(host) == 200


@pytest.mark.parametrize("host", [
    None, "", ":80", "rebound.example", "rebound.example:21003", "localhost.rebound.example", "127.0.0.1.example",
    "localhost:80@rebound.example", "::1", "[::1", "localhost:x", "localhost, rebound.example", "0.0.0.0",
])
def test_others_are_not(host: str | None) -> None:
    assert status(host) == 421


def test_the_setting_names_them() -> None:
    assert status("tweets.example:80", allowed_hosts=" tweets.example , [::1]") == 200
    assert status("localhost", allowed_hosts="tweets.example") == 421


@pytest.mark.parametrize("listed", ["", " ", ",", " , ,", "a;b", "a b", "::1", "*", "localhost,{"])
def test_a_setting_that_names_none_or_no_name_is_refused(listed: str) -> None:
    with pytest.raises(ValidationError, match="no name"):
        Settings(allowed_hosts=listed)
