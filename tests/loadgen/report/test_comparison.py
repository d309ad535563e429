"""What the report of a comparison says before it goes into each search."""

from __future__ import annotations

from typing import Any

from loadgen.report.comparison import charted, heading, in_force, limited, sections
from loadgen.report.page import labels, page
from tests.loadgen.comparison.test_results import SPEC, run

SOURCE = ["A <page>", "https://example.org/doc"]
COMPARED = {
    "equal": [{"name": "partitions", "value": "1", "why": "of each stream"}],
    "settings": [{"name": "linger", "value": "50", "why": "groups", "source": SOURCE}],
    "alternatives": [{"name": "flush", "value": "1", "recommended": "unset", "effect": "less safe", "source": SOURCE}],
}


def runs() -> list[dict[str, Any]]:
    faster = {"highest_pass": 1000.0, "lowest_fail": None, "limited_by": None, "confirmed": True, "converged": True}
    return [run(compared=COMPARED, durability_told="fsync"), run("two", capacity=faster), run(number=2),
            run("two", side="payload=full"), run("one", durability="page-cache", side="durability=page-cache")]


def test_main_and_side_comparisons_are_ranked_apart() -> None:
    found = sections(runs(), False, SPEC)
    main, *asides = (title for title in found if found[title])
    assert main == "Ranking"
    assert asides[:2] == ["Aside, one round: payload full instead of lean",
                          "Aside, one round: durability page-cache instead of fsync"]
    assert found[main].index(">two<") < found[main].index(">one<")
    assert "2 of 2" in found[main]
    assert "page-cache" not in found[main]
    assert ">one<" not in found[asides[0]]


def test_it_says_what_limited_and_what_it_cost() -> None:
    assert limited(runs()[0]) == "searchable: grows by <5 %>"
    assert limited(runs()[1]) == ""
    assert in_force(runs()[:2]) == "fsync, fsync (not told)"
    found = sections(runs(), False, SPEC)
    assert "grows by &lt;5 %&gt;" in found["Ranking"]
    assert "300 / 900" in found["Ranking"]
    assert "1.401" in found["Ranking"]
    cpu = found["CPU seconds per 1,000 tweets at the highest pass"]
    assert "one, 500/s" in cpu
    assert cpu.index("spark/java") < cpu.index("search")
    assert "nginx" not in cpu


def test_it_says_which_settings_are_equal_and_which_are_each_stores_own() -> None:
    found = sections(runs(), False, SPEC)
    assert "of each stream" in found["What is equal"]
    own = found["Settings of each store, and why"]
    assert "linger" in own
    assert "A &lt;page&gt;<br><code>https://example.org/doc</code>" in own
    (title,) = (title for title in found if title.startswith("What each store"))
    assert "less safe" in found[title]


def test_results_that_lack_what_is_newer_are_shown_all_the_same() -> None:
    broken = {"highest_pass": None, "lowest_fail": None, "limited_by": "stack", "confirmed": False, "converged": False}
    content = page([run(capacity=broken, experiments=[])], "", sections([run(capacity=broken)], False, SPEC))
    assert "What is equal" not in content
    assert "0 of 1" in content


def test_charts_show_one_search_of_each_middleware() -> None:
    every = runs()
    assert charted(every, False) == [every[1], every[0]]
    assert labels(every) == ["one fsync #1", "two fsync", "one fsync #2", "two fsync aside (payload=full)",
                             "one page-cache aside (durability=page-cache)"]
    content = page(every, "", {}, charted(every, False))
    assert content.count("highest pass: 500/s") == 1
    assert "one fsync #2" in content  # its ladder


def test_a_side_names_what_is_otherwise() -> None:
    assert heading("workload=cached", SPEC) == "workload cached instead of realistic"
