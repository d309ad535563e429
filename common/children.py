"""Processes that do not outlive whoever starts them."""

from __future__ import annotations

from collections.abc import Sequence


def ends_with_parent(command: Sequence[str]) -> list[str]:
    """The command, killed by the kernel once its parent is gone: no orphans, even after kill -9 of that.

    It is the thread that starts the command whose end counts (prctl(2)).
    """
    return ["setpriv", "--pdeathsig", "KILL", "--", *command]
