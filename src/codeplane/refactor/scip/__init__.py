"""Imported SCIP indexes: an optional authority on symbols, valid while the indexed files do not change."""
