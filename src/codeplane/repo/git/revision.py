"""Names of commits, branches and tags as callers give them, checked before git sees them."""

import difflib

from codeplane.kernel.errors import InvalidArgument, RefNotFound
from codeplane.repo.git.command import Git
from codeplane.repo.truth.paths import shown

MAX_REF = 1000
_HEADS, _TAGS = "refs/heads/", "refs/tags/"
# Not refs/codeplane/, which keeps what would be lost: nobody is pointed there by mistake.
_SHOWN = (_HEADS, _TAGS, "refs/remotes/")
_RULES = (
    "no spaces, control characters, .. ~ ^ : ? * [ \\ @{ or //; no - / or . at the start, no / or . at the end,"
    " no part that starts with . or ends with .lock; not HEAD or @"
)


def checked(ref: str) -> str:
    """The name, unless git would take it for an option or for several."""
    if not ref or len(ref) > MAX_REF or ref.startswith(("-", "^")) or any(char < " " or char == "\x7f" for char in ref):
        raise InvalidArgument(
            f"{shown(ref[:100])!r} is no name of a commit, branch or tag", hint="see git_branches, git_tags, git_log"
        )
    if any(sign in ref for sign in (" ", "..")) and not ref.startswith(":/") and "^{/" not in ref and "@{" not in ref:
        raise InvalidArgument(f"{shown(ref[:100])!r} names no single commit", hint="give one branch, tag or commit")
    return ref


async def commit_of(git: Git, ref: str) -> str:
    """The commit that a name stands for; RefNotFound with the nearest names when there is none."""
    done = await git.run("rev-parse", "--verify", "--quiet", f"{checked(ref)}^{{commit}}", check=False)
    if done.code != 0 or not done.line:
        raise not_found(ref, (await git.run("for-each-ref", "--format=%(refname:short)", *_SHOWN)).line.splitlines())
    return done.line


def commit_now(git: Git, ref: str) -> str:
    """The same at once, for judgements."""
    done = git.ask("rev-parse", "--verify", "--quiet", f"{checked(ref)}^{{commit}}", check=False)
    if done.code != 0 or not done.line:
        raise not_found(ref, git.ask("for-each-ref", "--format=%(refname:short)", *_SHOWN).line.splitlines())
    return done.line


async def branch_of(git: Git, name: str) -> str:
    """The commit of a local branch, by its short name."""
    return await _named(git, _HEADS, name, "branch", "git_branches")


async def tag_of(git: Git, name: str) -> str:
    """The object of a tag."""
    return await _named(git, _TAGS, name, "tag", "git_tags")


async def fresh_name(git: Git, prefix: str, name: str) -> str:
    """A name that a branch or tag can have; whether one has it already is for git to say."""
    kind = "tag" if prefix == _TAGS else "branch"
    fits = _is_name(name) and name not in ("HEAD", "@")
    if not fits or (await git.run("check-ref-format", f"{prefix}{name}", check=False)).code != 0:
        raise InvalidArgument(f"{shown(name[:100])!r} is not a valid {kind} name", hint=_RULES)
    return name


def known_name(name: str, kind: str, listing: str) -> str:
    """A name that a branch or tag may have; RefNotFound when none ever can."""
    if not _is_name(name):
        raise RefNotFound(f"there is no {kind} {shown(name[:200])!r}", hint=f"see {listing}")
    return name


def _is_name(name: str) -> bool:
    """Whether it can be said to git as a name at all: no option, no spaces, not endless."""
    return 0 < len(name) <= MAX_REF and not name.startswith("-") and all(char > " " and char != "\x7f" for char in name)


def not_found(ref: str, names: list[str]) -> RefNotFound:
    """What is said of a name that nothing has."""
    near = difflib.get_close_matches(ref, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(shown, near))}?" if near else None
    return RefNotFound(f"there is no {shown(ref[:200])!r} here", hint=hint, details={"nearest": [*map(shown, near)]})


async def _named(git: Git, prefix: str, name: str, kind: str, listing: str) -> str:
    known_name(name, kind, listing)
    done = await git.run("show-ref", "--verify", "--hash", f"{prefix}{name}", check=False)
    if done.code == 0 and done.line:
        return done.line
    names = (await git.run("for-each-ref", "--format=%(refname:lstrip=2)", prefix)).line.splitlines()
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(shown, near))}?" if near else f"see {listing}"
    raise RefNotFound(f"there is no {kind} {shown(name[:200])!r}", hint=hint)
