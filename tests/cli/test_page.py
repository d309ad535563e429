from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli import options
from common import control
from common.settings import Settings


@pytest.mark.parametrize("terminal", [True, False])
def test_the_token_is_printed_on_a_terminal_alone(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings(home=tmp_path)
    settings.instance_dir.mkdir(parents=True)
    control.make(settings)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    token = control.token_file(settings).read_text()
    assert options.page(settings) == settings.url + (f"/#token={token}" if terminal else "")
