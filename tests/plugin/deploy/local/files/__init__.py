"""The server of the files: one process, which keeps them in `<state_dir>/files`."""

from __future__ import annotations

from common.process.child import python
from common.settings import Settings
from deploy.local.middlewares import Deployment
from deploy.local.processes import health_checks
from deploy.local.processes.spec import Process
from middleware.files.ports import Port


def write_configuration(settings: Settings) -> None:
    """There is none beside the settings."""


def processes(settings: Settings) -> list[Process]:
    return [Process("files", python("deploy.local.files.server"), stage=0,
                    ready=health_checks.accepts(settings.port(Port.SERVER)))]


DEPLOYMENT = Deployment(write_configuration, processes, syncing="files", killed=("files",))
