"""The settings that are compared, by what is in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from common.settings import Settings
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
