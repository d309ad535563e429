"""The Compose files and the Dockerfile against the processes, the settings and the packages that they stand for."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import pytest
import yaml

from common.settings import MiddlewarePort, Port, Settings
from deploy.containers import compose
from deploy.local import stack
from tests.stack import ROOT

FILES = dict(compose.files())
MEMORY_GIB = {"kafka": 8}
"""Of a machine that an instance fits; 16 if it is not here."""


def read(name: str) -> dict[str, Any]:
    return yaml.safe_load((ROOT / name).read_text())


def services(name: str) -> dict[str, dict[str, Any]]:
    """Those that make up the instance."""
    return {service: said for service, said in read(name)["services"].items() if "profiles" not in said}


def settings_of(name: str) -> Settings:
    return compose.in_container(read(name)["x-process"]["environment"]["MURMUR_MIDDLEWARE"])


def processes(name: str) -> dict[str, Any]:
    settings = settings_of(name)
    return {one.name: one for one in stack.processes(settings)}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_as_it_is_generated(name: str) -> None:
    assert (ROOT / name).read_text() == FILES[name], "write it anew: python -m deploy.containers.compose"


def test_one_file_has_the_name_that_compose_looks_for_and_the_default_stream_store() -> None:
    default = Settings.model_fields["middleware"].default
    assert read("docker-compose.yml")["x-process"]["environment"]["MURMUR_MIDDLEWARE"] == default
    assert set(FILES) == {path.name for path in ROOT.glob("docker-compose*.yml")}


@pytest.mark.parametrize("name", FILES)
def test_each_process_is_a_container_that_comes_back_and_is_checked(name: str) -> None:
    found = services(name)
    assert set(found) == set(processes(name))
    for service, said in found.items():
        assert said["command"] == ["run", service]
        assert said["healthcheck"]["test"] == ["CMD", "./murmur", "ready", service]
        assert said["restart"] == "unless-stopped"
        assert "depends_on" not in said  # each waits for what it needs


@pytest.mark.parametrize("name", FILES)
def test_only_the_page_is_published_and_on_loopback(name: str) -> None:
    published = {service: said["ports"] for service, said in services(name).items() if "ports" in said}
    port = settings_of(name).port(Port.PAGE)
    assert published == {"nginx": [f"127.0.0.1:${{MURMURATION_PORT:-{port}}}:{port}"]}


@pytest.mark.parametrize("name", FILES)
def test_every_listener_is_found_at_its_host(name: str) -> None:
    settings = settings_of(name)
    hosts = {host for said in services(name).values() for host in said["networks"]["default"]["aliases"]}
    listeners: list[tuple[Port | MiddlewarePort, int]] = [
        listener for process in processes(name).values() for listener in process.listens]
    assert {settings.host(*listener) for listener in listeners} <= hosts
    assert {which for which, _ in listeners} >= set(Port)
    assert len({settings.port(*listener) for listener in listeners}) == len(listeners)


@pytest.mark.parametrize("name", FILES)
def test_every_variable_is_a_setting_or_composes_own(name: str) -> None:
    given = set(read(name)["x-process"]["environment"])
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / name).read_text()))
    known = {f"MURMUR_{setting.upper()}" for setting in Settings.model_fields}
    assert given <= known
    assert asked - known == {"MURMURATION_PORT"}


@pytest.mark.parametrize("name", FILES)
def test_the_limits_of_memory_fit_a_machine(name: str) -> None:
    limits = [int(said["mem_limit"].removesuffix("m")) for said in services(name).values()]
    gib = MEMORY_GIB.get(settings_of(name).middleware, 16)
    assert sum(limits) < 0.95 * gib * 1024


def test_the_image_has_the_programs_that_set_up_installs_and_no_version_of_its_own() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    needed = set(re.findall(r"\|\| echo (\S+)", (ROOT / "deploy/local/setup/packages").read_text().split("--tests")[1]))
    programs = {"python3.11-venv": "python3.11", "openjdk-17-jdk-headless": "openjdk-17-jre-headless"}
    runs = {programs.get(package, package) for package in needed} - {"maven"}
    last = dockerfile.rpartition("\nFROM ")[2]
    assert runs <= set(last.replace("\\", " ").split())
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)) == {"debian:bookworm-slim"}
    given = set(re.findall(r"MURMUR_(\w+)=", dockerfile))
    assert {name.lower() for name in given} == {"bind_address", "service_hosts"}


def test_ignored_by_the_image_is_what_set_up_makes() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".murmur", ".git", ".env", "frontend/dist", "tests"} <= set(ignored)


@pytest.mark.parametrize("command", [["status"], ["down", "--wipe", "--yes"]])
def test_a_command_that_asks_the_process_manager_says_that_there_is_none(command: list[str]) -> None:
    environment = {**os.environ, "MURMUR_SERVICE_HOSTS": "true"}
    words = [ROOT / "murmur", *command, "--instance", "test-nobody"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    assert "docker compose ps" in done.stderr


def test_help_is_there_whatever_settings_say() -> None:
    environment = {**os.environ, "MURMUR_PARTITIONS": "x"}
    done = subprocess.run([ROOT / "murmur", "up", "--help"], capture_output=True, text=True, env=environment)
    assert done.returncode == 0
    assert done.stdout.startswith("Usage: murmur up")


def test_an_unknown_process_is_named_with_those_that_there_are() -> None:
    done = subprocess.run([ROOT / "murmur", "run", "nobody", "--instance", "test-run"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "has no process 'nobody'; there are" in done.stderr
    assert "ingest-http" in done.stderr
    assert not (ROOT / ".murmur" / "instances" / "test-run").exists()
