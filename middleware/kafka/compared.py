"""Kafka's settings that matter to a comparison."""

from __future__ import annotations

from common.settings import Settings
from middleware.compared import JAVA, Alternative, Compared, Setting, Source, configured
from middleware.kafka.cluster import Cluster
from middleware.kafka.producer import options
from middleware.kafka.spark import binding

TOPIC = Source("Kafka documentation, Topic Configs: flush.messages",
               "https://kafka.apache.org/documentation/#topicconfigs_flush.messages")
LINGER = Source("Kafka documentation, Producer Configs: linger.ms",
                "https://kafka.apache.org/documentation/#producerconfigs_linger.ms")
BATCH = Source("Kafka documentation, Producer Configs: batch.size",
               "https://kafka.apache.org/documentation/#producerconfigs_batch.size")
ACKS = Source("Kafka documentation, Producer Configs: acks",
              "https://kafka.apache.org/documentation/#producerconfigs_acks")
COMPRESSION = Source("Kafka documentation, Producer Configs: compression.type",
                     "https://kafka.apache.org/documentation/#producerconfigs_compression.type")
FETCH = Source("Kafka documentation, Consumer Configs: fetch.max.wait.ms",
               "https://kafka.apache.org/documentation/#consumerconfigs_fetch.max.wait.ms")
SPARK = Source("Structured Streaming + Kafka Integration Guide",
               "https://spark.apache.org/docs/latest/structured-streaming-kafka-integration.html")
THROUGHPUT = Source("Confluent, Optimize Clients for Throughput",
                    "https://docs.confluent.io/cloud/current/client-apps/optimizing/throughput.html")
BUFFER = Source("librdkafka, configuration: queue.buffering.max.messages",
                "https://github.com/confluentinc/librdkafka/blob/master/CONFIGURATION.md")
BROKER = Source("Kafka documentation, Broker Configs",
                "https://kafka.apache.org/documentation/#brokerconfigs_num.network.threads")

FILE = "kafka.properties"


def compared(settings: Settings) -> Compared:
    publisher = options(settings)
    spark = binding(settings, Cluster(settings).servers, "")
    flushed = configured(settings, FILE, "log.flush.interval.messages", "unset: by the operating system")
    threads = ", ".join(configured(settings, FILE, name, default) for name, default in (
        ("num.network.threads", "3"), ("num.io.threads", "8")))
    tuned = settings.store_tuning == "documented"
    return Compared((
        Setting("log.flush.interval.messages (broker)", flushed,
                "1 forces each append, which is a batch of records, to disk before it is acknowledged", TOPIC),
        Setting("acks, enable.idempotence (publisher)",
                f"{publisher['acks']}, {str(publisher['enable.idempotence']).lower()}",
                "acknowledged by all in-sync replicas, once, in order", ACKS),
        Setting("linger.ms (publisher)", str(publisher["linger.ms"]), "publish_group_ms", LINGER),
        Setting("batch.size (publisher)", f"{publisher['batch.size']:,} bytes",
                "a published group is one request of its partition, as a rule", BATCH),
        Setting("in flight (publisher)", f"{publisher['queue.buffering.max.messages']:,} events, "
                f"{publisher['queue.buffering.max.kbytes'] >> 10} MiB", "beyond, whoever publishes waits", BUFFER),
        Setting("compression.type (publisher, Spark)", publisher["compression.type"],
                "the default, as on every store", COMPRESSION),
        Setting("num.network.threads, num.io.threads (broker)", threads, "one machine with few cores", BROKER),
        Setting("tiers of compilation (broker)", "all, as Java has them", "its start scripts change nothing about it",
                JAVA),
        Setting("maxOffsetsPerTrigger (Spark)", spark.read_options["maxOffsetsPerTrigger"],
                "what a micro-batch reads at most, in events", SPARK),
        Setting("fetch.max.wait.ms (Spark)", spark.read_options["kafka.fetch.max.wait.ms"],
                "Spark's next request waits behind a fetch that was sent ahead", FETCH),
        Setting("linger.ms, batch.size (Spark)",
                f"{spark.write_options['kafka.linger.ms']}, {int(spark.write_options['kafka.batch.size']):,} bytes",
                "a task writes its part of a micro-batch in one piece", LINGER),
        Setting("sink (Spark)", "at least once", "repeats are dropped later; Pravega's and NATS' sinks write exactly "
                "once", SPARK),
    ), (
        Alternative("flush.messages", flushed, "not set, with replication for durability",
                    "an acknowledgement would mean the page cache, as in a comparison of that class; one machine has "
                    "no replicas that would survive it", TOPIC),
        Alternative("heap (broker)", "1 GB" if tuned else "less (deploy/local/kafka/)", "1 GB (KAFKA_HEAP_OPTS)",
                    "garbage collected less often", BROKER, by_tuning=True),
        Alternative("compression.type (publisher, Spark)", publisher["compression.type"], "lz4",
                    "fewer bytes to send and flush for CPU of publisher, Spark and consumers, which is what is scarce "
                    "on one machine", THROUGHPUT, by_tuning=True),
        Alternative("linger.ms, batch.size", f"{publisher['linger.ms']}, {publisher['batch.size']:,} bytes",
                    "10 to 100 ms, 100,000 to 200,000 bytes",
                    "nothing but for the largest batch: the grouping in use lies within, or above", THROUGHPUT),
        Alternative("num.network.threads, num.io.threads (broker)", threads, "3, 8 (the defaults)",
                    "more threads than the machine has cores", BROKER, by_tuning=True),
        Alternative("acks", str(publisher["acks"]), "1", "with one replica nothing; with more, an acknowledged event "
                    "could be lost with the leader", THROUGHPUT),
    ))
