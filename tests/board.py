"""The board for Grafana and what it asks of Prometheus, as its tests read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.stack import ROOT

FOLDER = ROOT / "deploy" / "containers"
PROMETHEUS = FOLDER / "prometheus.yml"
GRAFANA = FOLDER / "grafana"
BOARD: dict[str, Any] = json.loads((GRAFANA / "murmuration.json").read_text())


class Query(NamedTuple):
    """Of a panel, with Grafana's variables in it; `legend` is empty where the panel is a table."""

    panel: str
    expr: str
    legend: str

    def of(self, instance: str) -> str:
        """As Grafana would ask it of that target, of which Prometheus has read for a minute at least."""
        return self.expr.replace("$instance", instance).replace("$__rate_interval", "1m")


def queries() -> Iterator[Query]:
    for panel in BOARD["panels"]:
        for target in panel["targets"]:
            yield Query(panel["title"], target["expr"], target.get("legendFormat", ""))
