"""Sums the results of all stages of checks: `python tests/total.py FOLDER STAGE=EXIT_CODE...`.

Each stage leaves `FOLDER/<stage>*.xml` in JUnit's form, whatever its tools are. A stage that leaves none, such as
*lint*, counts as one check. A stage that failed without a failed test (it could not even begin, say) counts as failed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree


@dataclass
class Total:
    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Total) -> Total:
        return Total(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def of_file(path: Path) -> Total:
    """Counts of one JUnit file, test by test: the sums that tools write at its top differ in what they include."""
    total = Total()
    for case in ElementTree.parse(path).iter("testcase"):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            total.failed += 1
        elif "skipped" in kinds:
            total.skipped += 1
        else:
            total.passed += 1
    return total


def of_stage(folder: Path, stage: str, exit_code: int) -> Total:
    """Counts of a stage, whose exit code has the last word on whether anything failed."""
    files = sorted({*folder.glob(f"{stage}.xml"), *folder.glob(f"{stage.removesuffix('-all')}-*.xml")})
    total = sum(map(of_file, files), Total()) if files else Total(passed=int(exit_code == 0))
    if exit_code and not total.failed:
        total.failed = 1
    return total


def main(arguments: Sequence[str]) -> int:
    folder, *outcomes = arguments
    total, failed = Total(), []
    for outcome in outcomes:
        stage, _, exit_code = outcome.rpartition("=")
        result = of_stage(Path(folder), stage, int(exit_code))
        total += result
        if result.failed:
            failed.append(stage)
    if failed:
        print(f"failed: {', '.join(failed)}")
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
