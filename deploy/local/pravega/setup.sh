# What set-up installs for Pravega; sourced by deploy/local/setup/run.

pravega_servers() {
    rm -rf .murmur/jars/pravega &&
        build deploy/local/pravega pravega &&
        mkdir .murmur/jars/pravega/patched &&
        java -cp '.murmur/jars/pravega/*' deploy/local/pravega/Patches.java .murmur/jars/pravega/patched/pravega.jar
}

pravega_client() { rm -rf .murmur/jars/pravega-client && build middleware/pravega/client pravega-client; }

pravega_source() { data_source pravega; }

step pravega_servers "servers of Pravega (about 110 MB)" .murmur/jars/pravega/patched \
    deploy/local/pravega/{pom.xml,Patches.java}
step pravega_client "Pravega's client" .murmur/jars/pravega-client/pravega-blocks.jar middleware/pravega/client
step pravega_source "Spark's data source for Pravega" .murmur/jars/spark/pravega \
    spark_pravega/{pom.xml,client,connector,LICENSE,NOTICE,CHANGELOG.md,licenses} spark_common/{pom.xml,main}
