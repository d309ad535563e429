"""How `murmur status` shows stores."""

from cli.status import stores_as_text
from common.storage.held import Held


def test_each_store_is_a_line() -> None:
    rows = [Held("database", 12345, 5_000_000, "rows", 1000.0), Held("logs", 3 << 20, None, "bytes"),
            Held("redis", None, None, "bytes")]
    lines = [line.split() for line in stores_as_text(rows, now=1000.0 + 7200)]
    assert lines[0] == ["database", "12,345", "rows", "of", "5,000,000", "rows", "oldest", "2", "h", "ago"]
    assert lines[1] == ["logs", "3.0", "MiB", "of", "no", "bound"]
    assert lines[2] == ["redis", "unknown", "of", "no", "bound"]
