"""What Spark keeps on disk: bounded, and in the folder of the instance."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs.session import BATCHES_KEPT
from tests.spark_jobs.test_transforms import Feed, tweet


@pytest.mark.slow
def test_a_checkpoint_keeps_a_bounded_number_of_batches(spark: SparkSession, tmp_path: Path):
    feed = Feed(spark, tmp_path)
    feed.add(*([tweet(n, n)] for n in range(BATCHES_KEPT + 8)))
    feed.counts()
    for log in ("offsets", "commits"):
        kept = [file for file in (feed.checkpoint / log).iterdir() if file.name.isdigit()]
        assert BATCHES_KEPT <= len(kept) <= BATCHES_KEPT + 2


def test_scratch_lies_in_the_folder_of_the_instance(spark: SparkSession):
    folder = Path(spark.conf.get("spark.local.dir"))
    assert folder.is_dir()
    assert folder.parts[-5:] == ("instances", "default", "pravega", "spark", "tests")
