"""The settings that are compared, by what is in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.settings import Settings
from deploy.local import kafka, pulsar
from deploy.local.middlewares import deployment
from middleware.compared import ELSEWHERE, as_json, configured
from middleware.registry import driver, registry
from tests.middleware import compared_table
from tests.middleware.compared_table import rendered
from tests.stack import ROOT


@pytest.mark.parametrize("name", registry())
def test_every_store_says_what_it_is_set_to_why_and_where_that_is_documented(name: str, tmp_path: Path) -> None:
    found = driver(name).compared(rendered(name, tmp_path))
    assert len(found.settings) >= 6
    assert found.alternatives
    for each in (*found.settings, *found.alternatives):
        assert all((each.name, each.value, each.source.title))
        assert each.value != ELSEWHERE
        address = each.source.address
        assert address.startswith("https://") or (ROOT / address).exists()


@pytest.mark.parametrize("name", registry())
def test_the_durability_class_shows_in_what_a_server_is_set_to(name: str, tmp_path: Path) -> None:
    fsync = driver(name).compared(rendered(name, tmp_path / "one"))
    page_cache = driver(name).compared(rendered(name, tmp_path / "two", "page-cache"))
    assert [a.name for a, b in zip(fsync.settings, page_cache.settings, strict=True) if a != b] == [
        fsync.settings[0].name]


@pytest.mark.parametrize("name", registry())
def test_what_the_documentation_recommends_is_in_use_where_that_is_chosen(name: str, tmp_path: Path) -> None:
    """Of NATS nothing: its recommendations are another class, or another way to publish."""
    laptop, documented = rendered(name, tmp_path / "one"), rendered(name, tmp_path / "two", store_tuning="documented")
    before, after = (as_json(driver(name).compared(each), each) for each in (laptop, documented))
    tuned = {each["name"]: each["value"] for each in before["alternatives"] if each["by_tuning"]}
    assert bool(tuned) == (name != "nats")
    in_use = {each["name"]: each["value"] for each in after["settings"]}
    assert len(in_use) == len(after["settings"])
    assert list(in_use)[len(in_use) - len(tuned):] == list(tuned)
    assert all(in_use[each] != before for each, before in tuned.items())
    assert {each["name"] for each in before["settings"]} <= set(in_use)
    left = [each["name"] for each in before["alternatives"] if not each["by_tuning"]]
    assert [each["name"] for each in after["alternatives"]] == left
    differ = [a["name"] for a, b in zip(before["equal"], after["equal"], strict=True) if a != b]
    assert differ == ["compression"]


def commands(settings: Settings) -> str:
    """Of the servers, with those that become another process."""
    found = [each.command for each in deployment(settings.middleware).processes(settings)]
    if settings.middleware == "kafka":
        found.append(kafka.java(settings, kafka.HEAP[settings.store_tuning], "kafka.Kafka"))
    if settings.middleware == "pulsar":
        found.append(pulsar.java(settings))
    return " ".join(word for command in found for word in command)


@pytest.mark.parametrize(("name", "heap", "direct", "conf", "changed"), [
    ("kafka", "-Xmx1g", "-Xms1g", "kafka.properties", ("num.io.threads=4", None)),
    ("pulsar", "-Xmx2g", "-XX:MaxDirectMemorySize=4g", "standalone.conf", (
        "managedLedgerMaxSizePerLedgerMbytes=16\n", "managedLedgerMaxSizePerLedgerMbytes=1024\n")),
    ("pravega", "-Xmx4g", f"-XX:MaxDirectMemorySize={5 << 30}", "segment-store.properties", (
        f"cache.size.max={2 << 30}", f"cache.size.max={4 << 30}")),
    ("pravega", "-Xmx4g", f"-XX:MaxDirectMemorySize={5 << 30}", "bookkeeper.conf", (
        "skipListArena", "InterleavedLedgerStorage")),
])
def test_the_servers_are_tuned_as_documented_where_that_is_chosen(
    name: str, heap: str, direct: str, conf: str, changed: tuple[str, str | None], tmp_path: Path,
) -> None:
    laptop, documented = rendered(name, tmp_path / "one"), rendered(name, tmp_path / "two", store_tuning="documented")
    assert heap not in commands(laptop)
    assert heap in commands(documented)
    assert direct in commands(documented)
    before, after = ((each.state_dir / "conf" / conf).read_text() for each in (laptop, documented))
    assert (changed[0] in before, changed[0] in after) == (True, False)
    assert changed[1] is None or (changed[1] in before, changed[1] in after) == (False, True)
    tiers = "-XX:TieredStopAtLevel=1"
    assert (tiers in commands(laptop), tiers in commands(documented)) == (name != "kafka", False)


@pytest.mark.parametrize("name", registry())
def test_what_a_setting_of_ours_decides_follows_it(name: str, tmp_path: Path) -> None:
    settings = rendered(name, tmp_path)
    other = settings.model_copy(update={"publish_group_ms": 77, "max_events_per_trigger": 123})
    values = " ".join(each.value for each in driver(name).compared(other).settings)
    assert "77" in values
    assert "123" in values
    assert {each["name"]: each["value"] for each in as_json(driver(name).compared(other), other)["equal"]}[
        "publish_group_ms"] == "77"


def test_a_configuration_is_read_as_the_servers_write_it(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    folder = settings.state_dir / "conf"
    folder.mkdir(parents=True)
    (folder / "a.conf").write_text('# size=1\nx.size=2\n  size: "3m"\nlimits { batch { most: 4 } }\nsize.max=5\n')
    read = {key: configured(settings, "a.conf", key, "unset") for key in ("size", "x.size", "most", "max", "size.max")}
    assert read == {"size": "3m", "x.size": "2", "most": "4", "max": "unset", "size.max": "5"}
    assert configured(settings, "b.conf", "size", "unset") == ELSEWHERE


def test_a_middleware_without_such_settings_has_none() -> None:
    assert driver(registry()[0]).__class__.__dataclass_fields__["compared"].default(Settings()).settings == ()


def test_the_document_is_up_to_date(tmp_path: Path) -> None:
    _, committed, _ = compared_table.parts(compared_table.DOCUMENT.read_text())
    assert committed == compared_table.generated(tmp_path), \
        "write it anew: python -m tests.middleware.compared_table"
