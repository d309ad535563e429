"""A middleware outside the application is found by Python's path, and by nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stack import ROOT

PLUGIN = Path(__file__).parent

ASKED = """
from deploy.local.middlewares import deployment
from middleware.registry import driver, registry
print(*registry())
print(*(deployment(name).syncing for name in registry() if driver(name)))
"""


def told(path: str, folder: Path) -> list[list[str]]:
    """The middlewares, and the process of each that syncs, for who is in `folder`."""
    environment = {**os.environ, "PYTHONPATH": path}
    answer = subprocess.run([sys.executable, "-c", ASKED], cwd=folder, env=environment, text=True, capture_output=True)
    assert answer.returncode == 0, answer.stderr
    return [line.split() for line in answer.stdout.splitlines()]


@pytest.mark.parametrize("inside", [True, False])
def test_a_folder_on_the_path_is_enough(tmp_path: Path, inside: bool) -> None:
    folder = ROOT if inside else tmp_path
    (usual, _), (found, syncing) = told("", folder), told(str(PLUGIN), folder)
    assert sorted(found) == sorted([*usual, "files"])
    assert found[0] == usual[0]
    assert "files" in syncing


def test_the_launcher_looks_for_none_in_the_folder_that_it_is_called_from(tmp_path: Path) -> None:
    (tmp_path / "middleware").mkdir()
    (tmp_path / "middleware" / "__init__.py").write_text("raise SystemExit('not ours')")
    answer = subprocess.run([ROOT / "murmur", "up", "--help"], cwd=tmp_path, text=True, capture_output=True)
    assert "[pravega|" in answer.stdout, answer.stderr
