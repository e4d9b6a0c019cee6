"""Benchmarks: CodePlane beside its peers in the same run, CPU seconds before wall time."""
