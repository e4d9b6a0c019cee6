"""Shell commands of agents: approved, sandboxed, limited and recorded."""
