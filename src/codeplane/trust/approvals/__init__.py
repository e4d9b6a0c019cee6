"""Approvals: actions that a person decides, remembered answers, and running approved actions exactly once."""
