"""Valid workspace names, which are also folder names on case-insensitive disks."""

import re
import unicodedata

from codeplane.kernel.errors import InvalidArgument

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
_HINT = "use up to 64 small letters, digits and . _ - between them"


def check_name(name: str) -> str:
    """Return the name, or raise InvalidArgument."""
    if not is_name(name):
        raise InvalidArgument(f"{name[:100]!r} cannot be a workspace's name", hint=_HINT)
    return name


def is_name(name: str) -> bool:
    """Whether a name is valid."""
    return _NAME.fullmatch(name) is not None and ".." not in name


def suggest_name(text: str) -> str:
    """Derive a name from a folder or remote; InvalidArgument if none can be."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", plain)).strip("._-")[:64].rstrip("._-")
    if not is_name(name):
        raise InvalidArgument(f"{text[:100]!r} suggests no name for the workspace", hint=f"give it a name: {_HINT}")
    return name
