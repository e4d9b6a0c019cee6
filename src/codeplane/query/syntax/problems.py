"""What is wrong with the syntax of a file, by its syntax tree."""

import tree_sitter

MAX_PROBLEMS = 100
_MAX_NODES = 200_000
_MAX_SHOWN = 40


def problems(root: tree_sitter.Node, text: bytes) -> tuple[list[tuple[int, int, str]], bool]:
    """Return the start, end and description of each error, in order, and whether these are all."""
    found: list[tuple[int, int, str]] = []
    waiting, looked_at = [root], 0
    while waiting:
        node = waiting.pop()
        looked_at += 1
        if len(found) >= MAX_PROBLEMS or looked_at > _MAX_NODES:
            return found, False
        if node.is_missing:
            found.append((node.start_byte, node.end_byte, f"{node.type} is missing"))
        elif node.is_error:
            # The first line of it: an error may reach to the end of the file.
            stop = text.find(b"\n", node.start_byte, node.end_byte)
            end = node.end_byte if stop < 0 else max(stop, node.start_byte + 1)
            shown = " ".join(text[node.start_byte : end].decode("utf-8", "replace").split())[:_MAX_SHOWN]
            found.append((node.start_byte, end, f"syntax error at {shown!r}" if shown else "syntax error"))
        elif node.has_error:
            waiting += reversed(node.children)
    return found, True
