"""Makes `with` close."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """Base of what is to be closed."""

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
