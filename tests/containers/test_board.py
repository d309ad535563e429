"""The board for Grafana against the metrics that the web processes expose."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from common.settings import Port, Settings
from common.telemetry import durability, ledger, retention
from common.telemetry.reports import StageTelemetry
from common.tweets import STAGES, Reason
from deploy.containers import compose
from spark_jobs.transforms import TrendingCounters
from tests.board import BOARD, GRAFANA, PROMETHEUS, Query, queries
from tests.ledger import kept
from tests.search.servers import redis_server
from web import create_app
from web.metrics import REJECTED

Labels = dict[str, str]

SELECTOR = re.compile(r"(\w+)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)="([^"]*)"')
FUNCTIONS = {"rate"}
"""That queries may call. None of them makes a 0 of what is unknown, as `vector` would."""

OF_PROMETHEUS = {"instance"}
"""Labels that it gives to all that it reads."""

PANELS = {"timeseries", "stat", "table"}


@pytest.fixture(scope="module")
def exposed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Labels]]:
    """The labels of every sample by its metric, when all is known of an instance."""
    with redis_server(tmp_path_factory.mktemp("redis")) as address:
        settings = Settings(home=tmp_path_factory.mktemp("home"), redis_url=address)
        tell_all(settings)
        text = create_app(settings).test_client().get("/metrics").text
    families = [family for family in text_string_to_metric_families(text) if family.name.startswith("murmur_")]
    assert [family.name for family in families if not family.samples] == [], "the test is to have data for them"
    found: dict[str, list[Labels]] = {}
    for sample in (sample for family in families for sample in family.samples):
        found.setdefault(sample.name, []).append(sample.labels)
    return found


def tell_all(settings: Settings) -> None:
    """What the processes of an instance tell: one tweet at each stage, and each counter that a metric is made of."""
    counters = {
        "enriched": [f"{REJECTED}{reason}" for reason in get_args(Reason)], "ranked": ["parked"],
        "searchable": ["parked"], "trending": TrendingCounters._fields,
    }
    with Redis.from_url(settings.redis_address) as redis:
        durability.tell(redis, settings.redis_prefix, "fsync", asked=True)
        retention.write(redis, settings.redis_prefix, dict.fromkeys(retention.READERS, 0.25))
        ledger.write(redis, settings.redis_prefix, kept())
    for name in {*STAGES, *counters}:
        telemetry = StageTelemetry(settings.redis_address, settings.redis_prefix, name, "0")
        if name in STAGES:
            telemetry.record([time.time_ns() // 1000])
        telemetry.add(**dict.fromkeys(counters.get(name, ()), 0))
        telemetry.close()


def selected(query: Query, exposed: dict[str, list[Labels]]) -> Iterator[tuple[str, list[Labels]]]:
    """Each metric that the query names, and the labels of its samples that match."""
    for name, inside in SELECTOR.findall(query.expr):
        assert MATCHER.sub("", inside).strip(" ,") == "", f"{inside}: a matcher of another kind"
        asked = {label: value for label, value in MATCHER.findall(inside) if label not in OF_PROMETHEUS}
        yield name, [labels for labels in exposed.get(name, []) if asked.items() <= labels.items()]


@pytest.mark.parametrize("query", [*queries()], ids=lambda query: query.panel)
def test_a_query_names_what_is_exposed(query: Query, exposed: dict[str, list[Labels]]) -> None:
    for name, samples in selected(query, exposed):
        assert samples, f"{name} has no such samples"
        assert set(re.findall(r"\{\{(\w+)\}\}", query.legend)) <= set.intersection(*map(set, samples))
    assert set(re.findall(r"[A-Za-z_]\w*", SELECTOR.sub("", query.expr.replace("$__rate_interval", "")))) <= FUNCTIONS
    assert all('instance="$instance"' in inside for _, inside in SELECTOR.findall(query.expr))


def test_every_metric_is_on_the_board(exposed: dict[str, list[Labels]]) -> None:
    assert {name for query in queries() for name, _ in selected(query, exposed)} == set(exposed)


@pytest.mark.parametrize("panel", BOARD["panels"], ids=lambda panel: panel["title"])
def test_a_panel_says_what_it_shows_and_nothing_of_what_is_unknown(panel: dict[str, Any]) -> None:
    assert panel["type"] in PANELS
    assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert panel["description"]
    shown = panel["fieldConfig"]["defaults"]
    unit = shown["unit"]
    assert unit
    if unit != "string":
        in_title = re.fullmatch(r".+ \((.+)\)", panel["title"])
        assert in_title, "its title does not say its unit"
        assert unit.partition("suffix:")[2] in ("", in_title[1])
    if panel["type"] == "timeseries":
        assert not shown["custom"].get("spanNulls")
    else:
        assert shown["noValue"] == "unknown"
        assert all(target["instant"] for target in panel["targets"]), "it would show the last that was known"


def test_no_panels_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        x, y, width, height = (panel["gridPos"][of] for of in "xywh")
        assert 0 <= x < x + width <= 24, panel["title"]
        cells = {(column, row) for column in range(x, x + width) for row in range(y, y + height)}
        assert cells.isdisjoint(taken), panel["title"]
        taken |= cells
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(ids) == len(set(ids))


def test_retention_changes_its_colour_where_alarms_begin() -> None:
    (panel,) = (panel for panel in BOARD["panels"] if "murmur_retention_used" in panel["targets"][0]["expr"])
    steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
    assert [step["value"] for step in steps] == [None, 0.5, 0.8, 1]


def test_its_variables_are_found_wherever_it_is_imported(exposed: dict[str, list[Labels]]) -> None:
    source, instance = BOARD["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert instance["name"] == "instance"
    (metric,) = re.findall(r"^label_values\((\w+), instance\)$", instance["query"]["query"])
    assert metric in exposed


def test_prometheus_reads_the_page_among_containers() -> None:
    (job,) = read(PROMETHEUS)["scrape_configs"]
    settings = compose.in_container(Settings.model_fields["middleware"].default)
    assert job["static_configs"] == [{"targets": [settings.address(Port.PAGE)]}]


def test_grafana_finds_prometheus_and_the_board() -> None:
    (source,) = read(GRAFANA / "provisioning" / "datasources" / "prometheus.yml")["datasources"]
    assert (source["type"], source["url"]) == ("prometheus", "http://prometheus:9090")
    assert source["jsonData"]["timeInterval"] == read(PROMETHEUS)["global"]["scrape_interval"]
    (provider,) = read(GRAFANA / "provisioning" / "dashboards" / "murmuration.yml")["providers"]
    assert provider["type"] == "file"
    assert provider["options"]["path"]


def read(file: Path) -> dict[str, Any]:
    return yaml.safe_load(file.read_text())
