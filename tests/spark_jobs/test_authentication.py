"""Who may talk to the driver: its addresses, and Spark's own authentication."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from common.settings import Settings
from spark_jobs.session import AUTHENTICATED, ON_LOOPBACK, by_master
from tests.spark_cluster import URL, standalone
from tests.spark_jobs.conftest import link_own_jars
from tests.stack import ROOT

PROGRAM = """
import json, sys
from pathlib import Path
import psutil
from common.settings import Settings
from spark_jobs.session import spark_session

settings = Settings(home=Path(sys.argv[1]), spark_master=sys.argv[2], spark_driver_memory="600m",
                    spark_jvm_options="-XX:-AlwaysPreTouch")
spark = spark_session(settings, "tests")
total = spark.sparkContext.parallelize(range(10), 2).map(lambda n: n * n).sum()
secret = spark.sparkContext.getConf().get("spark.authenticate.secret")
shown = [process.name() for process in psutil.process_iter(["cmdline"])
         if any(secret in word for word in process.info["cmdline"] or ())]
print(json.dumps({"total": total, "shown": shown}))
spark.stop()
"""


@pytest.mark.parametrize(("master", "loopback", "authenticated"), [
    ("local[*]", True, False), ("spark://127.0.0.1:7077", True, False),
    ("spark://one:7077", False, False), ("spark://127.0.0.1:7077,10.0.0.2:7077", False, False),
    ("yarn", False, True), ("k8s://one:6443", False, True),
])
def test_a_driver_listens_on_loopback_or_has_its_executors_prove_themselves_where_spark_can(
    master: str, loopback: bool, authenticated: bool
) -> None:
    chosen = by_master(Settings(spark_master=master)).items()
    assert (chosen >= ON_LOOPBACK.items(), chosen >= AUTHENTICATED.items()) == (loopback, authenticated)


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.timeout(300)
def test_a_standalone_cluster_that_has_a_secret_takes_a_driver_that_has_it(tmp_path: Path) -> None:
    """The step that docs/scaling.md tells; no list of processes shows the secret."""
    conf = tmp_path / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text(
        f"spark.authenticate true\nspark.authenticate.secret {secrets.token_urlsafe(32)}\n"
    )
    settings = Settings(home=tmp_path / "home")
    link_own_jars(settings)
    with standalone(tmp_path, SPARK_CONF_DIR=str(conf)):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, settings.home, URL], stdout=subprocess.PIPE, text=True, timeout=200,
            env={**os.environ, "PYTHONPATH": str(ROOT), "SPARK_CONF_DIR": str(conf)}, check=True,
        )
    assert json.loads(done.stdout) == {"total": 285, "shown": []}
