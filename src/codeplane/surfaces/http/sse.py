"""Server-sent events as text."""

from codeplane.kernel.json import JsonValue, dumps


def message(kind: str, data: JsonValue, *, position: JsonValue = None) -> str:
    """One server-sent event."""
    head = f"id: {position}\n" if position is not None else ""
    return f"{head}event: {kind}\ndata: {dumps(data)}\n\n"


def shutdown_message() -> str:
    """What every open stream hears last when the server ends."""
    return message("shutdown", {"reason": "the server is ending"})
