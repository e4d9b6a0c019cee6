"""Fingerprints of mutations and failures: equal when nothing but incidental detail differs."""

from hashlib import sha256

from codeplane.kernel.call import Effects, Failure
from codeplane.kernel.json import JsonObject, canonical
from codeplane.kernel.trace import normalise_trace


def failure_fingerprint(failure: Failure) -> str:
    """Equal for the same tests failing in the same way."""
    return _short(
        {
            "tests": sorted(failure.failing_tests),
            "kind": failure.kind.rpartition(".")[2],
            "trace": normalise_trace(failure.trace),
            "exit_code": failure.exit_code,
        }
    )


def mutation_fingerprint(effects: Effects) -> str:
    """Equal for the same change to the same files."""
    return _short(
        {
            "files_changed_hash": effects.files_changed_hash,
            "diff_stats": [len(effects.changed_paths), effects.insertions, effects.deletions],
            "symbol_changes": sorted(effects.symbol_changes),
        }
    )


def _short(content: JsonObject) -> str:
    return sha256(canonical(content)).hexdigest()[:16]
