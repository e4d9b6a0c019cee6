"""Describes what a push, fetch or pull would exchange with a remote, as far as the repository knows."""

from collections.abc import Sequence

from codeplane.git.safety.command import Git
from codeplane.git.write.preview_facts import PreviewFacts, list_lines
from codeplane.index.files.paths import path_text
from codeplane.kernel.plural import plural

_HEADS, _TAGS = "refs/heads/", "refs/tags/"
_NOWHERE = "not known here"


class Exchange:
    """Describe the exchange with one remote, without contacting it."""

    def __init__(self, git: Git, remote: str) -> None:
        self._git = git
        self._facts = PreviewFacts(git)
        self._remote = remote

    def places(self, *, push: bool) -> list[str]:
        """Name the remote and its addresses."""
        addresses = self._facts.addresses(self._remote, push=push)
        return [f"{'to' if push else 'from'} {path_text(self._remote)}: {address}" for address in addresses]

    def describe_push(self, ref: str, *, force: bool, tags: bool) -> list[str]:
        """Describe a pushed ref, what it replaces on the remote, and the commits that it sends."""
        there = self.destination(ref)
        tip = self._facts.id_of(ref)
        facts = [
            f"{path_text(ref)} at {tip}",
            f"becomes {path_text(there)}, last seen at {self.tracking_id(there) or _NOWHERE}",
        ]
        if self.is_forced(ref):
            facts.append(f"FORCED by remote.{path_text(self._remote)}.push, whatever is there")
        else:
            facts.append("FORCED: what is there is replaced, if it is as last seen" if force else "not forced")
        facts += self._facts.commits(ref, f"--remotes={self._remote}", what="to send, as far as is known")
        if tags:
            facts += self._tags("all tags are sent")
        elif self.follows_tags:
            facts += self._tags("annotated tags on the way are sent too (push.followTags)", f"--merged={tip}")
        return facts

    @property
    def follows_tags(self) -> bool:
        """Whether annotated tags are pushed with their commits."""
        return self._git.ask("config", "--type=bool", "--get", "push.followTags", check=False).line == "true"

    def describe_delete(self, ref: str) -> list[str]:
        """Describe a ref that is deleted on the remote."""
        return [f"DELETES {path_text(ref)} there, last seen at {self.tracking_id(ref) or _NOWHERE}"]

    def describe_fetch(self, *, prune: bool, tags: bool) -> list[str]:
        """Describe what a fetch asks for, and what it prunes."""
        asked = self._facts.settings(f"remote.{self._remote}.fetch")
        facts = list_lines("asks for", [path_text(spec) for spec in asked] or ["HEAD"], len(asked) or 1)
        facts += ["and for all tags"] if tags else []
        if prune:
            known = self._refs(f"refs/remotes/{self._remote}/")
            facts += list_lines(
                f"forgets, of {plural(len(known), 'branch')}, those that are gone there", known, len(known)
            )
        return facts

    def describe_pull(self, ref: str, mode: str) -> list[str]:
        """Describe what a pull brings into the branch, as of the last fetch."""
        facts = [f"into {self._facts.head()}, by {mode}"]
        there = self.upstream(ref)
        known = self._facts.id_of(f"{there}^{{commit}}")
        facts.append(f"{path_text(ref) or 'the upstream'}, last seen at {known or _NOWHERE}, as it is there by then")
        if known:
            facts += self._facts.commits(known, "HEAD", what="of it known so far, to bring in")
        if mode == "rebase" and known:
            facts += self._facts.commits("HEAD", known, what="of here to do again")
        return facts

    def upstream(self, ref: str) -> str:
        """Return the remote-tracking name of the branch that is pulled."""
        return f"refs/remotes/{self._remote}/{ref}" if ref else "@{upstream}"

    def tracking_id(self, ref: str) -> str | None:
        """Return the id of a remote's ref as of the last fetch."""
        full = ref if ref.startswith("refs/") else f"{_HEADS}{ref}"
        targets = [target for spec, target in self._match_refspecs(full, "fetch") if ":" in spec]
        return self._facts.id_of(targets[0]) if targets else None

    def is_forced(self, ref: str) -> bool:
        """Whether the settings force a push of this ref."""
        return any(spec.startswith("+") for spec, _ in self._push_mappings(ref)[:1])

    def destination(self, ref: str) -> str:
        """Return the name of a pushed ref on the remote, which the settings can change."""
        for _, target in self._push_mappings(ref):
            return target
        default = self._git.ask("config", "--get", "push.default", check=False).line
        if default in ("upstream", "tracking") and ref.startswith(_HEADS):
            merge = self._facts.settings(f"branch.{ref.removeprefix(_HEADS)}.merge")
            if len(merge) == 1:
                return merge[0]
        return ref

    def _push_mappings(self, ref: str) -> list[tuple[str, str]]:
        """Return the push settings that match a ref, in order, with its name on the remote."""
        return self._match_refspecs(ref, "push")

    def _match_refspecs(self, ref: str, way: str) -> list[tuple[str, str]]:
        matches = []
        for spec in self._facts.settings(f"remote.{self._remote}.{way}"):
            source, _, target = spec.removeprefix("+").partition(":")
            full = source if source.startswith("refs/") else f"{_HEADS}{source}"
            before, star, after = full.partition("*")
            if full == ref:
                matches.append((spec, target or ref))
            elif star and ref.startswith(before) and ref.endswith(after):
                middle = ref[len(before) : len(ref) - len(after)]
                matches.append((spec, target.replace("*", middle, 1) if target else ref))
        return matches

    def _tags(self, head: str, *only: str) -> list[str]:
        tags = self._refs(_TAGS, *only)
        return list_lines(f"{head}, {len(tags)} of them", tags, len(tags))

    def _refs(self, prefix: str, *only: str) -> list[str]:
        listed = self._git.ask("for-each-ref", *only, "--format=%(objectname) %(refname)", prefix, check=False)
        return [path_text(line) for line in listed.line.splitlines()]


def bound_to(git: Git, prefixes: Sequence[str]) -> list[bytes]:
    """Return all refs below some prefixes with their ids, to bind a preview to."""
    return [git.ask("for-each-ref", "--format=%(objectname) %(refname)", *prefixes).out] if prefixes else []
