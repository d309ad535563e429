"""Addresses of servers as they may be shown."""

from __future__ import annotations

import re

_PASSWORD = re.compile(r"(://[^:/@\s]*):[^\s\"']*@")
_PARAMETER = re.compile(r"([?&](?:password|passwd|sslpassword|token)=)[^&\s]*", re.IGNORECASE)


def masked(text: str) -> str:
    """A URL, or a text that holds some, without the passwords and tokens in them."""
    return _PARAMETER.sub(r"\1…", _PASSWORD.sub(r"\1:…@", text))
