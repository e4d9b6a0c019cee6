"""Mutations that are kept so that they can be taken back."""
