"""The Spark session of the queries, with every setting that Spark defaults badly for them named once."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

from pyspark import SparkConf
from pyspark.sql import SparkSession

import common
from common import modules
from common.addresses import spark_is_here
from common.settings import Settings

BATCHES_KEPT = 20
"""Of how many micro-batches a checkpoint keeps the offsets, and the state as it was after each."""

DRIVER = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # PySpark leaves the level at INFO and drops what is below WARN when it is put together: 5 % of the JVM's CPU.
    "spark.log.level": "WARN",
    # Short tasks: no waiting for a better place.
    "spark.locality.wait": "0",
    # A second file beside every file of a checkpoint: the disk has checksums of its own.
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    # What an interface would show, of which there is none: thousands of batches that are sorted again and again.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "20",
    "spark.sql.ui.retainedExecutions": "20",
}
"""Of a driver that we start; `spark-submit` says by itself where and how."""

ON_LOOPBACK = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
"""Where all executors are on this machine; else they must reach the driver, which listens where Spark has it listen."""

AUTHENTICATED = {"spark.authenticate": "true"}
"""Where Spark makes a secret for each application and hands it to its executors: on YARN and Kubernetes. A standalone
master and its workers must know it before (docs/scaling.md)."""

LOCAL = {
    "spark.broadcast.compress": "false",
    "spark.shuffle.compress": "false",
    "spark.python.daemon.module": str(modules.SparkJobs.WORKERS),
}
"""Where tasks run in the driver: nothing crosses a network, and whatever they need is there."""

SHIPPED = ("common", "middleware", "spark_jobs")
"""Packages of ours that Python workers elsewhere need."""

JVM = (
    "-Djava.net.preferIPv4Stack=true -XX:+UseParallelGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=160m "
    "-XX:+UseTransparentHugePages -XX:+AlwaysPreTouch -Xmn512m"
)
"""Without the optimising compiler, which takes almost half a core for more than five minutes after a start, and then
saves no more than that; with room for all that Spark has, where Java would reserve 48 MB; with its heap in large pages,
since walks through tables of small ones cost CPU where memory is slow; and with a young generation that is not looked
through for garbage several times a second: what lives there is the same few batches, however large it is. The heap has
its size from the start, or else Java collects all of it each time before it lets the old generation grow, and is taken
whole: Java would fill it over the first hour."""

CHATTY = "org.apache.spark.sql.execution.streaming.runtime.ProcessingTimeExecutor"
"""Warns of every batch that takes longer than the trigger interval, which is what catching up looks like."""

STREAMING = {
    "spark.scheduler.mode": "FAIR",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    # Projections of a few columns, whose code would be generated for every batch, and for each watermark compiled.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.boundedMemoryUsage": "true",
    "spark.sql.streaming.stateStore.rocksdb.maxMemoryUsageMB": "128",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    # A batch that only evicts state would delay the next one with tweets, which evicts as well.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": str(BATCHES_KEPT),
    # How often a query without an interval of its own looks whether something has come.
    "spark.sql.streaming.pollingDelay": "100ms",
    "spark.sql.streaming.stopTimeout": "20s",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
    "spark.python.worker.reuse": "true",
}

EXCLUDED_RULES = "spark.sql.optimizer.excludedRules"
OPTIMIZER_RULES = {
    "ColumnPruning", "CollapseProject", "ConstantFolding", "EliminateSerialization", "RemoveNoopOperators",
}  # fmt: skip
"""What Spark's optimiser may do besides what it must: all that applies to our queries."""


def spark_session(settings: Settings, name: str) -> SparkSession:
    """The session; what `spark-submit` or its spark-defaults.conf says wins over what is set here. A driver of our own
    takes from that file what is not set here."""
    conf = SparkConf().setAppName(name)
    for key, value in STREAMING.items():
        conf.setIfMissing(key, value)
    own_driver = not conf.contains("spark.master")
    if own_driver:
        _set_driver(conf, settings, name)
        _set_classes(conf, settings)
    spark = SparkSession.builder.config(conf=conf).getOrCreate()
    if not conf.contains(EXCLUDED_RULES):
        exclude_rules(spark)
    if own_driver and settings.spark_is_local:
        forget_hadoop_defaults(spark)  # at last: classes that the session loads add defaults, and all come back then
    elif own_driver:
        ship_modules(spark, scratch_dir(settings, name))
    log4j = spark.sparkContext._jvm.org.apache.logging.log4j  # type: ignore[union-attr]
    log4j.core.config.Configurator.setLevel(CHATTY, log4j.Level.ERROR)
    return spark


def _set_driver(conf: SparkConf, settings: Settings, name: str) -> None:
    conf.set("spark.master", settings.spark_master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if spark_is_here(settings.spark_master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    heap = f"-Xms{settings.spark_driver_memory}"
    chosen = DRIVER | by_master(settings) | {
        "spark.driver.memory": settings.spark_driver_memory,
        "spark.driver.extraJavaOptions": f"{JVM} {heap} {settings.spark_jvm_options}",
        "spark.local.dir": str(scratch_dir(settings, name)),
    }
    for key, value in chosen.items():
        conf.setIfMissing(key, value)


def by_master(settings: Settings) -> dict[str, str]:
    """Options of a driver that depend on where its tasks run."""
    if settings.spark_is_local:
        return LOCAL | ON_LOOPBACK
    if spark_is_here(settings.spark_master):
        return ON_LOOPBACK
    return {} if settings.spark_master.startswith("spark:") else AUTHENTICATED


def _set_classes(conf: SparkConf, settings: Settings) -> None:
    """Ours on the driver's own class path, if all runs there: a file system cannot be loaded from anywhere else. Or
    else they go to the executors as the middleware's do, and files are those of Hadoop."""
    classes = sorted(settings.jar_dir.glob("spark/*.jar"))
    jars = sorted(settings.jar_dir.glob(f"spark/{settings.middleware}/*.jar"))
    if not settings.spark_is_local:
        jars = [*classes, *jars]
    elif classes:
        conf.setIfMissing("spark.driver.extraClassPath", os.pathsep.join(map(str, classes)))
        conf.setIfMissing("spark.hadoop.fs.AbstractFileSystem.file.impl", "murmuration.spark.LocalFiles")
        conf.setIfMissing("spark.hadoop.fs.file.impl", "murmuration.spark.LocalFiles$Raw")
    if jars:
        conf.setIfMissing("spark.jars", ",".join(map(str, jars)))


def scratch_dir(settings: Settings, name: str) -> Path:
    """Where a local application keeps what it does not need after its end: shuffle files, copies of state and jars."""
    return settings.state_dir / "spark" / name


def ship_modules(spark: SparkSession, folder: Path) -> None:
    """Has every Python worker import our modules as they are here; their other packages must be installed there."""
    root = Path(common.__file__).parents[1]
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "murmuration.zip"
    with zipfile.ZipFile(archive, "w") as shipped:
        for package in SHIPPED:
            for file in sorted((root / package).rglob("*.py")):
                shipped.write(file, file.relative_to(root))
    spark.sparkContext.addPyFile(str(archive))


def forget_hadoop_defaults(spark: SparkSession) -> None:
    """Leaves Hadoop's configuration what was set on purpose, of more than a thousand entries, which are the defaults in
    its code as well: each micro-batch with state sends all of them to its tasks, each compressed by itself. With
    `exclude_rules` it saves 6 % of what a tweet costs in all at 2,500/s
    (docs/lab/2026-11-26-before-and-after-0.2.0.md)."""
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    prefix = "spark.hadoop."
    hadoop.clear()
    for name, value in spark.sparkContext.getConf().getAll():
        if name.startswith(prefix):
            hadoop.set(name.removeprefix(prefix), value)


def exclude_rules(spark: SparkSession) -> None:
    """Leaves OPTIMIZER_RULES to the optimiser, of almost 200: it plans each micro-batch three times, once to run it and
    twice to describe it."""
    known, required = optimizer_rules(spark)
    excluded = sorted(name for name in known - required if name.rpartition(".")[2] not in OPTIMIZER_RULES)
    spark.conf.set(EXCLUDED_RULES, ",".join(excluded))


def optimizer_rules(spark: SparkSession) -> tuple[set[str], set[str]]:
    """Names, with their packages, of the rules that the optimiser has, and of those that it must have."""
    optimizer = spark._jsparkSession.sessionState().optimizer()
    batches, required = optimizer.defaultBatches(), optimizer.nonExcludableRules()
    rules = [batches.apply(at).rules() for at in range(batches.size())]
    names = {some.apply(at).ruleName() for some in rules for at in range(some.size())}
    return names, {required.apply(at) for at in range(required.size())}
