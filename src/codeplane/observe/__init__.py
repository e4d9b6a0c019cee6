"""Observability: logs, metrics, traces and status."""
