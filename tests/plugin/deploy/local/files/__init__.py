"""The server of the files: one process, which keeps them in `<state_dir>/files`."""

from __future__ import annotations

from common.settings import Settings
from deploy.local import probes
from deploy.local.middlewares import Deployment
from deploy.local.process import Process, python
from middleware.files.ports import Port


def write_configuration(settings: Settings) -> None:
    """There is none beside the settings."""


def processes(settings: Settings) -> list[Process]:
    return [Process("files", python("deploy.local.files.server"), stage=0,
                    ready=probes.accepts(settings.port(Port.SERVER)))]


DEPLOYMENT = Deployment(write_configuration, processes, syncing="files", killed=("files",))
