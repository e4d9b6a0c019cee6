"""Conversations: one stream of events for each, with tables of its messages and turns."""
