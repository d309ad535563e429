"""Both queries in one Spark application, as on a laptop: `python -m spark_jobs.application`."""

from spark_jobs import enrich, running, trending

QUERIES = [trending.start, enrich.start]
"""In this order: *trending* may need a minute to settle with how many shards it counts, or find that it cannot begin,
and ends the application then, before *enrich* is in the middle of a batch."""

if __name__ == "__main__":
    running.run("spark", QUERIES)
