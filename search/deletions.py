"""What deletions do to the database, within the transaction that stores them: rows that were there become blank, and
what comes with them or after them is stored blank.

A deletion of one tweet reaches what stands before it: both have the author's key in `tweets-raw` and the tweet's in
`tweets-enriched`. That of an account reaches what its author wrote until then, wherever it stands: the tweets are in
other partitions of `tweets-enriched` and may come later. So accounts that were deleted last are remembered. Repeated,
or in another order, deletions leave the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy import Connection, delete, insert, select, update

from common.tweets import EnrichedTweet
from search.table import BLANK, account_of, created_at_us, deleted_accounts, has_url, storable, tweets

ACCOUNTS_MAX = 10_000
"""Deleted accounts that are remembered: the latest."""


def apply(connection: Connection, batch: Sequence[EnrichedTweet]) -> tuple[dict[int, int], set[int]]:
    """Rows of before that are deleted, tweet id → position; and ids of the batch whose rows are to be blank."""
    deletions = [tweet for tweet in batch if tweet.deletes]
    forgotten: dict[int, int] = {}
    blank: set[int] = set()
    if deletions:
        forgotten = _delete_tweets(connection, [each.deleted_id for each in deletions if each.deletes == "tweet"])
        forgotten |= _delete_accounts(connection, [each for each in deletions if each.deletes == "author"])
        blank = {each.tweet_id for each in deletions} | _deleted_later(batch)
    return forgotten, blank | _of_deleted_accounts(connection, batch)


def forget(connection: Connection, *where: sa.ColumnElement[bool]) -> dict[int, int]:
    """Makes rows blank; tweet id → position of those that were not."""
    blanked = update(tweets).where(~tweets.c.forgotten, *where).values(BLANK)
    rows = connection.execute(blanked.returning(tweets.c.tweet_id, tweets.c.position))
    return {row.tweet_id: row.position for row in rows}


def _delete_tweets(connection: Connection, ids: list[int]) -> dict[int, int]:
    """Names also those that were blank before: whoever was to take them out of the index may have died."""
    if not ids:
        return {}
    forget(connection, tweets.c.tweet_id.in_(ids))
    rows = connection.execute(select(tweets.c.tweet_id, tweets.c.position).where(tweets.c.tweet_id.in_(ids)))
    return {row.tweet_id: row.position for row in rows}


def _delete_accounts(connection: Connection, deletions: list[EnrichedTweet]) -> dict[int, int]:
    until: dict[str, int] = {}
    for each in deletions:
        until[each.author_id] = max(created_at_us(each), until.get(each.author_id, 0))
    forgotten: dict[int, int] = {}
    for author_id, at in until.items():
        of_author = tweets.c.author_id == storable(author_id)
        forgotten |= forget(connection, has_url, of_author, tweets.c.created_at_us <= at)
    _remember(connection, {account_of(author_id): at for author_id, at in until.items()})
    return forgotten


def _remember(connection: Connection, deleted: dict[str, int]) -> None:
    if not deleted:
        return
    account, at = deleted_accounts.c.account, deleted_accounts.c.deleted_at_us
    for row in connection.execute(select(account, at).where(account.in_(list(deleted)))):
        deleted[row.account] = max(deleted[row.account], row.deleted_at_us)
    connection.execute(delete(deleted_accounts).where(account.in_(list(deleted))))
    rows = [{"account": name, "deleted_at_us": moment} for name, moment in deleted.items()]
    connection.execute(insert(deleted_accounts), rows)
    last = select(at).order_by(at.desc()).limit(1).offset(ACCOUNTS_MAX - 1).scalar_subquery()
    connection.execute(delete(deleted_accounts).where(at < last))


def _deleted_later(batch: Sequence[EnrichedTweet]) -> set[int]:
    """Tweets of the batch that a later event of it deletes."""
    seen: set[int] = set()
    gone: set[int] = set()
    for tweet in batch:
        if tweet.deletes == "tweet" and tweet.deleted_id in seen:
            gone.add(tweet.deleted_id)
        seen.add(tweet.tweet_id)
    return gone


def _of_deleted_accounts(connection: Connection, batch: Sequence[EnrichedTweet]) -> set[int]:
    """Tweets of the batch that their authors' accounts took with them. Asks nothing about tweets without a URL."""
    posts = [tweet for tweet in batch if tweet.url]
    if not posts or connection.execute(select(sa.literal(1)).select_from(deleted_accounts).limit(1)).first() is None:
        return set()
    authors = {account_of(author_id): author_id for author_id in {tweet.author_id for tweet in posts}}
    wanted = select(deleted_accounts).where(deleted_accounts.c.account.in_(list(authors)))
    until = {authors[row.account]: row.deleted_at_us for row in connection.execute(wanted)}
    return {tweet.tweet_id for tweet in posts
            if tweet.author_id in until and created_at_us(tweet) <= until[tweet.author_id]}
