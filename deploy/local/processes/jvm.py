"""How servers that are written in Java are run on one machine."""

from __future__ import annotations

from common.process.child import program
from common.settings import Settings


def command(settings: Settings, heap: str) -> tuple[str, ...]:
    """Beginning of the command of any of them: a fixed heap, in transparent huge pages, since walks through tables of
    small ones cost CPU where memory is slow (docs/lab)."""
    return (
        program("java"), f"-Xms{heap}", f"-Xmx{heap}", "-XX:+UseTransparentHugePages",
        "-XX:+ExitOnOutOfMemoryError", "-XX:-UsePerfData",
        "-Djava.net.preferIPv4Stack=true", f"-Djava.io.tmpdir={settings.state_dir / 'tmp'}",
    )


def compilation(settings: Settings) -> tuple[str, ...]:
    """Options of a stream store's server: by the first tier alone it is ready, and cheap, from its first minute on."""
    return () if settings.store_tuning == "documented" else ("-XX:TieredStopAtLevel=1",)
