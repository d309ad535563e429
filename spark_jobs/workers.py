"""Spark's Python workers, forked by one process that has loaded what they run (`spark.python.daemon.module`).

Two things that each task would do again otherwise: read the directories of pyspark's zip archives, which stand in
PYTHONPATH beside the package itself, and collect garbage among all that was ever imported. Together they took three
quarters of a worker's time at 1,000 tweets/s.
"""

import gc
import sys

from pyspark import daemon

from spark_jobs import transforms  # noqa: F401 (loaded before the forks)

if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if not entry.endswith(".zip")]
    sys.path_importer_cache.clear()
    gc.collect()
    gc.freeze()
    daemon.manager()
