"""Writes the Compose files of the repository's root, one for each stream store: `python -m deploy.containers.compose`.

A service is a process as deploy/local describes it; nothing is said here that stands there.
"""

from __future__ import annotations

from collections.abc import Iterator

from common.settings import Port, Settings
from deploy.local import stack
from deploy.local.checkout import ROOT
from deploy.local.processes.spec import Process
from deploy.local.rendering import FOLDER, render

HEALTH_SECONDS = 60
"""Between two health checks of a container: each starts a Python."""


def files() -> Iterator[tuple[str, str]]:
    """Name and text of each Compose file. The default stream store's has the name that Compose looks for."""
    default = Settings.model_fields["middleware"].default
    for middleware in sorted(setup.parent.name for setup in FOLDER.glob("*/setup.sh")):
        name = "docker-compose.yml" if middleware == default else f"docker-compose.{middleware}.yml"
        yield name, compose(in_container(middleware), default)


def in_container(middleware: str) -> Settings:
    """Settings of an instance whose processes are containers, as the Dockerfile and the Compose file have them."""
    return Settings.model_validate({"middleware": middleware, "bind_address": "0.0.0.0", "service_hosts": True})


def compose(settings: Settings, default: str) -> str:
    def aliases(process: Process) -> list[str]:
        return [settings.host(which, replica) for which, replica in process.listens] or [process.name]

    processes = stack.processes(settings)
    (published,) = (one.name for one in processes if (Port.PAGE, 0) in one.listens)
    return render(
        "../containers/compose.yml", settings, default=default, processes=processes, aliases=aliases,
        published=published, page=settings.port(Port.PAGE), interval=HEALTH_SECONDS,
    )


def main() -> None:
    for name, text in files():
        (ROOT / name).write_text(text)


if __name__ == "__main__":
    main()
