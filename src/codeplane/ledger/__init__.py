"""The one log: append, read, watch, projections, snapshots, retention."""
