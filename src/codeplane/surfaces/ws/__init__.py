"""Events over a WebSocket, for tools that want the log as it grows."""
