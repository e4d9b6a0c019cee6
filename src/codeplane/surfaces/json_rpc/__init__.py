"""JSON-RPC 2.0 in both directions over a WebSocket, for the protocols of editors."""
