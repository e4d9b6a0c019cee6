"""MCP clients that the owner trusts to put questions to their person."""
