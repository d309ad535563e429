# What set-up installs for Pulsar; sourced by deploy/local/setup/run.

pulsar_server() { rm -rf .murmur/jars/pulsar && build deploy/local/pulsar pulsar; }

pulsar_source() { data_source pulsar; }

step pulsar_server "Pulsar's server (about 142 MB)" .murmur/jars/pulsar deploy/local/pulsar/pom.xml
step pulsar_source "Spark's data source for Pulsar" .murmur/jars/spark/pulsar \
    spark_pulsar/{pom.xml,connector} spark_common/{pom.xml,main}
