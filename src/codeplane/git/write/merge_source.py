"""The source of a merge: which files it may change, and how git names it."""

from codeplane.git.safety.command import Git
from codeplane.git.write.revision import Revision

_KINDS = {
    "refs/heads/": "branch '{}' of .",
    "refs/tags/": "tag '{}' of .",
    "refs/remotes/": "remote-tracking branch '{}' of .",
}


async def ranges(git: Git, head: str | None, target: str) -> list[tuple[str | None, str]]:
    """Return the ranges from every merge base to the target, whose files a merge may change."""
    if head is None:
        return [(None, target)]
    bases = (await git.run("merge-base", "--all", head, target, check=False)).line.split()
    return [(base, target) for base in bases] or [(None, target)]


def ranges_now(git: Git, head: str | None, target: str) -> list[tuple[str | None, str]]:
    """Return the same ranges without waiting on the event loop."""
    bases = git.ask("merge-base", "--all", head, target, check=False).line.split() if head else []
    return [(base, target) for base in bases] or [(None, target)]


async def object_of(git: Git, revision: Revision) -> str:
    """Return the object to merge: a tag itself, whose message git uses, else the commit."""
    if revision.ref is None or not revision.ref.startswith("refs/tags/"):
        return revision.commit
    tag = (await git.run("rev-parse", "--verify", "--quiet", revision.ref, check=False)).line
    peeled = await git.run("rev-parse", "--verify", "--quiet", f"{tag}^{{commit}}", check=False)
    return tag if tag and peeled.line == revision.commit else revision.commit


async def message_of(git: Git, oid: str, what: str) -> str:
    """Return git's default merge message; `what` is the description in FETCH_HEAD."""
    given = f"{oid}\t\t{what}\n".encode("utf-8", "surrogateescape")
    done = await git.run("fmt-merge-msg", "--no-log", input=given, check=False)
    return done.out.decode("utf-8", "replace").strip() or f"Merge {what}"


def source_of(revision: Revision, name: str) -> str:
    """Return git's name for what is merged."""
    for prefix, form in _KINDS.items():
        if revision.ref is not None and revision.ref.startswith(prefix):
            return form.format(revision.ref.removeprefix(prefix))
    return f"commit '{name}'"
