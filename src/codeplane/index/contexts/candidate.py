"""A root that may become a context, and the context it becomes."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from codeplane.index.files.paths import escape_bytes

Status: TypeAlias = Literal["pending", "detached", "valid", "failed", "empty"]
# A path's place in the order in which a probe looks at files: shortest first, then by name.
Order: TypeAlias = tuple[int, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A language family's root as discovered; `tier` 1 marks a workspace, 2 a package, 0 needs no marker."""

    family: str
    root: str
    tier: int
    markers: tuple[str, ...] = ()
    status: Status = "pending"
    reason: str = ""
    # Set when a person gave the context a name in contexts.yaml; such a one is not probed.
    pinned: str | None = None

    @property
    def id(self) -> str:
        """The pinned name, or an id made of family and root."""
        return self.pinned or context_id(self.family, self.root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A namespace of definitions: a family's files below a root, without excluded folders."""

    id: str
    family: str | None
    root: str
    tier: int
    status: Status
    reason: str = ""
    markers: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    # The last file that the probe's verdict depends on; None: any file of the context can change it.
    edge: Order | None = None


def context_id(family: str, root: str) -> str:
    """A stable id made of family and root, such as `python:apps/api` or `go:.`."""
    return f"{family}:{escape_bytes(root) or '.'}"


def fallback(family: str | None) -> Context:
    """The fallback context for files without an owner: `python` for a family, `none` without one."""
    return Context(id=family or "none", family=family, root="", tier=0, status="valid", reason="no context owns these")


def is_inside(path: str, root: str) -> bool:
    """Whether a path is the root or below it, by whole segments."""
    return root == "" or path == root or path.startswith(root + "/")


def relative(path: str, root: str) -> str:
    """A path relative to a root above it."""
    return path[len(root) + 1 :] if root else path


def parent(root: str) -> str:
    """The parent folder; the root is its own parent."""
    return root.rpartition("/")[0]
