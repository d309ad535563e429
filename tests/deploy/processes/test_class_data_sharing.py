"""Archives of class data: written by a real JVM while it runs, used by the next."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from common import modules
from common.process.child import program
from common.settings import Settings
from deploy.local.processes import class_data_sharing
from tests.stack import eventually

PROGRAM = "public class Trial { public static void main(String[] a) throws Exception { Thread.sleep(60000); } }"


@contextmanager
def jvm(folder: Path, options: tuple[str, ...]) -> Iterator[psutil.Process]:
    source = folder / "Trial.java"
    source.write_text(PROGRAM)
    with subprocess.Popen([program("java"), *options, str(source)]) as process:
        try:
            yield psutil.Process(process.pid)
        finally:
            process.kill()


def test_an_archive_is_written_while_the_jvm_runs_and_then_used(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    options = class_data_sharing.options(settings, "trial")
    archive = class_data_sharing.archive_of(settings, "trial")
    with jvm(tmp_path, options) as process:
        eventually("the JVM can be asked", lambda: class_data_sharing.archive_to_write(process) == archive, 30)
        class_data_sharing.write(process.pid, archive)
        assert process.is_running()
    used = class_data_sharing.options(settings, "trial")
    assert used[0] == f"-XX:SharedArchiveFile={archive}"
    subprocess.run([program("java"), *used, "-Xshare:on", "--list-modules"], check=True, capture_output=True)
    with jvm(tmp_path, used) as process:
        assert class_data_sharing.archive_to_write(process) is None
    assert list(archive.parent.iterdir()) == [archive]


def test_a_jvm_that_is_gone_leaves_no_archive(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    archive = class_data_sharing.archive_of(settings, "trial")
    with jvm(tmp_path, class_data_sharing.options(settings, "trial")) as process:
        pid = process.pid
    class_data_sharing.write(pid, archive)
    assert not archive.exists()
    assert class_data_sharing.options(settings, "trial")[0] == "-XX:+RecordDynamicDumpInfo"


def test_what_writes_ends_with_the_program_that_it_waits_for(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    waiting = ("sh", "-c", "sleep 60; true", modules.Deploy.CLASS_DATA_SHARING)
    environment = {**os.environ, "MURMUR_SETTINGS": str(settings.settings_file)}
    with subprocess.Popen(waiting, start_new_session=True, env=environment) as process:
        writer = psutil.Process(process.pid)
        eventually("it waits", lambda: len(writer.children()) == 1, 10)
        child = writer.children()[0]
        class_data_sharing.end_writing(settings)
        assert process.wait(10) == -signal.SIGKILL
        eventually("the program has ended", lambda: not child.is_running(), 10)


def test_the_log_of_who_writes_is_begun_anew_above_its_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path)
    settings.log_dir.mkdir(parents=True)
    log = settings.log_dir / "class-data.log"
    log.write_bytes(b"x" * (settings.log_max_bytes + 1))
    monkeypatch.setattr(class_data_sharing.instances, "leftovers", lambda _: [psutil.Process()])
    monkeypatch.setattr(class_data_sharing, "archive_to_write", lambda _: tmp_path / "some.jsa")
    monkeypatch.setattr(class_data_sharing, "background", lambda _: ["true"])
    class_data_sharing.begin_writing(settings)
    assert log.stat().st_size == 0


def test_further_options_of_the_settings_come_after_ours(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path, jvm_options="-Xss2m", spark_jvm_options="-Xss4m -Dsome=thing")
    assert class_data_sharing.of_clients(settings) == "-Xss2m"
    assert class_data_sharing.of_spark(settings).split()[-2:] == ["-Xss4m", "-Dsome=thing"]
