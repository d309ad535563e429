"""What experiments have left in their folders, as the API tells it. A file that cannot be read is a broken experiment,
and breaks nothing else."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import AwareDatetime, BaseModel, Field

from common.experiments import HELD, PROGRESS, RESULTS
from common.settings import Settings
from common.storage import files
from common.tweets import STAGES, StageName

MOST_FILES, MOST = 200, 500
"""The newest ones are told."""

NEVER = datetime.min.replace(tzinfo=UTC)

MOST_BYTES = 32 << 20
"""Of a file; one of a search for a capacity has some hundred KB."""

Verdict = Literal["pass", "fail", "host-saturated", "generator-limited", "broken", "running"]

SPEC = ("rate", "seconds", "payload", "workload", "objective_ms", "settle_s", "seed", "users", "processes", "gives_up")
"""What was asked, by the names in the file."""

OF_THE_MOMENT = ("memory_available_bytes", "load_average", "disk_free_bytes")
"""Facts of the host that are no settings: no two experiments share them."""

ENVIRONMENT = ("durability_told", "acknowledgement", "commit")


class StageLatency(BaseModel):
    """From the moment at which a tweet was meant to be sent, in ms; null: so many had not come, or it is not known."""

    name: StageName
    p50: float | None
    p95: float | None
    p99: float | None


class Experiment(BaseModel):
    """One rate and one verdict; null where unknown, never 0."""

    id: str = Field(description="the folder, and of several in one file the number")
    verdict: Verdict = Field(description="broken: it could not be judged, or its file cannot be read; running: now")
    limited_by: str | None = Field(description="a stage, `generator` or `host`; null: nothing, or unknown")
    reason: str | None = Field(description="why it did not pass; null: it did, or runs")
    rate_per_s: float | None
    seconds: float | None = Field(description="length of the interval that is judged")
    workload: str | None
    middleware: str | None
    durability: str | None
    commit: str | None = Field(description="of the code that ran")
    machine: str | None
    began_at: AwareDatetime | None
    latency_ms: list[StageLatency] = Field(description="by stage, of the tweets of the interval")


class Condition(BaseModel):
    name: str
    holds: bool | None = Field(description="null: it was not judged")
    figure: str


class Setting(BaseModel):
    name: str
    value: str | None


class Backlog(BaseModel):
    """Tweets that waited for a stage."""

    name: StageName
    events: list[int]


class ExperimentDetail(Experiment):
    """The same, with everything that was asked and found."""

    command: str | None
    phase: str | None = Field(description="what it does now; null: it has ended")
    conditions: list[Condition]
    tweets: int | None
    idle_cpu: float | None = Field(description="share of the machine's CPU time")
    reference_ms: float | None = Field(description="a fixed piece of work before it: how fast the machine was")
    cpu_seconds_per_1000: dict[str, float] | None = Field(description="by process, for 1,000 tweets")
    backlog_at: list[float] = Field(
        description="seconds since the interval began, of each sample; of one that runs only the newest"
    )
    backlog: list[Backlog]
    settings: list[Setting] = Field(description="what was asked, and was in force")


def experiments(settings: Settings) -> list[Experiment]:
    """The newest first."""
    found = [one for file in _files(settings.experiments_dir) for one in _listed(settings.experiments_dir, file)]
    return sorted(found, key=lambda one: (one.began_at or NEVER, one.id), reverse=True)[:MOST]


def experiment(settings: Settings, name: str) -> ExperimentDetail | None:
    """None if there is none of that id, which is sought among those that there are, and is no part of a path."""
    for file in _files(settings.experiments_dir):
        if any(one.id == name for one in _listed(settings.experiments_dir, file)):
            return next((one for one in _read(settings.experiments_dir, file) if one.id == name), None)
    return None


def _files(folder: Path) -> list[Path]:
    """Results, and what tells of one that has none, the newest first."""
    found = [*folder.rglob(RESULTS), *(file for file in folder.rglob(PROGRESS) if not (file.parent / RESULTS).exists())]
    return sorted(found, key=_changed, reverse=True)[:MOST_FILES]


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _listed(folder: Path, file: Path) -> list[Experiment]:
    """Without what only the detail tells; what does not change is read once."""
    try:
        if file.name == RESULTS:
            told = file.stat()
            return _remembered(folder, file, told.st_mtime_ns, told.st_size)
    except OSError:  # such as of too many open files: another look may find it
        pass
    return [_summary(one) for one in _read(folder, file)]


@lru_cache(maxsize=2 * MOST_FILES)
def _remembered(folder: Path, file: Path, changed: int, size: int) -> list[Experiment]:
    """Raises OSError."""
    return [_summary(one) for one in _understood(folder, file)]


def _summary(one: ExperimentDetail) -> Experiment:
    return Experiment.model_validate(one.model_dump(include=set(Experiment.model_fields)))


def _read(folder: Path, file: Path) -> list[ExperimentDetail]:
    """All experiments of a file; a broken one stands for a file that cannot be read."""
    try:
        return _understood(folder, file)
    except FileNotFoundError:  # it has ended just now, and its result is there for the next look
        return []
    except OSError:
        return [_broken(folder, file, "it cannot be read")]


def _understood(folder: Path, file: Path) -> list[ExperimentDetail]:
    """The same. Raises OSError."""
    name = _name(folder, file)
    try:
        content = orjson.loads(_bytes(file))
        if file.name == PROGRESS:
            return [_underway(name, content, _is_held(file.parent))]
        found = list(_experiments(content))
        # Of a search that goes on, the first keeps its id when there is a second.
        several = len(found) > 1 or content.get("kind") == "find-max"
        return [_detail(f"{name}~{number}" if several else name, one, about, None)
                for number, (one, about) in enumerate(found, 1)]
    except (ValueError, TypeError, KeyError, AttributeError):
        return [_broken(folder, file, "it holds no experiment of this version")]


def _bytes(file: Path) -> bytes:
    """Raises ValueError for one that is too large, or no file at all; OSError."""
    if not stat.S_ISREG(file.stat().st_mode):
        raise ValueError("it is no file")
    with file.open("rb") as opened:
        content = opened.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError("it is too large")
    return content


def _broken(folder: Path, file: Path, why: str) -> ExperimentDetail:
    broken = {"verdict": "broken", "reason": f"{file.name}: {why}", "rate": None, "seconds": None,
              "started_at": datetime.fromtimestamp(_changed(file), UTC)}
    return _detail(_name(folder, file), broken, {}, None)


def _name(folder: Path, file: Path) -> str:
    """Of the experiment, or of the first part of those in the file. Names of folders need not be text."""
    parts = (os.fsencode(part).decode(errors="replace") for part in file.parent.relative_to(folder).parts)
    return "~".join(parts) or "~"


def _is_held(folder: Path) -> bool:
    try:
        return files.is_held(folder / HELD)
    except OSError:
        return False


def _experiments(content: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each with what is said of the file that it stands in: one search, or several that are compared."""
    for search in content.get("runs", [content]):
        for one in search["experiments"]:
            yield one, search


def _underway(name: str, content: Mapping[str, Any], runs: bool) -> ExperimentDetail:
    """What `progress.json` tells of one that runs, or was ended by something that let it say nothing."""
    at, backlog = content["at"], content["backlog"]
    state = {"verdict": "running"} if runs else {"verdict": "broken", "reason": "it ended without a verdict"}
    told = {**content, **state}
    if backlog is not None:
        told["backlog"] = {"at": [at], **{stage: [waiting] for stage, waiting in backlog.items()}}
    return _detail(name, told, content, content["phase"] if runs else None)


def _detail(name: str, one: Mapping[str, Any], about: Mapping[str, Any], phase: str | None) -> ExperimentDetail:
    """Of an experiment, and what is said of all in its file."""
    backlog, latency = one.get("backlog") or {}, one.get("latency_ms") or {}
    return ExperimentDetail.model_validate({
        "id": name,
        "verdict": one["verdict"],
        "limited_by": one.get("limited_by"),
        "reason": one.get("reason") or None,
        "rate_per_s": one["rate"],
        "seconds": one["seconds"],
        "workload": one.get("workload", about.get("workload")),
        "middleware": about.get("middleware"),
        "durability": about.get("durability"),
        "commit": about.get("commit"),
        "machine": _machine(about.get("host") or {}),
        "began_at": one.get("started_at", about.get("started_at")),
        "latency_ms": [{"name": stage, **{p: latency[stage].get(p) for p in ("p50", "p95", "p99")}}
                       for stage in STAGES if stage in latency],
        "command": about.get("command"),
        "phase": phase,
        "conditions": [{"name": condition, "holds": finding["holds"], "figure": finding["figure"]}
                       for condition, finding in (one.get("conditions") or {}).items()],
        "tweets": one.get("tweets"),
        "idle_cpu": one.get("idle_cpu"),
        "reference_ms": one.get("reference_ms"),
        "cpu_seconds_per_1000": one.get("cpu_seconds_per_1000"),
        "backlog_at": backlog.get("at", []),
        "backlog": [{"name": stage, "events": backlog[stage]} for stage in STAGES if stage in backlog],
        "settings": [{"name": key, "value": value if value is None or isinstance(value, str) else json.dumps(value)}
                     for key, value in _settings(one, about)],
    })


def _machine(host: Mapping[str, Any]) -> str | None:
    return f"{host['cpu']}, {host['cores']} cores" if "cpu" in host and "cores" in host else None


def _settings(one: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What was asked, and the instance, its servers, versions and host as they were."""
    yield from ((name, one[name]) for name in SPEC if name in one)
    yield from ((name, about[name]) for name in ENVIRONMENT if name in about)
    for part in ("settings", "server_settings", "versions", "host"):
        prefix = "" if part in ("settings", "server_settings") else f"{part}: "
        yield from ((f"{prefix}{name}", value) for name, value in (about.get(part) or {}).items()
                    if name not in OF_THE_MOMENT)
