"""Configuration files: complete, on loopback, and safe for unusual paths."""

import configparser
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from common.process import manager, unix_socket
from common.process.child import program
from common.settings import Port, Settings
from deploy.local import kafka, pravega, stack
from deploy.local.processes import supervisor
from deploy.local.processes.spec import Process
from deploy.local.rendering import render
from middleware.kafka.cluster import Cluster
from middleware.kafka.ports import Port as KafkaPort
from middleware.pravega.ports import Port as PravegaPort

PRAVEGA = {"cluster": "c", "znode": "/pravega/c", "containers": 4, "cache_bytes": 1 << 30, "disk_full": 0.98,
           "ports": PravegaPort, "replica": 0, "folder": Path("bookkeeper"), "identity": "one",
           "nameserver": "10.0.0.2", "control": Path("control.sock")}
KAFKA = {"ports": KafkaPort, "replica": 0, "folder": Path("kafka")}


def settings(home: Path, **given: object) -> Settings:
    given = {"port_base": Settings.model_fields["port_base"].default, **given}
    return Settings(home=home, instance="one", **given)  # type: ignore[arg-type]


def process(*command: str) -> Process:
    return Process("one", command, stage=3, ready=lambda started: True, environment={"RATE": "100%"})


@pytest.mark.parametrize("template", ["redis/redis.conf", "nginx/nginx.conf", "kafka/server.properties",
                                      "pravega/zookeeper.cfg", "pravega/bookkeeper.conf",
                                      "pravega/controller.properties", "pravega/segment-store.properties"])
def test_no_template_listens_beyond_loopback(template: str, tmp_path: Path):
    text = render(template, settings(tmp_path), **(KAFKA if template.startswith("kafka/") else PRAVEGA))
    assert "0.0.0.0" not in text
    assert "{{" not in text


@pytest.mark.parametrize(("template", "listens"), [
    ("redis/redis.conf", "bind 0.0.0.0\n"), ("nginx/nginx.conf", "listen 0.0.0.0:21000;"),
    ("kafka/server.properties", "listeners=PLAINTEXT://0.0.0.0:21030,CONTROLLER://0.0.0.0:21033\n"),
    ("kafka/server.properties", "advertised.listeners=PLAINTEXT://broker:21030\n"),
    ("pravega/zookeeper.cfg", "clientPortAddress=0.0.0.0\n"), ("pravega/bookkeeper.conf", "advertisedAddress=bookie\n"),
    ("pravega/controller.properties", "rpc.published.host.nameOrIp=controller\n"),
    ("pravega/segment-store.properties", "published.host.nameOrIp=segment-store\n"),
])
def test_in_a_container_a_server_listens_beyond_it_and_is_found_by_name(template: str, listens: str, tmp_path: Path):
    one = settings(tmp_path, bind_address="0.0.0.0", service_hosts=True)
    text = render(template, one, **(KAFKA if template.startswith("kafka/") else PRAVEGA))
    assert listens in text
    assert "127.0.0.1" not in text.replace(" ".join(one.host_names), "")


@pytest.mark.parametrize(("durability", "synced"), [("fsync", "true"), ("page-cache", "false")])
def test_durability_decides_whether_the_journal_is_synced(durability: str, synced: str, tmp_path: Path):
    text = render("pravega/bookkeeper.conf", settings(tmp_path, durability=durability), **PRAVEGA)
    assert f"journalSyncData={synced}\n" in text


def test_the_segment_store_forgets_what_is_old_before_its_cache_holds_writers_back(tmp_path: Path):
    """At 16,000 tweets/s, in two streams of 1,000 bytes an event. Above 75 % Pravega starts to evict (CachePolicy)."""
    given = {**PRAVEGA, "cache_bytes": pravega.CACHE_BYTES["laptop"]}
    text = render("pravega/segment-store.properties", settings(tmp_path), **given)
    found, cache = values(text), "pravegaservice.cache"
    kept_s = int(found[f"{cache}.time.seconds.max"]) + int(found[f"{cache}.generation.duration.seconds"])
    assert kept_s * 16_000 * 2 * 1000 < 0.75 * int(found[f"{cache}.size.max"])


@pytest.mark.parametrize(("durability", "flushed"), [("fsync", True), ("page-cache", False)])
def test_durability_decides_whether_the_broker_flushes(durability: str, flushed: bool, tmp_path: Path):
    text = render("kafka/server.properties", settings(tmp_path, durability=durability), **KAFKA)
    assert ("log.flush.interval.messages=1\n" in text) is flushed


def test_each_of_three_brokers_knows_the_quorum_and_has_ports_and_a_folder_of_its_own(tmp_path: Path):
    one = settings(tmp_path, middleware="kafka", replicas=3)
    configured = [
        values(render("kafka/server.properties", one, **KAFKA | {"replica": n, "folder": kafka.folder(one, n)}))
        for n in range(3)
    ]
    assert [conf["node.id"] for conf in configured] == ["1", "2", "3"]
    assert {conf["controller.quorum.voters"].count("@") for conf in configured} == {3}
    for key in ("log.dirs", "listeners", "advertised.listeners"):
        assert len({conf[key] for conf in configured}) == 3
    assert {conf["advertised.listeners"].removeprefix("PLAINTEXT://") for conf in configured} == set(
        Cluster(one).servers.split(","))
    assert (configured[0]["default.replication.factor"], configured[0]["min.insync.replicas"]) == ("3", "2")


def test_with_replicas_an_entry_is_on_two_of_three_bookies_before_it_is_acknowledged(tmp_path: Path):
    one = settings(tmp_path, replicas=3)
    found = values(render("pravega/segment-store.properties", one, **PRAVEGA))
    quorum = [found[f"bookkeeper.{name}.size"] for name in ("ensemble", "write.quorum", "ack.quorum")]
    assert quorum == ["3", "3", "2"]
    names = [process.name for process in pravega.processes(one)]
    assert sum(name.startswith("bookkeeper") for name in names) == 4
    assert sum(name.startswith("segment-store") for name in names) == 2
    assert len(set(names)) == len(names)


def test_a_segment_store_waits_for_no_bookie_in_particular_where_there_are_several(tmp_path: Path):
    """Any of them may be dead. But for one: before the first that listens there is no metadata of ledgers."""
    for replicas, bookies in ((1, 1), (3, 4)):
        one = settings(tmp_path, replicas=replicas)
        waited_for = ",".join(one.address(PravegaPort.BOOKIE, replica) for replica in range(bookies))
        stores = [process for process in pravega.processes(one) if process.name.startswith("segment-store")]
        assert all(waited_for in process.command for process in stores)


def test_one_of_each_kind_of_replicated_servers_may_be_away(tmp_path: Path):
    alone = settings(tmp_path)
    for middleware, kinds in ((pravega, {"bookkeeper": 4, "segment-store": 2}), (kafka, {"kafka": 3})):
        assert not any(process.copy_of for process in middleware.processes(alone))
        copies = Counter(one.copy_of for one in middleware.processes(settings(tmp_path, replicas=3)) if one.copy_of)
        assert copies == kinds


def values(text: str) -> dict[str, str]:
    """Keys and values of a file of properties."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


def test_nginx_accepts_its_configuration_even_below_a_folder_with_a_space(tmp_path: Path):
    one = settings(tmp_path / "a folder", web_replicas=3)
    stack.write_configuration(one.model_copy(update={"middleware_uri": "elsewhere"}))
    checked = subprocess.run(
        [program("nginx"), "-t", "-c", str(one.instance_dir / "nginx.conf"), "-e", "stderr"],
        capture_output=True, text=True,
    )
    assert checked.returncode == 0, checked.stderr
    text = (one.instance_dir / "nginx.conf").read_text()
    assert all(f"server 127.0.0.1:{one.port(Port.WEB, n)} " in text for n in range(3))


def test_containers_have_no_controls(tmp_path: Path):
    alone, container = settings(tmp_path), settings(tmp_path, bind_address="0.0.0.0", service_hosts=True)
    assert "control" in {one.name for one in stack.processes(alone)}
    assert "control" not in {one.name for one in stack.processes(container)}
    location = "location /control/ {\n            return 404;"
    assert location in render("nginx/nginx.conf", container, **PRAVEGA)
    assert location not in render("nginx/nginx.conf", alone, **PRAVEGA)


def test_supervisor_reads_back_every_command_and_environment(tmp_path: Path):
    one = settings(tmp_path)
    parser = configparser.RawConfigParser()
    parser.read(supervisor.write_configuration(one, [process("/bin/echo", "a b", "100%", "it's")]))
    section = parser["program:one"]
    assert section["command"].endswith("/bin/echo 'a b' 100%% 'it'\"'\"'s'")
    assert section["environment"] == 'RATE="100%%"'
    assert section["autorestart"] == "true"
    assert int(section["stdout_logfile_backups"]) > 0


def test_a_path_too_long_for_a_socket_is_replaced_by_a_short_one(tmp_path: Path):
    deep = settings(tmp_path / ("x" * 100))
    path = manager.socket_path(deep)
    assert len(str(path)) <= unix_socket.PATH_BYTES
    assert path != manager.socket_path(settings(tmp_path / ("y" * 100)))
    assert manager.socket_path(settings(Path("/m"))) == Path("/m/instances/one/supervisor.sock")
