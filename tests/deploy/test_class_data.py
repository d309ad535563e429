"""Archives of class data: made by a real JVM, used by the next."""

from __future__ import annotations

import subprocess
from pathlib import Path

from common.settings import Settings
from deploy.local import class_data
from deploy.local.process import program


def test_an_archive_is_written_once_and_then_used(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    for use in ("ArchiveClassesAtExit", "SharedArchiveFile"):
        options = class_data.options(settings, "trial")
        assert options[0].startswith(f"-XX:{use}=")
        subprocess.run([program("java"), *options, "-Xshare:on", "--list-modules"], check=True, capture_output=True)


def test_an_unfinished_archive_is_written_again(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    class_data.options(settings, "trial")
    (tmp_path / "class-data" / "trial.jsa").write_bytes(bytes(4096))
    assert class_data.options(settings, "trial")[0].startswith("-XX:ArchiveClassesAtExit=")


def test_further_options_of_the_settings_come_after_ours(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, jvm_options="-Xss2m", spark_jvm_options="-Xss4m -Dsome=thing")
    assert class_data.of_clients(settings) == "-Xss2m"
    assert class_data.of_spark(settings).split()[2:] == ["-Xss4m", "-Dsome=thing"]
