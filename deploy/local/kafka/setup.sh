# What set-up installs for Kafka; sourced by deploy/local/setup/run.

kafka_broker() { rm -rf .murmur/jars/kafka && build deploy/local/kafka kafka; }

kafka_source() { rm -rf .murmur/jars/spark/kafka && build middleware/kafka/spark_source spark/kafka; }

step kafka_broker "Kafka's broker (about 54 MB)" .murmur/jars/kafka deploy/local/kafka/pom.xml
step kafka_source "Spark's data source for Kafka" .murmur/jars/spark/kafka middleware/kafka/spark_source
