"""Failures of a runner to start, recognised by what it, or the shim in front of it, printed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from codeplane.testing.case import Case
from codeplane.testing.process import ProcessExit
from codeplane.testing.target import Target

_MAX_LINE = 300
_NOT_FOUND = (126, 127)
_NO_NETWORK = "it needs the network, which the sandbox does not have"
_NO_DNS = "it needs the network, and a name cannot be resolved"
_FETCH = "install its dependencies first ({fetch}), or set tests.network: true in .codeplane/config.yaml"
_FETCHES = {
    "cargo": "cargo fetch",
    "go": "go mod download",
    "maven": "mvn dependency:go-offline",
    "gradle": "gradle --refresh-dependencies build",
    "dotnet": "dotnet restore",
    "mix": "mix deps.get",
    "rspec": "bundle install",
}
_SHIM = "install that version with {shim}, or name one that is installed in its version file"

_NETWORK = re.compile(
    r"(?im)^.*(?:could ?n[o']t resolve host|temporary failure in name resolution|name or service not known"
    r"|\bENOTFOUND\b|\bEAI_AGAIN\b|no such host|unknownhostexception|network is unreachable"
    r"|module lookup disabled by GOPROXY=off|you're using offline mode|but --offline was specified"
    r"|in offline mode|for offline mode|toolchain not available).*$"
)
_ERROR = re.compile(r"(?m)^error: .*$")
# Messages of the runner or of what starts it, each with the fix.
_MESSAGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?m)^bwrap: .*$"), "cpl doctor says whether the sandbox works here"),
    (
        re.compile(
            r"(?m)^(?:error: )?(?:toolchain '.*' is not installed|override toolchain '.*' is not installed"
            r"|rustup could not choose a version of .*|no override and no default toolchain set.*"
            r"|could not create (?:temp|update hash|download) \w+ .*rustup.*|'?cargo(?:\.exe)?'? is not installed.*).*$"
        ),
        "rustup toolchain install, or rustup default, for what rust-toolchain names",
    ),
    (re.compile(r"(?m)^(?P<shim>pyenv|rbenv|nodenv|goenv|jenv|plenv)(?:-exec)?: .*$"), _SHIM),
    (re.compile(r"(?m)^No (?:preset )?version (?:is set|installed) for command .*$"), _SHIM.format(shim="asdf")),
    (re.compile(r"(?m)^unknown command: .* Perhaps you have to reshim\?$"), "asdf reshim"),
    (re.compile(r"(?m)^mise ERROR .*$"), _SHIM.format(shim="mise")),
    (re.compile(r"(?m)^Volta error: .*$"), _SHIM.format(shim="volta")),
    (re.compile(r"(?m)^\S*python[\d.]*(?:\.exe)?: (?:No module named .*|can't open file .*)$"), ""),
    (re.compile(r"(?m)^.*error while loading shared libraries: .*$"), "install the library, or the runner again"),
    (
        re.compile(r"(?m)^.*(?:cannot execute binary file|Exec format error|bad interpreter).*$"),
        "install the runner again",
    ),
    (re.compile(r"(?m)^\S*node: bad option: .*$"), "install a newer Node"),
    (re.compile(r"(?m)^Error: Cannot find module '\S*(?:/\.bin/|/jest|/vitest)\S*'$"), "install its packages: npm ci"),
    (re.compile(r"(?m)^go: (?:cannot find GOROOT|download go).*$"), ""),
    # Go before 1.21 does not know the versions with three parts, and calls the file wrong.
    (
        re.compile(
            r"(?m)^go: .* requires go >= .*$|^.*go\.(?:mod|work):\d+: invalid go version .*$"
            r"|^note: module requires Go .*$"
        ),
        "install a Go as new as go.mod says, or have Go fetch it (GOTOOLCHAIN=auto) where it has the network",
    ),
    (
        re.compile(
            r"(?m)^error: rustc \S+ is not supported by the following packages?:(?:\n.+)?"
            r"|^error: package `.*` cannot be built because it requires rustc .*$"
            r"|^.*this version of Cargo is older than the `.*` edition.*$|^.*lock file version \S+ requires .*$"
        ),
        "install a newer toolchain: rustup update",
    ),
    (
        re.compile(r"(?m)^.*error: (?:invalid (?:target|source) release: |release version \d+ not supported).*$"),
        "install a newer JDK, and set JAVA_HOME to it",
    ),
    (re.compile(r"(?m)^.*JAVA_HOME .*(?:is not defined correctly|is set to an invalid directory).*$"), "fix JAVA_HOME"),
    (re.compile(r"(?m)^ERROR: .*'minversion' requires pytest-.*$"), "install a newer pytest"),
    (re.compile(r"(?m)^ERROR: Missing required plugins: .*$"), "install them"),
    (
        re.compile(r"(?m)^(?:\S*: )?error: unrecognized arguments: .*$"),
        "install the plugin that knows them, or fix addopts in the settings of pytest",
    ),
    (re.compile(r'(?m)^(?:ImportError|E +ImportError): Error importing plugin ".*$'), "install the plugin"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """Why a runner ran nothing, and the fix."""

    reason: str
    fix: str


def start_failure(
    target: Target, cases: Sequence[Case], ended: ProcessExit, output: str, *, network: bool
) -> NotStarted | None:
    """Return why the runner did not start; None when it did, as far as the output shows.

    Only for runs without a test result: otherwise the tests themselves may have printed such a message.
    """
    if ended.code == 0 or ended.timed_out or ended.signal_name or any(not case.is_target_failure for case in cases):
        return None
    if any(case.kind not in ("BuildFailed", "PackageFailed") for case in cases):
        return None
    name = target.runner_name
    hint = target.runner.hint if target.runner is not None and target.custom is None else "fix tests.custom"
    for pattern, fix in _MESSAGES:
        if (found := pattern.search(output)) is not None:
            shim = found.groupdict().get("shim", "")
            return NotStarted(reason=_line(found[0]), fix=(fix or hint).format(shim=shim))
    if ended.code in _NOT_FOUND:
        lines = [line for line in output.splitlines() if line.strip()]
        return NotStarted(reason=_line(lines[-1]) if lines else f"exit status {ended.code}", fix=hint)
    found = _NETWORK.search(output)
    if found is not None and (name in _FETCHES or not cases):
        # The first error says what is missing; the one about the network often says only why.
        first = _ERROR.search(output) or found
        reason = f"{_NO_DNS if network else _NO_NETWORK}: {_line(first[0])}"
        fix = _FETCH.format(fetch=_FETCHES.get(name, "npm ci, pip install …"))
        return NotStarted(reason=reason, fix="look at /etc/resolv.conf" if network else fix)
    return None


def _line(text: str) -> str:
    return " ".join(text.split())[:_MAX_LINE]
