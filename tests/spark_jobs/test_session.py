"""What the session leaves out of Spark, which an update of Spark could rename or need."""

from __future__ import annotations

from pyspark.sql import SparkSession

from spark_jobs.session import EXCLUDED_RULES, OPTIMIZER_RULES, optimizer_rules


def test_the_rules_that_stay_are_those_of_this_spark(spark: SparkSession) -> None:
    known, required = optimizer_rules(spark)
    assert {name.rpartition(".")[2] for name in known} >= OPTIMIZER_RULES
    excluded = set(str(spark.conf.get(EXCLUDED_RULES)).split(","))
    assert len(excluded) > 50
    assert excluded < known
    kept = OPTIMIZER_RULES | {name.rpartition(".")[2] for name in required}
    assert not {name.rpartition(".")[2] for name in excluded} & kept


def test_hadoop_keeps_what_was_set_on_purpose(spark: SparkSession) -> None:
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    assert hadoop.get("fs.file.impl") == "murmuration.spark.LocalFiles$Raw"
    assert hadoop.size() < 50
    assert hadoop.get("io.file.buffer.size") is None
