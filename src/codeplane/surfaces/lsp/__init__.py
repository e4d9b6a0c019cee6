"""The Language Server Protocol: what editors ask, translated into operations and back."""
