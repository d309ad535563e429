"""Every setting of Murmuration, once: flag over environment (`MURMUR_*`) over `.env` over the default given here.

`murmur up` resolves the settings of an instance and writes them to `<instance>/settings.json`. The processes of the
instance read exactly that file (`MURMUR_SETTINGS` names it); later commands take from it what is a fact of the
running instance (middleware, durability, ports, addresses), and of the rest whatever they do not choose afresh.
"""

from __future__ import annotations

import json
import os
import re
from enum import IntEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from common import addresses
from common.storage import files
from common.tweets import MOST_SHARDS, StageName

Durability = Literal["page-cache", "fsync"]
StoreTuning = Literal["laptop", "documented"]

PORTS_PER_INSTANCE = 50
MIDDLEWARE_OFFSETS = range(20, 40)
"""Those of its middleware."""

ADDRESSES = ("middleware_uri", "redis_url", "milvus_uri", "database_url")
"""Settings that name servers elsewhere, and may hold a password."""

# What a later command may not choose: it is decided by the instance that runs.
FACTS_OF_A_RUNNING_INSTANCE = (
    "middleware", "durability", "store_tuning", "port_block", "port_base", *ADDRESSES, "partitions",
    "stream_retention_bytes", "max_event_bytes", "namespace", "replicas", "index_max_rows", "rankings_kept_s",
    "ingest_token", "trending_shards", "spark_master", "search_consumers", "trending_consumers",
)

HOST_NAME = re.compile(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]")
JETSTREAM = re.compile(rf"(wss?://)?({HOST_NAME.pattern})(:\d{{1,5}})?")
NOT_SAVED = ("home", "x_bearer_token", "jvm_options", "spark_jvm_options")


class SettingsUnreadable(Exception):
    """What an instance wrote of its settings cannot be read; the message names the file and the way out."""


class Port(IntEnum):
    """Offset of each listener inside the instance's block of ports."""

    PAGE = 0
    REDIS = 1
    MILVUS = 2
    INGEST = 3
    WEB = 4  # first replica; the others follow, up to 8


class MiddlewarePort(IntEnum):
    """Base of the same for a middleware, which names its own. Raises ValueError for an offset that is not its."""

    def __init__(self, offset: int) -> None:
        if offset not in MIDDLEWARE_OFFSETS:
            raise ValueError(f"{type(self).__name__}.{self.name} is {offset}, and a middleware has "
                             f"{MIDDLEWARE_OFFSETS.start} to {MIDDLEWARE_OFFSETS.stop - 1}")


class Place(BaseSettings):
    """Which instance, and where it is: what can be told even if other settings are not valid."""

    model_config = SettingsConfigDict(env_prefix="MURMUR_", extra="ignore", hide_input_in_errors=True)

    home: Path = Field(Path(".murmur"), description="folder of state, logs, checkpoints and downloaded servers")
    instance: str = Field("default", pattern=r"^[a-z0-9][a-z0-9-]{0,30}$", description="name of the instance")

    @classmethod
    def chosen(cls, **flags: Any) -> Self:
        """What the user chooses: flags over environment over `.env` over default; None counts as not given."""
        given = {name: value for name, value in flags.items() if value is not None}
        given["_env_file"] = Path(os.environ.get("MURMUR_HOME", ".murmur")).parent / ".env"
        return cls(**given)

    @cached_property
    def instance_dir(self) -> Path:
        """Folder of the instance; what is apart by middleware lies in `state_dir`."""
        return self.home.resolve() / "instances" / self.instance


class Settings(Place):
    """Settings of one instance. Sizes in bytes, times in the unit of the name."""

    # -- ports
    port_base: int = Field(21000, ge=1024, le=60000, description="first port of the first instance")
    port_block: int = Field(0, ge=0, description="which block of 50 ports; allocated by `murmur up`")
    bind_address: Literal["127.0.0.1", "0.0.0.0"] = Field(
        "127.0.0.1", description="where every server listens; only containers change it"
    )
    service_hosts: bool = Field(
        False, validate_default=True,
        description="whether each server is a host by its own name, as containers are, or all are this machine",
    )

    # -- middleware
    middleware: str = Field("pravega", description="stream store; a name of middleware.registry.registry()")
    durability: Durability = Field("fsync", description="what an acknowledgement of the middleware means")
    middleware_uri: addresses.StoreAddress = Field("", description="address of the stream store; empty: the local one")
    namespace: str = Field("murmur", description="what the streams of this application share in their names")
    partitions: int = Field(
        1, ge=1, le=64, description="segments or partitions of each stream: one costs least, more let members share"
    )
    replicas: int = Field(
        1, description="copies of each event, on local servers of their own: 1 or 3; 1 with `middleware_uri`"
    )
    store_tuning: StoreTuning = Field(
        "laptop", description="of the stream store's one local server and its clients: what fits a laptop beside all "
                              "else, or what the documentation of the store recommends (docs/middleware.md)"
    )
    max_event_bytes: int = Field(1 << 20, ge=1, description="largest event; the same on every middleware")
    stream_retention_bytes: int = Field(8 << 30, ge=1, description="bound of each stream; the oldest events go first")
    publish_group_ms: int = Field(50, ge=1, description="how long the publisher groups events before it sends them")

    # -- ingest
    archive_max_bytes: int = Field(4 << 30, ge=1, description="bound of the archive; oldest finished files go first")
    archive_rotate_bytes: int = Field(64 << 20, ge=1, description="size at which a file is closed and compressed")
    live_archive_kept_h: int = Field(
        24, ge=1, description="hours for which the archive keeps what live sources sent: bluesky, wikimedia and x"
    )
    manifests_max: int = Field(
        10_000, ge=1, le=25_000,
        description="bound of the manifests; the oldest finished runs without archive are forgotten first",
    )
    ingest_token: str = Field("", description="bearer token of POST /api/v1/tweets; empty: `murmur up` makes one")
    ingest_max_body_bytes: int = Field(8 << 20, ge=1, description="largest body of POST /api/v1/tweets")
    x_bearer_token: str = Field("", description="token of the X API, for `murmur ingest --source x`")
    x_api_url: str = Field("https://api.x.com", description="where the X API is")
    bluesky_hosts: str = Field(
        "jetstream.us-east.bsky.network,jetstream.us-west.bsky.network", validate_default=True,
        description="Bluesky's Jetstreams, with commas between: hosts, or their ws:// or wss:// addresses"
    )
    wikimedia_url: str = Field("https://stream.wikimedia.org", description="where Wikimedia's EventStreams are")
    live_silence_s: float = Field(
        60, gt=0, description="a connection of `bluesky` or `wikimedia` that is silent for so long is dead"
    )

    # -- Spark
    trigger_interval_ms: int = Field(600, ge=0, description="interval of enrich's batches; 0: one after the other")
    max_events_per_trigger: int | None = Field(
        None, ge=1, description="limit of a micro-batch, for catching up; unset: what the source can bound cheaply"
    )
    allowed_lateness_s: int = Field(600, ge=0, description="older tweets are stored and searchable, but not ranked")
    future_tolerance_s: int = Field(120, ge=0, description="tweets dated further ahead of sent_at_us are rejected")
    watermark_slack_s: int = Field(180, ge=0, description="disorder between partitions that loses no tweet")
    trending_shards: int = Field(
        1, ge=1, le=MOST_SHARDS, description="tasks that count hashtags, each for its share of the tweets"
    )
    max_hashtags: int = Field(100, ge=1, description="hashtags that a tweet keeps, which are its first")
    spark_master: addresses.SparkMaster = Field(
        "local[*]", description="where Spark's tasks run; a cluster's workers must see the instance's folder"
    )
    spark_driver_memory: str = Field("2g", description="heap of the Spark application")

    spark_jvm_options: str = Field("", description="further options of Spark's JVM, separated by spaces, over ours")
    jvm_options: str = Field("", description="those of a JVM that the middleware's client starts within a process")

    # -- consumers, search
    search_consumers: int = Field(
        1, ge=1, le=8, description="processes that make tweets searchable; more than `partitions` have nothing to do"
    )
    trending_consumers: int = Field(1, ge=1, le=8, description="processes that keep the rankings; likewise")
    redis_url: addresses.Address = Field("", description="address of Redis; empty: the local one")
    database_url: addresses.DatabaseAddress = Field(
        "", description="SQLAlchemy URL of the tweets; empty: SQLite in the instance's folder"
    )
    database_max_rows: int = Field(5_000_000, ge=1, description="bound of the database; the oldest tweets go first")
    milvus_uri: addresses.Address = Field("", description="address of Milvus; empty: the local Milvus Lite")
    index_max_rows: int = Field(200_000, ge=1, description="the index keeps the newest tweets, this many")
    ranking_interval_ms: int = Field(500, ge=1, description="longest time between refreshes of the rankings in Redis")
    rankings_kept_s: int = Field(
        7200, ge=60, description="how long a bucket of the rankings is kept; below 3,900 their windows are cut off"
    )
    ranking_limit: int = Field(1000, ge=1, le=5000, description="hashtags kept in each published ranking")
    search_cache_s: int = Field(30, ge=1, description="how long a search result stays in Redis")

    # -- experiments
    slow_stage: Literal["", StageName, "generator"] = Field(
        "", description="slowed on purpose, so that tests see what an experiment makes of it; empty: none"
    )
    slow_stage_us: int = Field(0, ge=0, description="µs by which each tweet is slowed there")

    # -- experiments
    experiments_folder: Path = Field(
        Path("experiments"), description="where experiments are kept, which the page lists; within `home` or absolute"
    )
    ledger_in_experiments: bool = Field(
        False, description="whether the ledger goes on while an experiment measures, which then measures it, too"
    )

    # -- logs
    log_max_bytes: int = Field(
        15 << 20, ge=1 << 16, description="bound of the log of each process, its older files included"
    )

    # -- web
    web_replicas: int = Field(2, ge=1, le=8, description="Flask processes behind Nginx")
    web_streams: int = Field(32, ge=0, description="event streams that each Flask process allows")
    web_streams_per_client: int = Field(
        16, ge=1, description="how many of them one address may have; all who ask from this machine are one"
    )
    allowed_hosts: str = Field(
        "localhost,127.0.0.1,[::1]", description="Host names that our HTTP servers answer to, with commas between"
    )

    @field_validator("service_hosts")
    @classmethod
    def _on_loopback(cls, value: bool, info: ValidationInfo) -> bool:
        if not value and info.data.get("bind_address") == "0.0.0.0":
            raise ValueError("only containers listen beyond it: leave MURMUR_BIND_ADDRESS at 127.0.0.1")
        return value

    @field_validator("replicas")
    @classmethod
    def _majority(cls, value: int, info: ValidationInfo) -> int:
        if value not in (1, 3):
            raise ValueError("1, or 3 of which two are a majority")
        if value > 1 and info.data.get("middleware_uri"):
            raise ValueError("the copies of a stream store elsewhere are configured there: leave MURMUR_REPLICAS at 1, "
                             "or MURMUR_MIDDLEWARE_URI empty")
        return value

    @field_validator("store_tuning")
    @classmethod
    def _of_one_machine(cls, value: str, info: ValidationInfo) -> str:
        """The memory that is recommended for a server is most of a machine's, and beyond the bound of a container."""
        given = info.data
        if value == "documented" and (given.get("middleware_uri") or given.get("service_hosts")
                                      or given.get("replicas", 1) > 1):
            raise ValueError("only for a stream store of one copy, on this machine and outside containers: leave "
                             "MURMUR_STORE_TUNING at laptop")
        return value

    @field_validator("allowed_hosts")
    @classmethod
    def _names(cls, value: str) -> str:
        names = _listed(value)
        if not names:
            raise ValueError("no name is left that our servers would answer to: give one at least, such as localhost")
        if wrong := [name for name in names if not HOST_NAME.fullmatch(name)]:
            raise ValueError(f"{wrong[0]!r} is no name of a host")
        return value

    @field_validator("bluesky_hosts")
    @classmethod
    def _jetstreams(cls, value: str) -> str:
        names = _listed(value)
        if not names or (wrong := [name for name in names if not JETSTREAM.fullmatch(name)]):
            raise ValueError(f"{wrong[0]!r} is no host" if names else "no host is left: give one at least")
        return value

    @property
    def bluesky_host_names(self) -> list[str]:
        """Those of `bluesky_hosts`, in the order in which they are tried."""
        return _listed(self.bluesky_hosts)

    @property
    def host_names(self) -> list[str]:
        """Those of `allowed_hosts`, in small letters, one at least; with `service_hosts` also those of our servers."""
        ours = [self.host(Port.PAGE), self.host(Port.INGEST)] if self.service_hosts else []
        return _listed(self.allowed_hosts) + ours

    @cached_property
    def state_dir(self) -> Path:
        """Folder of everything stateful of this instance on this middleware."""
        return self.instance_dir / self.middleware

    @property
    def archive_dir(self) -> Path:
        return self.state_dir / "archive"

    @property
    def checkpoint_dir(self) -> Path:
        return self.state_dir / "checkpoints"

    @property
    def log_dir(self) -> Path:
        return self.instance_dir / "log"

    @property
    def spark_is_local(self) -> bool:
        return self.spark_master.startswith("local")

    @property
    def encoder_dir(self) -> Path:
        return self.home.resolve() / "encoder"

    @property
    def experiments_dir(self) -> Path:
        """Results of experiments, a folder each: they outlive the instance that was measured."""
        return self.home.resolve() / self.experiments_folder

    @property
    def jar_dir(self) -> Path:
        """Holds a folder of jars for the servers of each middleware, and in `spark` one for each data source."""
        return self.home.resolve() / "jars"

    @property
    def redis_prefix(self) -> str:
        return f"murmur:{self.instance}:{self.middleware}:"

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{self.address(Port.PAGE)}"

    def port(self, which: Port | MiddlewarePort, replica: int = 0) -> int:
        """The replicas of a listener differ by port on one machine, and by host where each has its own."""
        return self.port_base + PORTS_PER_INSTANCE * self.port_block + which + (0 if self.service_hosts else replica)

    def host(self, which: Port | MiddlewarePort, replica: int = 0) -> str:
        """Where others of the instance find that listener."""
        return addresses.numbered(which.name.lower().replace("_", "-"), replica) if self.service_hosts else "127.0.0.1"

    def address(self, which: Port | MiddlewarePort, replica: int = 0) -> str:
        return f"{self.host(which, replica)}:{self.port(which, replica)}"

    def listener(self, which: Port | MiddlewarePort, replica: int = 0) -> str:
        """What that server binds to."""
        return f"{self.bind_address}:{self.port(which, replica)}"

    @property
    def redis_address(self) -> str:
        return self.redis_url or f"redis://{self.address(Port.REDIS)}/0"

    @property
    def milvus_address(self) -> str:
        return self.milvus_uri or f"http://{self.address(Port.MILVUS)}"

    @property
    def database_address(self) -> str:
        return self.database_url or f"sqlite:///{self.state_dir / 'tweets.db'}"

    @property
    def settings_file(self) -> Path:
        return self.instance_dir / "settings.json"

    def save(self) -> None:
        """Writes the resolved settings, readable by the owner only: they hold the ingest token."""
        self.instance_dir.mkdir(parents=True, exist_ok=True)
        content = self.model_dump(mode="json", exclude=set(NOT_SAVED))
        files.replace(self.settings_file, json.dumps(content, indent=1))

    @classmethod
    def load(cls, **flags: Any) -> Self:
        """Settings of this process: flags that are None count as not given. Raises SettingsUnreadable."""
        if own := os.environ.get("MURMUR_SETTINGS"):
            given = {name: value for name, value in flags.items() if value is not None}
            return cls(**{**read(Path(own)), **given})
        wished = cls.chosen(**flags)
        if not wished.settings_file.exists():
            return wished
        free = wished.model_fields_set - set(FACTS_OF_A_RUNNING_INSTANCE)
        running = {name: value for name, value in read(wished.settings_file).items() if name not in free}
        return cls.chosen(**{**flags, **running})


def _listed(names: str) -> list[str]:
    return [name.strip().lower() for name in names.split(",") if name.strip()]


def read(file: Path) -> dict[str, Any]:
    """What `Settings.save` wrote. Raises SettingsUnreadable."""
    try:
        found = json.loads(file.read_text())
        if isinstance(found, dict):
            return found
        reason = "it holds no JSON object"
    except (OSError, ValueError) as error:
        reason = str(error)
    raise SettingsUnreadable(
        f"{file} cannot be read ({reason}). `murmur down --instance {file.parent.name}` ends what runs, and "
        "`murmur up` writes the file anew, with another ingest token; the data stays."
    )
