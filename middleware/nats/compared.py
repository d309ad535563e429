"""NATS' settings that matter to a comparison."""

from __future__ import annotations

from common.settings import Settings
from middleware.compared import Alternative, Compared, Setting, Source, configured
from middleware.nats import producer
from middleware.nats.spark import BATCH_EVENTS

SYNC = Source("NATS docs, Reference: jetstream.sync_interval",
              "https://docs.nats.io/reference/config/jetstream/sync_interval")
BATCH = Source("NATS docs, Reference: jetstream.limits.batch",
               "https://docs.nats.io/reference/config/jetstream/limits/batch/")
JETSTREAM = Source("NATS docs, Reference: jetstream", "https://docs.nats.io/reference/config/jetstream/")
PUBLISHING = Source("NATS docs, Learn: Advanced publishing",
                    "https://docs.nats.io/learn/jetstream/advanced-publishing")
FAST = Source("orbit.rs of the NATS maintainers, jetstream-extra: Fast Ingest Batch Publishing",
              "https://docs.rs/jetstream-extra/latest/jetstream_extra/")
PENDING = Source("NATS docs, Reference: max_pending", "https://docs.nats.io/reference/config/max_pending")
SPARK = Source("Spark's data source for NATS JetStream: options", "spark_nats/README.md")

FILE = "nats-server.conf"


def compared(settings: Settings) -> Compared:
    sync = configured(settings, FILE, "sync_interval", "2m")
    return Compared((
        Setting("sync_interval (server)", sync,
                "always: each write, or atomic batch, is synced to disk before it is acknowledged; a duration: at "
                "least so often", SYNC),
        Setting("publishing", f"atomic batches of up to {producer.MAX_BATCH_EVENTS:,} messages and "
                f"{producer.MAX_BATCH_BYTES >> 20} MiB",
                "a published group is one batch of each partition, acknowledged once, synced four times, as counted; "
                "plain publishes would be synced one by one", PUBLISHING),
        Setting("publish_group_ms (publisher)",
                f"{settings.publish_group_ms} ms, {producer.MAX_GROUP_EVENTS:,} events or "
                f"{producer.MAX_GROUP_BYTES >> 20} MiB", "the client groups nothing by itself", PUBLISHING),
        Setting("in flight (publisher)", f"{producer.MAX_IN_FLIGHT:,} events, {producer.MAX_IN_FLIGHT_BYTES >> 20} MiB",
                "beyond, whoever publishes waits; of a partition one batch is on its way, so that order is kept where "
                "it has to be sent again", PUBLISHING),
        Setting("limits.batch.max_msgs (server)", configured(settings, FILE, "max_msgs", "1,000"),
                "what a task of Spark writes to a partition are batches of 10,000", BATCH),
        Setting("max_buffered_msgs, max_buffered_size (server)",
                f"{configured(settings, FILE, 'max_buffered_msgs', '10,000')}, "
                f"{configured(settings, FILE, 'max_buffered_size', '128MB')}",
                "a batch arrives in one piece, and beyond this it is dropped", JETSTREAM),
        Setting("max_pending (server)", configured(settings, FILE, "max_pending", "64MB"), "the default", PENDING),
        Setting("max_events_per_trigger (Spark)", str(settings.max_events_per_trigger or BATCH_EVENTS),
                "what a micro-batch reads at most, in events", SPARK),
        Setting("exactly_once (Spark)", "true", "what enrich writes of a micro-batch is an atomic batch of each "
                "partition; Kafka's and Pulsar's sinks write at least once", SPARK),
    ), (
        Alternative("sync_interval", sync, "a duration, since `always` lowers the throughput",
                    "an acknowledgement would mean the page cache, as in a comparison of that class", SYNC),
        Alternative("publishing", "atomic batches", "fast ingest (`allow_batched`), for high throughput",
                    "messages are stored as they come and acknowledged every so many: what an interrupted batch left "
                    "would have to be told from what is sent again, and there is no group to be synced once; in class "
                    "page-cache, where nothing waits for that, a batch that is staged before it is stored costs more",
                    FAST),
        Alternative("publishing", "atomic batches", "async publishes, acknowledged one by one, for high volume",
                    "one acknowledgement and, in class fsync, one sync for each message instead of each group",
                    PUBLISHING),
    ))
