"""Writes the Compose files of the repository's root, one for each stream store: `python -m deploy.containers.compose`.

A service is a process as deploy/local describes it; nothing is said here that stands there.
"""

from __future__ import annotations

from collections.abc import Iterator

from common.settings import Place, Port, Settings
from deploy.local import stack
from deploy.local.checkout import ROOT
from deploy.local.processes.spec import Process
from deploy.local.rendering import FOLDER, render

HEALTH_SECONDS = 60
"""Between two health checks of a container: each starts a Python."""

CLUSTER = {"replicas": 3}
"""Settings of the profile `cluster`, which adds the processes that they bring."""

FIXED = frozenset({
    "middleware",  # each file has its own
    "port_base", "port_block", "bind_address", "service_hosts",  # each container is a host of its own
    "web_replicas", "search_consumers", "trending_consumers",  # which processes there are, the file says
    "store_tuning",  # containers have bounds of memory
    "x_bearer_token",  # for a command alone
})


def files() -> Iterator[tuple[str, str]]:
    """Name and text of each Compose file. The default stream store's has the name that Compose looks for."""
    default = Settings.model_fields["middleware"].default
    for middleware in sorted(setup.parent.name for setup in FOLDER.glob("*/setup.sh")):
        name = "docker-compose.yml" if middleware == default else f"docker-compose.{middleware}.yml"
        yield name, compose(in_container(middleware), default)


def in_container(middleware: str) -> Settings:
    """Settings of an instance whose processes are containers, as the Dockerfile and the Compose file have them; nothing
    of the environment of who writes the files."""
    defaults = {name: field.get_default(call_default_factory=True) for name, field in Settings.model_fields.items()}
    return Settings.model_validate(
        {**defaults, "middleware": middleware, "bind_address": "0.0.0.0", "service_hosts": True}
    )


def passed() -> list[str]:
    """Names of the settings that reach a container from where Compose is called."""
    return [name for name in Settings.model_fields if name not in FIXED and name not in Place.model_fields]


def processes(settings: Settings) -> list[tuple[Process, str]]:
    """Those of an instance, and the profile with which each is there; empty: always."""
    always = stack.processes(settings)
    names = {process.name for process in always}
    cluster = stack.processes(clustered(settings))
    return [(one, "") for one in always] + [(one, "cluster") for one in cluster if one.name not in names]


def clustered(settings: Settings) -> Settings:
    return settings.model_copy(update=CLUSTER)


def aliases(settings: Settings, process: Process) -> list[str]:
    """Names of the container: those of its listeners, of which all web processes share one."""
    found = [settings.host(which, 0 if which is Port.WEB else replica) for which, replica in process.listens]
    return found or [process.name]


def compose(settings: Settings, default: str) -> str:
    found = processes(settings)
    (published,) = (one.name for one, _ in found if (Port.PAGE, 0) in one.listens)
    servers = {one.name for one in stack.of_middleware(clustered(settings))}
    return render(
        "../containers/compose.yml", settings, default=default, processes=found, servers=servers, passed=passed(),
        aliases=lambda process: aliases(settings, process), published=published, page=settings.port(Port.PAGE),
        interval=HEALTH_SECONDS,
    )


def main() -> None:
    for name, text in files():
        (ROOT / name).write_text(text)


if __name__ == "__main__":
    main()
