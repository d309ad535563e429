"""Where a setting comes from, and which of them a running instance has decided."""

import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from pydantic import ValidationError
from sqlalchemy import make_url

from common.settings import PORTS_PER_INSTANCE, Port, Settings, SettingsUnreadable


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, and nothing of the environment in which the tests run."""
    import os

    for name in [name for name in os.environ if name.startswith("MURMUR_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path / "home"))
    return tmp_path


def test_flag_over_environment_over_file_over_default(alone: Path, monkeypatch: pytest.MonkeyPatch):
    assert Settings.load().partitions == 1
    (alone / ".env").write_text("MURMUR_PARTITIONS=3\n")
    assert Settings.load().partitions == 3
    monkeypatch.setenv("MURMUR_PARTITIONS", "4")
    assert Settings.load().partitions == 4
    assert Settings.load(partitions=5).partitions == 5
    assert Settings.load(partitions=None).partitions == 4


def test_a_later_command_takes_the_facts_of_the_instance_and_chooses_the_rest(monkeypatch: pytest.MonkeyPatch):
    Settings(partitions=7, port_block=3, durability="page-cache", ranking_limit=10).save()
    monkeypatch.setenv("MURMUR_RANKING_LIMIT", "20")
    monkeypatch.setenv("MURMUR_PARTITIONS", "9")
    later = Settings.load()
    assert (later.partitions, later.port_block, later.durability) == (7, 3, "page-cache")
    assert later.ranking_limit == 20


@pytest.mark.parametrize(("name", "runs", "chosen"), [
    ("search_consumers", 2, "1"), ("trending_consumers", 2, "1"), ("trending_shards", 2, "1"),
    ("spark_master", "spark://one:7077", "local[*]"),
])
def test_what_runs_how_often_and_where_is_a_fact_of_the_instance(
    name: str, runs: object, chosen: str, monkeypatch: pytest.MonkeyPatch
):
    """A command in another shell would stop one member of two, or write down another number beside a result."""
    Settings(**{name: runs}).save()
    monkeypatch.setenv(f"MURMUR_{name.upper()}", chosen)
    assert getattr(Settings.load(), name) == runs


def test_what_a_later_command_does_not_choose_is_as_the_instance_has_it(monkeypatch: pytest.MonkeyPatch):
    """Bounds above all: a command in another shell would prune, show and judge by others."""
    Settings(database_max_rows=7, archive_max_bytes=8, allowed_hosts="here", max_event_bytes=9).save()
    later = Settings.load()
    assert (later.database_max_rows, later.archive_max_bytes, later.allowed_hosts) == (7, 8, "here")
    monkeypatch.setenv("MURMUR_DATABASE_MAX_ROWS", "6")
    monkeypatch.setenv("MURMUR_MAX_EVENT_BYTES", "6")
    assert (Settings.load().database_max_rows, Settings.load().max_event_bytes) == (6, 9)


def test_a_process_of_the_instance_reads_exactly_its_file(monkeypatch: pytest.MonkeyPatch):
    saved = Settings(instance="one", ranking_limit=10)
    saved.save()
    monkeypatch.setenv("MURMUR_SETTINGS", str(saved.settings_file))
    monkeypatch.setenv("MURMUR_RANKING_LIMIT", "20")
    assert Settings.load().ranking_limit == 10
    assert Settings.load().instance_dir == saved.instance_dir


@pytest.mark.parametrize("text", ["", '{"instance": "def', "[]", "\0" * 200])
def test_settings_that_cannot_be_read_are_named_with_the_way_out(text: str):
    settings = Settings()
    settings.save()
    settings.settings_file.write_text(text)
    with pytest.raises(SettingsUnreadable, match=r"settings.json cannot be read .*murmur down --instance default"):
        Settings.load()


def test_a_save_that_fails_leaves_the_settings_that_were_there(monkeypatch: pytest.MonkeyPatch):
    def fails(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    Settings(ranking_limit=10).save()
    monkeypatch.setattr("os.fsync", fails)
    with pytest.raises(OSError, match="No space"):
        Settings(ranking_limit=20).save()
    assert json.loads(Settings().settings_file.read_text())["ranking_limit"] == 10


def test_the_token_of_x_is_never_written():
    settings = Settings(x_bearer_token="secret")
    settings.save()
    assert "secret" not in settings.settings_file.read_text()
    assert "x_bearer_token" not in json.loads(settings.settings_file.read_text())


@pytest.mark.parametrize("wrong", [
    {"instance": "../other"}, {"instance": ""}, {"durability": "maybe"}, {"partitions": 0}, {"port_base": 80},
])
def test_what_cannot_be_is_refused(wrong: dict):
    with pytest.raises(ValidationError):
        Settings.load(**wrong)


@pytest.mark.parametrize("character", "/#?[]")
@pytest.mark.parametrize("name", ["redis_url", "milvus_uri"])
def test_an_address_that_clients_would_take_apart_in_its_password_is_refused_without_it(name: str, character: str):
    """Clients take the first part of it for a port, and say so."""
    password = f"s3ntinel{character}x"
    with pytest.raises(ValidationError, match=re.escape(f"{character} as {quote(character, safe='')}")) as refused:
        Settings(**{name: f"redis://u:{password}@127.0.0.1:9/0"})
    assert "s3ntinel" not in str(refused.value)
    Settings(**{name: f"redis://u:{quote(password, safe='')}@127.0.0.1:9/0"})


@pytest.mark.parametrize("character", "/#?[]:%")
def test_a_password_of_the_database_that_its_client_takes_is_taken(character: str):
    address = f"postgresql+psycopg://u:s3ntinel{character}x@127.0.0.1:9/tweets"
    found = make_url(Settings(database_url=address).database_address)
    assert (found.password, found.host, found.port) == (f"s3ntinel{character}x", "127.0.0.1", 9)


@pytest.mark.parametrize("rest", [
    "@s3ntinel@db/tweets", "@db:s3ntinel/tweets", "@s3ntinel@db:9/tweets", "@1:s3ntinel@db", "a@s3ntinel/x@db/t",
    "a@s3ntinel?x@db/t", "@db/t?application_name=me@s3ntinel",
])
def test_an_address_of_the_database_that_its_client_would_take_apart_is_refused_without_its_password(rest: str):
    with pytest.raises(ValidationError, match="write each @ as %40 but the one before the host") as refused:
        Settings(database_url=f"postgresql+psycopg://u:s3ntinel{rest}")
    assert "s3ntinel" not in str(refused.value)


def test_the_address_of_the_stream_store_holds_no_password():
    with pytest.raises(ValidationError, match="takes a user or a password") as refused:
        Settings(middleware_uri="tcp://u:s3ntinel@127.0.0.1:9090")
    assert "s3ntinel" not in str(refused.value)
    assert Settings(middleware_uri="tcp://127.0.0.1:9090").middleware_uri


@pytest.mark.parametrize(("name", "address"), [
    ("redis_url", "redis://us/er:s3ntinel@cache/0"), ("milvus_uri", "https://us/er:s3ntinel@milvus"),
    ("database_url", "postgresql://us/er:s3ntinel@db/x"),
])
def test_a_user_that_ends_the_host_is_refused_without_the_password(name: str, address: str):
    with pytest.raises(ValidationError, match=r"%2F|%40") as refused:
        Settings(**{name: address})
    assert "s3ntinel" not in str(refused.value)


@pytest.mark.parametrize(("name", "address"), [
    ("redis_url", "redis://u:s3n tinel@cache/0"), ("milvus_uri", "http://h?token=s3n tinel"),
    ("database_url", "postgresql://u:s3n tinel@/x"), ("database_url", "postgresql:///x?host=db&password=s3n tinel"),
    ("database_url", "postgresql://u:s3n tinel@db/x"), ("database_url", "postgresql://db/x?password=s3n tinel"),
])
def test_white_space_in_an_address_is_refused_without_its_password(name: str, address: str):
    with pytest.raises(ValidationError, match="write a space as %20") as refused:
        Settings(**{name: address})
    assert not re.search("s3n|tinel", str(refused.value))


@pytest.mark.parametrize("address", [
    "sqlite:////home/a b/c@d@e/tweets.db", "postgresql+psycopg://me@corp:s3ntinel@db/x", "postgresql://me@db/x",
])
def test_folders_and_users_of_a_database_may_hold_what_a_password_may_not(address: str):
    assert Settings(database_url=address).database_url == address


def test_no_database_costs_no_import_of_its_library():
    names = "[name for name in sys.modules if name.startswith('sqlalchemy')]"
    program = f"import sys; from common.settings import Settings; Settings(); print({names})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_no_address_of_a_database_is_refused_without_what_it_holds():
    with pytest.raises(ValidationError, match="database_url") as refused:
        Settings(database_url="u:s3ntinel")
    assert "s3ntinel" not in str(refused.value)


@pytest.mark.parametrize("master", [
    "local", "local[2]", "local[*]", "local[2,3]", "local[*,3]", "spark://127.0.0.1:7077", "spark://one:7077,two:7078",
    "spark://[::1]:7077", "yarn", "k8s://https://api.example:6443",
])
def test_a_master_of_spark_is_taken(master: str):
    assert Settings(spark_master=master).spark_master == master


@pytest.mark.parametrize("master", [
    "", "nonsense", "localhost", "local[0]", "local[2", "local[two]", "local[2,0]", "local-cluster[2,1,1024]",
    "spark://", "spark://one", "spark://one:7077,two", "spark://one:7077,", "spark://one:7077/x", "spark://one:0",
    "spark://one:65536", "spark://a b:7077", "Yarn", "k8s://", "mesos://one:5050", "yarn\n",
])
def test_what_is_no_master_of_spark_is_refused(master: str):
    with pytest.raises(ValidationError, match=r"spark_master\n.*one of local, .* yarn and k8s://"):
        Settings(spark_master=master)


@pytest.mark.parametrize(("master", "local"), [("local", True), ("local[2]", True), ("spark://local:7077", False)])
def test_tasks_run_in_the_driver_or_elsewhere(master: str, local: bool):
    assert Settings(spark_master=master).spark_is_local == local


def test_ports_of_a_block_are_its_own():
    settings = Settings(port_block=2)
    used = [settings.port(port) for port in Port if port is not Port.WEB]
    used += [settings.port(Port.WEB, replica) for replica in range(8)]
    first = settings.port_base + 2 * PORTS_PER_INSTANCE
    assert len(set(used)) == len(used)
    assert all(first <= port < first + PORTS_PER_INSTANCE for port in used)


@pytest.mark.parametrize("replicas", [0, 2, 5])
def test_replicas_are_one_or_as_many_as_have_a_majority(replicas: int):
    with pytest.raises(ValidationError, match="two are a majority"):
        Settings(replicas=replicas)


@pytest.mark.parametrize("other", [
    {"middleware_uri": "127.0.0.1:1"}, {"replicas": 3}, {"service_hosts": True, "bind_address": "0.0.0.0"},
])
def test_the_documented_tuning_is_for_one_local_server(other: dict[str, object]):
    assert Settings(store_tuning="documented").store_tuning == "documented"
    with pytest.raises(ValidationError, match="leave MURMUR_STORE_TUNING at laptop"):
        Settings(store_tuning="documented", **other)


def test_replicas_of_a_stream_store_elsewhere_are_its_own_affair():
    """Its streams may have one copy, whatever is wished here."""
    assert Settings(middleware_uri="127.0.0.1:1", replicas=1).replicas == 1
    with pytest.raises(ValidationError, match="leave MURMUR_REPLICAS at 1, or MURMUR_MIDDLEWARE_URI empty"):
        Settings(middleware_uri="127.0.0.1:1", replicas=3)


def test_every_setting_says_what_it_is():
    assert all(field.description for field in Settings.model_fields.values())


@pytest.mark.parametrize("address", ["localhost", "127.0.0.2", "192.168.1.5", "::", "nonsense"])
def test_a_server_listens_on_loopback_or_in_a_container_everywhere(address: str):
    with pytest.raises(ValidationError, match="bind_address"):
        Settings(bind_address=address, service_hosts=True)


def test_no_server_listens_beyond_loopback_on_a_machine():
    with pytest.raises(ValidationError, match="only containers listen beyond it"):
        Settings(bind_address="0.0.0.0")
    assert Settings(bind_address="0.0.0.0", service_hosts=True).bind_address == "0.0.0.0"
