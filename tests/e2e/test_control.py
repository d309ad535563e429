"""An experiment that the page begins: on a whole instance, to its verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from common import control
from middleware.registry import registry
from tests.stack import Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900)]

_, OTHER, *_ = registry()


@pytest.fixture
def instance() -> Iterator[Stack]:
    instance = Stack("test-control", MURMUR_MIDDLEWARE=OTHER)
    with instance.running():
        yield instance


def test_an_experiment_is_begun_by_the_page_and_ends_with_a_verdict(instance: Stack) -> None:
    page = requests.Session()
    page.headers["Origin"] = instance.url

    def post(path: str, body: dict[str, Any]) -> requests.Response:
        return page.post(f"{instance.url}/control/{path}", json=body, timeout=90)

    assert post("session", {"token": control.token_file(instance.settings()).read_text()}).json()["open"]
    wish = {"rate_per_s": 50, "seconds": 10, "workload": "cached"}
    begun = post("experiments", wish)
    assert begun.status_code == 202, begun.text
    name = begun.json()["id"]

    assert instance.get(f"experiments/{name}")["verdict"] == "running"
    eventually("the ledger rests", lambda: instance.get("ledger")["state"] == "off", 30)
    for path, body in (("experiments", wish), ("failures", {"kind": "kill", "process": "redis"}),
                       ("tweets", {"text": "not now"})):
        refused = post(path, body)
        assert (refused.status_code, "an experiment runs" in refused.json()["detail"]) == (409, True), path

    found = eventually("it has a verdict",
                       lambda: (one := instance.get(f"experiments/{name}"))["verdict"] != "running" and one, 600)
    assert found["verdict"] in ("pass", "fail", "host-saturated", "generator-limited"), found
    assert (found["rate_per_s"], found["seconds"], found["workload"], found["middleware"]) == (50, 10, "cached", OTHER)
    assert found["conditions"]
    assert name in [each["id"] for each in instance.get("experiments")["experiments"]]
    assert not [process for process in found["cpu_seconds_per_1000"] if process.startswith("control/")]
    eventually("the ledger goes on", lambda: instance.get("ledger")["state"] == "exact", 60)
