"""Which partition a key belongs to, where the store leaves that to its clients: the same for each of them."""

from __future__ import annotations

import zlib


def partition_of(key: bytes, partitions: int) -> int:
    """CRC-32 (ISO 3309, as in zlib and Java) of the key's UTF-8 bytes, modulo the number of partitions.

    `tests/middleware/partitions_of_keys.json` holds what every client of such a store must answer.
    """
    return zlib.crc32(key) % partitions
