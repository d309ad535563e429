"""Experiments as the page reads them, from folders as experiments leave them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from common.experiments import HELD, PROGRESS, RESULTS, new_folder
from common.settings import Settings
from common.storage import files
from common.tweets import STAGES
from loadgen.observe.samples import Sample
from loadgen.report import kept
from loadgen.report.kept import Kept
from loadgen.report.result import Spec
from tests.cli.load.test_display import result
from tests.stack import ROOT
from tests.web.test_web_openapi import check
from web import experiment_files

KEPT = ROOT / "results" / "2026-11-28-find-max"
GOOD = json.dumps({"kind": "run", "experiments": [{"verdict": "pass", "rate": 1, "seconds": 2}]})
ABOUT = {
    "middleware": "pravega", "durability": "fsync", "commit": "abc",
    "host": {"cpu": "Z80", "cores": 2, "load_average": [1]},
    "settings": {"partitions": 1, "redis_url": ""}, "versions": {"python": "3.11.2"},
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of servers that do not run here."""
    monkeypatch.setattr(kept, "described", lambda settings: ABOUT)


def listed(client: FlaskClient) -> list[dict[str, Any]]:
    return client.get("/api/v1/experiments").json["experiments"]


def test_there_is_none_yet(client: FlaskClient) -> None:
    assert listed(client) == []
    response = client.get("/api/v1/experiments/one")
    assert (response.status_code, response.mimetype) == (404, "application/problem+json")


def test_one_that_runs_and_what_came_of_it(client: FlaskClient, settings: Settings) -> None:
    folder = new_folder(settings)
    with Kept.of(settings, Spec(1000), folder, "murmur load run --rate 1000") as one:
        one.watch("measuring", Sample(1.5, {**dict.fromkeys(STAGES, 7), "ranked": 9}))
        (shown,) = listed(client)
        assert (shown["id"], shown["verdict"], shown["rate_per_s"]) == (folder.name, "running", 1000)
        detail = client.get(f"/api/v1/experiments/{folder.name}").json
        assert (detail["phase"], detail["backlog_at"]) == ("measuring", [1.5])
        assert {each["name"]: each["events"] for each in detail["backlog"]}["ranked"] == [9]
        one.finish(result())
    (shown,) = listed(client)
    assert {name: shown[name] for name in ("id", "verdict", "middleware", "durability", "commit", "machine")} == {
        "id": folder.name, "verdict": result().verdict.judgement, "middleware": "pravega", "durability": "fsync",
        "commit": "abc", "machine": "Z80, 2 cores",
    }
    detail = client.get(f"/api/v1/experiments/{folder.name}").json
    assert detail["phase"] is None
    assert {name: detail[name] for name in shown} == shown
    in_force = {each["name"]: each["value"] for each in detail["settings"]}
    assert {name: in_force[name] for name in ("rate", "partitions", "redis_url", "versions: python", "host: cpu")} == {
        "rate": json.dumps(result().spec.rate), "partitions": "1", "redis_url": "", "versions: python": "3.11.2",
        "host: cpu": "Z80",
    }
    assert "host: load_average" not in in_force
    assert [condition["name"] for condition in detail["conditions"]] == list(result().verdict.findings)
    assert len(detail["backlog_at"]) == len(result().samples)


def test_the_phase_is_told_before_the_first_sample(client: FlaskClient, settings: Settings) -> None:
    folder = new_folder(settings)
    with Kept.of(settings, Spec(1000), folder, "") as one:
        detail = client.get(f"/api/v1/experiments/{folder.name}").json
        assert (detail["phase"], detail["backlog_at"], detail["backlog"]) == ("starting", [], [])
        one.finish(result())


def test_one_that_was_killed_is_broken(client: FlaskClient, settings: Settings) -> None:
    """Whatever held its folder is gone, and it could say nothing any more."""
    folder = new_folder(settings)
    with Kept.of(settings, Spec(1000), folder, "") as one:
        told = (folder / PROGRESS).read_text()
        one.finish(result())
    (folder / RESULTS).unlink()
    (folder / PROGRESS).write_text(told)
    (shown,) = listed(client)
    assert (shown["verdict"], shown["reason"]) == ("broken", "it ended without a verdict")
    with files.locked(folder / HELD, os.O_CREAT):
        assert listed(client)[0]["verdict"] == "running"


def test_searches_are_told_by_their_experiments_the_newest_first(
    client: FlaskClient, settings: Settings
) -> None:
    """Those in the repository, two folders deep."""
    shutil.copytree(KEPT, settings.experiments_dir / KEPT.name)
    found = listed(client)
    expected = [json.loads(file.read_text()) for file in KEPT.rglob(RESULTS)]
    assert len(found) == sum(len(each["experiments"]) for each in expected)
    times = [one["began_at"] for one in found]
    assert times == sorted(times, reverse=True)
    assert len({one["id"] for one in found}) == len(found)
    path, spec = "/api/v1/experiments/{name}", client.get("/openapi.json").json
    schema = spec["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    for one in found:
        detail = client.get(path.format(name=one["id"])).json
        check(detail, schema, spec)
        assert {name: detail[name] for name in one} == one
        assert [latency["name"] for latency in one["latency_ms"]] == list(STAGES)


def test_those_of_a_comparison_are_told_with_their_middleware(client: FlaskClient, settings: Settings) -> None:
    runs = [json.loads((KEPT / name / RESULTS).read_text()) for name in ("kafka-cached", "pravega-cached")]
    write(settings, "compared", json.dumps({"kind": "comparison", "runs": runs}))
    assert {one["middleware"] for one in listed(client)} == {"kafka", "pravega"}


def write(settings: Settings, name: str, content: str | bytes) -> None:
    folder = settings.experiments_dir / name
    folder.mkdir(parents=True)
    (folder / RESULTS).write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.mark.parametrize("content", [
    b"", b"{", b"\xff\xfe", b"[]", b"7", b"null", b"{}", b'{"experiments": 7}', b'{"experiments": [7]}', b"[" * 10_000,
    b'{"experiments": [{"verdict": "great", "rate": 1, "seconds": 1}]}',
    b'{"experiments": [{"verdict": "pass", "rate": "fast", "seconds": 1}]}',
    b'{"experiments": [{"verdict": "pass", "rate": 1, "seconds": 1, "conditions": {"audit": {}}}]}',
    b'{"experiments": [{"verdict": "pass", "rate": 1, "seconds": 1, "started_at": "2026-11-28"}]}',
    b'{"experiments": [{"verdict": "pass", "rate": 1, "seconds": 1}], "host": "mine"}', b'{"runs": {"a": 1}}',
])
def test_a_broken_file_is_a_broken_experiment(client: FlaskClient, settings: Settings, content: bytes) -> None:
    write(settings, "bad", content)
    write(settings, "good", json.dumps({"experiments": [{"verdict": "pass", "rate": 1, "seconds": 60}], **ABOUT}))
    verdicts = {one["id"]: one["verdict"] for one in listed(client)}
    assert verdicts == {"bad": "broken", "good": "pass"}
    detail = client.get("/api/v1/experiments/bad").json
    assert detail["reason"] == "results.json: it holds no experiment of this version"


def test_what_is_no_file_or_too_large_is_broken(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    (settings.experiments_dir / "folder" / RESULTS).mkdir(parents=True)
    write(settings, "large", b" " * 100)
    monkeypatch.setattr(experiment_files, "MOST_BYTES", 99)
    assert {one["id"]: one["verdict"] for one in listed(client)} == {"folder": "broken", "large": "broken"}


def test_a_file_that_changes_is_read_again(client: FlaskClient, settings: Settings) -> None:
    write(settings, "one", json.dumps({"experiments": [{"verdict": "pass", "rate": 1, "seconds": 60}]}))
    assert [one["id"] for one in listed(client)] == ["one"]
    two = {"experiments": [{"verdict": "pass", "rate": rate, "seconds": 60} for rate in (1, 2)]}
    (settings.experiments_dir / "one" / RESULTS).write_text(json.dumps(two))
    assert {one["id"] for one in listed(client)} == {"one~1", "one~2"}


def test_the_list_is_bounded(client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment_files, "MOST_FILES", 3)
    for n in range(5):
        write(settings, str(n), json.dumps({"experiments": [{"verdict": "pass", "rate": 1, "seconds": 60}]}))
        os.utime(settings.experiments_dir / str(n) / RESULTS, (n, n))
    assert {one["id"] for one in listed(client)} == {"2", "3", "4"}


@pytest.mark.parametrize("name", ["..", ".", "%2e%2e", "..%2foutside", "%2e%2e%2foutside", "outside", "..~outside",
                                  "%00", "inside%00", "inside%2fresults.json", "~"])
def test_no_id_leads_out_of_the_folder(client: FlaskClient, settings: Settings, tmp_path: Path, name: str) -> None:
    one = json.dumps({"experiments": [{"verdict": "pass", "rate": 1, "seconds": 60}]})
    write(settings, "inside", one)
    outside = settings.experiments_dir.parent / "outside"
    outside.mkdir()
    (outside / RESULTS).write_text(one)
    (settings.experiments_dir.parent / RESULTS).write_text(one)
    assert client.get("/api/v1/experiments/inside").status_code == 200
    assert client.get(f"/api/v1/experiments/{name}").status_code == 404


def test_what_is_no_file_of_text_breaks_nothing_else(client: FlaskClient, settings: Settings) -> None:
    folders = [settings.experiments_dir / name for name in ("pipe", "endless", os.fsdecode(b"\xff"), "good")]
    for folder in folders:
        folder.mkdir(parents=True)
    os.mkfifo(folders[0] / RESULTS)
    (folders[1] / RESULTS).symlink_to("/dev/zero")
    for folder in folders[2:]:
        (folder / RESULTS).write_text(GOOD)
    found = client.get("/api/v1/experiments").json["experiments"]
    assert {one["id"]: one["verdict"] for one in found} == {
        "pipe": "broken", "endless": "broken", "\ufffd": "pass", "good": "pass"}
    assert client.get("/api/v1/experiments/\ufffd").status_code == 200


def test_a_failure_that_passes_is_not_remembered(
    client: FlaskClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = settings.experiments_dir / "one"
    folder.mkdir(parents=True)
    (folder / RESULTS).write_text(GOOD)

    def verdicts() -> list[str]:
        return [one["verdict"] for one in client.get("/api/v1/experiments").json["experiments"]]

    def refuse(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        assert verdicts() == ["broken"]
    assert verdicts() == ["pass"]
