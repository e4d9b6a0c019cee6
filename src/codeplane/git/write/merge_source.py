"""What a merge takes in: which files may come by it, and what git would call it."""

from codeplane.git.safety.command import Git
from codeplane.git.write.revision import Revision

_KINDS = {
    "refs/heads/": "branch '{}' of .",
    "refs/tags/": "tag '{}' of .",
    "refs/remotes/": "remote-tracking branch '{}' of .",
}


async def ranges(git: Git, head: str | None, target: str) -> list[tuple[str | None, str]]:
    """What may come into `head`: what differs from any of the commits that both sides began at."""
    if head is None:
        return [(None, target)]
    bases = (await git.run("merge-base", "--all", head, target, check=False)).line.split()
    return [(base, target) for base in bases] or [(None, target)]


def ranges_now(git: Git, head: str | None, target: str) -> list[tuple[str | None, str]]:
    """The same at once."""
    bases = git.ask("merge-base", "--all", head, target, check=False).line.split() if head else []
    return [(base, target) for base in bases] or [(None, target)]


async def object_of(git: Git, revision: Revision) -> str:
    """What git is given to merge: a tag itself, whose message it takes over, else the commit."""
    if revision.ref is None or not revision.ref.startswith("refs/tags/"):
        return revision.commit
    tag = (await git.run("rev-parse", "--verify", "--quiet", revision.ref, check=False)).line
    peeled = await git.run("rev-parse", "--verify", "--quiet", f"{tag}^{{commit}}", check=False)
    return tag if tag and peeled.line == revision.commit else revision.commit


async def message_of(git: Git, oid: str, what: str) -> str:
    """The message that git would give a merge of this; `what` as git writes it into FETCH_HEAD."""
    given = f"{oid}\t\t{what}\n".encode("utf-8", "surrogateescape")
    done = await git.run("fmt-merge-msg", "--no-log", input=given, check=False)
    return done.out.decode("utf-8", "replace").strip() or f"Merge {what}"


def source_of(revision: Revision, name: str) -> str:
    """What is merged, as git names it."""
    for prefix, form in _KINDS.items():
        if revision.ref is not None and revision.ref.startswith(prefix):
            return form.format(revision.ref.removeprefix(prefix))
    return f"commit '{name}'"
