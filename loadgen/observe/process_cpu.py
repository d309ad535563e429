"""CPU time of every process of a stack, so that the next bottleneck is a fact.

What a process's children used counts as well, those that have ended included (the kernel adds them to the parent that
waited for them), so that Spark's short-lived Python workers are not missed.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import psutil

CpuSeconds = dict[str, float]
"""By process; a child that runs another program than its parent appears as `parent/program`, and so on down."""


@dataclass(frozen=True)
class HostCpu:
    """CPU seconds of the whole host since it started, over all cores; `idle` includes waiting for the disk."""

    busy: float
    idle: float


def host_cpu() -> HostCpu:
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    # user and nice include what guests use.
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return HostCpu(total - idle, idle)


def idle_share(before: HostCpu, after: HostCpu) -> float:
    """Share of the host's CPU time that was idle in between."""
    busy, idle = after.busy - before.busy, after.idle - before.idle
    return idle / (busy + idle) if busy + idle > 0 else 0.0


def cpu_seconds(processes: Mapping[str, int]) -> CpuSeconds:
    """CPU seconds so far of each named process (by pid) and its descendants; one that is gone is left out."""
    used: defaultdict[str, float] = defaultdict(float)
    for name, pid in processes.items():
        try:
            parent = psutil.Process(pid)
            family = [parent, *parent.children(recursive=True)]
        except psutil.Error:
            continue
        known = {member.pid: known for member in family if (known := _program_and_parent(member))}
        for member in family:
            way = _way(pid, member.pid, known)
            if os.getpid() not in [above for _, above in way]:  # the controls have started the experiment itself
                used[name + path(way)] += _cpu(member)
    return dict(used)


def path(way: Sequence[tuple[str, int]]) -> str:
    """What is added to the name of a process for a descendant, given the (program, pid) from the one to the other."""
    return "".join(f"/{program}" for (above, _), (program, _) in pairwise(way) if program != above)


def _way(top: int, pid: int, known: Mapping[int, tuple[str, int]]) -> list[tuple[str, int]]:
    way: list[tuple[str, int]] = []
    while pid in known:
        program, parent = known[pid]
        way.insert(0, (program, pid))
        if pid == top:
            break
        pid = parent
    return way


def between(before: CpuSeconds, after: CpuSeconds) -> CpuSeconds:
    """What each used in between. A process that was started anew counts from its start."""
    return {
        name: seconds - before.get(name, 0.0) if seconds >= before.get(name, 0.0) else seconds
        for name, seconds in after.items()
    }


def per_thousand(used: CpuSeconds, tweets: int) -> CpuSeconds:
    """CPU seconds per 1,000 tweets, the largest share first; empty without tweets."""
    if tweets <= 0:
        return {}
    largest = sorted(used.items(), key=lambda item: -item[1])
    return {name: round(seconds * 1000 / tweets, 6) for name, seconds in largest if seconds > 0}


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def _program_and_parent(process: psutil.Process) -> tuple[str, int] | None:
    try:
        return process.name(), process.ppid()
    except psutil.Error:
        return None
