"""Errors of test runs."""

from codeplane.kernel.errors.error import CodePlaneError


class TestRunnerNotFound(
    CodePlaneError,
    name="TEST_RUNNER_NOT_FOUND",
    code=7001,
    http=422,
    rpc="failed_precondition",
    hint="install the runner with the repository's own tools, or name another under tests.runners",
):
    """The tests need a program that is not installed."""

    __test__ = False


class TestRunNotFound(
    CodePlaneError, name="TEST_RUN_NOT_FOUND", code=7002, http=404, rpc="not_found", hint="start one with test_run"
):
    """No test run has that id, or its record was dropped."""

    __test__ = False


class SandboxMissing(
    CodePlaneError,
    name="SANDBOX_MISSING",
    code=7003,
    http=503,
    rpc="failed_precondition",
    hint="install bubblewrap, or let the owner set tests.sandbox: off in .codeplane/config.yaml",
):
    """The repository's code would run without a sandbox, which is not allowed."""


class TestRunnerFailed(
    CodePlaneError,
    name="TEST_RUNNER_FAILED",
    code=7004,
    http=422,
    rpc="failed_precondition",
    hint="see what it printed: test_output",
):
    """The test runner is installed but did not start, so no test ran."""

    __test__ = False
