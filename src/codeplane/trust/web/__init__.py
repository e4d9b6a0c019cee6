"""Web pages fetched for agents: only from public addresses, bounded, and marked as untrusted."""
