"""Turns what git says into our errors, with secrets removed."""

import re
import signal
from collections.abc import Sequence

from codeplane.git.read.partial_clone import MISSING_OBJECTS_HINT
from codeplane.index.files.paths import path_text
from codeplane.kernel.errors import CodePlaneError, GitBusy, GitRefused, NotGit, RefNotFound, RemoteFailed, StorageFull
from codeplane.kernel.plural import ARE, plural

_MAX_WORDS = 1500
_NAMED = 10
_ADDRESS = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*)://([^/\s'\"]*)@")
_ADVICE = re.compile(
    r"^\s*hint:.*|^\s*\((?:use|all conflicts fixed).*\)$|^If you are sure you want to delete it.*|^use 'remove -f.*"
    r"|,? use --force to delete it|^fatal: Exiting because of an unresolved conflict\.$|^(?:fatal|error): (?=\S)"
    r"|\s*\(use \"git [^)]*\)$"
)
_QUERY = re.compile(r"(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"?]*)\?[^\s'\"]*")
_RESOLVE = "resolve them and git_stage them, then go on; or give it up with abort; git_status names them all"
_LOSES = "that loses work or commits, so it is asked for or denied unless the owner allows it"
_AUTH = "nobody is asked for passwords here: load the key with ssh-add, or try: git credential fill"

# The first that fits decides.
_MEANINGS: tuple[tuple[re.Pattern[str], type[CodePlaneError], str | None], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind, hint)
    for pattern, kind, hint in (
        (r"no space left on device|disk quota exceeded", StorageFull, None),
        (
            r"read-only file system|\bEROFS\b",
            GitRefused,
            "hooks and filters write the repository and ~/.cache alone; the owner opens more: git.hook_writable",
        ),
        (
            r"\.lock'?: file exists|another git process seems to be running|cannot lock ref .* but expected",
            GitBusy,
            "another git is at work; if none is running, remove the lock file that git names",
        ),
        (
            r"from promisor remote|lazy fetching disabled",
            GitRefused,
            MISSING_OBJECTS_HINT,
        ),
        (r"not a git repository|must be run in a work tree|dubious ownership", NotGit, None),
        (
            r"authentication failed|permission denied \(|@\S+: permission denied|could not read (username|password)"
            r"|terminal prompts disabled|host key verification failed|returned error: 40[13]|invalid credentials",
            RemoteFailed,
            _AUTH,
        ),
        (
            r"could not resolve host|unable to access '\w+://|could not read from remote repository|unable to connect"
            r"|connection (refused|timed out|reset)|does not appear to be a git repository|the remote end hung up"
            r"|early eof|repository '?[^']*'? (not found|does not exist)|network is unreachable",
            RemoteFailed,
            "check the address with git_remotes, then try: git ls-remote REMOTE",
        ),
        (
            r"couldn't find remote ref|no such remote|not a valid remote",
            RefNotFound,
            "see git_remotes and git_branches",
        ),
        (
            r"no (merge|rebase|cherry-pick|revert|bisect)( or \w+)? in progress|there is no merge to|not bisecting",
            GitRefused,
            "nothing of the kind is under way; git_status shows the state",
        ),
        (
            r"is not fully merged",
            GitRefused,
            f"git_merge it first, or force=true: {_LOSES}",
        ),
        (
            r"contains modified or untracked files",
            GitRefused,
            f"commit what is in it, or force=true: {_LOSES}",
        ),
        (r"cannot remove a locked working tree|cannot move a locked", GitRefused, "git_worktree_unlock it first"),
        (
            r"cannot delete branch .* (checked out|used by worktree) at",
            GitRefused,
            "git_checkout another branch first, or git_worktree_remove the work tree that has it",
        ),
        (
            r"is already (checked out|used by worktree) at",
            GitRefused,
            "a branch can be out in one work tree only: see git_worktrees",
        ),
        (
            r"(branch named .*|tag .*) already exists",
            GitRefused,
            "choose another name; git_branches and git_tags list those there are",
        ),
        (
            r"unmerged (files|paths|index)|needs merge|is unmerged|you need to resolve your current"
            r"|you must edit all merge conflicts",
            GitBusy,
            _RESOLVE,
        ),
        (
            r"you have not concluded your|_HEAD exists"
            r"|rebase-(merge|apply) directory|(merge|rebase|cherry-pick|revert|bisect)\S* (is )?(already )?in progress"
            r"|in the middle of|during a (merge|cherry-pick|rebase)"
            r"|while (merging|rebasing|reverting|cherry-picking|bisecting)",
            GitBusy,
            None,
        ),
        (
            r"please tell me who you are|empty ident|unable to auto-detect email|no email was given",
            GitRefused,
            "run: git config user.name NAME && git config user.email ADDRESS",
        ),
        (
            r"non-fast-forward|fetch first|stale info|\[rejected\]",
            GitRefused,
            "git_pull first; force replaces what is there only when it is as last fetched",
        ),
        (
            r"would be overwritten by|please commit your changes or stash|you have unstaged changes|uncommitted changes"
            r"|your local changes",
            GitRefused,
            "git_stash_push or git_commit first",
        ),
        (
            r"nothing to commit|(no changes|nothing) added to commit",
            GitRefused,
            'give paths=["."], or git_stage first; allow_empty=true makes a commit without changes',
        ),
        (
            r"unknown revision|bad revision|not a valid (ref|object)|invalid reference|unknown switch|not a commit",
            RefNotFound,
            None,
        ),
    )
)


# Other commands use no network: there such words come from a hook.
_OUTWARD = ("fetch", "push", "pull", "submodule")


def git_error(command: str, message: str, code: int | None = None) -> CodePlaneError:
    """Return the error for what git printed, or for its exit status when it printed nothing."""
    words = redact_urls(message).strip()
    if len(words) > _MAX_WORDS:
        # Hooks tell the reason first, git its result at the end.
        words = f"{words[: _MAX_WORDS // 2]}\n[…]\n{words[-_MAX_WORDS // 2 :]}"
    for pattern, kind, hint in _MEANINGS:
        if (code is None or code >= 0) and pattern.search(words) and (kind is not RemoteFailed or command in _OUTWARD):
            return kind(f"git {command}: {_strip_advice(words)}", hint=hint)
    if code is not None and code < 0:
        return GitRefused(
            f"git {command}: {exit_reason(code)}{f' after printing: {words}' if words else ' without printing a word'}",
            hint="it was not ended from here; is memory short? git_status shows how far it came",
        )
    return GitRefused(
        f"git {command}: {words or (exit_reason(code) if code is not None else 'it failed without a word')}"
    )


def exit_reason(code: int) -> str:
    """Describe the exit status of a command that printed nothing."""
    return f"it was ended by {_signal(-code)}" if code < 0 else f"it failed with status {code} and without a word"


def conflict_error(paths: Sequence[str]) -> GitBusy:
    """Return the error that lists the files in conflict."""
    count = f"{plural(len(paths), 'file', verbs=ARE)} in conflict"
    return GitBusy(
        f"{count}: {name_first(paths)}", hint=_RESOLVE, details={"conflicts": [*map(path_text, paths[:_NAMED])]}
    )


def name_first(names: Sequence[str]) -> str:
    """Join the first names and say how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(path_text(name) for name in names[:_NAMED])}{more}"


def _strip_advice(words: str) -> str:
    """Remove git's advice, which names commands for a terminal; our hint tells what to do."""
    lines = [_ADVICE.sub("", line) for line in words.splitlines()]
    return "\n".join(line for line in lines if line.strip()) or words


def redact_urls(text: str) -> str:
    """Remove passwords and tokens from the URLs in a text."""
    return _QUERY.sub(r"\1?***", _ADDRESS.sub(_user, text))


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _user(match: re.Match[str]) -> str:
    scheme, user = match[1], match[2]
    # The user name of ssh belongs to the address; elsewhere it can be a token.
    if scheme.lower() in ("ssh", "git+ssh") and ":" not in user:
        return match[0]
    return f"{scheme}://***@"
