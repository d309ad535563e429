"""Blocks of ports, and who owns a taken one."""

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from common.settings import PORTS_PER_INSTANCE, Settings
from deploy.local import instances


def test_default_owns_the_first_block_and_others_the_lowest_free():
    assert instances.lowest_free_block("default", 21000, set()) == 0
    assert instances.lowest_free_block("other", 21000, set()) == 1
    assert instances.lowest_free_block("other", 21000, {21000, 21050, 21150}) == 2


def test_blocks_do_not_overlap_with_those_of_another_port_base():
    block = instances.lowest_free_block("other", 21000, {21075})
    assert abs(21000 + block * PORTS_PER_INSTANCE - 21075) >= PORTS_PER_INSTANCE


def test_default_refuses_a_base_within_another_instance():
    with pytest.raises(instances.PortTaken, match="MURMUR_PORT_BASE"):
        instances.lowest_free_block("default", 21000, {21030})


def test_no_block_beyond_the_last_port():
    with pytest.raises(instances.PortTaken, match="no free block"):
        instances.lowest_free_block("other", 60000, set(range(60000, 66000)))


def test_an_instance_keeps_its_ports_and_its_token(tmp_path: Path):
    first = instances.reserve({"home": tmp_path, "instance": "one", "port_base": 21000})
    again = instances.reserve({"home": tmp_path, "instance": "one", "port_base": 21000, "durability": "page-cache"})
    assert (again.port_block, again.ingest_token) == (first.port_block, first.ingest_token)
    assert len(first.ingest_token) >= 32
    assert json.loads(again.settings_file.read_text())["durability"] == "page-cache"


def test_instances_that_start_at_the_same_time_get_blocks_of_their_own(tmp_path: Path):
    found: list[Settings] = []
    threads = [
        threading.Thread(target=lambda name: found.append(instances.reserve({"home": tmp_path, "instance": name})),
                         args=(f"i{n}",))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(settings.port_block for settings in found) == list(range(1, 9))


def test_settings_with_the_token_are_for_the_owner_only(tmp_path: Path):
    settings = instances.reserve({"home": tmp_path, "instance": "one"})
    assert settings.settings_file.stat().st_mode & 0o777 == 0o600


def test_a_taken_port_is_named_with_its_owner(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        settings = Settings(home=tmp_path, instance="one").model_copy(update={"port_base": port - 3})
        with pytest.raises(instances.PortTaken, match=f"port {port}: pid .*"):
            instances.check_ports(settings)


HOLDER = """
import os, sys
from pathlib import Path
from common.settings import Settings
from deploy.local import instances

instances.occupy(Settings(home=Path(sys.argv[1]), middleware="pravega"))
os.execv("/bin/sh", ["sh", "-c", "echo held; read line"])
"""


def test_processes_that_do_not_see_each_other_run_on_one_middleware(tmp_path: Path):
    """Also when what holds it has become another program, and no more when all such have ended."""
    other = Settings(home=tmp_path, middleware="kafka")
    holders = [subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for holder in holders:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
    for holder in holders:
        with pytest.raises(instances.OtherMiddleware, match="runs on pravega"):
            instances.occupy(other)
        holder.communicate("\n", timeout=10)
    instances.occupy(other)
