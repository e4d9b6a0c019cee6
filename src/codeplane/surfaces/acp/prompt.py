"""A prompt's blocks as the one message of a turn."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from codeplane.kernel.errors import ContentRefused, InvalidArgument, TooLarge
from codeplane.surfaces.acp.requests import Block

_FENCE = "```"
MAX_BYTES = 65_536


_NONE: Mapping[str, str] = {}


def prompt_text(blocks: Iterable[Block], root: Path, unsaved: Mapping[str, str] = _NONE) -> str:
    """Return the message; ContentRefused for pictures, sound and bytes, which nothing here reads; TooLarge.

    `unsaved` are the notes to append to linked files that an editor has not saved.
    """
    parts = [*(_part(block, root) for block in blocks), *unsaved.values()]
    text = "\n\n".join(part for part in parts if part.strip())
    if not text:
        raise InvalidArgument("the prompt is empty", hint="send at least one text block with something in it")
    if (size := len(text.encode("utf-8", "replace"))) > MAX_BYTES:
        raise TooLarge(
            f"the prompt has {size} bytes, and may have {MAX_BYTES}",
            hint="link to files instead of embedding them",
            details={"limit": MAX_BYTES, "size": size},
        )
    return text


def _part(block: Block, root: Path) -> str:
    match block.type:
        case "text" if block.text is not None:
            return block.text
        case "resource_link" if block.uri:
            return f"[{block.name or place_of(block.uri, root)}]({place_of(block.uri, root)})"
        case "resource" if block.resource is not None and block.resource.text is not None:
            return fenced(place_of(block.resource.uri, root), block.resource.text)
        case "image" | "audio" | "resource":
            raise ContentRefused(f"a prompt cannot hold {_words(block)}", details={"type": block.type})
    raise InvalidArgument(f"a block of type {block.type[:50]!r} is not complete, or not known")


def fenced(title: str, text: str) -> str:
    """Return a text under a title, in a fence that nothing within it can end."""
    fence = _FENCE
    while fence in text:
        fence += "`"
    return f"{title}:\n{fence}\n{text}\n{fence}"


def linked_file(block: Block, root: Path) -> str | None:
    """Return the path below the repository that a link in a prompt names, or None."""
    if block.type != "resource_link" or not block.uri:
        return None
    try:
        parts = urlsplit(block.uri)
    except ValueError:
        return None
    path = Path(unquote(parts.path))
    is_inside = parts.scheme == "file" and path.is_relative_to(root) and ".." not in path.parts
    return str(path.relative_to(root)) if is_inside and "\0" not in str(path) else None


def _words(block: Block) -> str:
    return {"image": "a picture", "audio": "sound"}.get(block.type, "a file that is no text")


def place_of(uri: str, root: Path) -> str:
    """Return the path below the repository that a file's address names; any other address as it is."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    if parts.scheme != "file":
        return uri
    path = Path(unquote(parts.path))
    lines = f"#{parts.fragment}" if parts.fragment else ""
    return f"{path.relative_to(root)}{lines}" if path.is_relative_to(root) else f"{path}{lines}"
