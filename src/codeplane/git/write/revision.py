"""Resolves the names of commits, branches and tags that callers give.

A name is resolved once, and git is then given the commit or the branch at that commit: git commands differ in how they
read a name that both a tag and a branch have, and what was checked must be what is written.
"""

import asyncio
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.git.safety.command import Git
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import InvalidArgument, RefNotFound

MAX_REF = 1000
_HEADS, _TAGS = "refs/heads/", "refs/tags/"
_HEAD = ("HEAD", "@")
# Makes git warn when a name is ambiguous; it then chooses one meaning.
_RESOLVE = ("-c", "core.warnAmbiguousRefs=true", "rev-parse", "--verify")
_AMBIGUOUS = re.compile(r"refname '(.+?)' is ambiguous")
_ID = re.compile(r"[0-9a-fA-F]{4,64}")
# Not refs/codeplane/, which only holds recovery refs.
_SHOWN = (_HEADS, _TAGS, "refs/remotes/")
_RULES = (
    "no spaces, control characters, .. ~ ^ : ? * [ \\ @{ or //; no - / or . at the start, no / or . at the end,"
    " no part that starts with . or ends with .lock; not HEAD or @"
)


def check_ref(ref: str) -> str:
    """Return the name; InvalidArgument when git would read it as an option or a range."""
    if not ref or len(ref) > MAX_REF or ref.startswith(("-", "^")) or any(char < " " or char == "\x7f" for char in ref):
        raise InvalidArgument(
            f"{path_text(ref[:100])!r} is no name of a commit, branch or tag",
            hint="see git_branches, git_tags, git_log",
        )
    if any(sign in ref for sign in (" ", "..")) and not ref.startswith(":/") and "^{/" not in ref and "@{" not in ref:
        raise InvalidArgument(f"{path_text(ref[:100])!r} names no single commit", hint="give one branch, tag or commit")
    return ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The commit of a name, and the full name of its ref if it has one."""

    commit: str
    ref: str | None

    @property
    def branch(self) -> str | None:
        """The local branch of that name."""
        return self.ref.removeprefix(_HEADS) if self.ref is not None and self.ref.startswith(_HEADS) else None

    @property
    def exact(self) -> str:
        """The commit for `checkout` and `worktree add`, which would read a plain id as a branch of that name."""
        return exact(self.commit)


def exact(commit: str) -> str:
    """Return a commit in a form that cannot be the name of a branch."""
    return f"{commit}^0"


async def resolve_commit(git: Git, ref: str) -> str:
    """Resolve a name to a commit; RefNotFound suggests similar names, InvalidArgument means it is ambiguous."""
    return await asyncio.to_thread(resolve_commit_now, git, ref)


def resolve_commit_now(git: Git, ref: str) -> str:
    """Resolve a name to a commit without waiting on the event loop."""
    done = git.ask(*_RESOLVE, f"{check_ref(ref)}^{{commit}}", check=False)
    if done.code != 0 or not done.line:
        raise ref_not_found(ref, git.ask("for-each-ref", "--format=%(refname:short)", *_SHOWN).line.splitlines())
    if ref not in _HEAD:
        for name in dict.fromkeys(_AMBIGUOUS.findall(done.err)):
            _refuse_ambiguous(git, name, [done.line] if name == ref else [])
    return done.line


async def resolve_revision(git: Git, ref: str) -> Revision:
    """Resolve a name to its commit and ref."""
    return await asyncio.to_thread(resolve_revision_now, git, ref)


def resolve_revision_now(git: Git, ref: str) -> Revision:
    """Resolve a name to its commit and ref without waiting on the event loop."""
    commit = resolve_commit_now(git, ref)
    if ref in _HEAD:
        return Revision(commit=commit, ref=None)
    full = f"{_HEADS}{ref}"
    if git.ask("show-ref", "--verify", "--quiet", full, check=False).code != 0:
        full = git.ask("rev-parse", "--symbolic-full-name", ref, check=False).line
        if not full.startswith("refs/"):
            return Revision(commit=commit, ref=None)
    if git.ask("rev-parse", "--verify", "--quiet", f"{full}^{{commit}}", check=False).line != commit:
        raise _ambiguous_error(ref, [full])
    return Revision(commit=commit, ref=full)


def _refuse_ambiguous(git: Git, name: str, commits: Iterable[str]) -> None:
    """Raise InvalidArgument when the refs of that name and the ids it abbreviates are different commits."""
    full = [f"{prefix}{name}" for prefix in ("refs/", _TAGS, _HEADS, "refs/remotes/")]
    full.append(f"refs/remotes/{name}/HEAD")
    lines = git.ask("for-each-ref", "--format=%(objectname) %(refname)", *full, name).line.splitlines()
    refs = {ref: oid for oid, _, ref in (line.partition(" ") for line in lines) if ref in (*full, name)}
    if name in refs:
        # A full name, which git tries first.
        return
    short = git.ask("rev-parse", f"--disambiguate={name}", check=False).line.split() if _ID.fullmatch(name) else []
    peeled = [git.ask("rev-parse", "--verify", "--quiet", f"{oid}^{{commit}}", check=False).line for oid in short]
    ref_commits = {
        git.ask("rev-parse", "--verify", "--quiet", f"{oid}^{{commit}}", check=False).line for oid in refs.values()
    }
    if len({*ref_commits, *commits, *(oid for oid in peeled if oid)}) > 1:
        raise _ambiguous_error(name, [*sorted(refs), *(oid for oid in peeled if oid)])


def _ambiguous_error(name: str, meanings: list[str]) -> InvalidArgument:
    named = [path_text(meaning) for meaning in meanings[:10]]
    return InvalidArgument(
        f"{path_text(name[:200])!r} is the name of more than one commit: {', '.join(named)}",
        hint=f"say which: {' or '.join(named)}",
        details={"refs": [*named]},
    )


async def resolve_branch(git: Git, name: str) -> str:
    """Resolve a local branch by its short name to its commit."""
    return await _resolve_ref(git, _HEADS, name, "branch", "git_branches")


async def resolve_tag(git: Git, name: str) -> str:
    """Resolve a tag to its object."""
    return await _resolve_ref(git, _TAGS, name, "tag", "git_tags")


async def check_new_name(git: Git, prefix: str, name: str) -> str:
    """Return the name if a branch or tag can have it; whether one exists is left to git."""
    kind = "tag" if prefix == _TAGS else "branch"
    fits = _is_name(name) and name not in ("HEAD", "@")
    if not fits or (await git.run("check-ref-format", f"{prefix}{name}", check=False)).code != 0:
        raise InvalidArgument(f"{path_text(name[:100])!r} is not a valid {kind} name", hint=_RULES)
    return name


def check_existing_name(name: str, kind: str, listing: str) -> str:
    """Return the name; RefNotFound when no branch or tag can ever have it."""
    if not _is_name(name):
        raise RefNotFound(f"there is no {kind} {path_text(name[:200])!r}", hint=f"see {listing}")
    return name


def _is_name(name: str) -> bool:
    """Whether git can take it as a name: no option, no spaces, not too long."""
    return 0 < len(name) <= MAX_REF and not name.startswith("-") and all(char > " " and char != "\x7f" for char in name)


def ref_not_found(ref: str, names: list[str]) -> RefNotFound:
    """Return the error for an unknown name, with similar names."""
    near = difflib.get_close_matches(ref, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(path_text, near))}?" if near else None
    return RefNotFound(
        f"there is no {path_text(ref[:200])!r} here", hint=hint, details={"nearest": [*map(path_text, near)]}
    )


async def _resolve_ref(git: Git, prefix: str, name: str, kind: str, listing: str) -> str:
    check_existing_name(name, kind, listing)
    done = await git.run("show-ref", "--verify", "--hash", f"{prefix}{name}", check=False)
    if done.code == 0 and done.line:
        return done.line
    names = (await git.run("for-each-ref", "--format=%(refname:lstrip=2)", prefix)).line.splitlines()
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(path_text, near))}?" if near else f"see {listing}"
    raise RefNotFound(f"there is no {kind} {path_text(name[:200])!r}", hint=hint)
