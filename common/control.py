"""Where the controls of an instance are reached, and the token that opens them.

The token and the secret that signs sessions lie in files of their own, for the owner only: not among the settings,
which results of experiments and `status --json` show.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from common.process import unix_socket
from common.settings import Settings
from common.storage import files

PATH = "/control"
SESSION = f"{PATH}/session"


def socket_path(settings: Settings) -> Path:
    return unix_socket.path(settings, "control")


def token_file(settings: Settings) -> Path:
    return settings.instance_dir / "control.token"


def secret_file(settings: Settings) -> Path:
    """Holds what signs the sessions."""
    return settings.instance_dir / "control.secret"


def make(settings: Settings) -> None:
    """Another token and secret: whatever the former ones opened is closed."""
    for path in (token_file(settings), secret_file(settings)):
        files.replace(path, secrets.token_urlsafe(32))


def page(settings: Settings) -> str:
    """Address of the page that opens the controls: the token is in its fragment, which no browser sends. Raises
    FileNotFoundError where there are none."""
    return f"{settings.url}/#token={token_file(settings).read_text()}"
