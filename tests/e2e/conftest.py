from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.spark_cluster import standalone


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[psutil.Process]]:
    """Those of a standalone master of Spark."""
    with standalone(tmp_path) as workers:
        yield workers
