"""What a search may be narrowed to, as a condition of the index and as one of the database."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import ColumnElement

from search.milvus_rows import MAX_LANG
from search.table import tweets


class Filters(NamedTuple):
    """Each narrows the search by itself; None: not by that."""

    lang: str | None = None
    since: datetime | None = None
    """Only tweets created then or later."""

    until: datetime | None = None
    """Only tweets created then or earlier."""

    tag: str | None = None
    """Only tweets with this hashtag, normalised. The index knows none: the database names the tweets."""

    def of_index(self, ids: Collection[int] | None = None) -> str:
        """Milvus's condition, by all but the hashtag; `ids`: only these tweets."""
        conditions = [] if self.lang is None else [f"lang == {json.dumps(self.lang[:MAX_LANG], ensure_ascii=False)}"]
        conditions += [f"created_at_us {sign} {us}" for sign, us in self._bounds()]
        if ids is not None:
            conditions.append(f"tweet_id in {list(ids)}")
        return " and ".join(conditions)

    def of_database(self) -> Iterator[ColumnElement[bool]]:
        """Conditions on the rows, by all but the hashtag."""
        if self.lang is not None:
            yield tweets.c.lang == self.lang
        for sign, us in self._bounds():
            yield tweets.c.created_at_us.op(sign, is_comparison=True)(us)

    def _bounds(self) -> Iterator[tuple[str, int]]:
        for sign, moment in ((">=", self.since), ("<=", self.until)):
            if moment is not None:
                yield sign, round(moment.timestamp() * 1e6)
