"""Names of commits, branches and tags as callers give them, checked before git sees them.

A name is resolved once. Git is then given the commit, or the branch that was found to be at it: its commands do not
all read a name that both a tag and a branch have alike, and what was checked has to be what is written.
"""

import asyncio
import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from codeplane.git.safety.command import Git
from codeplane.index.files.paths import shown
from codeplane.kernel.errors import InvalidArgument, RefNotFound

MAX_REF = 1000
_HEADS, _TAGS = "refs/heads/", "refs/tags/"
_HEAD = ("HEAD", "@")
# Git says when a name has several meanings, and then takes one of them.
_RESOLVE = ("-c", "core.warnAmbiguousRefs=true", "rev-parse", "--verify")
_AMBIGUOUS = re.compile(r"refname '(.+?)' is ambiguous")
_ID = re.compile(r"[0-9a-fA-F]{4,64}")
# Not refs/codeplane/, which keeps what would be lost: nobody is pointed there by mistake.
_SHOWN = (_HEADS, _TAGS, "refs/remotes/")
_RULES = (
    "no spaces, control characters, .. ~ ^ : ? * [ \\ @{ or //; no - / or . at the start, no / or . at the end,"
    " no part that starts with . or ends with .lock; not HEAD or @"
)


def check_ref(ref: str) -> str:
    """The name, unless git would take it for an option or for several."""
    if not ref or len(ref) > MAX_REF or ref.startswith(("-", "^")) or any(char < " " or char == "\x7f" for char in ref):
        raise InvalidArgument(
            f"{shown(ref[:100])!r} is no name of a commit, branch or tag", hint="see git_branches, git_tags, git_log"
        )
    if any(sign in ref for sign in (" ", "..")) and not ref.startswith(":/") and "^{/" not in ref and "@{" not in ref:
        raise InvalidArgument(f"{shown(ref[:100])!r} names no single commit", hint="give one branch, tag or commit")
    return ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The commit that a name stands for, and the ref of that name in full where there is one."""

    commit: str
    ref: str | None

    @property
    def branch(self) -> str | None:
        """The local branch of that name, which can be checked out as one."""
        return self.ref.removeprefix(_HEADS) if self.ref is not None and self.ref.startswith(_HEADS) else None

    @property
    def exact(self) -> str:
        """The commit for `checkout` and `worktree add`, which take a plain id for a branch that is called so."""
        return exact(self.commit)


def exact(commit: str) -> str:
    """A commit in a form that no branch can have as its name."""
    return f"{commit}^0"


async def resolve_commit(git: Git, ref: str) -> str:
    """The commit that a name stands for; RefNotFound with the nearest names when there is none, InvalidArgument when
    it stands for several."""
    return await asyncio.to_thread(resolve_commit_now, git, ref)


def resolve_commit_now(git: Git, ref: str) -> str:
    """The same at once, for judgements."""
    done = git.ask(*_RESOLVE, f"{check_ref(ref)}^{{commit}}", check=False)
    if done.code != 0 or not done.line:
        raise ref_not_found(ref, git.ask("for-each-ref", "--format=%(refname:short)", *_SHOWN).line.splitlines())
    if ref not in _HEAD:
        for name in dict.fromkeys(_AMBIGUOUS.findall(done.err)):
            _refuse_ambiguous(git, name, [done.line] if name == ref else [])
    return done.line


async def resolve_revision(git: Git, ref: str) -> Revision:
    """The commit that a name stands for, and the ref of that name."""
    return await asyncio.to_thread(resolve_revision_now, git, ref)


def resolve_revision_now(git: Git, ref: str) -> Revision:
    """The same at once."""
    commit = resolve_commit_now(git, ref)
    if ref in _HEAD:
        return Revision(commit=commit, ref=None)
    full = f"{_HEADS}{ref}"
    if git.ask("show-ref", "--verify", "--quiet", full, check=False).code != 0:
        full = git.ask("rev-parse", "--symbolic-full-name", ref, check=False).line
        if not full.startswith("refs/"):
            return Revision(commit=commit, ref=None)
    if git.ask("rev-parse", "--verify", "--quiet", f"{full}^{{commit}}", check=False).line != commit:
        raise _ambiguous(ref, [full])
    return Revision(commit=commit, ref=full)


def _refuse_ambiguous(git: Git, name: str, commits: Iterable[str]) -> None:
    """InvalidArgument when the refs of that name, and the commits it abbreviates, are not one commit."""
    full = [f"{prefix}{name}" for prefix in ("refs/", _TAGS, _HEADS, "refs/remotes/")]
    full.append(f"refs/remotes/{name}/HEAD")
    lines = git.ask("for-each-ref", "--format=%(objectname) %(refname)", *full, name).line.splitlines()
    refs = {ref: oid for oid, _, ref in (line.partition(" ") for line in lines) if ref in (*full, name)}
    if name in refs:
        # In full, and git looks there first.
        return
    short = git.ask("rev-parse", f"--disambiguate={name}", check=False).line.split() if _ID.fullmatch(name) else []
    peeled = [git.ask("rev-parse", "--verify", "--quiet", f"{oid}^{{commit}}", check=False).line for oid in short]
    found = {
        git.ask("rev-parse", "--verify", "--quiet", f"{oid}^{{commit}}", check=False).line for oid in refs.values()
    }
    if len({*found, *commits, *(oid for oid in peeled if oid)}) > 1:
        raise _ambiguous(name, [*sorted(refs), *(oid for oid in peeled if oid)])


def _ambiguous(name: str, meant: list[str]) -> InvalidArgument:
    named = [shown(one) for one in meant[:10]]
    return InvalidArgument(
        f"{shown(name[:200])!r} is the name of more than one commit: {', '.join(named)}",
        hint=f"say which: {' or '.join(named)}",
        details={"refs": [*named]},
    )


async def resolve_branch(git: Git, name: str) -> str:
    """The commit of a local branch, by its short name."""
    return await _named(git, _HEADS, name, "branch", "git_branches")


async def resolve_tag(git: Git, name: str) -> str:
    """The object of a tag."""
    return await _named(git, _TAGS, name, "tag", "git_tags")


async def check_new_name(git: Git, prefix: str, name: str) -> str:
    """A name that a branch or tag can have; whether one has it already is for git to say."""
    kind = "tag" if prefix == _TAGS else "branch"
    fits = _is_name(name) and name not in ("HEAD", "@")
    if not fits or (await git.run("check-ref-format", f"{prefix}{name}", check=False)).code != 0:
        raise InvalidArgument(f"{shown(name[:100])!r} is not a valid {kind} name", hint=_RULES)
    return name


def check_existing_name(name: str, kind: str, listing: str) -> str:
    """A name that a branch or tag may have; RefNotFound when none ever can."""
    if not _is_name(name):
        raise RefNotFound(f"there is no {kind} {shown(name[:200])!r}", hint=f"see {listing}")
    return name


def _is_name(name: str) -> bool:
    """Whether it can be said to git as a name at all: no option, no spaces, not endless."""
    return 0 < len(name) <= MAX_REF and not name.startswith("-") and all(char > " " and char != "\x7f" for char in name)


def ref_not_found(ref: str, names: list[str]) -> RefNotFound:
    """What is said of a name that nothing has."""
    near = difflib.get_close_matches(ref, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(shown, near))}?" if near else None
    return RefNotFound(f"there is no {shown(ref[:200])!r} here", hint=hint, details={"nearest": [*map(shown, near)]})


async def _named(git: Git, prefix: str, name: str, kind: str, listing: str) -> str:
    check_existing_name(name, kind, listing)
    done = await git.run("show-ref", "--verify", "--hash", f"{prefix}{name}", check=False)
    if done.code == 0 and done.line:
        return done.line
    names = (await git.run("for-each-ref", "--format=%(refname:lstrip=2)", prefix)).line.splitlines()
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(shown, near))}?" if near else f"see {listing}"
    raise RefNotFound(f"there is no {kind} {shown(name[:200])!r}", hint=hint)
