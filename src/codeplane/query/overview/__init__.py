"""A repository at a glance: what is in it, ranked by who uses what."""
