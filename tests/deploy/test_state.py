"""What is stored is used only in its own format, and with the settings that it was made with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from common.settings import Settings
from deploy.local import instances, state


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in [name for name in os.environ if name.startswith("MURMUR_")]:
        monkeypatch.delenv(name)


def chosen(home: Path, **flags: object) -> Settings:
    return Settings(home=home, instance="one", **flags)  # type: ignore[arg-type]


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_new_instance_has_no_state_and_may_be_made_in_any_way(tmp_path: Path) -> None:
    assert state.made_with(chosen(tmp_path, partitions=3)) == {}


def test_state_keeps_the_settings_that_it_was_made_with(tmp_path: Path) -> None:
    state.record(chosen(tmp_path, partitions=3, stream_retention_bytes=1 << 30))
    kept = instances.reserve({"home": tmp_path, "instance": "one"})
    assert (kept.partitions, kept.stream_retention_bytes) == (3, 1 << 30)


@pytest.mark.parametrize(("name", "value"), [
    ("partitions", 2), ("stream_retention_bytes", 1 << 30), ("namespace", "other"), ("max_event_bytes", 1 << 16),
])
def test_a_setting_that_cannot_change_any_more_is_refused_with_both_values(
    tmp_path: Path, name: str, value: object
) -> None:
    state.record(chosen(tmp_path))
    before = content(tmp_path)
    with pytest.raises(state.StateRefused, match=f"{name}: {getattr(chosen(tmp_path), name)}, and now {value}") as why:
        instances.reserve({"home": tmp_path, "instance": "one", name: value})
    assert "murmur down --wipe --instance one" in str(why.value)
    assert content(tmp_path).items() >= before.items()
    assert not chosen(tmp_path).settings_file.exists()


def test_a_setting_that_the_state_does_not_name_yet_was_made_with_its_default(tmp_path: Path) -> None:
    state.record(chosen(tmp_path))
    file = state.state_file(chosen(tmp_path))
    found = json.loads(file.read_text())
    del found["settings"]["replicas"]
    file.write_text(json.dumps(found))
    with pytest.raises(state.StateRefused, match="replicas: 1, and now 3"):
        state.made_with(chosen(tmp_path, replicas=3))
    assert state.made_with(chosen(tmp_path, replicas=1))["replicas"] == 1
    assert state.made_with(chosen(tmp_path))["replicas"] == 1


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    state.record(chosen(tmp_path, database_url="postgresql://u:SENTINEL@127.0.0.1/a"))
    with pytest.raises(state.StateRefused, match="database_url") as why:
        state.made_with(chosen(tmp_path, database_url="postgresql://u:SENTINEL@127.0.0.1/b"))
    assert "SENTINEL" not in str(why.value)


def test_one_database_may_be_written_in_two_ways(tmp_path: Path) -> None:
    """As it has to be where a character is no longer taken as it stands."""
    state.record(chosen(tmp_path, database_url="postgresql://u:a!b@127.0.0.1/a?application_name=me"))
    again = chosen(tmp_path, database_url="postgresql://u:a%21b@127.0.0.1/a?application_name=m%65")
    assert "%65" in state.made_with(again)["database_url"], "as it is written now"
    with pytest.raises(state.StateRefused):
        state.made_with(chosen(tmp_path, database_url="postgresql://u:a%22b@127.0.0.1/a?application_name=me"))


def test_settings_that_take_effect_at_the_next_start_are_applied(tmp_path: Path) -> None:
    state.record(chosen(tmp_path))
    again = instances.reserve({"home": tmp_path, "instance": "one", "durability": "page-cache", "index_max_rows": 7})
    assert (again.durability, again.index_max_rows) == ("page-cache", 7)


def started(home: Path, **flags: object) -> int:
    """As `murmur up` does, and then it is ended: how many shards it counts with."""
    settings = instances.reserve({"home": home, "instance": "one", **flags})
    state.record(settings)
    return settings.trending_shards


def test_shards_stay_as_they_were_last_chosen(tmp_path: Path) -> None:
    """Another number costs a count of all that the stream holds, and may have to wait: nobody chooses it by a plain
    start in another shell."""
    assert [started(tmp_path, trending_shards=2), started(tmp_path), started(tmp_path, trending_shards=3),
            started(tmp_path), started(tmp_path, trending_shards=1), started(tmp_path)] == [2, 2, 3, 3, 1, 1]


def test_shards_stay_for_each_middleware(tmp_path: Path) -> None:
    started(tmp_path, trending_shards=2)
    assert started(tmp_path, middleware="kafka") == 1
    assert started(tmp_path) == 2


def test_state_that_does_not_tell_of_shards_takes_those_of_the_settings(tmp_path: Path) -> None:
    started(tmp_path)
    file = state.state_file(chosen(tmp_path))
    noted = json.loads(file.read_text())
    del noted["settings"]["trending_shards"]
    file.write_text(json.dumps(noted))
    assert started(tmp_path) == 1
    assert json.loads(file.read_text())["settings"]["trending_shards"] == 1


@pytest.mark.parametrize(("name", "value"), [
    ("search_consumers", 2), ("trending_consumers", 2), ("spark_master", "spark://127.0.0.1:7077"),
])
def test_where_processes_run_and_how_many_is_chosen_at_each_start(tmp_path: Path, name: str, value: object) -> None:
    """Like everything that changes nothing of what is stored."""
    state.record(instances.reserve({"home": tmp_path, "instance": "one", name: value}))
    assert getattr(instances.reserve({"home": tmp_path, "instance": "one"}), name) != value


def test_each_middleware_has_state_of_its_own(tmp_path: Path) -> None:
    state.record(chosen(tmp_path, middleware="kafka", partitions=2))
    assert state.made_with(chosen(tmp_path, middleware="pravega", partitions=5)) == {}


def test_state_from_before_formats_were_counted_is_refused_and_not_touched(tmp_path: Path) -> None:
    folder = chosen(tmp_path).state_dir
    (folder / "archive").mkdir(parents=True)
    (folder / "archive" / "000.jsonl").write_text("{}\n")
    before = content(tmp_path)
    with pytest.raises(state.StateRefused, match="murmur down --wipe"):
        instances.reserve({"home": tmp_path, "instance": "one"})
    assert {path: text for path, text in content(tmp_path).items() if path.name != ".lock"} == before


@pytest.mark.parametrize("number", [1, state.FORMAT + 1, "2", None])
def test_another_format_is_refused_by_its_number(tmp_path: Path, number: object) -> None:
    state.record(chosen(tmp_path))
    file = state.state_file(chosen(tmp_path))
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": number}))
    with pytest.raises(state.StateRefused, match=f"format {number}"):
        state.made_with(chosen(tmp_path))


@pytest.mark.parametrize("text", ["", "[]", f'{{"format": {state.FORMAT}}}', "\0" * 100])
def test_a_file_that_says_nothing_is_an_error_with_a_way_out(tmp_path: Path, text: str) -> None:
    state.record(chosen(tmp_path))
    state.state_file(chosen(tmp_path)).write_text(text)
    with pytest.raises(state.StateRefused, match=r"state.json cannot be read .*murmur down --wipe"):
        state.made_with(chosen(tmp_path))


def test_state_says_of_itself_only_once(tmp_path: Path) -> None:
    state.record(chosen(tmp_path, partitions=2))
    state.record(chosen(tmp_path, partitions=5))
    assert state.made_with(chosen(tmp_path))["partitions"] == 2
