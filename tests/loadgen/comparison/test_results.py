"""What a comparison keeps, and when it does not go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from common.experiments import RESULTS
from loadgen.comparison.results import KeptUnreadable, OtherSpec, joined, keep, mixed, read
from loadgen.comparison.searches import Search, Variant
from tests.loadgen.report.test_page import run as page_run

SPEC = {"payload": "lean", "workload": "realistic", "slo_ms": 2000.0, "users": 0, "processes": None,
        "durability": ["fsync"], "settings": {"partitions": 1, "publish_group_ms": 50}}


def run(middleware: str = "one", number: int = 1, side: str = "", **changed: Any) -> dict[str, Any]:
    return {**page_run(middleware), "round": number, "side": side, "took_s": 1500.0, "commit": "abc", **changed}


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    runs = [run(), run("two"), run("one", side="payload=full")]
    keep(tmp_path / "out", runs, SPEC, False, [Search(1, Variant("three", "fsync"))])
    assert read(tmp_path / "out") == (SPEC, runs)
    content = json.loads((tmp_path / "out" / RESULTS).read_text())
    assert [row["variant"] for row in content["ranking"]] == ["one (fsync)", "two (fsync)"]
    assert [row["of"] for row in content["sides"]["payload=full"]] == [1]
    assert content["left"] == ["three (fsync), round 1"]
    assert "Not made yet: three (fsync), round 1" in (tmp_path / "out" / "report.html").read_text()


def test_in_a_new_folder_nothing_is_kept(tmp_path: Path) -> None:
    assert read(tmp_path / "none") == ({}, [])
    assert joined({}, SPEC, False) == SPEC


def truncated(text: str) -> str:
    return text[:len(text) // 2]


@pytest.mark.parametrize(("change", "why"), [
    (truncated, "is no comparison"), (lambda text: "", "is no comparison"), (lambda text: "\0" * 500, "is no comp"),
    (lambda text: "[]", "is no comparison"), (lambda text: '{"kind": "find-max"}', "it is of `murmur load find-max`"),
    (lambda text: '{"kind": "comparison", "runs": []}', "it lacks 'spec', as one of an earlier version does"),
    (lambda text: text.replace('"took_s"', '"took"'), "it lacks 'took_s'"),
    (lambda text: text.replace('"took_s": 1500.0', '"took_s": null'), "is no comparison"),
])
def test_what_cannot_be_read_is_told_with_the_way_out_and_left_as_it_is(tmp_path: Path, change: Any, why: str) -> None:
    keep(tmp_path, [run()], SPEC, False)
    file = tmp_path / RESULTS
    changed = change(file.read_text())
    file.write_text(changed)
    with pytest.raises(KeptUnreadable, match=why) as raised:
        read(tmp_path)
    assert "left as it is" in str(raised.value)
    assert "Choose another --out, or move the file away" in str(raised.value)
    assert file.read_text() == changed


@pytest.mark.parametrize(("changed", "told"), [
    ({"payload": "full"}, "payload is lean there and full now"),
    ({"workload": "cached"}, "workload is realistic there and cached now"),
    ({"slo_ms": 1000.0, "users": 5}, "slo_ms is 2000.0 there and 1000.0 now; users is 0 there and 5 now"),
    ({"processes": 2}, "processes is unset there and 2 now"),
    ({"durability": ["page-cache"]}, "durability is fsync there and page-cache now"),
    ({"settings": {"partitions": 4, "publish_group_ms": 50}}, "setting partitions is 1 there and 4 now"),
])
def test_another_spec_is_refused_with_the_difference(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(OtherSpec) as raised:
        joined(SPEC, {**SPEC, **changed}, False)
    assert f"otherwise: {told}. Choose another --out" in str(raised.value)


def test_a_setting_that_another_version_has_is_no_difference() -> None:
    asked = {**SPEC, "new": 1, "settings": {"publish_group_ms": 50, "newer": True}}
    assert joined(SPEC, asked, False) == asked


def test_another_class_is_none_where_they_are_ranked_together() -> None:
    assert joined(SPEC, {**SPEC, "durability": ["page-cache"]}, True)["durability"] == ["fsync", "page-cache"]


def test_another_version_of_the_code_and_another_host_are_told(tmp_path: Path) -> None:
    assert mixed([run(), run("two")]) == []
    host = {"cpu": "other", "cores": 4}
    code, hosts = mixed([run(), run("two", commit="def"), run(host=host), run(commit=None)])
    assert code == "not all searches are of the same version of the code: abc, def, unknown"
    assert "cpu some" in hosts
    assert "cpu other, cores 4" in hosts
    keep(tmp_path, [run(), run("two", commit="def")], SPEC, False)
    assert json.loads((tmp_path / RESULTS).read_text())["mixed"] == [
        "not all searches are of the same version of the code: abc, def"]
    assert "Not all searches are of the same version of the code: abc, def" in (tmp_path / "report.html").read_text()


def test_the_load_average_tells_no_hosts_apart() -> None:
    host = run()["host"]
    assert mixed([run(), run(host={**host, "load_average": [7]})]) == []
