"""MCP clients whose questions a person answers there: which ones the owner trusts with that."""
