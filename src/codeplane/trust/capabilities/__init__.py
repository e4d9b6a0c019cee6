"""Capabilities: what an agent may do, on which paths, with which tools, and until when."""
