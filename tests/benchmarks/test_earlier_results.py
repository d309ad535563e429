"""The figures of an earlier benchmark, which a README shows until newer ones take their place."""

from __future__ import annotations

import json

from tests.stack import ROOT


def test_the_readme_shows_the_results_that_lie_beside_it() -> None:
    folder = ROOT / "spark_pravega"
    results = json.loads((folder / "benchmarks/results.json").read_text())
    assert results["table"] in (folder / "README.md").read_text()
