"""Keys and their partitions, by the file that the clients in Java are held to as well."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from middleware.partitioning import partition_of

VECTORS = json.loads(Path(__file__).with_name("partitions_of_keys.json").read_text())


def test_every_key_has_the_partition_that_all_clients_agree_on() -> None:
    assert len(VECTORS) > 50
    for one in VECTORS:
        key = (one["key"] * one.get("repeat", 1)).encode()
        assert partition_of(key, one["partitions"]) == one["partition"], one


def test_crc_32_is_that_of_the_standard() -> None:
    assert partition_of(b"123456789", 1 << 32) == 0xCBF43926  # the check value that catalogues of CRCs give


def test_keys_that_count_up_spread_evenly() -> None:
    found = Counter(partition_of(b"%d" % (1589032347823640576 + 4096 * number), 8) for number in range(80_000))
    assert all(9_000 < count < 11_000 for count in found.values())
