"""Shell scripts that stand in for the programs which git starts."""

import os
import shlex
import threading
from collections.abc import Sequence
from pathlib import Path

# Variables for git itself, not for the programs it runs.
_UNSET = "unset GIT_ALLOW_PROTOCOL GIT_NO_LAZY_FETCH GIT_COMMON_DIR GIT_NO_REPLACE_OBJECTS GIT_GRAFT_FILE\n"
_WHY = "had no network, since an agent has read untrusted content; the owner gives it back: cpl approvals clear"


def script_start(path: str) -> str:
    """Return the first lines of a script, with a folder in front of the search path."""
    more = f'PATH={shlex.quote(path)}:"$PATH"\nexport PATH\n' if path else ""
    return f"#!/bin/sh\n{_UNSET}{more}"


def script_without_links(body: str, folder: Path) -> str:
    """Return a script for a program that is not sandboxed, and reads and writes through links in its folder."""
    message = shlex.quote(f"codeplane: there is a symbolic link in {folder}, which a hook may have made; remove it")
    found = f"find {shlex.quote(str(folder))} -type l -print 2> /dev/null"
    return f'{script_start("")}[ -z "$({found} | head -n 1)" ] || {{ echo {message} >&2; exit 1; }}\n{body}\n'


def program_script(command: Sequence[str], offline: str, *, path: str) -> str:
    """Return a script that runs a command; when an `offline` one fails, it prints why."""
    start = script_start(path)
    if not offline:
        return f'{start}exec {shlex.join(command)} "$@"\n'
    message = shlex.quote(f"codeplane: {offline} {_WHY}")
    return f'{start}{shlex.join(command)} "$@" || {{ code=$?; echo {message} >&2; exit $code; }}\n'


def put_script(place: Path, text: str) -> None:
    """Write a script that can be run, unless it is there already."""
    data = text.encode("utf-8", "surrogateescape")
    try:
        if place.read_bytes() == data:
            return
    except OSError:
        pass
    part = place.with_name(f".{place.name}.{os.getpid()}.{threading.get_ident()}")
    part.write_bytes(data)
    part.chmod(0o700)
    part.replace(place)
