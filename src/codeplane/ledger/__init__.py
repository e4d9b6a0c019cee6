"""The event log: append, read, watch, projections, snapshots and retention."""
