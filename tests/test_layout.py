"""Rules on what may stand where, checked in the text of the files."""

import re
from collections import Counter
from pathlib import Path

import pytest

from common.settings import MIDDLEWARE_OFFSETS, MiddlewarePort
from deploy.local.middlewares import deployment
from middleware.registry import driver, registry
from tests.stack import ROOT
from tests.tree import PARTS

FOLDERS = ("middleware", "deploy/local")
BESIDE_THE_PRODUCT = ("benchmarks",)


def python_files() -> list[Path]:
    return [file for part in (*PARTS, *BESIDE_THE_PRODUCT) for file in sorted((ROOT / part).rglob("*.py"))]


def is_of_a_middleware(file: Path) -> bool:
    return any(file.is_relative_to(ROOT / folder / name) for folder in FOLDERS for name in registry())


def test_no_part_knows_which_middleware_runs() -> None:
    """But for the folders of each, and the setting that names the default one."""
    name = re.compile("|".join(registry()), re.IGNORECASE)
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in python_files() if not is_of_a_middleware(file)
        for line in file.read_text().splitlines() if name.search(line)
    ]
    (default,) = found
    assert default.startswith(f'common/settings.py: middleware: str = Field("{registry()[0]}"')


@pytest.mark.parametrize("name", registry())
def test_a_middleware_is_found_with_its_servers(name: str) -> None:
    assert set(driver(name).acknowledgement) == {"fsync", "page-cache"}
    assert deployment(name).killed


def test_a_middleware_has_ports_of_its_own() -> None:
    with pytest.raises(ValueError, match=r"Port\.PAGE is 0, and a middleware has 20 to 39"):
        MiddlewarePort("Port", {"PAGE": 0})
    assert MiddlewarePort("Port", {"ONE": 20, "OTHER": MIDDLEWARE_OFFSETS[-1]})


@pytest.mark.parametrize("name", registry())
def test_no_two_listeners_of_a_middleware_share_a_port(name: str) -> None:
    deployment(name)
    (ports,) = (kind for kind in MiddlewarePort.__subclasses__() if kind.__module__.split(".")[1] == name)
    assert [port for port, count in Counter(value for value in ports.__members__.values()).items() if count > 1] == []
