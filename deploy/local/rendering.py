"""Configuration files from templates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from common.settings import Port, Settings
from common.storage import files
from deploy.local.checkout import ROOT

FOLDER = Path(__file__).parent

_templates = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)


def render(template: str | Path, settings: Settings, **values: Any) -> str:
    """Text of the template, a path (from deploy/local on), for an instance; a value that is missing raises."""
    known = {
        "Port": Port, "port": settings.port, "address": settings.address, "host": settings.host,
        "listener": settings.listener, "bind_address": settings.bind_address, "settings": settings,
        "state_dir": settings.state_dir, "instance_dir": settings.instance_dir, "log_dir": settings.log_dir,
        "durability": settings.durability, "root": ROOT,
    }
    return _templates.from_string((FOLDER / template).read_text()).render(**known, **values)


def write(template: str | Path, target: Path, settings: Settings, **values: Any) -> Path:
    """Renders the template into `target`."""
    target.parent.mkdir(parents=True, exist_ok=True)
    files.replace(target, render(template, settings, **values))  # whole, for a server that starts at this moment
    return target
