"""Nginx, as an instance runs it, before the API and the built page: what it says by itself, and what it refuses."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator

import pytest
import requests

from common.process.child import program
from common.settings import Port, Settings
from deploy.local import stack
from tests.stack import PORT_BASE
from tests.web.test_web_events import eventually, gunicorn, responds

pytestmark = pytest.mark.server

PAGE_POLICY = (
    "default-src 'self'; img-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@pytest.fixture(scope="module")
def settings(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(
        home=tmp_path_factory.mktemp("home"), port_base=PORT_BASE + 1900, redis_url=redis_server,
        milvus_uri="elsewhere", middleware_uri="elsewhere", web_replicas=1, web_streams=4, web_streams_per_client=2,
    )


@pytest.fixture(scope="module")
def url(settings: Settings) -> Iterator[str]:
    """Address of an Nginx with one replica of the API behind it, and no server that takes tweets."""
    stack.write_configuration(settings)
    configuration = settings.instance_dir / "nginx.conf"
    with gunicorn(settings, settings.port(Port.WEB)):
        nginx = subprocess.Popen([program("nginx"), "-c", str(configuration), "-e", "stderr"])
        try:
            eventually(lambda: responds(settings.url))
            yield settings.url
        finally:
            nginx.terminate()
            nginx.wait(10)


def exchange(url: str, request: bytes) -> tuple[int, str]:
    """Status and text of the answer to exactly these bytes."""
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), timeout=10) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    return int(answer.split()[1]), answer


def assert_problem(response: requests.Response, status: int) -> None:
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/problem+json")
    assert response.json().keys() == {"type", "title", "status", "detail"}
    assert response.json()["status"] == status
    assert_safe(response, PAGE_POLICY)
    assert response.headers["Cache-Control"] == "no-store"


def assert_safe(response: requests.Response, policy: str) -> None:
    """One policy and no other: a header that is there twice would hold both, with a comma between."""
    assert response.headers["Content-Security-Policy"] == policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_the_page_allows_files_of_ours_only(url: str) -> None:
    page = requests.get(url, timeout=10)
    assert page.headers["Content-Type"] == "text/html"
    assert page.headers["Cache-Control"] == "no-cache"
    assert_safe(page, PAGE_POLICY)
    assert "<style" not in page.text
    assert " style=" not in page.text
    assert "<script>" not in page.text


def test_assets_are_kept_and_what_is_not_there_is_not(url: str) -> None:
    asset = next(part for part in requests.get(url, timeout=10).text.split('"') if part.startswith("/assets/"))
    kept = requests.get(url + asset, timeout=10)
    assert "immutable" in kept.headers["Cache-Control"]
    assert_safe(kept, PAGE_POLICY)
    assert_problem(requests.get(f"{url}/assets/nothing.js", timeout=10), 404)


@pytest.mark.parametrize("path", ["/api/v1/pipeline", "/api/v1/trending?window=x", "/api/v1/nothing", "/openapi.json"])
def test_what_the_api_says_stands(url: str, path: str) -> None:
    response = requests.get(url + path, timeout=10)
    assert_safe(response, "default-src 'none'; frame-ancestors 'none'")
    assert response.headers["Cache-Control"] == "no-store"


def test_the_description_of_the_api_is_shown(url: str) -> None:
    page = requests.get(f"{url}/docs", timeout=10)
    assert requests.get(f"{url}/docs/", timeout=10).text == page.text
    assert (page.status_code, page.headers["Content-Type"]) == (200, "text/html")
    assert_safe(page, PAGE_POLICY.replace("img-src 'self'", "img-src 'self' data:"))
    assert "://" not in page.text


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::2]", "evil.example:21000"])
@pytest.mark.parametrize("path", ["/", "/api/v1/pipeline", "/docs"])
def test_another_host_name_is_refused(url: str, host: str, path: str) -> None:
    assert_problem(requests.get(url + path, headers={"Host": host}, timeout=10), 421)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "localhost:1", "LOCALHOST:65535", "[::1]:8080"])
def test_ours_are_answered_whatever_the_port(url: str, host: str) -> None:
    for path in ("/", "/api/v1/pipeline"):
        assert requests.get(url + path, headers={"Host": host}, timeout=10).status_code == 200


def test_the_api_refuses_another_host_name_without_nginx_too(url: str, settings: Settings) -> None:
    direct = f"http://{settings.address(Port.WEB)}/api/v1/pipeline"
    response = requests.get(direct, headers={"Host": "evil.example"}, timeout=10)
    assert (response.status_code, response.headers["Content-Type"]) == (421, "application/problem+json")
    assert requests.get(direct, timeout=10).status_code == 200


def test_a_method_that_a_file_does_not_take(url: str) -> None:
    response = requests.post(url, timeout=10)
    assert_problem(response, 405)
    assert response.headers["Allow"] == "GET, HEAD"
    assert requests.delete(f"{url}/api/v1/pipeline", timeout=10).headers["Allow"].count("GET") == 1


def test_a_body_that_is_too_large(url: str) -> None:
    assert_problem(requests.post(f"{url}/api/v1/pipeline", data=b"x" * (65 << 10), timeout=10), 413)


@pytest.mark.parametrize("view", ["/pipeline", "/tweet", "/experiments?window=1m"])
def test_each_view_of_the_page_has_an_address(url: str, view: str) -> None:
    page, at_home = (requests.get(url + path, timeout=10) for path in (view, "/"))
    assert (page.status_code, page.text) == (200, at_home.text)
    assert page.headers["Cache-Control"] == "no-cache"
    assert_safe(page, PAGE_POLICY)


def test_the_longest_search_passes_and_a_longer_address_does_not(url: str) -> None:
    search = f"{url}/api/v1/search"
    assert requests.get(search, params={"q": "\U0001d11e" * 512, "lang": "x-" * 8}, timeout=10).status_code == 400
    assert_problem(requests.get(search, params={"q": "\U0001d11e" * 1000}, timeout=10), 414)


def test_what_does_not_answer_is_unavailable(url: str) -> None:
    response = requests.post(f"{url}/api/v1/tweets", data=b"{}", timeout=10)
    assert_problem(response, 503)
    assert response.headers["Retry-After"] == "2"


@pytest.mark.parametrize(("request_", "status"), [
    (b"nonsense\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 9000 + b"\r\nConnection: close\r\n\r\n", 431),
    (b"GET /" + b"x" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
    (b"TRACE / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 405),
    (b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n", 400),
])
def test_what_is_no_request_is_a_problem_too(url: str, request_: bytes, status: int) -> None:
    got, answer = exchange(url, request_)
    assert got == status
    assert "application/problem+json" in answer
    assert "Content-Security-Policy: default-src 'self'" in answer


def test_event_streams_are_bounded_by_the_address_that_nginx_sees(url: str) -> None:
    def stream(forwarded: str) -> requests.Response:
        return requests.get(
            f"{url}/api/v1/events", headers={"X-Forwarded-For": forwarded}, stream=True, timeout=10
        )

    streams = [stream(f"10.0.0.{n}") for n in range(3)]
    assert [each.status_code for each in streams] == [200, 200, 429]
    for each in streams:
        each.close()
