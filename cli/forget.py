"""`murmur forget`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass

import click
import redis
from sqlalchemy.exc import SQLAlchemyError

from cli import options
from common.addresses import masked
from common.settings import Settings
from ingest.archive import bounds
from search import cached_results
from search.index import Index
from search.store import Store

REMAINS = (
    "the streams, until retention takes their oldest events (`stream_retention_bytes`): `murmur audit` and replays of "
    "them still read the tweets",
    "what is still on its way there into the database, and what comes from now on: end the source, and call it again",
    "files that `murmur record` wrote, backups, and copies of the archive",
)
"""Of a source, whatever was removed."""


@dataclass
class Forgotten:
    """`tweets`: rows of the database that are blank now. `going_on`: runs whose newest archive file stays."""

    source: str
    tweets: int
    archive_files: int
    archive_bytes: int
    going_on: list[str]


@click.command()
@click.option("--source", required=True, help="Whose tweets: bluesky, wikimedia, x, http, replay, synthetic, …")
@click.option("--yes", is_flag=True, help="Do not ask.")
@options.instance
@options.as_json
def forget(source: str, yes: bool, instance: str | None, as_json: bool) -> None:
    """Remove all tweets of a source from database, index, cached searches and archive, now.

    The instance may run meanwhile; its database, index and Redis have to answer. Says what remains elsewhere, and until
    when. What is removed cannot be brought back, and a replay does not: the ids of the tweets stay known.
    """
    settings = options.known(instance)
    question = f"Remove every tweet of the source {source} from instance {settings.instance}?"
    options.confirm(question, "forgets them", yes, as_json)
    with explained():
        found = forget_all(settings, source)
    click.echo(json.dumps({**asdict(found), "remains": remains(found)}) if as_json else described(found))


def forget_all(settings: Settings, source: str) -> Forgotten:
    """Archive first, so that a run of it that is gone on with brings nothing back. Raises RedisError, SQLAlchemyError
    or OSError, and may then be called again."""
    removed = bounds.remove_source(settings, source)
    tweets = 0
    with closing(Store.open(settings)) as store, closing(Index.open(settings)) as index, closing(
            redis.Redis.from_url(settings.redis_address)) as client:
        for share in store.forget_source(source):
            tweets += len(share)
            index.remove(share)
        index.remove(left_over(store, index))
        cached_results.outdate(client, settings.redis_prefix)
    return Forgotten(source, tweets, removed.files, removed.bytes, removed.going_on)


def left_over(store: Store, index: Index) -> dict[int, int]:
    """Blank rows that the index has: an earlier call may have died before it took them out."""
    newest = store.newest_position()
    blank = store.forgotten_between(index.horizon(newest), newest + 1)
    return {tweet_id: blank[tweet_id] for tweet_id in index.ids() if tweet_id in blank}


def remains(found: Forgotten) -> list[str]:
    newest = [f"the newest archive file of the run {run}, which goes on" for run in found.going_on]
    return [*newest, *REMAINS]


def described(found: Forgotten) -> str:
    return "\n".join([
        f"forgotten: {found.tweets:,} tweets of {found.source} in database, index and cached searches, and "
        f"{found.archive_files:,} files of the archive ({found.archive_bytes:,} bytes)",
        "What remains:", *(f"- {one}" for one in remains(found)),
    ])


@contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except (redis.RedisError, SQLAlchemyError, OSError) as error:
        raise click.ClickException(masked(
            f"{type(error).__name__}: {error}\n`murmur status` shows what does not answer; then call it again"
        )) from error
