"""Notifications: what waits for a person, and what the person has seen."""
