"""Addresses of servers as they may be shown."""

from __future__ import annotations

import re

_PASSWORD = re.compile(r"(://[^:/\s]*):\S*@")
_TOKEN = re.compile(r"(https?://)[^:/\s]+@", re.IGNORECASE)
"""In the place of a user's name, which other servers do not know how to do without."""

_PARAMETER = re.compile(r"([?&](?:pass|pwd|password|passwd|sslpassword|secret|token)=)[^&\s]*", re.IGNORECASE)


def numbered(name: str, copy: int) -> str:
    """Name of something of which there are several, from 0 on: the first has no number."""
    return name if copy == 0 else f"{name}-{copy + 1}"


def masked(text: str) -> str:
    """A URL, or a text that holds some, without passwords and tokens. Quotes may be theirs, white space not."""
    return _PARAMETER.sub(r"\1…", _TOKEN.sub(r"\1…@", _PASSWORD.sub(r"\1:…@", text)))
