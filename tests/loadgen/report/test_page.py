"""The report of searches, and its charts."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from common.tweets import STAGES
from loadgen.report.charts import Line, Scale, bar_chart, line_chart, nice_step, short
from loadgen.report.page import differences, labels, largest, page, write_report


def experiment(rate: float, verdict: str, p99: float | None) -> dict[str, Any]:
    latency = {"p50": 300.0, "p99": p99}
    return {
        "rate": rate, "purpose": "ramp", "seconds": 60.0, "verdict": verdict, "objective_ms": 2000.0,
        "limited_by": None if verdict == "pass" else "searchable", "reason": "grows by <5 %>", "tweets": 1000,
        "latency_ms": dict.fromkeys(STAGES, latency), "idle_cpu": 0.25, "bytes_per_tweet": 650.0, "index_rows": 7,
        "cpu_seconds_per_1000": {"spark/java": 0.9, "search": 0.5, "nginx": 0.001},
        "backlog": {"at": [0.0, 0.25, 0.5], **{stage: [10, 20, 5] for stage in STAGES}},
    }


def run(middleware: str = "one", **changed: Any) -> dict[str, Any]:
    return {
        "middleware": middleware, "durability": "fsync", "acknowledgement": "on disk",
        "command": "murmur load find-max",
        "capacity": {"highest_pass": 500.0, "lowest_fail": 1000.0, "limited_by": "searchable", "confirmed": True,
                     "converged": False},
        "experiments": [experiment(500, "pass", 900.0), experiment(1000, "fail", None),
                        {"rate": 800.0, "purpose": "bisect", "seconds": 60.0, "verdict": "broken", "reason": "gone"}],
        "settings": {"partitions": 2, "middleware": middleware}, "server_settings": {"x.conf: sync": "true"},
        "versions": {"python": "3.11"}, "host": {"cpu": "some", "load_average": [0.1, 0.2]}, **changed,
    }


class Outside(HTMLParser):
    """What a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found += [f"{tag} {name}" for name, _ in attributes if name in ("src", "href")]
        self.found += [tag] if tag in ("script", "link", "img") else []


def test_the_page_stands_by_itself(tmp_path: Path) -> None:
    content = write_report(tmp_path, [run(), run("two")], "a note").read_text()
    outside = Outside()
    outside.feed(content)
    assert outside.found == []
    assert "@import" not in content
    assert "url(" not in content


def test_the_page_shows_what_was_found() -> None:
    content = page([run()])
    for wanted in ("500", "1,000", "searchable", "not converged", "grows by &lt;5 %&gt;", "murmur load find-max",
                   "objective for p99", "spark/java", "highest pass: 500/s", "lowest fail: 1,000/s", "never", "broken"):
        assert wanted in content
    assert "Settings that differ" not in content


def test_a_search_in_which_nothing_was_measured() -> None:
    nothing = {"highest_pass": None, "lowest_fail": None, "limited_by": None, "confirmed": False, "converged": False}
    assert "nothing was measured" in page([run(experiments=[], capacity=nothing)])


def test_what_differs() -> None:
    other = run("two", server_settings={"y.conf: flush": "1"})
    assert differences([run(), other]) == {
        "middleware": ["one", "two"], "x.conf: sync": ["true", ""], "y.conf: flush": ["", "1"]}


def test_names_are_told_apart() -> None:
    assert labels([run("a"), run("b")]) == ["a", "b"]
    assert labels([run("a"), run("b"), run("a")]) == ["a #1", "b", "a #2"]
    assert labels([run("a"), run("a", durability="page-cache")]) == ["a fsync", "a page-cache"]


def test_small_shares_are_shown_together() -> None:
    assert largest({"a": 99.5, "b": 0.3, "c": 0.2}) == {"a": 99.5, "others": pytest.approx(0.5)}
    assert largest({"a": 1.0}) == {"a": 1.0}
    assert largest({}) == {}


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_line_chart_stays_within_its_frame(logarithmic: bool) -> None:
    line = Line("a & b", [(0, 5), (1, None), (2, 7000), (3, 0)], 0, marks=True)
    svg = ET.fromstring(line_chart([line], "x", "y", logarithmic, (2000, "limit")).partition("</svg>")[0] + "</svg>")
    width, height = map(float, svg.attrib["viewBox"].split()[2:])
    circles = svg.findall(".//circle")
    assert len(circles) == 3
    assert all(0 <= float(c.attrib["cx"]) <= width and 0 <= float(c.attrib["cy"]) <= height for c in circles)


def test_bars_add_up() -> None:
    svg = bar_chart({"one": {"a": 1.0, "b": 2.0}, "two": {"b": 1.5}}, "s")
    assert svg.count("<rect") == 3
    assert ">3<" in svg
    assert "nothing was measured" in bar_chart({}, "s")


def test_scales() -> None:
    assert Scale(0, 10, 0, 100)(5) == 50
    assert Scale(1, 100, 0, 100, True)(10) == pytest.approx(50)
    assert Scale(0, 10, 0, 100).ticks() == [0, 2, 4, 6, 8, 10]
    assert Scale(1, 100, 0, 1, True).ticks() == [1, 2, 5, 10, 20, 50, 100]
    assert (nice_step(10, 5), nice_step(0.7, 5), nice_step(0, 5)) == (2, pytest.approx(0.2), pytest.approx(2e-10))
    assert (short(1500), short(2e6), short(0.25)) == ("1.5k", "2M", "0.25")
