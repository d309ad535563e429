"""Both queries in one Spark application, as on a laptop: `python -m spark_jobs.application`."""

from spark_jobs import enrich, running, trending

if __name__ == "__main__":
    running.run("spark", [enrich.start, trending.start])
