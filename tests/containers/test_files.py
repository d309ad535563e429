"""The Compose files and the Dockerfile against the processes, the settings and the packages that they stand for."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from common.process.child import MissingProgram, program
from common.settings import MiddlewarePort, Place, Port, Settings
from deploy.containers import compose
from deploy.local import stack
from deploy.local.middlewares import deployment
from tests.stack import ROOT

FILES = dict(compose.files())
MEMORY_GIB = {"kafka": 9}
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


def test_the_environment_of_who_writes_them_is_not_in_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MURMUR_PORT_BASE", "26000")
    monkeypatch.setenv("MURMUR_PARTITIONS", "3")
    assert dict(compose.files()) == FILES


def test_one_file_has_the_name_that_compose_looks_for_and_the_default_stream_store() -> None:
    default = Settings.model_fields["middleware"].default
    assert read("docker-compose.yml")["x-process"]["environment"]["MURMUR_MIDDLEWARE"] == default
    assert set(FILES) == {path.name for path in ROOT.glob("docker-compose*.yml")}


@pytest.mark.parametrize("name", FILES)
def test_each_process_is_a_container_that_comes_back_and_is_checked(name: str) -> None:
    found = services(name)
    assert set(found) == set(processes(name))
    whole = read(name)["services"]
    cluster = {service for service, said in whole.items() if said.get("profiles") == ["cluster"]}
    three = settings_of(name).model_copy(update={"replicas": 3})
    assert set(found) | cluster == {one.name for one in stack.processes(three)}
    for service, said in {**found, **{service: whole[service] for service in cluster}}.items():
        assert said["command"] == ["run", service]
        assert said["healthcheck"]["test"] == ["CMD", "./murmur", "ready", service]
        assert said["restart"] == "unless-stopped"
        assert said["init"]  # one that is process 1 is not ended by a signal that it does not handle


@pytest.mark.parametrize("name", FILES)
def test_no_service_depends_on_one_that_may_not_be_there(name: str) -> None:
    """Each waits for what it needs; a dependency on a service of another profile is one that Compose refuses."""
    whole = read(name)["services"]
    for service, said in whole.items():
        for needed in said.get("depends_on", []):
            assert set(whole[needed].get("profiles", [])) <= set(said.get("profiles", [])), (service, needed)


@pytest.mark.parametrize("name", FILES)
def test_only_pages_are_published_and_on_loopback(name: str) -> None:
    published = {service: said["ports"] for service, said in services(name).items() if "ports" in said}
    port = settings_of(name).port(Port.PAGE)
    assert published == {"nginx": [f"127.0.0.1:${{MURMURATION_PORT:-{port}}}:{port}"]}
    others = {service: said["ports"] for service, said in read(name)["services"].items()
              if "ports" in said and "profiles" in said}
    assert set(others) == {"locust", "prometheus", "grafana"}
    assert all(port.startswith("127.0.0.1:${MURMURATION_") for ports in others.values() for port in ports)


@pytest.mark.parametrize("name", FILES)
def test_no_name_leads_to_two_services_but_that_of_the_web_processes(name: str) -> None:
    whole = read(name)["services"]
    names = [(service, {service, *said.get("networks", {}).get("default", {}).get("aliases", [])})
             for service, said in whole.items()]
    for service, own in names:
        others = {other for one, them in names if one != service for other in them}
        assert own & others <= {"web"}, service


@pytest.mark.parametrize("name", FILES)
def test_servers_and_application_are_images_of_their_own(name: str) -> None:
    settings = settings_of(name)
    servers = {one.name for one in deployment(settings.middleware).processes(settings)}
    for service, said in services(name).items():
        wanted = ("murmuration-servers", "servers") if service in servers else ("murmuration", "application")
        assert (said["image"], said["build"]["target"]) == wanted


def test_what_is_not_built_here_is_pinned() -> None:
    published = {said["image"] for name in FILES for said in read(name)["services"].values() if "build" not in said}
    assert published
    assert all(re.fullmatch(r"[a-z]+/[a-z]+:v?\d+\.\d+\.\d+", image) for image in published)


def test_a_target_is_there_for_each_image_and_no_image_is_root() -> None:
    text = (ROOT / "Dockerfile").read_text()
    stages = dict(re.findall(r"^FROM \S+ AS (\S+)\n(.*?)(?=^FROM|\Z)", text, re.MULTILINE | re.DOTALL))
    targets = {said["build"]["target"] for name in FILES for said in read(name)["services"].values() if "build" in said}
    assert targets <= set(stages)
    assert {target for target in targets if "\nUSER " not in stages[target]} == set()
    assert text.rstrip().endswith("FROM application")


@pytest.mark.parametrize("name", FILES)
def test_every_listener_is_found_at_its_host(name: str) -> None:
    settings = settings_of(name)
    hosts = {host for said in services(name).values() for host in said["networks"]["default"]["aliases"]}
    listeners: list[tuple[Port | MiddlewarePort, int]] = [
        listener for process in processes(name).values() for listener in process.listens]
    found = {settings.host(which, 0 if which is Port.WEB else replica) for which, replica in listeners}
    assert found <= hosts
    assert {which for which, _ in listeners} >= set(Port)


@pytest.mark.parametrize("name", FILES)
def test_every_variable_is_a_setting_or_composes_own(name: str) -> None:
    given = set(read(name)["x-process"]["environment"])
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / name).read_text()))
    known = {f"MURMUR_{setting.upper()}" for setting in Settings.model_fields}
    assert given <= known
    withheld = {setting.removeprefix("MURMUR_").lower() for setting in known - given}
    assert withheld == (compose.FIXED | set(Place.model_fields)) - {"middleware"}
    assert asked.isdisjoint(known)
    assert all(variable.startswith("MURMURATION_") for variable in asked)


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
    assert runs <= set(dockerfile.replace("\\", " ").split())
    stages = set(re.findall(r"^FROM \S+ AS (\S+)", dockerfile, re.MULTILINE))
    assert set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)) - stages == {"debian:bookworm-slim"}
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


def test_a_machine_with_the_stream_stores_programs_alone_knows_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the image of the servers is."""
    (tmp_path / "java").symlink_to(program("java"))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in FILES:
        settings = settings_of(name)
        with pytest.raises(MissingProgram):
            stack.processes(settings)
        for one in stack.of_middleware(settings):
            assert stack.process(settings, one.name).name == one.name
