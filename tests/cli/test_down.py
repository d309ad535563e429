"""What `murmur down --wipe` removes: nothing unasked, and nothing that it does not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.main import murmur
from common.settings import Settings

SENTINEL = "s3ntinel"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MURMUR_HOME", str(tmp_path))
    monkeypatch.delenv("MURMUR_SETTINGS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(home: Path, **settings: str) -> Path:
    """The database of an instance that does not run."""
    found = Settings(home=home, **settings)
    found.save()
    found.state_dir.mkdir()
    file = found.state_dir / "tweets.db"
    file.write_bytes(b"SQLite")
    return file


def down(*words: str) -> Result:
    return CliRunner().invoke(murmur, ["down", *words])


def test_without_a_terminal_nothing_is_removed_unless_told_so(home: Path) -> None:
    file = stored(home)
    refused = down("--wipe")
    assert refused.exit_code == 2
    assert "--yes" in refused.output
    assert file.exists()
    assert down("--wipe", "--yes").exit_code == 0
    assert not file.parent.parent.exists()


def test_what_lies_elsewhere_is_not_said_to_be_removed(home: Path) -> None:
    stored(home, database_url=f"postgresql://u:{SENTINEL}@db/tweets", redis_url=f"redis://:{SENTINEL}@cache/0")
    result = down("--wipe", "--yes")
    assert "redis_url, database_url stays" in result.output
    assert "milvus_uri" not in result.output
    assert SENTINEL not in result.output
    stored(home)
    assert "stays" not in down("--wipe", "--yes").output
