"""Notifications for a person, and which of them the person has read."""
