"""The last line of `make test`."""

from pathlib import Path

import pytest

from tests import total

XML = """<testsuites><testsuite tests="9">
<testcase name="a"/><testcase name="b"><failure>no</failure></testcase><testcase name="c"><error/></testcase>
<testcase name="d"><skipped/></testcase><testcase name="e"><system-out>x</system-out></testcase>
</testsuite></testsuites>"""


def test_sums_what_every_tool_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "fast.xml").write_text(XML)
    (tmp_path / "connector-TEST-one.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    assert total.main([str(tmp_path), "lint=0", "fast=1", "connector-all=0"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "4 passed, 2 failed, 1 skipped"


@pytest.mark.parametrize(("outcomes", "line", "code"), [
    (["lint=0"], "1 passed, 0 failed, 0 skipped", 0),
    (["lint=0", "fast=2"], "1 passed, 1 failed, 0 skipped", 1),
    ([], "0 passed, 0 failed, 0 skipped", 1),
])
def test_a_stage_without_results_counts_once(tmp_path: Path, capsys, outcomes: list[str], line: str, code: int):
    assert total.main([str(tmp_path), *outcomes]) == code
    assert capsys.readouterr().out.splitlines()[-1] == line
