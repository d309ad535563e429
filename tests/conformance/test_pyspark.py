"""The data source as PySpark has it: what its README tells to type, and how errors arrive in Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.servers import Servers
from tests.stack import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

JAR = "pravega-connectors-spark-4.1_2.13.jar"

REFUSALS = """
from pyspark.errors import AnalysisException, UnsupportedOperationException

def refused(error, attempt):
    try:
        attempt()
    except error as refusal:
        print("refused:", " ".join(str(refusal).split()))

one = spark.sql("SELECT 'one' AS event")
refused(UnsupportedOperationException, lambda: spark.sql("DROP TABLE pravega.examples.words"))
refused(UnsupportedOperationException, lambda: one.write.mode("overwrite").insertInto("pravega.examples.words"))
refused(AnalysisException, lambda: spark.table("pravega.examples.absent"))
print("tables:", sorted(table.name for table in spark.catalog.listTables("pravega.examples")))
for table in "lines", "words":
    spark.sql(f"DROP TABLE pravega.examples.{table} PURGE")
spark.sql("DROP NAMESPACE pravega.examples")
spark.stop()
"""


def quick_start(controller: str, jar: Path, folder: Path) -> str:
    """The Python of README.md, with addresses and paths of this machine."""
    readme = (ROOT / "spark_pravega" / "README.md").read_text()
    code = readme.partition("```python\n")[2].partition("```")[0]
    for example, here in (
        (JAR, str(jar)), ("tcp://localhost:9090", controller), ("/var/lib/spark", str(folder / "checkpoints")),
    ):
        assert example in code
        code = code.replace(example, here)
    return code


@pytest.mark.only("pravega")
def test_what_the_readme_tells_python_to_do(servers: Servers, tmp_path: Path) -> None:
    settings = servers.settings()
    (jar,) = (settings.jar_dir / "spark" / "pravega").glob("*.jar")
    with servers.connect() as middleware:
        code = quick_start(middleware.spark.binding("lines").read_options["controller"], jar.resolve(), tmp_path)
    script = tmp_path / "quick_start.py"
    script.write_text(code + REFUSALS)
    local = {"spark.master": "local[2]", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
             "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    arguments = " ".join(f"--conf {key}={value}" for key, value in local.items())
    run = subprocess.run(
        [sys.executable, script], cwd=tmp_path, text=True, capture_output=True, timeout=240, check=False,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1",
             "PYSPARK_SUBMIT_ARGS": f"{arguments} pyspark-shell"},
    )
    assert run.returncode == 0, run.stderr[-4000:]
    counts = [line.split("|")[1:3] for line in run.stdout.splitlines() if line.startswith("|")][1:]
    assert {word.strip(): int(count) for word, count in counts} == {"to": 2, "be": 2, "or": 1, "not": 1}
    refusals = [line for line in run.stdout.splitlines() if line.startswith("refused:")]
    assert len(refusals) == 3
    for refusal, way_out in zip(refusals, ("PURGE", "TRUNCATE TABLE", "absent"), strict=True):
        assert way_out in refusal
    assert "tables: ['lines', 'words']" in run.stdout
