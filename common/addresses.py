"""Addresses of servers: what they may hold, and how they may be shown."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator

_PASSWORD = re.compile(r"(://[^:/\s]*):\S*@")
_TOKEN = re.compile(r"(https?://)[^:/\s]+@", re.IGNORECASE)
"""In the place of a user's name, which other servers do not know how to do without."""

_PARAMETER = re.compile(r"([?&](?:pass|pwd|password|passwd|sslpassword|secret|token)=)[^&\s]*", re.IGNORECASE)

_HOST_PORT = r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}"
_SPARK_MASTER = re.compile(
    rf"local(\[(\*|[1-9][0-9]*)(,[1-9][0-9]*)?\])?|spark://{_HOST_PORT}(,{_HOST_PORT})*|yarn|k8s://[^\s/]\S*"
)
"""`local-cluster` is not among them: it is for Spark's own tests."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def numbered(name: str, copy: int) -> str:
    """Name of something of which there are several, from 0 on: the first has no number."""
    return name if copy == 0 else f"{name}-{copy + 1}"


def masked(text: str) -> str:
    """A URL, or a text that holds some, without passwords and tokens. Quotes may be theirs, white space not."""
    return _PARAMETER.sub(r"\1…", _TOKEN.sub(r"\1…@", _PASSWORD.sub(r"\1:…@", text)))


def checked(value: str) -> str:
    """The address of a server, if it is one whose password does not end it early. Raises ValueError."""
    try:
        parts = urlsplit(value)
        ends_early = "@" in value.replace(parts.netloc, "", 1) or parts.port == 0
    except ValueError:  # it would tell a part of the password
        ends_early = True
    if ends_early:
        raise ValueError("no address of a server: write / as %2F, # as %23, ? as %3F, [ as %5B, ] as %5D and @ as "
                         "%40 in a user's name or password")
    return _without_white_space(value)


def checked_without_password(value: str) -> str:
    """That of a stream store, which takes none. Raises ValueError."""
    if "@" in value or masked(value) != value:
        raise ValueError("no middleware takes a user or a password in its address")
    return value


def checked_database(value: str) -> str:
    """The URL of a database, if it is one, or nothing. Raises ValueError."""
    if not value:
        return value
    from sqlalchemy import make_url  # an import of a tenth of a second, which most processes do without
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(value)
    except (ArgumentError, ValueError):  # the latter would tell a part of the password
        url = None
    if url is not None and url.get_backend_name() == "sqlite":
        return value
    rest = value.partition("://")[2]
    behind_user = rest.partition(":")[2] if url is not None and url.password is not None else rest
    if url is None or behind_user.count("@") > (url.username is not None):
        raise ValueError("no URL of a database: behind the user's name, write each @ as %40 but the one before the "
                         "host, and / as %2F in that name")
    return _without_white_space(value)


def checked_spark_master(value: str) -> str:
    """Where Spark's tasks run. Raises ValueError."""
    if not _SPARK_MASTER.fullmatch(value) or not all(0 < port <= 65535 for _, port in _spark_masters(value)):
        raise ValueError("no master of Spark: one of local, local[N], local[*], local[N,F], "
                         "spark://HOST:PORT[,HOST:PORT...], yarn and k8s://URL")
    return value


def spark_is_here(master: str) -> bool:
    """Whether all that a master starts is on this machine, so that nobody elsewhere has to reach the driver."""
    masters = _spark_masters(master)
    return master.startswith("local") or (bool(masters) and all(host in LOOPBACK for host, _ in masters))


def _spark_masters(master: str) -> list[tuple[str, int]]:
    """Host and port of each standalone master, of which all but one stand by."""
    kind, _, listed = master.partition("://")
    each = [one.rpartition(":") for one in listed.split(",")] if kind == "spark" else []
    return [(host.strip("[]"), int(port)) for host, _, port in each]


def _without_white_space(address: str) -> str:
    """What is shown of it without its password ends there."""
    if any(map(str.isspace, address)):
        raise ValueError("no address of a server: write a space as %20")
    return address


Address = Annotated[str, AfterValidator(checked)]
StoreAddress = Annotated[str, AfterValidator(checked_without_password)]
DatabaseAddress = Annotated[str, AfterValidator(checked_database)]
SparkMaster = Annotated[str, AfterValidator(checked_spark_master)]
