"""Known vulnerabilities of the locked packages, for `make check`; says so when there is no database to ask."""

import json
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.lock"


def main() -> int:
    """Fail for a package with a known vulnerability; what could not be checked is counted and named as such."""
    command = [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "--format", "json"]
    command += ["--progress-spinner", "off", "--timeout", "10", "--requirement", str(LOCK)]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        found = json.loads(ran.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError, TypeError):
        print("audit: NOT CHECKED: the database of vulnerabilities could not be asked", file=sys.stderr)
        return 0
    bad = [(one["name"], one["version"], problem["id"]) for one in found for problem in one.get("vulns", ())]
    skipped = sum("skip_reason" in one for one in found)
    for name, version, problem in bad:
        print(f"audit: {name} {version} has {problem}", file=sys.stderr)
    if skipped:
        print(f"audit: NOT CHECKED: {skipped} of {len(found)} packages are not in the database", file=sys.stderr)
    else:
        print(f"audit: {len(found)} packages, {len(bad)} known vulnerabilities")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
