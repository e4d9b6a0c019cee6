"""Log events over a WebSocket."""
