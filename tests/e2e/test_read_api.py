"""What the API's own description promises, asked by schemathesis; what it cannot provoke is provoked by hand."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from common.process import manager
from tests.stack import FUZZ_SECONDS, Stack, eventually

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(900 + FUZZ_SECONDS)]

CHECKS = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance")
LEFT_OUT = ("/api/v1/events", "/api/v1/tweets")
"""A stream that does not end, and what only a token opens: they have tests of their own."""


def test_every_answer_is_as_described_and_every_described_answer_is_given(stack: Stack, tmp_path: Path) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    before = {name: pids[0] for name, pids in stack.pids().items()}
    seen = fuzzed(stack, seed, tmp_path / "answers.har")
    assert {name: pids[0] for name, pids in stack.pids().items()} == before
    for path in described(stack):
        seen[path].add(answer(stack, path, Host="elsewhere.example"))
    seen["/api/v1/search"].add(answer(stack, f"/api/v1/search?q={'x' * 9000}"))
    stage = manager.ask(stack.settings(), manager.ENDED_SECONDS)
    stage.stopProcess("redis")
    stage.stopProcess("milvus")
    try:
        for path in described(stack):
            seen[path].add(answer(stack, f"{path}?q=never%20asked" if path.endswith("search") else path))
    finally:
        stage.startProcess("redis")
        stage.startProcess("milvus")
    eventually("all is well again", lambda: answer(stack, "/readyz") == 200)
    assert {path: left for path, statuses in described(stack).items() if (left := statuses - seen[path])} == {}


def fuzzed(stack: Stack, seed: int, report: Path) -> defaultdict[str, set[int]]:
    """Statuses by path. Redis and Milvus answer meanwhile, so a 503 would be an error, described or not."""
    left_out = [word for path in LEFT_OUT for word in ("--exclude-path", path)]
    process = subprocess.run(
        [str(Path(sys.executable).with_name("schemathesis")), "run", f"{stack.url}/openapi.json", *left_out,
         "--max-time", str(FUZZ_SECONDS), "--seed", str(seed), "--checks", ",".join(CHECKS),
         "--phases", "coverage,fuzzing", "--report", "har", "--report-har-path", str(report),
         "--generation-database", "none", "--no-color"],
        capture_output=True, text=True, cwd=report.parent, timeout=FUZZ_SECONDS + 240,
    )
    assert process.returncode == 0, process.stdout[-6000:] + process.stderr[-2000:]
    seen: defaultdict[str, set[int]] = defaultdict(set)
    for entry in json.loads(report.read_text())["log"]["entries"]:
        seen[urlsplit(entry["request"]["url"]).path].add(entry["response"]["status"])
    return seen


def described(stack: Stack) -> dict[str, set[int]]:
    """By path, the statuses that a GET is documented to have."""
    paths = requests.get(f"{stack.url}/openapi.json", timeout=10).json()["paths"]
    return {
        path: {int(status) for status in of["get"]["responses"] if status.isdigit()}
        for path, of in paths.items() if "get" in of and path not in LEFT_OUT
    }


def answer(stack: Stack, path: str, **headers: str) -> int:
    """The status; each that is not 200 is a problem in its own form, but for what is not ready, which tells why."""
    response = requests.get(f"{stack.url}{path}", headers=headers, timeout=20)
    if response.status_code != 200 and (path, response.status_code) != ("/readyz", 503):
        assert response.headers["Content-Type"] == "application/problem+json", (path, response.text)
    return response.status_code
