"""What Spark keeps on disk: bounded, told, and in the folder of the instance."""

from __future__ import annotations

import os
from pathlib import Path

from pyspark.sql import SparkSession

from common.held import Held
from common.settings import Settings
from spark_jobs.disk import BATCHES_KEPT, held, scratch_dir
from tests.spark_jobs.test_transforms import Feed, tweet


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


def test_what_is_held_is_told_in_bytes_with_the_age_of_the_oldest(tmp_path: Path):
    settings = Settings(home=tmp_path)
    assert [(store.holds, store.oldest_at) for store in held(settings)] == [(0, None), (0, None)]
    for file, size, at in (("state/0/1.changelog", 7, 100), ("offsets/3", 5, 50)):
        path = settings.checkpoint_dir / "trending" / file
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * size)
        os.utime(path, (at, at))
    jar = scratch_dir(settings, "spark") / "a.jar"
    jar.parent.mkdir(parents=True)
    jar.write_bytes(b"xyz")
    checkpoints, scratch = held(settings)
    assert checkpoints == Held("checkpoints", 12, None, "bytes", 50)
    assert (scratch.store, scratch.holds) == ("scratch of Spark", 3)
