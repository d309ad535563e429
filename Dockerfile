# One image for every process of an instance; which of them a container is, its command tells: `murmur run NAME`.

FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY . .
# Set-up is that of a machine: the same packages, locks and poms.
RUN deploy/local/setup/run && rm -rf frontend/node_modules ~/.m2/repository ~/.npm ~/.cache .murmur/log

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3.11 openjdk-17-jre-headless redis-server nginx-light \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 murmur
COPY --from=build --chown=murmur /app /app
USER murmur
WORKDIR /app
# Where state lies, for volumes: what is mounted there for the first time belongs to whom the folder belonged to.
RUN mkdir -p .murmur/instances
# In a container every server is a host of its own, and what others reach listens beyond loopback.
ENV MURMUR_BIND_ADDRESS=0.0.0.0 MURMUR_SERVICE_HOSTS=true PYTHONUNBUFFERED=1
ENTRYPOINT ["./murmur"]
CMD ["--help"]
