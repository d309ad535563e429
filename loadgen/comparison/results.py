"""What a comparison has in its folder: results.json, by which it goes on where it was ended, and report.html."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from common.experiments import RESULTS
from loadgen.comparison.ranking import Run, by_side, ranking
from loadgen.comparison.searches import Search
from loadgen.report.comparison import charted, sections
from loadgen.report.page import HOST, write_report
from loadgen.report.results import command, write_results

KIND = "comparison"
Spec = dict[str, Any]
"""What all searches have in common: options by name, and under `settings` those of the instances."""


class KeptUnreadable(Exception):
    """What is in the folder is no comparison that can go on; the message names the way out. Nothing was changed."""


class OtherSpec(Exception):
    """What is in the folder was measured otherwise; the message names the difference and the way out."""


class Kept(NamedTuple):
    """`spec` is empty where nothing is kept."""

    spec: Spec
    runs: list[Run]


def read(folder: Path) -> Kept:
    """What the folder holds; nothing where it is new. Raises KeptUnreadable."""
    file = folder / RESULTS
    try:
        content = json.loads(file.read_bytes())
        if content["kind"] != KIND:
            raise ValueError(f"it is of `murmur load {content['kind']}`")
        for run in content["runs"]:
            Search.made(run), run["capacity"]["highest_pass"], run["capacity"]["lowest_fail"]
            float(run["took_s"]), len(run["experiments"])
        return Kept(dict(content["spec"]), list(content["runs"]))
    except FileNotFoundError:
        return Kept({}, [])
    except KeyError as error:
        raise _unreadable(file, f"it lacks {error}, as one of an earlier version does") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise _unreadable(file, str(error)) from error


def _unreadable(file: Path, why: str) -> KeptUnreadable:
    return KeptUnreadable(
        f"{file} is no comparison that can go on, and was left as it is: {why}. Choose another --out, or move the file "
        "away to begin anew; what each search found lies in a folder beside it"
    )


def joined(kept: Spec, asked: Spec, across: bool) -> Spec:
    """The spec of what goes on. A setting that one of the versions does not have is no difference.

    Raises OtherSpec for another one; `across`: durability classes may differ.
    """
    if not kept:
        return asked
    classes = list(dict.fromkeys([*kept.get("durability", []), *asked["durability"]]))
    found = [] if len(classes) == 1 or across else [_difference("durability", kept["durability"], asked["durability"])]
    for name, value in _flat(asked).items():
        if name in (before := _flat(kept)) and before[name] != value:
            found.append(_difference(name, before[name], value))
    if found:
        raise OtherSpec(f"what is kept there was measured otherwise: {'; '.join(found)}. Choose another --out, or ask "
                        "for the same; one round with another durability, payload or workload is a --side")
    return {**asked, "durability": classes}


def _flat(spec: Spec) -> dict[str, Any]:
    options = {name: value for name, value in spec.items() if name not in ("durability", "settings")}
    return {**options, **{f"setting {name}": value for name, value in spec.get("settings", {}).items()}}


def _difference(name: str, kept: Any, asked: Any) -> str:
    def text(value: Any) -> str:
        return ", ".join(value) if isinstance(value, list) else "unset" if value in (None, "") else str(value)

    return f"{name} is {text(kept)} there and {text(asked)} now"


def mixed(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """What should be the same for all and is not: the code, the host; for people. A search tells both of itself."""
    codes = dict.fromkeys(str(run.get("commit") or "unknown") for run in runs)
    hosts = dict.fromkeys(tuple((name, run["host"].get(name)) for name in HOST) for run in runs)
    found = []
    if len(codes) > 1:
        found.append(f"not all searches are of the same version of the code: {', '.join(codes)}")
    if len(hosts) > 1:
        told = [", ".join(f"{name} {value}" for name, value in host) for host in hosts]
        found.append(f"not all searches were made on the same host: {'; '.join(told)}")
    return found


def as_results(runs: list[Run], spec: Spec, across: bool, left: Sequence[Search] = ()) -> dict[str, Any]:
    """`left`: the searches that were asked for and are not made yet."""
    of = by_side(runs)
    return {
        "kind": KIND, "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command(), "spec": spec, "ranking": _rows(of.pop(""), across),
        "sides": {side: _rows(found, across) for side, found in of.items()},
        "mixed": mixed(runs), "left": [str(search) for search in left], "runs": runs,
    }


def _rows(runs: Sequence[Run], across: bool) -> list[dict[str, Any]]:
    return [{**row._asdict(), "variant": str(row.variant)} for row in ranking(runs, across)]


def keep(folder: Path, runs: list[Run], spec: Spec, across: bool, left: Sequence[Search] = ()) -> None:
    """Writes both files; what is relied upon first, and on disk."""
    content = as_results(runs, spec, across, left)
    write_results(folder, content)
    write_report(folder, runs, _note(content), sections(runs, across, spec), charted(runs, across))


def _note(content: Mapping[str, Any]) -> str:
    rows = [f"{row['variant']}: {row['capacity']:,.0f}/s" if row["capacity"] else f"{row['variant']}: nothing passed"
            for row in content["ranking"]]
    notes = ["Median capacity: " + ", ".join(rows)] if rows else []
    if left := content["left"]:
        notes.append(f"Not made yet: {'; '.join(left)}")
    return ". ".join([*notes, *(text.capitalize() for text in content["mixed"])])
