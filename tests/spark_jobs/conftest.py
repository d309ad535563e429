from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from common.settings import Settings
from spark_jobs.session import spark_session

JARS = Path(__file__).parents[2] / ".murmur" / "jars" / "spark"


def link_own_jars(settings: Settings) -> None:
    """Our own classes for Spark into the home of these settings, without those of a middleware."""
    jars = settings.jar_dir / "spark"
    jars.mkdir(parents=True)
    for jar in JARS.glob("*.jar"):
        (jars / jar.name).symlink_to(jar)


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark takes as long to start as a server, in each process of tests that run side by side."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.server)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The product's own session on two cores, with its own classes but without a middleware."""
    settings = Settings(home=tmp_path_factory.mktemp("home"), spark_driver_memory="1g",
                        spark_jvm_options="-XX:-AlwaysPreTouch")
    link_own_jars(settings)
    session = spark_session(settings, "tests")
    yield session
    session.stop()
