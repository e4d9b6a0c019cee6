"""What a workspace can be called: the name is also a folder's, on disks that ignore case too."""

import re
import unicodedata

from codeplane.kernel.errors import InvalidArgument

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?")
_HINT = "use up to 64 small letters, digits and . _ - between them"


def checked(name: str) -> str:
    """The name, or InvalidArgument."""
    if not is_name(name):
        raise InvalidArgument(f"{name[:100]!r} cannot be a workspace's name", hint=_HINT)
    return name


def is_name(name: str) -> bool:
    """Whether a workspace can be called so."""
    return _NAME.fullmatch(name) is not None and ".." not in name


def suggested(text: str) -> str:
    """The name that a folder or remote suggests; InvalidArgument when nothing of it can be used."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"\.{2,}", ".", re.sub(r"[^a-z0-9._-]+", "-", plain)).strip("._-")[:64].rstrip("._-")
    if not is_name(name):
        raise InvalidArgument(f"{text[:100]!r} suggests no name for the workspace", hint=f"give it a name: {_HINT}")
    return name
