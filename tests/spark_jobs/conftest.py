from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from common.settings import Settings
from spark_jobs.session import spark_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The product's own session on two cores."""
    home = tmp_path_factory.mktemp("home")
    session = spark_session(Settings(home=home, spark_driver_memory="1g"), "tests")
    yield session
    session.stop()
