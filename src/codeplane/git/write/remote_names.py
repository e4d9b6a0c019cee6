"""Remotes by their configured names; no other addresses are contacted."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from codeplane.git.read.git_error import redact_urls
from codeplane.git.safety.command import Git
from codeplane.git.write.revision import check_ref
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import RefNotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteName:
    """A remote's name, with its address without secrets."""

    name: str
    url: str

    def __str__(self) -> str:
        return f"{self.name} ({self.url})"


def find_remote(git: Git, given: str, *, push: bool = False) -> RemoteName:
    """Return the remote of that name, or git's default without a name; RefNotFound when there is none."""
    names = git.ask("remote").line.splitlines()
    name = given or _default_remote(git, names)
    if name not in names:
        near = difflib.get_close_matches(check_ref(name), names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else "see git_remotes; addresses are not taken here"
        raise RefNotFound(f"there is no remote {path_text(redact_urls(name)[:200])!r}", hint=hint)
    done = git.ask("remote", "get-url", *(["--push"] if push else []), name, check=False)
    return RemoteName(name=name, url=redact_urls(done.line) or "no address")


async def remote_environment(git: Git) -> Mapping[str, str]:
    """Return the environment for remote commands, in which ssh does not prompt."""
    done = await git.run("config", "--get", "core.sshCommand", check=False)
    return {"GIT_SSH_COMMAND": f"{done.line or 'ssh'} -oBatchMode=yes"}


def _default_remote(git: Git, names: list[str]) -> str:
    branch = git.ask("symbolic-ref", "--quiet", "--short", "HEAD", check=False).line
    if branch:
        configured = git.ask("config", "--get", f"branch.{branch}.remote", check=False).line
        if configured in names:
            return configured
    return names[0] if len(names) == 1 else "origin"
