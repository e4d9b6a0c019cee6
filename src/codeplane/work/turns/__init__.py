"""Turns: bounded loops of model and tools in a thread."""
