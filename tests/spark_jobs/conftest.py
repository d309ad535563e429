from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from common.settings import Settings
from spark_jobs.session import spark_session

JARS = Path(__file__).parents[2] / ".murmur" / "jars" / "spark"


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The product's own session on two cores, with its own classes but without a middleware."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), spark_driver_memory="1g",
                        spark_jvm_options="-XX:-AlwaysPreTouch")
    jars = settings.jar_dir / "spark"
    jars.mkdir(parents=True)
    for jar in JARS.glob("*.jar"):
        (jars / jar.name).symlink_to(jar)
    session = spark_session(settings, "tests")
    yield session
    session.stop()
