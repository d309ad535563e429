"""Pulsar's settings that matter to a comparison."""

from __future__ import annotations

from common.settings import Settings
from middleware.compared import JAVA, Alternative, Compared, Setting, Source, configured
from middleware.pulsar.connection import QUEUE
from middleware.pulsar.producer import MAX_GROUP_BYTES, MAX_GROUP_EVENTS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES, options
from middleware.pulsar.spark import BATCH_EVENTS

BOOKIE = Source("BookKeeper documentation, Configuration: journal settings",
                "https://bookkeeper.apache.org/docs/reference/config")
PRODUCER = Source("Pulsar Reference, Client: Producer",
                  "https://pulsar.apache.org/reference/#/4.0.x/client/client-configuration-producer")
BROKER = Source("Pulsar Reference, Broker configuration",
                "https://pulsar.apache.org/reference/#/4.0.x/config/reference-configuration-broker")
READER = Source("Pulsar client for Java, ReaderBuilder.receiverQueueSize",
                "https://pulsar.apache.org/api/client/4.0.x/org/apache/pulsar/client/api/ReaderBuilder.html")
SPARK = Source("Spark's data source for Pulsar: options", "spark_pulsar/README.md")

FILE = "standalone.conf"

THREADS = ("numIOThreads", "bookkeeperClientNumIoThreads", "serverNumIOThreads")
"""Of many, which are set alike."""

CACHES = ("managedLedgerCacheSizeMB", "dbStorage_writeCacheMaxSizeMb", "dbStorage_readAheadCacheMaxSizeMb")


def compared(settings: Settings) -> Compared:
    synced = configured(settings, FILE, "journalSyncData", "true")
    wait = configured(settings, FILE, "journalMaxGroupWaitMSec", "1")
    all_threads, all_caches = f"{', '.join(THREADS)}, and others", ", ".join(CACHES)
    threads = ", ".join(configured(settings, FILE, name, "by the number of cores") for name in THREADS)
    caches = ", ".join(configured(settings, FILE, name, "by memory") for name in CACHES)
    tuned = settings.store_tuning == "documented"
    return Compared((
        Setting("journalSyncData (bookie)", synced,
                "true: the journal is synced to disk before an entry is acknowledged", BOOKIE),
        Setting("journalAdaptiveGroupWrites, journalMaxGroupWaitMSec (bookie)",
                f"{configured(settings, FILE, 'journalAdaptiveGroupWrites', 'true')}, {wait} ms",
                "entries that come within this time are synced together, which optimizes for throughput; 1 ms "
                "is Pulsar's default, BookKeeper's is 2", BOOKIE),
        Setting("journalPageCacheFlushIntervalMSec (bookie)", "1,000 (the default)",
                "in class page-cache the journal is synced so often", BOOKIE),
        Setting("journalFlushWhenQueueEmpty (bookie)",
                configured(settings, FILE, "journalFlushWhenQueueEmpty", "false"), "the default", BOOKIE),
        Setting("publish_group_ms (publisher)",
                f"{settings.publish_group_ms} ms, {MAX_GROUP_EVENTS:,} events or {MAX_GROUP_BYTES >> 20} MiB",
                "a published group is one batch of the client, which is ended by a flush and by none of the client's "
                "bounds", PRODUCER),
        Setting("in flight (publisher)", f"{MAX_IN_FLIGHT:,} events, {MAX_IN_FLIGHT_BYTES >> 20} MiB",
                "beyond, whoever publishes waits", PRODUCER),
        Setting("compressionType (publisher)", str(options().get("compression_type", "none (the default)")),
                "the default", PRODUCER),
        Setting("managedLedgerDefaultEnsembleSize, …WriteQuorum, …AckQuorum (broker)", ", ".join(
            configured(settings, FILE, f"managedLedgerDefault{name}", "2")
            for name in ("EnsembleSize", "WriteQuorum", "AckQuorum")), "one bookie: one copy", BROKER),
        Setting(all_threads, threads, "one machine with few cores", BROKER),
        Setting(all_caches, caches,
                "in MB; what was just written is read from the first by Spark and the consumers", BROKER),
        Setting("managedLedgerNewEntriesCheckDelayInMillis (broker)",
                configured(settings, FILE, "managedLedgerNewEntriesCheckDelayInMillis", "10"),
                "an event is handed out as soon as it is there", BROKER),
        Setting("deduplication (namespace)", "on", "the publisher's is exactly once, as on every store; the broker "
                "notes what each producer has sent", BROKER),
        Setting("receiverQueueSize (consumers, Spark)", f"{QUEUE:,} events",
                "fetched ahead of each partition, or one published group: it has no bound by bytes", READER),
        Setting("sink (Spark)", "at least once", "repeats are dropped later; Pravega's and NATS' sinks write exactly "
                "once", SPARK),
        Setting("max_events_per_trigger (Spark)", str(settings.max_events_per_trigger or BATCH_EVENTS),
                "what a micro-batch reads at most, in events", SPARK),
    ), (
        Alternative("managedLedgerMaxSizePerLedgerMbytes (broker)",
                    configured(settings, FILE, "managedLedgerMaxSizePerLedgerMbytes", "2048"),
                    "2048 (the default); no more than an eighth of the bound",
                    "retention removes whole ledgers: in larger ones it is coarser, in smaller ones there is more "
                    "metadata to write", BROKER, by_tuning=True),
        Alternative("brokerDeduplicationEntriesInterval, brokerDeduplicationSnapshotIntervalSeconds (broker)",
                    f"{configured(settings, FILE, 'brokerDeduplicationEntriesInterval', '1000')}, "
                    f"{configured(settings, FILE, 'brokerDeduplicationSnapshotIntervalSeconds', '120')}",
                    "1000, 120 (the defaults)", "snapshots of producers less often: a start reads more again, and "
                    "retention waits for one", BROKER, by_tuning=True),
        Alternative("tiers of compilation", "all" if tuned else "the first one (deploy/local/pulsar/)",
                    "all, as Java has them", "a faster server once it is warm; a third more CPU in its first minutes, "
                    "as measured", JAVA, by_tuning=True),
        Alternative("heap and direct memory",
                    "2 GB and 4 GB" if tuned else "less (deploy/local/pulsar/)", "2 GB and 4 GB (PULSAR_MEM)",
                    "garbage collected less often", BROKER, by_tuning=True),
        Alternative(all_caches, caches, "by memory (the defaults)", "larger caches", BROKER, by_tuning=True),
        Alternative(all_threads, threads, "by the number of cores (the defaults)",
                    "more threads than the machine has cores", BROKER, by_tuning=True),
        Alternative("journalSyncData", synced, "true for durability; false may improve writes",
                    "an acknowledgement would mean the page cache, as in a comparison of that class", BOOKIE),
        Alternative("journalDirectories, ledgerDirectories", "one disk", "disks of their own",
                    "syncs of the journal would not wait for ledgers that are written; the machine has one disk for "
                    "every store", BOOKIE),
        Alternative("compressionType", "none", "LZ4, ZLIB, ZSTD or SNAPPY are offered, none is recommended",
                    "fewer bytes for CPU, which is what is scarce on one machine", PRODUCER),
        Alternative("batchingMaxPublishDelay, batchingMaxMessages",
                    f"{settings.publish_group_ms} ms, {MAX_GROUP_EVENTS:,}", "1 ms, 1,000 (the defaults)",
                    "smaller entries, more of them: lower latency and more CPU for each tweet", PRODUCER),
    ))
