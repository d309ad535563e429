"""An instance that a former version made is refused by whatever would start or read it, and can be removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import murmur
from common.process import manager
from common.settings import Settings
from deploy.local import instances, state
from tests.stack import PORT_BASE

MADE_OF_FORMAT_2 = """{
 "format": 2,
 "settings": {
  "middleware_uri": "",
  "namespace": "murmur",
  "partitions": 1,
  "max_event_bytes": 1048576,
  "stream_retention_bytes": 8589934592,
  "database_url": ""
 }
}"""
"""`state.json`, as `murmur up` wrote it when rows of `hashtag-counts` did not tell their kind."""

ANY_MORE = {
    "up": (), "status": (), "audit": ("--timeout", "1"), "logs": ("spark",), "accept-loss": ("--yes",),
    "ingest": ("--source", "synthetic", "--limit", "1"), "load run": ("--rate", "1"), "load find-max": (),
}  # fmt: skip
"""Commands that start or read an instance, with what else they need."""


@pytest.fixture
def former(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name in [name for name in os.environ if name.startswith("MURMUR_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path / ".murmur"))
    monkeypatch.setenv("MURMUR_PORT_BASE", str(PORT_BASE))
    monkeypatch.chdir(tmp_path)
    found = instances.reserve({"instance": "one"})
    (found.archive_dir / "run").mkdir(parents=True)
    state.state_file(found).write_text(MADE_OF_FORMAT_2)
    return found


def run(words: str, *options: str) -> Result:
    return CliRunner().invoke(murmur, [*words.split(), "--instance", "one", *options])


def content(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("words", ANY_MORE)
def test_it_is_refused_in_one_sentence_with_the_ways_out_and_not_touched(
    former: Settings, words: str, number: int
) -> None:
    """In format 1 no file told the number."""
    if number == 1:
        state.state_file(former).unlink()
    before = content(former.home)
    result = run(words, *ANY_MORE[words])
    assert result.exit_code == 1
    [line] = result.output.splitlines()
    assert line.startswith("Error: what instance one stored in ")
    assert f"is of format {number}, and this version of Murmuration uses format {state.FORMAT}:" in line
    assert "`murmur up --instance NEW`" in line
    assert f"the files below {former.archive_dir}" in line
    assert "`murmur down --wipe --instance one`" in line
    assert ". " not in line
    assert content(former.home) == before


def test_it_is_refused_while_it_runs_too(former: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "is_running", lambda settings: True)
    assert "is of format 2" in run("up").output


def test_it_can_be_removed_and_made_anew(former: Settings) -> None:
    assert run("down", "--wipe", "--yes").exit_code == 0
    assert not former.instance_dir.exists()
    assert state.made_with(former) == {}


def test_another_one_beside_it_is_its_own(former: Settings) -> None:
    assert instances.reserve({"instance": "new"}).instance == "new"


def test_a_later_format_is_refused_as_well(former: Settings) -> None:
    later = {**json.loads(MADE_OF_FORMAT_2), "format": state.FORMAT + 1}
    state.state_file(former).write_text(json.dumps(later))
    assert f"is of format {state.FORMAT + 1}" in run("status").output
