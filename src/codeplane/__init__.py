"""CodePlane: a local-first control plane for coding agents."""

__version__ = "0.1.0"
