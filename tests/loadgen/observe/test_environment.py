from __future__ import annotations

from pathlib import Path

import pytest

from common.settings import Durability, Settings
from loadgen.errors import DiskShort
from loadgen.observe import environment
from loadgen.observe.environment import check_disk, described, durability_told, host, server_settings, versions
from tests.memory import Memory, MemoryAdmin


def settings(tmp_path: Path, **chosen: object) -> Settings:
    return Settings(home=tmp_path, **chosen)  # type: ignore[arg-type]


def test_an_experiment_that_could_fill_the_disk_is_refused(tmp_path: Path) -> None:
    unbounded = settings(tmp_path, archive_max_bytes=1 << 60, stream_retention_bytes=1 << 60)
    with pytest.raises(DiskShort, match="make room"):
        check_disk(unbounded, 1e12)


def test_what_is_bounded_needs_no_more_than_its_bounds(tmp_path: Path) -> None:
    bounded = settings(tmp_path, archive_max_bytes=1, stream_retention_bytes=1, database_max_rows=1)
    check_disk(bounded, 1e15)


def test_the_servers_own_settings_are_told_without_paths_of_this_machine(tmp_path: Path) -> None:
    chosen = settings(tmp_path)
    folder = chosen.state_dir / "conf"
    folder.mkdir(parents=True)
    (folder / "a.properties").write_text(f"# x=1\nsync=true\ndata = {tmp_path}/data\nnonsense\n")
    assert server_settings(chosen) == {"a.properties: sync": "true", "a.properties: data": "<home>/data"}


def test_host_and_versions_are_known(tmp_path: Path) -> None:
    chosen = settings(tmp_path)
    assert host(chosen)["cores"] >= 1
    assert versions(chosen)["python"].startswith("3.")


def test_a_commit_has_one_name_however_short_git_would_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    for digits in ("4", "20"):
        for name, value in (("COUNT", "1"), ("KEY_0", "core.abbrev"), ("VALUE_0", digits)):
            monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
        names.append(environment.commit())
    assert names[0] == names[1]


class LooseAdmin(MemoryAdmin):
    def durability_in_force(self) -> Durability | None:
        self._memory.answer()
        return "page-cache"


class Loose(Memory):
    """Its server was started with another durability than the one that is configured."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.admin = LooseAdmin(self)


@pytest.mark.parametrize(("down", "told"), [(False, "page-cache"), (True, None)])
def test_the_durability_that_the_server_tells_stands_beside_the_one_configured(
    down: bool, told: Durability | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Loose(settings(tmp_path, durability="fsync"))
    memory.down = down
    monkeypatch.setattr(environment, "connect", lambda _: memory)
    found = described(memory.settings)
    assert (found["durability"], found["durability_told"]) == ("fsync", told)
    assert durability_told(memory.admin) == told


def test_no_password_of_an_address_is_in_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = {
        "database_url": "postgresql://u:s3ntinel@127.0.0.1:9/x", "redis_url": "redis://:s3ntinel@127.0.0.1:9/0",
        "milvus_uri": "http://s3ntinel@127.0.0.1:9", "ingest_token": "s3ntinel", "x_bearer_token": "s3ntinel",
    }
    memory = Loose(settings(tmp_path, **addresses))
    monkeypatch.setattr(environment, "connect", lambda _: memory)
    told = str(described(memory.settings))
    assert "@127.0.0.1:9/x" in told
    assert "s3ntinel" not in told
