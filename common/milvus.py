"""Connections to Milvus."""

from __future__ import annotations

import logging

from pymilvus import MilvusClient

KEEPALIVE = {"grpc.keepalive_time_ms": 600_000, "grpc.keepalive_permit_without_calls": False}
"""By default the client pings every 10 s even when idle; Milvus Lite takes that for abuse and ends the connection, and
with it the call that comes next."""

logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs every failed call with its stack; we raise instead


def connection(uri: str, timeout: float) -> MilvusClient:
    """A connection of its own; `timeout` in s bounds only its making. By default pymilvus shares one among all of a
    process that ask for the address, with the options of the first, and never closes it. Raises MilvusException."""
    return MilvusClient(uri, timeout=timeout, dedicated=True, grpc_options=KEEPALIVE)


def check(uri: str, timeout: float) -> None:
    """Raises unless Milvus lists its collections within `timeout` seconds, twice at most."""
    client = connection(uri, timeout)
    try:
        client.list_collections(timeout=timeout)
    finally:
        client.close()
