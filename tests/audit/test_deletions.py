"""The accounts of an instance from which tweets were deleted: a row for every event, and none too many in the index."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

from cli.audit import as_text
from common.tweets import ENRICHED, EnrichedTweet, to_json
from tests.audit.chain import Chain, check_sums, missing


def deletions(chain: Chain, tweets: list[EnrichedTweet], first_id: int = 5_000_000) -> list[EnrichedTweet]:
    """Events that delete these tweets, published and enriched in the same run; they are stored nowhere yet."""
    stamps = chain.publish(tweets[0].ingest.run, len(tweets))
    made = [
        structs.replace(event, late=True, hashtags=[], text="", clean_text="", deletes="tweet",
                        deleted_id=tweet.tweet_id)
        for event, tweet in zip(chain.made(stamps, first_id), tweets, strict=True)
    ]
    chain.send(ENRICHED, [(str(each.deleted_id), to_json(each)) for each in made])
    return made


def test_deleted_tweets_and_deletions_are_found_and_named(chain: Chain) -> None:
    tweets = chain.flow("r", 50)
    chain.search(deletions(chain, tweets[:20]))
    stages = chain.stages()
    assert all(finding.clean and finding.expected == 70 == finding.found for name, finding in stages.items()
               if name != "ranked"), stages
    check_sums(stages)
    assert stages["indexed"].detail == {"forgotten": 40}
    assert len(chain.index.rows) == 30
    shown = {name: finding.as_json() for name, finding in stages.items()}
    assert shown["indexed"]["forgotten"] == 40
    assert "forgotten 40" in as_text(shown)


def test_without_deletions_nothing_is_named(chain: Chain) -> None:
    chain.flow("r", 50)
    assert "forgotten" not in chain.stages()["indexed"].as_json()


def test_a_deletion_that_was_not_stored_is_missing(chain: Chain) -> None:
    deletions(chain, chain.flow("r", 50)[:20])
    stages = chain.stages()
    assert missing(stages) == {"stored": 20, "indexed": 20}
    assert stages["indexed"].missing_seqs == [("r", 50, 69)]


def test_a_forgotten_tweet_that_the_index_still_has_is_missing_until_it_has_it_no_more(chain: Chain) -> None:
    tweets = chain.flow("r", 50)
    chain.search(deletions(chain, tweets[:20]))
    chain.index.rows += [tweets[3].tweet_id, tweets[4].tweet_id]
    stages = chain.stages()
    check_sums(stages)
    assert missing(stages) == {"indexed": 2}
    assert stages["indexed"].missing_seqs == [("r", 3, 4)]
    del chain.index.rows[-2:]
    assert missing(chain.stages()) == {}


def test_a_tweet_that_is_forgotten_while_the_audit_looks_is_not_missing(chain: Chain) -> None:
    """Between the reading of the index and that of the database."""
    tweets = chain.flow("r", 50)
    gone, ids = deletions(chain, tweets[:20]), chain.index.ids

    def then_forgotten() -> Iterator[int]:
        found = list(ids())
        chain.index.ids = ids
        chain.search(gone)
        return iter(found)

    chain.index.ids = then_forgotten
    assert chain.stages()["indexed"].missing_seqs == [("r", 50, 69)]  # the deletions, which were not stored before


def test_a_tweet_that_is_not_forgotten_is_still_missed_in_the_index(chain: Chain) -> None:
    tweets = chain.flow("r", 50)
    chain.search(deletions(chain, tweets[:20]))
    chain.index.rows.remove(tweets[30].tweet_id)
    assert missing(chain.stages()) == {"indexed": 1}


def test_forgotten_rows_age_out_with_the_others(chain: Chain) -> None:
    tweets = chain.flow("r", 50)
    chain.search(deletions(chain, tweets[:20]))
    chain.flow("later", 1000, first_id=2_000_000)
    stages = chain.stages()
    assert all(finding.clean for finding in stages.values()), stages
    check_sums(stages)
    assert stages["indexed"].detail == {}


def test_deletions_that_come_again_change_no_account(chain: Chain) -> None:
    tweets = chain.flow("r", 50)
    gone = deletions(chain, tweets[:20])
    chain.search(gone)
    chain.search(gone + tweets[:20])
    stages = chain.stages()
    assert all(finding.clean for finding in stages.values()), stages
    assert stages["indexed"].detail == {"forgotten": 40}
