"""Spark's Python workers, forked by one process that has loaded what they run (`spark.python.daemon.module`).

Three things that each task would do again otherwise: read the directories of the archives in PYTHONPATH (pyspark's own,
which stand beside the package itself, and Spark's largest jar), load pandas, and collect garbage among all that was
ever imported. Before the jar and pandas were seen to, the other archives and the garbage took three quarters of a
worker's time at 1,000 tweets/s; the jar and the garbage among pandas then took 30 % at 5,700.
"""

import sys
from pathlib import Path

import pandas  # noqa: F401 (loaded before the forks)
from pyspark import daemon

from common.process.garbage_collection import collect_seldom
from spark_jobs import transforms  # noqa: F401 (loaded before the forks)

if __name__ == "__main__":
    sys.path[:] = [entry for entry in sys.path if not Path(entry).is_file()]
    sys.path_importer_cache.clear()
    collect_seldom()
    daemon.manager()
