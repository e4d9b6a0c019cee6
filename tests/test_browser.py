"""The tests in the browser, as part of all the others: run in a process of their own and told one by one.

Playwright keeps an event loop for as long as it lives, and no other test of its process could have one.
"""

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.browser.chromium import missing_browser
from tests.interaction.requirements import requirement

pytestmark = requirement("DOCS-05")

ROOT = Path(__file__).parents[1]
_SECONDS = 2400
# The child is no worker of ours, and what it covers is covered over HTTP already.
_OURS = ("PYTEST_", "COVERAGE_")


def test_in_a_real_browser(tmp_path: Path, subtests: pytest.Subtests) -> None:
    if reason := missing_browser():
        warnings.warn(f"NOT TESTED: {reason}", stacklevel=1)
        pytest.skip(f"NOT TESTED: {reason}")
    report = tmp_path / "report.xml"
    output = _run("tests/browser", "-n0", "-p", "no:cacheprovider", f"--junitxml={report}")
    assert report.exists(), f"it ended without a report:\n{output}"
    cases = list(ElementTree.parse(report).iter("testcase"))
    assert cases, f"no test was run:\n{output}"
    for case in cases:
        with subtests.test(msg=f"{case.get('classname')}::{case.get('name')}"):
            _relay(case)


def _relay(case: ElementTree.Element) -> None:
    for kind in ("failure", "error"):
        if (found := case.find(kind)) is not None:
            pytest.fail(found.text or found.get("message") or kind, pytrace=False)
    if (skipped := case.find("skipped")) is not None:
        reason = skipped.get("message") or "skipped"
        warnings.warn(f"{case.get('name')}: {reason}", stacklevel=1)
        pytest.skip(reason)


def _run(*arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    child = subprocess.Popen(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        return child.communicate(timeout=_SECONDS)[0]
    except BaseException:
        # With all it started: servers and a browser would stay otherwise.
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(timeout=60)
        raise
