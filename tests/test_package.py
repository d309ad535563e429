"""The wheel, in an environment that has nothing but what it depends on and no checkout: as a stranger installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from cli.main import COMMANDS
from tests.stack import ROOT
from tests.tree import PARTS, tracked

pytestmark = pytest.mark.slow

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
OF_THE_PROJECT = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "NOTICE", "requirements.in")


def sources() -> list[Path]:
    """Files of the checkout below its packages, as paths from its root on."""
    found = tracked("--cached", "--others", "--exclude-standard", "--", *PARTS)
    return [file.relative_to(ROOT) for file in found]


def pip(*words: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a copy of the checkout, since the build leaves files beside what it reads."""
    copy, out = tmp_path_factory.mktemp("checkout"), tmp_path_factory.mktemp("wheel")
    for path in [*sources(), *map(Path, OF_THE_PROJECT)]:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copy / path)
    pip("wheel", "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", out, copy)
    (made,) = out.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bin` of a new environment with the wheel. Its dependencies are those of the environment of the tests, where the
    project itself is not found: a path that a .pth file names has its own ones ignored."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    pip("--python", folder / "bin" / "python", "install", "--no-index", "--no-deps", wheel)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin"


def run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MURMUR_", "PYTHON"))}
    return subprocess.run([str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=60)


def test_every_file_of_every_package_is_in_it(wheel: Path) -> None:
    """Templates too, whatever their names end with; a folder that is no package builds what a checkout runs on."""
    expected = {str(path) for path in sources() if (ROOT / path.parent / "__init__.py").exists()}
    assert {"deploy/local/nginx/nginx.conf", "consumers/buckets.lua", "deploy/local/processes/background"} <= expected
    found = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert found == expected


def test_it_names_all_that_it_depends_on(wheel: Path) -> None:
    metadata = zipfile.ZipFile(wheel).read(f"murmuration-{VERSION}.dist-info/METADATA").decode()
    lists = [ROOT / "requirements.in", *ROOT.glob("middleware/*/requirements.in")]
    lines = (line.partition("#")[0].strip() for file in lists for line in file.read_text().splitlines())
    found = {line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if line.startswith("Requires-Dist")}
    assert found == {line for line in lines if line}


def test_it_runs_from_any_folder(programs: Path, tmp_path: Path) -> None:
    where = run(tmp_path, programs / "python", "-c", "import cli, deploy; print(cli.__file__, deploy.__file__)")
    assert str(ROOT) not in where.stdout
    assert where.stdout.count(str(programs.parent)) == 2, where.stderr
    for folder in (tmp_path, Path("/"), Path.home()):
        result = run(folder, programs / "murmur", "--help")
        assert result.returncode == 0, result.stderr
        assert [name for name in COMMANDS if f"  {name} " not in result.stdout] == []
    assert run(tmp_path, programs / "murmur", "--version").stdout == f"murmur, version {VERSION}\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "named"), [
    (("murmur", "up"), "`murmur up`"),
    (("murmur", "up", "--servers-only"), "`murmur up`"),
    (("murmur", "load", "compare", "--out", "out"), "`murmur load compare`"),
    (("python", "-m", "cli.demo"), "the demonstration"),
])
def test_what_needs_a_checkout_says_so_and_how_to_get_one(
    programs: Path, tmp_path: Path, command: tuple[str, ...], named: str
) -> None:
    result = run(tmp_path, programs / command[0], *command[1:])
    assert result.returncode == 1
    [line] = result.stderr.splitlines()
    assert f"{named} needs a checkout of Murmuration" in line
    assert "clone its repository, run `make setup`" in line
    assert (result.stdout, list(tmp_path.iterdir())) == ("", [])


def test_what_needs_an_instance_names_the_command_that_makes_one(programs: Path, tmp_path: Path) -> None:
    result = run(tmp_path, programs / "murmur", "status")
    assert result.returncode == 1
    assert "there is no instance default: start it with `murmur up`" in result.stderr


def test_in_a_checkout_instances_are_found_from_any_folder(tmp_path: Path) -> None:
    """By the program that set-up installs, which finds the modules of the checkout."""
    program = (f"import sys; sys.path.insert(0, {str(ROOT)!r}); import os, cli.main as program; "
               "program.murmur = lambda **_: print(os.environ['MURMUR_HOME']); program.main()")
    assert run(tmp_path, sys.executable, "-c", program).stdout == f"{ROOT / '.murmur'}\n"
