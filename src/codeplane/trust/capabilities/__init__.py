"""Capabilities: what an agent may do at all, where, with which tools, and until when."""
