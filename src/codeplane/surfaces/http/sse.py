"""Server-sent events as text."""

from codeplane.kernel.json import JsonValue, dumps


def message(kind: str, data: JsonValue, *, position: JsonValue = None) -> str:
    """Return one server-sent event."""
    head = f"id: {position}\n" if position is not None else ""
    return f"{head}event: {kind}\ndata: {dumps(data)}\n\n"


def shutdown_message() -> str:
    """Return the last event of every open stream when the server stops."""
    return message("shutdown", {"reason": "the server is ending"})
