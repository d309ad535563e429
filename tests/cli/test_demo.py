"""What `make demo` is asked to show. tests/e2e/test_demo.py runs it."""

from __future__ import annotations

import subprocess

import pytest

from cli import demo
from tests.stack import ROOT


@pytest.mark.parametrize("words", [["nonsense"], ["replay"], [""], ["bluesky", "wikimedia"], ["bluesky wikimedia"]])
def test_an_unknown_source_is_named_before_anything_starts(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(subprocess, "run", lambda *command, **_: started.append(command))
    monkeypatch.setattr(subprocess, "Popen", lambda *command, **_: started.append(command))
    assert demo.main(words) == 2
    said = capsys.readouterr()
    assert said.err == f"SOURCE={' '.join(words)} is none of synthetic bluesky wikimedia\n"
    assert (said.out, started) == ("", [])


def planned(*words: str) -> subprocess.CompletedProcess[str]:
    """What make would run."""
    return subprocess.run(["make", "--dry-run", "--no-print-directory", "demo", *words], cwd=ROOT, text=True,
                          capture_output=True)


@pytest.mark.parametrize("name", demo.SOURCES)
def test_make_takes_the_sources_that_there_are(name: str) -> None:
    plan = planned(f"SOURCE={name}")
    assert (plan.returncode, plan.stderr) == (0, "")
    assert plan.stdout.splitlines()[-1].endswith(f"python -m cli.demo '{name}'")


@pytest.mark.parametrize("name", ["nonsense", "replay", "'; id; '"])
def test_make_refuses_any_other_before_it_installs(name: str) -> None:
    plan = planned(f"SOURCE={name}")
    assert (plan.returncode, plan.stdout) == (2, "")
    assert f"SOURCE={name} is none of {' '.join(demo.SOURCES)}" in plan.stderr
