"""Exact facts for previews of git calls: commits by their ids, remotes by their addresses."""

import re
from collections.abc import Sequence

from codeplane.git.read.git_error import redact_urls
from codeplane.git.safety.command import Git
from codeplane.index.files.paths import path_text
from codeplane.kernel.plural import plural
from codeplane.kernel.secret_paths import NOTHING_SHOWN, SecretRules

_HEADS = "refs/heads/"
_MAX_COMMITS = 30
_MAX_LINES = 30
_MAX_SUBJECT = 200
_MAX_DIFF = 20_000
_SHORT = 12
# No line in the body of a patch starts like this.
_FILE = re.compile(r"^(?=diff --(?:git|cc|combined) )", re.MULTILINE)


class PreviewFacts:
    """Read facts from the repository; blocks."""

    def __init__(self, git: Git, secrets: SecretRules = NOTHING_SHOWN) -> None:
        self._git = git
        self._secrets = secrets

    def id_of(self, name: str) -> str | None:
        """Return the object id of a name."""
        return self._git.ask("rev-parse", "--verify", "--quiet", name, check=False).line or None

    def head(self) -> str:
        """Describe the branch and commit that are checked out."""
        ref = self._git.ask("symbolic-ref", "--quiet", "HEAD", check=False).line
        name = path_text(ref.removeprefix(_HEADS)) if ref else "no branch"
        return f"{name} at {self.id_of('HEAD^{commit}') or 'no commit yet'}"

    def describe_commit(self, name: str) -> str:
        """Return a commit's id and subject."""
        options = ("--no-walk", "-z", "--no-show-signature", "--format=%H %s")
        commits = self._git.ask("log", *options, f"{name}^{{commit}}", "--", check=False).fields
        return _line(commits[0]) if commits else f"{self.id_of(name) or 'no commit yet'}"

    def commits(self, tip: str, *without: str, what: str = "") -> list[str]:
        """List the commits up to a tip that others do not have, newest first, with their number."""
        given = (f"{tip}^{{commit}}", *(["--not", *without] if without else []), "--")
        counted_commits = self._git.ask("rev-list", "--count", *given, check=False)
        if counted_commits.code != 0:
            return []
        count = int(counted_commits.line or 0)
        options = ("-z", "--no-show-signature", "--topo-order", f"--max-count={_MAX_COMMITS}", "--format=%H %s")
        listed = self._git.ask("log", *options, *given).fields
        return list_lines(
            f"{plural(count, 'commit')} {what}".rstrip(), [_line(commit, digits=_SHORT) for commit in listed], count
        )

    def index(self) -> bytes:
        """Return the index as git lists it."""
        return self._git.ask("ls-files", "--stage", "-z").out

    def list_staged(self) -> list[str]:
        """List the staged files with their status letters."""
        options = ("--cached", "--name-status", "-z", "--no-renames", "--no-ext-diff")
        fields = self._git.ask("diff", *options, "--").fields
        lines = [f"{sign} {path_text(path)}" for sign, path in zip(fields[::2], fields[1::2], strict=False)]
        return list_lines(f"staged: {plural(len(lines), 'file')}", lines, len(lines))

    def diff(self, *given: str, paths: Sequence[str] = ()) -> list[str]:
        """Return a diff, cut to a readable length, with a note when it was cut.

        The contents of secrets files are left out, since the agent sees the preview too.
        """
        options = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--submodule=short", "--abbrev=12")
        done = self._git.ask("diff", *options, *given, "--", *paths, check=False)
        text = done.out.decode("utf-8", "backslashreplace")
        if done.code != 0 or not text:
            return []
        names = self._git.ask("diff", "--name-only", "-z", *options, *given, "--", *paths, check=False).fields
        if any(map(self._secrets.covers, names)):
            text = self._without_secrets(text, names)
        lines = text[:_MAX_DIFF].rstrip("\n").split("\n")
        if len(text) > _MAX_DIFF:
            lines.append(f"[the rest of the diff is left out: {len(text) - _MAX_DIFF} characters]")
        return lines

    def _without_secrets(self, text: str, names: Sequence[str]) -> str:
        parts = [part for part in _FILE.split(text) if part]
        if len(parts) != len(names):
            # With conflicts it is not certain which part belongs to which file.
            return "\n".join(f"changed: {path_text(name)}" for name in names)
        return "".join(
            f"{part.partition(chr(10))[0]}\n[what it holds is left out by the rules for secrets]\n"
            if self._secrets.covers(name)
            else part
            for part, name in zip(parts, names, strict=True)
        )

    def addresses(self, remote: str, *, push: bool = False) -> tuple[str, ...]:
        """Return the addresses of a remote without secrets; a push goes to each of them."""
        which = ("--push", "--all") if push else ("--all",)
        done = self._git.ask("remote", "get-url", *which, remote, check=False)
        addresses = tuple(dict.fromkeys(path_text(redact_urls(line)) for line in done.line.splitlines()))
        # A fetch uses only the first.
        return (addresses if push else addresses[:1]) or ("no address",)

    def settings(self, name: str) -> list[str]:
        """Return all values of a setting."""
        return self._git.ask("config", "-z", "--get-all", name, check=False).fields


def list_lines(head: str, lines: Sequence[str], count: int) -> list[str]:
    """Return a heading with lines below it, cut to a readable number with a note."""
    if not count:
        return [head]
    listed = [f"  {line}" for line in lines[:_MAX_LINES]]
    more = [f"  and {count - len(listed)} more"] if count > len(listed) else []
    return [f"{head}:", *listed, *more]


def _line(line: str, *, digits: int | None = None) -> str:
    oid, _, subject = line.partition(" ")
    return f"{oid[:digits]} {path_text(subject[:_MAX_SUBJECT])}".rstrip()
