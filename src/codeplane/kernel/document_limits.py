"""Limits on the text of open documents; imports nothing slow."""

MAX_DOCUMENTS = 200
MAX_CHARACTERS = 4 * 1024 * 1024
