"""Which files hold secrets: the one definition for the index, for reading and writing, for git and for the sandbox."""

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from codeplane.kernel.disk_names import fold_path, has_plain_name

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAMES = (
    *(".env", ".env.*", ".env~", ".envrc", ".envrc.*"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.ppk"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"),
    # What programs sign in with. Not `.npmrc`: in a repository it mostly says where packages come from.
    *(".netrc", "_netrc", ".pypirc", ".git-credentials"),
)
# Examples of a secrets file, to be copied and filled in.
EXAMPLES = tuple(f"{name}.{kind}" for name in (".env", ".envrc") for kind in ("example", "sample", "template"))
# Keys that are no secret when everything in them is public.
KEYS = (".pem", ".key")


def _any_of(names: Iterable[str]) -> str:
    return "|".join(re.escape(name).replace(r"\*", "[^/]*") for name in names)


# The short names that Windows gives to those that begin with a dot, or are too long for it.
_SHORT_NAMES = r"(?:env|envrc|netrc|pypirc|git-cr)~[0-9]+(?:\.[^/]*)?|id_(?:ecd|ed2)~[0-9]+"
# Searched for in a whole path: what lies in a folder of such a name is meant too.
_SECRET = re.compile(
    rf"(?:^|/)(?!(?:{_any_of(EXAMPLES)})(?:/|$))(?:{_any_of(NAMES)}|{_SHORT_NAMES})(?:/|$)", re.IGNORECASE
)


def is_secret_name(name: str) -> bool:
    """Whether a file or folder of this name, or one that a disk takes for it, holds secrets."""
    if _SECRET.search(name) is not None:
        return True
    return not has_plain_name(name) and _SECRET.search("/".join(fold_path(name))) is not None


def secret_shell_patterns() -> str:
    """The patterns of a shell's `case` for paths of secrets files and what lies in folders of such names, or more."""
    names = ["".join(f"[{char}{char.upper()}]" if char.isalpha() else char for char in name) for name in NAMES]
    return "|".join(f"{name}|*/{name}|{name}/*|*/{name}/*" for name in names)


class SecretRules:
    """Which paths hold secrets, but for those that the owner's settings show.

    Nothing in the work tree has a say: an agent can write there, and a branch can bring it. `aliases` gives further
    paths of the same files: what a link of such a name leads to, and other names of a file with several.
    """

    def __init__(self, shown: Iterable[str] = (), aliases: Callable[[], frozenset[str]] = frozenset) -> None:
        self.shown = tuple(shown)
        self._aliases = aliases

    def covers(self, path: str) -> bool:
        """Whether a path leads to a secrets file, or into a folder of such a name."""
        if not is_secret_name(path) and not self._is_alias(path):
            return False
        return not (self.shown and self._patterns.match_file(_text(path)))

    def _is_alias(self, path: str) -> bool:
        aliases = self._aliases()
        return bool(aliases) and any(str(folder) in aliases for folder in (path, *PurePosixPath(path).parents))

    def by_name(self, shown: Iterable[str] = ()) -> "SecretRules":
        """The same rules for names alone, with more files shown."""
        return SecretRules((*self.shown, *shown))

    @cached_property
    def _patterns(self) -> "GitIgnoreSpec":
        from pathspec import GitIgnoreSpec

        return GitIgnoreSpec.from_lines(self.shown)


NOTHING_SHOWN = SecretRules()


def _text(path: str) -> str:
    """A path that matchers can take: bytes that are not UTF-8 become a stand-in."""
    return path if path.isascii() else path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
