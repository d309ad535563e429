"""Pravega's settings that matter to a comparison."""

from __future__ import annotations

from common.settings import Settings
from middleware.compared import JAVA, Alternative, Compared, Setting, Source, configured
from middleware.pravega.producer import MAX_GROUP_BYTES, MAX_GROUP_EVENTS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_BYTES
from middleware.pravega.spark import BATCH_BYTES, TRANSACTION_TIMEOUT_MS

GUIDE = "https://github.com/pravega/pravega/blob/master/documentation/src/docs/admin-guide"
BOOKIE = Source("BookKeeper documentation, Configuration: journal settings",
                "https://bookkeeper.apache.org/docs/reference/config")
LOG = Source("Pravega Admin Guide, Durable Log Configuration: Apache Bookkeeper", f"{GUIDE}/durable-log-config.md")
MEMORY = Source("Pravega Admin Guide, Segment Store Cache Size and Memory Settings", f"{GUIDE}/segmentstore-memory.md")
CONTAINERS = Source("Pravega Admin Guide, number of Segment Containers", f"{GUIDE}/num-containers.md")
CLIENT = Source("Pravega, Working with Pravega: Basic Reader and Writer",
                "https://github.com/pravega/pravega/blob/master/documentation/src/docs/basic-reader-and-writer.md")
BATCHING = Source("Pravega's blog, When speeding makes sense: batching by the client",
                  "https://blog.pravega.io/category/performance/")
SPARK = Source("Spark's data source for Pravega: options", "spark_pravega/README.md")

STORE, JOURNAL = "segment-store.properties", "bookkeeper.conf"


def compared(settings: Settings) -> Compared:
    synced = configured(settings, JOURNAL, "journalSyncData", "true")
    cache = configured(settings, STORE, "pravegaservice.cache.size.max", "4294967296")
    containers = configured(settings, STORE, "pravegaservice.container.count", "4")
    quorums = ", ".join(configured(settings, STORE, f"bookkeeper.{name}.size", "3")
                        for name in ("ensemble", "write.quorum", "ack.quorum"))
    events = settings.max_events_per_trigger
    tuned = settings.store_tuning == "documented"
    return Compared((
        Setting("journalSyncData (bookie)", synced,
                "true: the journal is synced to disk before an append is acknowledged", BOOKIE),
        Setting("journalAdaptiveGroupWrites, journalMaxGroupWaitMSec (bookie)",
                f"{configured(settings, JOURNAL, 'journalAdaptiveGroupWrites', 'true')}, "
                f"{configured(settings, JOURNAL, 'journalMaxGroupWaitMSec', '2')} ms",
                "entries that come within this time are synced together, which optimizes for throughput; by default "
                "so, with 2 ms", BOOKIE),
        Setting("journalPageCacheFlushIntervalMSec (bookie)", "1,000 (the default)",
                "in class page-cache the journal is synced so often", BOOKIE),
        Setting("bookkeeper.ensemble.size, …write.quorum.size, …ack.quorum.size (segment store)", quorums,
                "one bookie: one copy", LOG),
        Setting("publish_group_ms (publisher)",
                f"{settings.publish_group_ms} ms, {MAX_GROUP_EVENTS:,} events or {MAX_GROUP_BYTES >> 20} MiB",
                "a group is handed to the writer at once, which makes of it blocks by itself", CLIENT),
        Setting("in flight (publisher)", f"{MAX_IN_FLIGHT:,} events, {MAX_IN_FLIGHT_BYTES >> 20} MiB",
                "beyond, whoever publishes waits", CLIENT),
        Setting("EventWriterConfig (publisher)", "its defaults",
                "how long the writer waits for more events it measures itself: nothing is to be set", BATCHING),
        Setting("pravegaservice.cache.size.max (segment store)", cache,
                "in bytes; what was just written is read from it by Spark and the consumers", MEMORY),
        Setting("pravegaservice.container.count (segment store)", containers,
                "1 or 2 for each core are recommended", CONTAINERS),
        Setting("max_events_per_trigger (Spark)" if events else "max_bytes_per_trigger (Spark)",
                str(events) if events else f"{BATCH_BYTES:,}", "what a micro-batch reads at most: in bytes unless "
                "events are asked for, since those would have to be counted by reading", SPARK),
        Setting("exactly_once, transaction_timeout_ms (Spark)", f"true, {TRANSACTION_TIMEOUT_MS}",
                "what enrich writes of a micro-batch is one transaction; Kafka's and Pulsar's sinks write at least "
                "once", SPARK),
    ), (
        Alternative("quorums of the durable log", quorums, "3, 3, 3",
                    "copies on three bookies, for stability and not for throughput; each event would be written three "
                    "times", LOG),
        Alternative("heap and direct memory of the bookie",
                    "4 GB and 4 GB" if tuned else "less (deploy/local/pravega/bookie.py)", "4 GB and 4 GB",
                    "what is cached is read in recovery alone", LOG, by_tuning=True),
        Alternative("heap and direct memory of the segment store",
                    "4 GB and 5 GB" if tuned else "less (deploy/local/pravega/)", "4 GB at least, and more than that",
                    "garbage collected less often; a larger cache", MEMORY, by_tuning=True),
        Alternative("tiers of compilation (all servers)", "all" if tuned else "the first one (deploy/local/pravega/)",
                    "all, as Java has them", "a faster segment store once it is warm, and a slower start",
                    JAVA, by_tuning=True),
        Alternative("ledgerStorageClass (bookie)",
                    configured(settings, JOURNAL, "ledgerStorageClass", "SortedLedgerStorage (the default)"),
                    "InterleavedLedgerStorage",
                    "entries are not sorted in memory first, which serves reads that Pravega does not make: less CPU "
                    "and memory", LOG, by_tuning=True),
        Alternative("pravegaservice.cache.size.max (segment store)", cache, "all direct memory but 1 to 2 GB",
                    "a larger cache improves reads from the past; those of this application are of what was just "
                    "written", MEMORY, by_tuning=True),
    ))
